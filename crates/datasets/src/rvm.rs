//! The database and the transactions of RVM's own benchmark, which is like TPC-A (Satyanarayanan
//! and others, SOSP 1993; as its release 1.3 and Rhino run it): one branch, ten tellers, accounts,
//! and a ring of history records, two for each account.
//!
//! A transaction adds 1 to every word of the branch, of a teller and of an account, and puts a
//! record into the ring. The first word of a record begins at 0, so that it counts the
//! transactions that changed it; the branch's is where the ring goes on.

use crate::edition::DatasetError;
use crate::splitmix::{SplitMix64, mix};

/// Words of a branch, a teller or an account: 128 bytes.
pub const RECORD_WORDS: usize = 16;

/// Words of a history record: 64 bytes.
pub const HISTORY_WORDS: usize = 8;

/// Tellers of the one branch.
pub const TELLERS: u32 = 10;

/// Transactions of a trial.
pub const TRANSACTIONS: u32 = 4_000;

/// Accounts: at least one for each part of the localized pattern, at most what ids of 32 bits hold.
pub const ACCOUNTS_RANGE: std::ops::RangeInclusive<u64> = 100..=1 << 30;

/// A record that is read and updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The branch.
    Branch,
    /// A teller, from 0.
    Teller(u32),
    /// An account, from 0.
    Account(u32),
}

/// Which account each transaction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// The next one.
    Sequential,
    /// Any: the one that Rhino's paper describes.
    Random,
    /// 70 % of the transactions from the first 5 % of the accounts, 25 % from the next 15 %, 5 %
    /// from the rest.
    Localized,
}

/// A database: a recipe of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Database {
    /// Accounts.
    pub accounts: u32,
    /// Of the words, and of the transactions.
    pub seed: u64,
}

/// The changes of one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Its number in the trial.
    pub number: u32,
    /// The teller, from 0.
    pub teller: u32,
    /// The account, from 0.
    pub account: u32,
}

impl Database {
    /// Of so many accounts.
    ///
    /// # Errors
    ///
    /// [`DatasetError::RowsOutOfRange`] beyond [`ACCOUNTS_RANGE`].
    pub fn new(accounts: u64, seed: u64) -> Result<Self, DatasetError> {
        if !ACCOUNTS_RANGE.contains(&accounts) {
            return Err(DatasetError::RowsOutOfRange {
                benchmark: "rvm",
                edition: "1993",
                rows: accounts,
                rows_min: *ACCOUNTS_RANGE.start(),
                rows_max: *ACCOUNTS_RANGE.end(),
            });
        }
        Ok(Self { accounts: accounts as u32, seed })
    }

    /// Records of the ring.
    pub const fn history_count(&self) -> u32 {
        2 * self.accounts
    }

    /// Every record that is read and updated, in the order of the original's struct.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let tellers = (0..TELLERS).map(Place::Teller);
        let accounts = (0..self.accounts).map(Place::Account);
        std::iter::once(Place::Branch).chain(tellers).chain(accounts)
    }

    /// A record as generated.
    pub fn record(&self, place: Place) -> [u64; RECORD_WORDS] {
        let named = match place {
            Place::Branch => 1,
            Place::Teller(number) => 2 << 32 | u64::from(number),
            Place::Account(number) => 3 << 32 | u64::from(number),
        };
        let mut random = SplitMix64::new(mix(self.seed) ^ mix(named));
        let mut words = std::array::from_fn(|_| random.next());
        words[0] = 0;
        words
    }

    /// The transactions of a trial: the same for the same iteration.
    pub fn transactions(&self, pattern: Pattern, iteration: u32) -> Vec<Transaction> {
        let mut random = SplitMix64::new(mix(self.seed).wrapping_add(mix(iteration.into())));
        let mut draw = |bound: u32| random.below(bound as usize) as u32;
        let first = draw(self.accounts);
        let one = |number| Transaction {
            number,
            teller: draw(TELLERS),
            account: match pattern {
                Pattern::Sequential => {
                    ((u64::from(first) + u64::from(number)) % u64::from(self.accounts)) as u32
                }
                Pattern::Random => draw(self.accounts),
                Pattern::Localized => {
                    let [hot, warm] = [5, 20].map(|percent| self.share(percent));
                    let (from, to) = match draw(100) {
                        0..70 => (0, hot),
                        70..95 => (hot, warm),
                        _ => (warm, self.accounts),
                    };
                    from + draw(to - from)
                }
            },
        };
        (0..TRANSACTIONS).map(one).collect()
    }

    /// So many percent of the accounts; at least one more for each than for fewer, since there are
    /// a hundred.
    fn share(&self, percent: u64) -> u32 {
        (u64::from(self.accounts) * percent / 100) as u32
    }
}

impl Transaction {
    /// The record that it puts into the ring, as the transaction of that count since the load.
    pub fn history(&self, count: u64) -> [u64; HISTORY_WORDS] {
        let (teller, account) = (u64::from(self.teller), u64::from(self.account));
        let mut words = [count, self.number.into(), teller, account, 0, 0, 0, 0];
        for (at, word) in (4..).zip(&mut words[4..]) {
            *word = mix(count ^ at << 32 ^ account);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_drawn_as_each_pattern_has_them() {
        let database = Database::new(32_768, 1).unwrap();
        let of = |pattern| database.transactions(pattern, 1);
        let follows = |pair: &[Transaction]| pair[1].account == (pair[0].account + 1) % 32_768;
        assert!(of(Pattern::Sequential).windows(2).all(follows));
        let below = |pattern, percent| {
            let all = of(pattern);
            all.iter().filter(|one| one.account < database.share(percent)).count()
        };
        // 4,000 draws: five standard deviations are 145 at most.
        let about = |count: usize, wanted: usize| count.abs_diff(wanted) < 150;
        assert!(about(below(Pattern::Random, 5), 200) && about(below(Pattern::Random, 20), 800));
        let localized = [5, 20].map(|percent| below(Pattern::Localized, percent));
        assert!(about(localized[0], 2_800) && about(localized[1], 3_800), "{localized:?}");
        for pattern in [Pattern::Sequential, Pattern::Random, Pattern::Localized] {
            let all = of(pattern);
            assert_eq!(all.len(), 4_000);
            assert_eq!(all, of(pattern));
            assert_ne!(all, database.transactions(pattern, 2));
            assert!((0..TELLERS).all(|teller| all.iter().any(|one| one.teller == teller)));
        }
        let few = Database::new(100, 1).unwrap();
        let all = few.transactions(Pattern::Localized, 1);
        assert!(all.iter().all(|one| one.account < 100));
    }

    #[test]
    fn records_differ_and_begin_with_a_count_of_none() {
        let database = Database::new(1_000, 1).unwrap();
        let all: std::collections::BTreeSet<_> =
            database.places().map(|place| database.record(place)).collect();
        assert_eq!((all.len(), database.history_count()), (1_011, 2_000));
        assert!(all.iter().all(|words| words[0] == 0));
        assert!(Database::new(99, 1).is_err() && Database::new(1 << 31, 1).is_err());
    }
}
