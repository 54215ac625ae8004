//! Many readers, writers and evictors at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::{ALL, TestDisk, buffer, options, pages_mapped};
use crate::buffer::{Buffer, BufferOptions, Occasion, WriteBack};
use crate::error::Result;
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::pages::Version;
use crate::tactics::Replacement;

const PAGES: PageNumber = 40;
const THREADS: u8 = 4;
const STEPS: u32 = 300;

/// A log that checks what it is given.
struct Log(AtomicU64);

impl WriteBack for Log {
    fn before_write(&self, pages: &[(PageNumber, &PageBytes)], _: Occasion) -> Result<()> {
        for &(number, bytes) in pages {
            page::check(bytes, number)?;
            assert!(is_even(|at| page::u64_at(bytes, at)), "half a change is being written");
        }
        self.0.fetch_add(pages.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// Whether the words are equal: a part of them, for time's sake.
fn is_even(word: impl Fn(usize) -> u64) -> bool {
    (64..PAGE_BYTES).step_by(24).all(|at| word(at) == word(64))
}

/// Add 1 to every word of a page.
fn change(buffer: &Buffer, page: PageNumber) {
    let mut latched = buffer.latch(page).unwrap();
    for at in (64..PAGE_BYTES).step_by(8) {
        let word = page::u64_at(&latched, at);
        latched.page_mut().put_u64(at, word + 1);
    }
}

/// Do one thread's work; the count of its changes of each page.
fn live(buffer: &Buffer, seed: u8) -> Vec<u64> {
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut changes = vec![0; PAGES as usize];
    let mut versions = vec![(Version(0), 0); PAGES as usize];
    for step in 0..STEPS {
        let page = rng.next_u32() % PAGES;
        let (version, before) = versions[page as usize];
        match rng.next_u32() % 8 {
            0 | 1 => {
                change(buffer, page);
                changes[page as usize] += 1;
            }
            2 => {
                let words = |view: crate::View<'_>| (view.u64(64), view.u64(PAGE_BYTES - 8));
                if let Some(seen) = buffer.try_read_version(page, version, words) {
                    assert_eq!(seen, (before, before), "equal versions are equal bytes");
                }
            }
            4 if step % 50 == 0 => buffer.write_dirty().unwrap(),
            5 if step % 50 == 0 => buffer.forget(),
            _ => {
                let words = |view: crate::View<'_>| (is_even(|at| view.u64(at)), view.u64(64));
                let ((whole, now), version) = buffer.read_with_version(page, words).unwrap();
                assert!(whole, "half a change of page {page}");
                assert!(now >= before, "a change of page {page} is lost");
                versions[page as usize] = (version, now);
            }
        }
        assert!(buffer.counters().pages_resident <= 16);
    }
    changes
}

fn all_at_once(replacement: Replacement, read_ahead_pages: u32) {
    let disk = Arc::new(TestDisk::default());
    let buffer = buffer(&disk, &BufferOptions { read_ahead_pages, ..options(replacement) });
    buffer.grow(PAGES).unwrap();
    let log = Arc::new(Log(AtomicU64::new(0)));
    buffer.set_write_back(log.clone());
    let buffer = &buffer;
    let changes: Vec<Vec<u64>> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|seed| scope.spawn(move || live(buffer, seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    buffer.write_dirty().unwrap();
    for page in 0..PAGES {
        let expected: u64 = changes.iter().map(|changes| changes[page as usize]).sum();
        let bytes = disk.page(page);
        page::check(&bytes, page).unwrap();
        assert!(is_even(|at| page::u64_at(&bytes, at)));
        assert_eq!(page::u64_at(&bytes, 64), expected, "page {page}");
    }
    let counters = buffer.counters();
    assert_eq!(log.0.load(Ordering::Relaxed), counters.pages_written);
    assert!(counters.evictions > 100 && counters.misses > 100);
    buffer.forget();
    assert_eq!(buffer.counters().pages_resident, 0);
    for page in 0..PAGES {
        // A read that came too late may have left a page behind; it goes with the next.
        buffer.read(page, |_| ()).unwrap();
        buffer.forget();
    }
    assert_eq!(pages_mapped(buffer), 0);
}

#[test]
fn threads_see_whole_changes_and_lose_none() {
    for (at, replacement) in ALL.into_iter().enumerate() {
        all_at_once(replacement, if at < 2 { 4 } else { 0 });
    }
}
