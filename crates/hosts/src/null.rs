//! No engine at all: every call returns at once. What the loops cost with it, they cost with any
//! engine; its answers mean nothing.

use std::hint::black_box;
use std::ops::{Range, RangeInclusive};

use loadstone_datasets::oo1::{Database, NewPart};

use crate::client::{Client, Direction};
use crate::error::HostError;
use crate::part::{Kind, Part};
use crate::tactics::{Address, Tactics};
use crate::visits::Visits;

/// The floor of this host.
#[derive(Debug, Clone, Copy)]
pub struct Null;

/// What stands for any part.
const PART: Part = Part { id: 0, x: 0, y: 0, kind: Kind::of(0) };

impl Null {
    /// Nothing is opened.
    #[expect(clippy::unnecessary_wraps, reason = "every client opens in this shape")]
    pub const fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, HostError> {
        Ok(Self)
    }
}

impl Client for Null {
    const ENGINE: &'static str = "null";

    type Handle = u32;

    fn load(&mut self, _database: &Database) -> Result<(), HostError> {
        Ok(())
    }

    fn another(&self) -> Result<Self, HostError> {
        Ok(Self)
    }

    #[inline(never)]
    fn find(&mut self, id: u32) -> Result<(u32, Part), HostError> {
        Ok((id, Part { id, ..PART }))
    }

    #[inline(never)]
    fn read(&mut self, handle: u32) -> Result<Part, HostError> {
        Ok(Part { id: handle, ..PART })
    }

    #[inline(never)]
    fn links(
        &mut self,
        handle: u32,
        _direction: Direction,
        out: &mut Vec<u32>,
    ) -> Result<(), HostError> {
        out.extend([handle; 3]);
        Ok(())
    }

    fn links_in_order(&mut self, handle: u32, out: &mut Vec<u32>) -> Result<(), HostError> {
        self.links(handle, Direction::Forward, out)
    }

    fn range(&mut self, _build_s: Range<i64>, _visits: &mut Visits) -> Result<(), HostError> {
        Ok(())
    }

    fn scan(&mut self, _visits: &mut Visits) -> Result<(), HostError> {
        Ok(())
    }

    #[inline(never)]
    fn reference(&mut self, _from: u32, to: u32) -> Result<Part, HostError> {
        Ok(Part { id: to, ..PART })
    }

    #[inline(never)]
    fn group(&mut self, id: u32, _visits: &mut Visits) -> Result<(), HostError> {
        black_box(id);
        Ok(())
    }

    fn begin_write(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    #[inline(never)]
    fn insert(&mut self, new: &NewPart) -> Result<(), HostError> {
        black_box(new);
        Ok(())
    }

    #[inline(never)]
    fn update(&mut self, id: u32, _build_sum_s: i64) -> Result<(), HostError> {
        black_box(id);
        Ok(())
    }

    fn remove(&mut self, _ids: RangeInclusive<u32>) -> Result<(), HostError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), HostError> {
        Ok(())
    }

    #[inline(never)]
    fn nothing(&mut self) -> Result<(), HostError> {
        black_box(self);
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, HostError> {
        Ok(0)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, HostError> {
        Ok(vec![("answers".to_owned(), "none: no engine is called".to_owned())])
    }
}
