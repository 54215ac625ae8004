//! A disk in memory that knows what was synced, fails when reported to, and can hold a sync back.

use std::io;
use std::sync::{Arc, Condvar, Mutex};

use crate::disk::{Destination, Disk};

pub struct TestDisk {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    bytes: Vec<u8>,
    synced: Vec<u8>,
    syncs: u64,
    capacity: Option<usize>,
    // Calls of write, sync and set_len until one fails; from then on all work again, as disks do.
    fails_in: Option<u64>,
    failure: Option<io::ErrorKind>,
    syncs_paused: bool,
    syncs_waiting: u64,
}

impl TestDisk {
    pub fn new() -> Arc<Self> {
        Self::of(Vec::new())
    }

    pub fn of(bytes: Vec<u8>) -> Arc<Self> {
        let inner = Inner { synced: bytes.clone(), bytes, ..Inner::default() };
        Arc::new(Self { inner: Mutex::new(inner), changed: Condvar::new() })
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.inner.lock().unwrap().bytes.clone()
    }

    /// The worst that a crash leaves.
    pub fn synced(&self) -> Vec<u8> {
        self.inner.lock().unwrap().synced.clone()
    }

    pub fn syncs(&self) -> u64 {
        self.inner.lock().unwrap().syncs
    }

    /// Let the n-th change from now fail, counted from 0.
    pub fn fail(&self, nth: u64, failure: io::ErrorKind) {
        let mut inner = self.inner.lock().unwrap();
        inner.fails_in = Some(nth);
        inner.failure = Some(failure);
    }

    pub fn failed(&self) -> bool {
        let inner = self.inner.lock().unwrap();
        inner.failure.is_some() && inner.fails_in.is_none()
    }

    pub fn set_capacity(&self, bytes: Option<usize>) {
        self.inner.lock().unwrap().capacity = bytes;
    }

    pub fn hold_syncs(&self) {
        self.inner.lock().unwrap().syncs_paused = true;
    }

    pub fn release_syncs(&self) {
        self.inner.lock().unwrap().syncs_paused = false;
        self.changed.notify_all();
    }

    /// Return when a thread waits in a sync that is held back.
    pub fn wait_for_sync(&self) {
        let inner = self.inner.lock().unwrap();
        drop(self.changed.wait_while(inner, |inner| inner.syncs_waiting == 0).unwrap());
    }
}

impl Inner {
    fn change(&mut self) -> io::Result<()> {
        match self.fails_in {
            None => Ok(()),
            Some(0) => {
                self.fails_in = None;
                Err(self.failure.unwrap().into())
            }
            Some(left) => {
                self.fails_in = Some(left - 1);
                Ok(())
            }
        }
    }

    fn grow(&mut self, len_bytes: usize) -> io::Result<()> {
        if self.capacity.is_some_and(|capacity| len_bytes > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.resize(len_bytes, 0);
        Ok(())
    }
}

fn assert_aligned(offset: u64, start: *const u8, bytes: usize) {
    for number in [offset as usize, bytes, start.addr()] {
        assert!(number.is_multiple_of(4_096), "{number} is what a direct disk refuses");
    }
}

impl Disk for TestDisk {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.inner.lock().unwrap().bytes.len() as u64)
    }

    fn read_into(&self, offset: u64, mut into: Destination<'_>) -> io::Result<()> {
        assert_aligned(offset, into.as_mut_ptr(), into.len());
        let inner = self.inner.lock().unwrap();
        let at = offset as usize;
        let bytes = inner.bytes.get(at..at + into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.put(bytes);
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        assert_aligned(offset, from.as_ptr(), from.len());
        let mut inner = self.inner.lock().unwrap();
        inner.change()?;
        let at = offset as usize;
        let end = at + from.len();
        if end > inner.bytes.len() {
            inner.grow(end)?;
        }
        inner.bytes[at..end].copy_from_slice(from);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap();
        inner.change()?;
        let bytes = inner.bytes.clone();
        inner.syncs_waiting += 1;
        self.changed.notify_all();
        let mut inner = self.changed.wait_while(inner, |inner| inner.syncs_paused).unwrap();
        inner.syncs_waiting -= 1;
        inner.syncs += 1;
        inner.synced = bytes;
        Ok(())
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap();
        inner.change()?;
        inner.grow(len_bytes as usize)
    }
}
