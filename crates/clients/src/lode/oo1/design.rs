//! The place where parts and connections lie: one implementation for each value of the tactic
//! `access`.
//!
//! All but the load works on [`PageRead`] and [`PageWrite`], so that what one asks within a read
//! transaction, a write transaction can ask too.

use std::ops::Range;

use loadstone_datasets::oo1::{Database, NewPart};
use lode::{PageRead, PageWrite};

use crate::lode::failure::Result;
use crate::lode::loading::Loading;
use crate::oo1::driver::Direction;
use crate::oo1::part::Part;
use crate::oo1::visits::Visits;

/// The files of one design, found in the catalog.
pub trait Design: Copy + Send + 'static {
    /// Whether parts lead to each other by references, along which lode walks; else by keys.
    const WALKS: bool = false;

    /// The structures it consists of, for the terms.
    const ACCESS: &'static str;

    /// The way in which it names a part that was reached.
    type Handle: Copy;

    /// The state it keeps from call to call within a transaction.
    type Kept: Default + Send;

    /// Make the files in an empty database, and fill them.
    fn load(loading: &mut Loading<'_>, database: &Database) -> Result<Self>;

    /// Find the files; `None` where nothing was loaded in this design.
    fn open(pages: &impl PageRead) -> Result<Option<Self>>;

    /// A read transaction begins.
    fn begin(&self, pages: &impl PageRead, kept: &mut Self::Kept) -> Result<()> {
        let _ = pages;
        *kept = Self::Kept::default();
        Ok(())
    }

    /// A part by its id.
    fn find(
        &self,
        pages: &impl PageRead,
        id: u32,
        kept: &mut Self::Kept,
    ) -> Result<(Self::Handle, Part)>;

    /// The part of a handle.
    fn read(
        &self,
        pages: &impl PageRead,
        handle: Self::Handle,
        kept: &mut Self::Kept,
    ) -> Result<Part>;

    /// Append the parts at the other ends of its connections.
    fn links(
        &self,
        pages: &impl PageRead,
        handle: Self::Handle,
        direction: Direction,
        kept: &mut Self::Kept,
        out: &mut Vec<Self::Handle>,
    ) -> Result<()>;

    /// Visit what is below a part, as [`crate::oo1::driver::Driver::walk`] says, where it
    /// [walks](Design::WALKS).
    fn walk(
        &self,
        _pages: &impl PageRead,
        _from: Self::Handle,
        _depth: u32,
        _direction: Direction,
        _visits: &mut Visits,
    ) -> Option<Result<()>> {
        None
    }

    /// As [`Design::links`], forward, in ascending (length, to).
    fn links_in_order(
        &self,
        pages: &impl PageRead,
        handle: Self::Handle,
        out: &mut Vec<Self::Handle>,
    ) -> Result<()>;

    /// The parts with a build time in that range.
    fn range(&self, pages: &impl PageRead, build_s: Range<i64>, visits: &mut Visits) -> Result<()>;

    /// x and y of all parts.
    fn scan(&self, pages: &impl PageRead, visits: &mut Visits) -> Result<()>;

    /// The part that a connection leads to, by way of it.
    fn reference(&self, pages: &impl PageRead, from: u32, to: u32) -> Result<Part>;

    /// The three connections of a part.
    fn group(&self, pages: &impl PageRead, id: u32, visits: &mut Visits) -> Result<()>;

    /// A new part with its connections.
    fn insert(&self, pages: &mut impl PageWrite, new: &NewPart) -> Result<()>;

    /// Turn a part over.
    fn update(&self, pages: &mut impl PageWrite, id: u32, build_sum_s: i64) -> Result<()>;

    /// Delete a part with the connections that leave it.
    fn remove(&self, pages: &mut impl PageWrite, id: u32) -> Result<()>;
}
