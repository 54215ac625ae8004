//! The way of dirty pages to disk.

use std::sync::{Arc, Mutex};

use super::{ALL, Call, TestDisk, buffer, options, set_word, word};
use crate::buffer::{Buffer, BufferOptions, Occasion, WriteBack};
use crate::error::{LodeError, Result};
use crate::page::{self, PAGE_BYTES, PageBytes, PageNumber};
use crate::tactics::Replacement;

/// A log that notes when it is asked, and with which pages and words.
#[derive(Default)]
struct Log {
    calls: Arc<Mutex<Vec<Call>>>,
    seen: Mutex<Vec<(PageNumber, u64)>>,
    refuses: bool,
}

impl WriteBack for Log {
    fn before_write(&self, pages: &[(PageNumber, &PageBytes)], _: Occasion) -> Result<()> {
        self.calls.lock().unwrap().push(Call::BeforeWrite);
        for &(number, bytes) in pages {
            page::check(bytes, number)?;
            self.seen.lock().unwrap().push((number, page::u64_at(bytes, super::WORD)));
        }
        if self.refuses {
            return Err(LodeError::Full { what: "the log" });
        }
        Ok(())
    }
}

fn logged(disk: &Arc<TestDisk>, options: &BufferOptions, refuses: bool) -> (Buffer, Arc<Log>) {
    let log = Arc::new(Log { calls: disk.calls.clone(), refuses, ..Log::default() });
    let buffer = buffer(disk, options);
    buffer.set_write_back(log.clone());
    (buffer, log)
}

fn larger(cache_pages: u64) -> BufferOptions {
    let cache_bytes = cache_pages * PAGE_BYTES as u64;
    BufferOptions { cache_bytes, ..options(Replacement::Lru) }
}

#[test]
fn the_log_comes_first_then_ascending_runs_then_the_sync() {
    let disk = TestDisk::with_pages(100);
    let (buffer, log) = logged(&disk, &options(Replacement::Clock), false);
    for page in [7, 3, 9, 4, 5] {
        set_word(&buffer, page, 1000 + u64::from(page));
    }
    word(&buffer, 6);
    disk.called();
    buffer.write_dirty().unwrap();
    let runs = [Call::Write(3, 3), Call::Write(7, 1), Call::Write(9, 1)];
    let expected: Vec<_> =
        [Call::BeforeWrite].into_iter().chain(runs).chain([Call::Sync]).collect();
    assert_eq!(disk.called(), expected);
    let seen = [(3, 1003), (4, 1004), (5, 1005), (7, 1007), (9, 1009)];
    assert_eq!(*log.seen.lock().unwrap(), seen);
    for (page, word) in seen {
        assert_eq!(disk.word(page), word);
    }
    buffer.write_dirty().unwrap();
    assert_eq!(disk.called(), [Call::Sync], "they are clean now");
    let counters = buffer.counters();
    assert_eq!((counters.batches, counters.writes, counters.pages_written), (1, 3, 5));
}

#[test]
fn a_batch_is_sixty_four_pages() {
    let disk = TestDisk::with_pages(200);
    let (buffer, _log) = logged(&disk, &larger(200), false);
    (0..130).for_each(|page| set_word(&buffer, page, 1));
    disk.called();
    buffer.write_dirty().unwrap();
    let batch = |first, pages| [Call::BeforeWrite, Call::Write(first, pages)];
    let expected = [batch(0, 64), batch(64, 64), batch(128, 2)].concat();
    assert_eq!(disk.called(), [expected, vec![Call::Sync]].concat());
}

#[test]
fn an_eviction_writes_the_dirty_pages_that_would_go_next_in_one_batch() {
    let disk = TestDisk::with_pages(200);
    let (buffer, log) = logged(&disk, &larger(80), false);
    for page in (0..80).rev() {
        set_word(&buffer, page, 1000 + u64::from(page));
    }
    disk.called();
    word(&buffer, 100);
    // A tenth of them: an eighth of the cache.
    let expected = [Call::BeforeWrite, Call::Write(70, 10), Call::Read(100, 1)];
    assert_eq!(disk.called(), expected);
    assert_eq!(log.seen.lock().unwrap()[0], (70, 1070));
    (70..80).for_each(|page| assert_eq!(disk.word(page), 1000 + u64::from(page)));
    assert_eq!(buffer.counters().evictions, 10);
    assert_eq!(word(&buffer, 75), 1075);
}

#[test]
fn pages_that_the_log_refuses_are_not_written_and_stay() {
    for replacement in ALL {
        let disk = TestDisk::with_pages(100);
        let (buffer, _log) = logged(&disk, &options(replacement), true);
        (0..16).for_each(|page| set_word(&buffer, page, 1000));
        disk.called();
        for _ in 0..40 {
            assert!(matches!(buffer.read(50, |_| ()), Err(LodeError::Full { what: "the log" })));
        }
        assert!(matches!(buffer.write_dirty(), Err(LodeError::Full { what: "the log" })));
        assert!(disk.called().iter().all(|&call| call == Call::BeforeWrite));
        (0..16).for_each(|page| assert_eq!(word(&buffer, page), 1000));
        (0..16).for_each(|page| set_word(&buffer, page, 2000));
    }
}

#[test]
fn once_the_log_is_gone_nothing_is_written() {
    let disk = TestDisk::with_pages(100);
    let (buffer, log) = logged(&disk, &options(Replacement::Clock), false);
    set_word(&buffer, 3, 1000);
    drop(log);
    assert!(matches!(buffer.write_dirty(), Err(LodeError::Io { .. })));
    assert_eq!((disk.word(3), word(&buffer, 3)), (3, 1000));
}

#[test]
#[should_panic(expected = "set once")]
fn the_log_is_set_once() {
    let disk = TestDisk::with_pages(1);
    let (buffer, log) = logged(&disk, &options(Replacement::Clock), false);
    buffer.set_write_back(log);
}

/// A log that looks whether the pages can be changed meanwhile.
struct Watching(Mutex<Option<Arc<Buffer>>>);

impl WriteBack for Watching {
    fn before_write(&self, pages: &[(PageNumber, &PageBytes)], _: Occasion) -> Result<()> {
        let buffer = self.0.lock().unwrap().clone().unwrap();
        for &(number, bytes) in pages {
            let state = buffer.state_of(number);
            assert!(!state.latch(state.load(), false), "page {number} can be changed");
            assert_eq!(word(&buffer, number), page::u64_at(bytes, super::WORD), "all can look");
        }
        Ok(())
    }
}

#[test]
fn a_page_on_its_way_to_disk_can_be_looked_at_and_not_changed() {
    let buffer = Arc::new(buffer(&TestDisk::with_pages(100), &options(Replacement::Clock)));
    let log = Arc::new(Watching(Mutex::new(Some(buffer.clone()))));
    buffer.set_write_back(log.clone());
    (0..10).for_each(|page| set_word(&buffer, page, 1000));
    buffer.write_dirty().unwrap();
    (0..10).for_each(|page| set_word(&buffer, page, 2000));
    (20..40).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
    assert!(buffer.counters().pages_written >= 20);
    log.0.lock().unwrap().take();
}
