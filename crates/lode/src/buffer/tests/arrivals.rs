//! A thread that wants a page which another reads from disk sleeps until that read has ended.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::{Call, TestDisk, buffer, options, word};
use crate::buffer::Buffer;
use crate::error::{LodeError, Result};
use crate::page::PageNumber;
use crate::tactics::Replacement;

const WANTED: PageNumber = 7;
/// Beyond it a thread that should sleep does not.
const PATIENCE: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "a deadline for what does not come measures nothing")]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::yield_now();
    }
}

/// The results of reading the page, latching it and peeking at it while another thread's read does
/// not end; and of that one.
fn want_together(disk: &Arc<TestDisk>, buffer: &Buffer) -> [Result<()>; 4] {
    let read = || buffer.read(WANTED, |_| ());
    let latch = || buffer.latch(WANTED).map(drop);
    let peek = || {
        buffer.peek(WANTED, |_| ());
        Ok(())
    };
    // No read ends until this is dropped.
    let blocked = disk.bytes.lock().unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(read);
        let is_read = || disk.calls.lock().unwrap().contains(&Call::Read(WANTED, 1));
        wait_until("the page is not read", is_read);
        let others = [scope.spawn(read), scope.spawn(latch), scope.spawn(peek)];
        let all_sleep = || buffer.arrivals.waiting(WANTED) == others.len();
        wait_until("some thread does not sleep", all_sleep);
        drop(blocked);
        let [read, latch, peek] = others;
        [first, read, latch, peek].map(|thread| thread.join().unwrap())
    })
}

#[test]
fn those_who_want_a_page_that_is_coming_sleep_and_get_it() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    for outcome in want_together(&disk, &buffer) {
        outcome.unwrap();
    }
    assert_eq!(word(&buffer, WANTED), 7);
    assert_eq!(disk.called(), [Call::Read(WANTED, 1)], "one read is for all");
    assert_eq!(buffer.arrivals.waiting(WANTED), 0);
}

#[test]
fn those_who_sleep_are_woken_by_a_read_that_fails() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    disk.damage(WANTED);
    let [first, read, latch, peek] = want_together(&disk, &buffer);
    for failed in [first, read, latch] {
        assert!(matches!(failed, Err(LodeError::Corrupt { .. })), "each has read it itself");
    }
    peek.unwrap();
    assert_eq!(buffer.arrivals.waiting(WANTED), 0);
    disk.damage(WANTED);
    assert_eq!(word(&buffer, WANTED), 7);
}
