//! Everything that a database holds, as one count and one checksum, in any order; and whether the
//! balances agree.

use loadstone_datasets::rvm::{Database, Place};
use loadstone_datasets::splitmix::mix;

use crate::rvm::{History, Record};

/// Takes what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contents {
    /// Records.
    pub count: u64,
    /// Wrapping sum of the mixed records.
    pub checksum: u64,
    /// Sums of the first words: of the branch, of the tellers, of the accounts.
    changed: [u64; 3],
}

impl Contents {
    /// A branch, a teller or an account.
    pub fn record(&mut self, place: Place, words: &Record) {
        let (class, number) = match place {
            Place::Branch => (0, 0),
            Place::Teller(number) => (1, number),
            Place::Account(number) => (2, number),
        };
        self.changed[class] = self.changed[class].wrapping_add(words[0]);
        self.add(class as u64, number, words);
    }

    /// A record of the ring.
    pub fn history(&mut self, slot: u32, words: &History) {
        self.add(3, slot, words);
    }

    fn add(&mut self, class: u64, number: u32, words: &[u64]) {
        let named = mix(class << 32 | u64::from(number));
        let mixed = words.iter().fold(named, |so_far, word| mix(so_far ^ word));
        self.checksum = self.checksum.wrapping_add(mixed);
        self.count += 1;
    }

    /// Whether branch, tellers and accounts were changed as often as each other.
    pub fn is_balanced(&self) -> bool {
        self.changed.iter().all(|sum| *sum == self.changed[0])
    }

    /// Of the database as generated.
    pub fn generated(database: &Database) -> Self {
        let mut all = Self::default();
        database.places().for_each(|place| all.record(place, &database.record(place)));
        (0..database.history_count()).for_each(|slot| all.history(slot, &[0; 8]));
        all
    }
}
