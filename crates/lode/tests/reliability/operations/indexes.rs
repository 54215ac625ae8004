//! Operations on the files without references: entries of the tree, values of the hash index.

use std::ops::Bound;

use lode::PageWrite;
use lode::internals::error::Result;

use super::{Changes, Operator};
use crate::contents::{Change, Contents};
use crate::random::Random;

/// Beyond so many entries or values they are taken out many at once.
const MANY: usize = 260;

impl Operator {
    fn key(&mut self) -> Vec<u8> {
        let number = self.random.below(300) as u32;
        let mut key = match self.random.below(8) {
            0 => vec![b'x'; 40],
            1 => b"a longer beginning, which is common to some".to_vec(),
            _ => Vec::new(),
        };
        key.extend(number.to_be_bytes());
        if number.is_multiple_of(32) {
            key.resize(512, b'.');
        }
        key
    }

    pub fn entry(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let (_, tree) = now.files.entries;
        let key = self.key();
        let before = now.entries.get(&key);
        let len =
            if self.random.one_in(10) { self.random.below(1_025) } else { self.random.below(60) };
        let value = vec![self.random.next() as u8; len];
        match self.random.below(10) {
            _ if now.entries.len() > MANY => remove_range(pages, now, &key),
            0..=3 => {
                assert_eq!(tree.put(pages, &key, &value)?.as_ref(), before);
                Ok(vec![Change::Entry(key, Some(value))])
            }
            4 => {
                let inserted = tree.insert(pages, &key, &value)?;
                assert_eq!(inserted, before.is_none());
                Ok(if inserted { vec![Change::Entry(key, Some(value))] } else { Changes::new() })
            }
            5 => self.put_many(pages, now),
            6 | 7 => {
                assert_eq!(tree.remove(pages, &key)?.as_ref(), before);
                Ok(vec![Change::Entry(key, None)])
            }
            8 => {
                let mut cursor =
                    tree.forwards(pages, (Bound::Included(&key[..]), Bound::Unbounded))?;
                for (key, value) in now.entries.range(key.clone()..).take(20) {
                    assert_eq!(cursor.entry()?, Some((&key[..], &value[..])));
                }
                Ok(Changes::new())
            }
            _ => {
                let mut cursor =
                    tree.backwards(pages, (Bound::Unbounded, Bound::Included(&key[..])))?;
                for (key, value) in now.entries.range(..=key.clone()).rev().take(20) {
                    assert_eq!(cursor.entry()?, Some((&key[..], &value[..])));
                }
                Ok(Changes::new())
            }
        }
    }

    /// Ascending keys, so that pages are cut.
    pub fn put_many(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let start = self.random.below(300) as u32;
        let value = vec![self.random.next() as u8; self.random.below(200)];
        let mut changes = Changes::new();
        for number in start..start + 30 {
            let key = number.to_be_bytes().to_vec();
            now.files.entries.1.put(pages, &key, &value)?;
            changes.push(Change::Entry(key, Some(value.clone())));
        }
        Ok(changes)
    }

    pub fn value(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let (_, index) = now.files.values;
        let key = self.random.below(400) as u64;
        let mut values = now.values.get(&key).cloned().unwrap_or_default();
        let mut got = Vec::new();
        index.get(pages, key, |value| got.push(value))?;
        got.sort_unstable();
        assert_eq!(got, values, "key {key}");
        match self.random.below(10) {
            _ if now.values.len() > MANY => take_many(pages, now, self.random.next()),
            0..=3 => {
                let value = self.random.below(5) as u64;
                index.insert(pages, key, value)?;
                values.insert(values.partition_point(|&other| other < value), value);
                Ok(vec![Change::Values(key, values)])
            }
            4 => self.insert_many(pages, now),
            5 => {
                // More than a page of one key's.
                let (key, count) = (1_000, 20 + self.random.below(80) as u64);
                let mut values = now.values.get(&key).cloned().unwrap_or_default();
                (0..count).try_for_each(|value| index.insert(pages, key, value))?;
                values.extend(0..count);
                values.sort_unstable();
                Ok(vec![Change::Values(key, values)])
            }
            6..=8 => {
                let value = self.random.below(5) as u64;
                let place = values.binary_search(&value);
                assert_eq!(index.remove(pages, key, value)?, place.is_ok(), "key {key}");
                if let Ok(place) = place {
                    values.remove(place);
                }
                Ok(vec![Change::Values(key, values)])
            }
            _ => take_many(pages, now, self.random.next()),
        }
    }

    /// So many that buckets are divided.
    pub fn insert_many(&mut self, pages: &mut impl PageWrite, now: &Contents) -> Result<Changes> {
        let start = self.random.below(400) as u64;
        let mut changes = Changes::new();
        for key in start..start + 60 {
            now.files.values.1.insert(pages, key, 7)?;
            let mut values = now.values.get(&key).cloned().unwrap_or_default();
            values.insert(values.partition_point(|&other| other < 7), 7);
            changes.push(Change::Values(key, values));
        }
        Ok(changes)
    }
}

/// Remove half of the keys, from one on.
pub fn remove_range(pages: &mut impl PageWrite, now: &Contents, from: &[u8]) -> Result<Changes> {
    let above = now.entries.range(from.to_vec()..).chain(&now.entries);
    let mut changes = Changes::new();
    for (key, value) in above.take(now.entries.len() / 2) {
        assert_eq!(now.files.entries.1.remove(pages, key)?.as_ref(), Some(value));
        changes.push(Change::Entry(key.clone(), None));
    }
    Ok(changes)
}

/// Remove all values of most keys.
pub fn take_many(pages: &mut impl PageWrite, now: &Contents, seed: u64) -> Result<Changes> {
    let mut changes = Changes::new();
    let mut random = Random::new(seed);
    for (&key, values) in now.values.iter().filter(|_| !random.one_in(4)).take(120) {
        for &value in values {
            assert!(now.files.values.1.remove(pages, key, value)?, "key {key}");
        }
        changes.push(Change::Values(key, Vec::new()));
    }
    Ok(changes)
}
