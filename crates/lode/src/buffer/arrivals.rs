//! Threads that wait for a page that another thread reads from disk.
//!
//! A page is latched for a change, or to be evicted, for less than a microsecond: who meets that
//! spins. A read takes as long as the device does, and spinning for so long takes a processor from
//! those who have work; so who meets a read sleeps until it has ended, well or badly.

use std::array;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use super::OwnLine;
use crate::page::PageNumber;
use crate::sync::{Condvar, Mutex};

/// Pages share a place to sleep with every so-many-th other one.
const PLACES: usize = 16;

/// The places where threads sleep.
pub(super) struct Arrivals([OwnLine<Place>; PLACES]);

#[derive(Default)]
struct Place {
    waiting: AtomicUsize,
    lock: Mutex<()>,
    ended: Condvar,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self(array::from_fn(|_| OwnLine(Place::default())))
    }

    /// Return when the page is no longer on its way, which [`Self::wake`] must follow.
    pub(super) fn wait(&self, page: PageNumber, is_coming: impl Fn() -> bool) {
        let place = self.place(page);
        place.waiting.fetch_add(1, Ordering::Relaxed);
        // Either this thread sees that the read has ended, or who ends it sees that somebody waits.
        fence(Ordering::SeqCst);
        let mut guard = place.lock.lock().expect(UNPOISONED);
        while is_coming() {
            guard = place.ended.wait(guard).expect(UNPOISONED);
        }
        drop(guard);
        place.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// The read of a page has ended, as its state word has it already.
    pub(super) fn wake(&self, page: PageNumber) {
        fence(Ordering::SeqCst);
        let place = self.place(page);
        if place.waiting.load(Ordering::Relaxed) > 0 {
            // Who has seen that the page is coming sleeps before this lock is to be had.
            drop(place.lock.lock().expect(UNPOISONED));
            place.ended.notify_all();
        }
    }

    /// The number of threads that wait for that page, or for another of its place.
    #[cfg(test)]
    pub(super) fn waiting(&self, page: PageNumber) -> usize {
        self.place(page).waiting.load(Ordering::Relaxed)
    }

    fn place(&self, page: PageNumber) -> &Place {
        &self.0[page as usize % PLACES].0
    }
}

const UNPOISONED: &str = "nothing panics under this lock";
