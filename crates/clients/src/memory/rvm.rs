//! RVM's benchmark over plain structures: three arrays and a ring, changed in place. The limit, not
//! a database: nothing is durable, and nothing can be taken back.

use loadstone_datasets::rvm::{Database, HISTORY_WORDS, Place, RECORD_WORDS};

use crate::error::ClientError;
use crate::rvm::contents::Contents;
use crate::rvm::driver::Driver;
use crate::rvm::{History, Record};
use crate::tactics::{Address, Tactics};

/// The branch, the tellers, the accounts and the ring.
pub struct Memory {
    records: Vec<Record>,
    tellers: usize,
    history: Vec<History>,
}

impl Memory {
    /// Nothing is opened.
    #[expect(clippy::unnecessary_wraps, reason = "every driver opens in this shape")]
    pub const fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, ClientError> {
        Ok(Self { records: Vec::new(), tellers: 0, history: Vec::new() })
    }

    const fn index(&self, place: Place) -> usize {
        match place {
            Place::Branch => 0,
            Place::Teller(number) => 1 + number as usize,
            Place::Account(number) => 1 + self.tellers + number as usize,
        }
    }
}

#[cold]
fn nowhere(number: usize) -> ClientError {
    ClientError::Missing { engine: Memory::ENGINE, id: number as u32 }
}

impl Driver for Memory {
    const ENGINE: &'static str = "memory";

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        self.records = database.places().map(|place| database.record(place)).collect();
        self.tellers = self.records.len() - 1 - database.accounts as usize;
        self.history = vec![[0; HISTORY_WORDS]; database.history_count() as usize];
        Ok(())
    }

    fn begin(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn change(&mut self, place: Place, by: u64) -> Result<u64, ClientError> {
        let index = self.index(place);
        let record = self.records.get_mut(index).ok_or_else(|| nowhere(index))?;
        for word in record.iter_mut() {
            *word = word.wrapping_add(by);
        }
        Ok(record[0])
    }

    fn put(&mut self, slot: u32, record: &History) -> Result<(), ClientError> {
        let slot = slot as usize;
        *self.history.get_mut(slot).ok_or_else(|| nowhere(slot))? = *record;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError> {
        let tellers = (0..self.tellers as u32).map(Place::Teller);
        let accounts = (0..).map(Place::Account);
        let places = std::iter::once(Place::Branch).chain(tellers).chain(accounts);
        for (place, record) in places.zip(&self.records) {
            contents.record(place, record);
        }
        for (slot, record) in (0..).zip(&self.history) {
            contents.history(slot, record);
        }
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        let words = self.records.len() * RECORD_WORDS + self.history.len() * HISTORY_WORDS;
        Ok(8 * words as u64)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let terms = [
            ("durability", "none: the structures are lost when the program ends"),
            ("transactions", "none: no rollback, one user"),
            ("access", "arrays, by number"),
            ("prefetch", "off"),
        ];
        Ok(terms.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }
}
