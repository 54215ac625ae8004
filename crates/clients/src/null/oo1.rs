//! No engine at all: every call returns at once. What the loops cost with it, they cost with any
//! engine; its answers mean nothing.

use std::hint::black_box;
use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use crate::clocked::NoTransactions;
use crate::error::ClientError;
use crate::oo1::driver::{Direction, Driver};
use crate::oo1::part::{Kind, Part};
use crate::oo1::visits::Visits;
use crate::tactics::{Address, Tactics};

/// The harness overhead in Rust.
#[derive(Debug, Clone, Copy)]
pub struct Null;

/// The part that stands for any part.
const PART: Part = Part { id: 0, x: 0, y: 0, kind: Kind::of(0) };

impl Null {
    /// Nothing is opened.
    #[expect(clippy::unnecessary_wraps, reason = "every driver opens in this shape")]
    pub const fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, ClientError> {
        Ok(Self)
    }
}

impl NoTransactions for Null {}

impl Driver for Null {
    const ENGINE: &'static str = "null";

    type Handle = u32;

    fn load(&mut self, _database: &Database) -> Result<(), ClientError> {
        Ok(())
    }

    fn another(&self) -> Result<Self, ClientError> {
        Ok(Self)
    }

    #[inline(never)]
    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        Ok((id, Part { id, ..PART }))
    }

    #[inline(never)]
    fn read(&mut self, handle: u32) -> Result<Part, ClientError> {
        Ok(Part { id: handle, ..PART })
    }

    #[inline(never)]
    fn links(
        &mut self,
        handle: u32,
        _direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        out.extend([handle; 3]);
        Ok(())
    }

    fn links_in_order(&mut self, handle: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.links(handle, Direction::Forward, out)
    }

    fn range(&mut self, _build_s: Range<i64>, _visits: &mut Visits) -> Result<(), ClientError> {
        Ok(())
    }

    fn scan(&mut self, _visits: &mut Visits) -> Result<(), ClientError> {
        Ok(())
    }

    #[inline(never)]
    fn reference(&mut self, _from: u32, to: u32) -> Result<Part, ClientError> {
        Ok(Part { id: to, ..PART })
    }

    #[inline(never)]
    fn group(&mut self, id: u32, _visits: &mut Visits) -> Result<(), ClientError> {
        black_box(id);
        Ok(())
    }

    #[inline(never)]
    fn insert(&mut self, new: &NewPart) -> Result<(), ClientError> {
        black_box(new);
        Ok(())
    }

    #[inline(never)]
    fn update(&mut self, id: u32, _build_sum_s: i64) -> Result<(), ClientError> {
        black_box(id);
        Ok(())
    }

    fn remove(&mut self, _ids: RangeInclusive<u32>) -> Result<(), ClientError> {
        Ok(())
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), ClientError> {
        black_box(self);
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(0)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        Ok(vec![("answers".to_owned(), "none: no engine is called".to_owned())])
    }
}
