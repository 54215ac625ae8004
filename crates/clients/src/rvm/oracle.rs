//! The expected contents after each trial, by a plain evaluation in memory that shares no code with
//! the engines or the loop.

use std::collections::HashMap;

use loadstone_datasets::rvm::{Database, Place};

use crate::rvm::contents::Contents;
use crate::rvm::measure::Measure;

/// The expected answers over one database.
pub struct Oracle {
    database: Database,
}

impl Oracle {
    /// Of that database.
    pub const fn new(database: Database) -> Self {
        Self { database }
    }

    /// (count, checksum) of one iteration of a measure: transactions, and what is stored then.
    pub fn expected(&self, measure: Measure, iteration: u32) -> (u64, u64) {
        let database = &self.database;
        let Measure::Trial(pattern) = measure else {
            let Contents { count, checksum, .. } = Contents::generated(database);
            return (count, checksum);
        };
        let transactions = database.transactions(pattern, iteration);
        let mut times: HashMap<Place, u64> = HashMap::new();
        let ring = database.history_count() as usize;
        let mut history = vec![[0; 8]; ring];
        for (count, one) in (1..).zip(&transactions) {
            for place in [Place::Branch, Place::Teller(one.teller), Place::Account(one.account)] {
                *times.entry(place).or_default() += 1;
            }
            history[(count as usize - 1) % ring] = one.history(count);
        }
        let mut left = Contents::default();
        for place in database.places() {
            let more = times.get(&place).copied().unwrap_or(0);
            left.record(place, &database.record(place).map(|word| word.wrapping_add(more)));
        }
        (0..).zip(&history).for_each(|(slot, words)| left.history(slot, words));
        (transactions.len() as u64, left.checksum)
    }
}
