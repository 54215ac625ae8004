//! Access methods under page locks and many threads: each thread has records, objects, keys and
//! values of its own among those of all others. In the end everything is there, and whole.
//!
//! `LODE_SEED=n` plays one run again, as far as threads can be played again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use lode::internals::disk::Memory;
use lode::internals::error::Result;
use lode::internals::heap::RecordId;
use lode::{Database, LodeError, Writing};

use crate::contents::{Contents, Files, tactics};
use crate::drawn::telling_the_seed;
use crate::random::{Random, setting};
use crate::reading::read_and_check;

const THREADS: u64 = 3;
const TRANSACTIONS: usize = 30;
const OPERATIONS: usize = 5;

/// Keys of all threads, one after another in turn.
const KEYS: usize = 60;

#[test]
fn threads_change_all_files_at_once() {
    let first = setting("LODE_SEED").unwrap_or(1);
    for (seed, text) in (first..).zip([
        "locks=page&durability=none&cache=131072&checkpoint=65536&extent=4",
        "locks=page&durability=group&log=page-grain&cache=262144&replacement=lru&swizzle=on",
        "locks=relation&durability=group&log=set-range&cache=131072&checkpoint=65536&swizzle=on",
        "locks=database&durability=full&cache=98304&checkpoint=65536&replacement=random",
    ]) {
        telling_the_seed(seed, || run(seed, text));
    }
}

fn run(seed: u64, text: &str) {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let tactics = tactics(text);
    let database = Database::on(Arc::clone(&volume) as _, Arc::clone(&log) as _, &tactics).unwrap();
    let files = Contents::create(&database).unwrap().files;
    let mine: Vec<Mine> = thread::scope(|scope| {
        let work = |number: u64| {
            let database = &database;
            scope.spawn(move || Worker::new(seed, number, files).work(database))
        };
        let workers: Vec<_> = (0..THREADS).map(work).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    compare(&database, &mine);
    database.close().unwrap();
    let database = Database::on(volume, log, &tactics).unwrap();
    assert!(database.recovery().is_none());
    compare(&database, &mine);
}

/// The content that a thread has put there.
#[derive(Clone, Default)]
struct Mine {
    records: BTreeMap<u64, (RecordId, Vec<u8>)>,
    objects: BTreeMap<u64, (RecordId, Vec<u8>)>,
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    values: BTreeMap<u64, Vec<u64>>,
}

/// All that all have put there, and nothing else.
fn compare(database: &Database, mine: &[Mine]) {
    let found = read_and_check(database).unwrap().expect("the files are there");
    let mut all = Mine::default();
    for one in mine.iter().cloned() {
        all.records.extend(one.records);
        all.objects.extend(one.objects);
        all.entries.extend(one.entries);
        all.values.extend(one.values);
    }
    all.values.retain(|_, values| !values.is_empty());
    let record = |(&serial, record): (&u64, &crate::contents::Record)| {
        (serial, (record.id, record.bytes.clone()))
    };
    assert!(found.records.iter().map(record).eq(all.records));
    assert!(found.objects.iter().map(record).eq(all.objects));
    assert!(found.entries == all.entries);
    assert!(found.values == all.values);
}

struct Worker {
    number: u64,
    random: Random,
    files: Files,
    mine: Mine,
    serial: u64,
}

impl Worker {
    const fn new(seed: u64, number: u64, files: Files) -> Self {
        let random = Random::new(seed * 1_000 + number);
        let mine = Mine {
            records: BTreeMap::new(),
            objects: BTreeMap::new(),
            entries: BTreeMap::new(),
            values: BTreeMap::new(),
        };
        Self { number, random, files, mine, serial: number << 32 }
    }

    fn work(mut self, database: &Database) -> Mine {
        let mut done = 0;
        while done < TRANSACTIONS {
            let before = self.mine.clone();
            let mut writing = database.writing();
            let worked = (0..OPERATIONS).try_for_each(|_| self.operate(&mut writing));
            let takes_back = self.random.one_in(6);
            let ended = worked
                .and_then(|()| if takes_back { writing.rollback() } else { writing.commit() });
            match ended {
                Ok(()) => done += 1,
                Err(LodeError::Deadlock) => {}
                Err(error) => panic!("{error}"),
            }
            if takes_back || ended.is_err() {
                self.mine = before;
            }
        }
        self.mine
    }

    fn bytes(&mut self, serial: u64) -> Vec<u8> {
        let mut bytes = serial.to_le_bytes().to_vec();
        bytes.resize(8 + self.random.below(700), self.random.next() as u8);
        bytes
    }

    fn operate(&mut self, writing: &mut Writing) -> Result<()> {
        match self.random.below(6) {
            0 => self.record(writing),
            1 => self.object(writing),
            2 | 3 => self.entry(writing),
            _ => self.value(writing),
        }
    }

    fn record(&mut self, writing: &mut Writing) -> Result<()> {
        let heap = self.files.records;
        let chosen = self.mine.records.iter().nth(self.random.below(12));
        let Some((&serial, &(id, _))) = chosen else {
            self.serial += 1;
            let bytes = self.bytes(self.serial);
            let id = heap.insert(writing, &bytes, None)?;
            self.mine.records.insert(self.serial, (id, bytes));
            return Ok(());
        };
        if self.random.one_in(3) {
            heap.delete(writing, id)?;
            self.mine.records.remove(&serial);
        } else {
            let bytes = self.bytes(serial);
            heap.update(writing, id, &bytes)?;
            self.mine.records.insert(serial, (id, bytes));
        }
        Ok(())
    }

    fn object(&mut self, writing: &mut Writing) -> Result<()> {
        let objects = self.files.objects;
        let chosen = self.mine.objects.iter().nth(self.random.below(12));
        let Some((&serial, &(id, _))) = chosen else {
            self.serial += 1;
            let bytes = self.bytes(self.serial);
            let id = objects.insert(writing, &bytes, None)?;
            self.mine.objects.insert(self.serial, (id, bytes));
            return Ok(());
        };
        assert_eq!(
            objects.read_at(writing, objects.reference(writing, id)?, |view, at| view.u64(at))?,
            serial
        );
        let bytes = self.bytes(serial);
        objects.update(writing, id, &bytes)?;
        self.mine.objects.insert(serial, (id, bytes));
        Ok(())
    }

    /// A number that is this thread's, among those of others.
    fn key(&mut self) -> u64 {
        self.random.below(KEYS) as u64 * THREADS + self.number
    }

    fn entry(&mut self, writing: &mut Writing) -> Result<()> {
        let (_, tree) = self.files.entries;
        let key = self.key().to_be_bytes().to_vec();
        let before = self.mine.entries.get(&key);
        if self.random.one_in(3) {
            assert_eq!(tree.remove(writing, &key)?.as_ref(), before);
            self.mine.entries.remove(&key);
        } else {
            let value = vec![self.random.next() as u8; self.random.below(400)];
            assert_eq!(tree.put(writing, &key, &value)?.as_ref(), before);
            self.mine.entries.insert(key, value);
        }
        Ok(())
    }

    fn value(&mut self, writing: &mut Writing) -> Result<()> {
        let (_, index) = self.files.values;
        let key = self.key();
        let mut values = self.mine.values.get(&key).cloned().unwrap_or_default();
        let mut got = Vec::new();
        index.get(writing, key, |value| got.push(value))?;
        got.sort_unstable();
        assert_eq!(got, values, "key {key}");
        if let Some(value) = values.pop().filter(|_| self.random.one_in(3)) {
            assert!(index.remove(writing, key, value)?);
        } else {
            values = got;
            let value = values.last().map_or(0, |last| last + 1);
            index.insert(writing, key, value)?;
            values.push(value);
        }
        self.mine.values.insert(key, values);
        Ok(())
    }
}
