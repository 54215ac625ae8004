//! RVM's benchmark without any engine: every call returns at once. What the loop costs with it, it
//! costs with any engine; its answers mean nothing.

use std::hint::black_box;

use loadstone_datasets::rvm::{Database, Place};

use crate::error::ClientError;
use crate::rvm::History;
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::tactics::{Address, Tactics};

/// The harness overhead in Rust.
#[derive(Debug, Clone, Copy)]
pub struct Null;

impl Null {
    /// Nothing is opened.
    #[expect(clippy::unnecessary_wraps, reason = "every driver opens in this shape")]
    pub const fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, ClientError> {
        Ok(Self)
    }
}

impl Driver for Null {
    const ENGINE: &'static str = "null";
    const KEEPS: bool = false;

    fn load(&mut self, _: &Database) -> Result<(), ClientError> {
        Ok(())
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn change(&mut self, place: Place, by: u64) -> Result<u64, ClientError> {
        black_box(place);
        Ok(black_box(by))
    }

    fn put(&mut self, slot: u32, record: &History) -> Result<(), ClientError> {
        black_box((slot, record));
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn contents(&mut self, _: &mut Contents) -> Result<(), ClientError> {
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(0)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let terms = [("durability", "none: nothing is kept"), ("isolation", "none: one user")];
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }
}
