//! Sequential readers, and what should be brought before it is requested.
//!
//! A miss where an earlier run of pages ended goes on with a *stream*: it brings twice as much as
//! the one before, up to 512 KiB. Where there is a prefetcher ([`super::Prefetcher`]), a stream
//! that has gone on for a while is kept ahead of: windows wait in a queue, and its threads bring
//! them while the reader is busy with what is there, so that the disk has several requests at any
//! time. The reader shows where it is by reading the first page of an extent, which it does the
//! slow way while nobody has used it since it came.
//!
//! A program that follows references knows where they lead before it goes there, though no stream
//! shows it: the extents of pages that it names wait in the same queue.
//!
//! Pages read in vain, where a file or a scan ends, are some windows; pages read too early are a
//! part of the cache that [`WINDOW_DIVISOR`] bounds.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::page::{PAGE_BYTES, PageNumber};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// The longest run that is read as one: 512 KiB. On a cloud machine's disk, four threads with these
/// came to nine tenths of its bandwidth, with runs twice or half as long to eight.
const WINDOW_PAGES_MAX: usize = (512 << 10) / PAGE_BYTES;

/// A window takes at most this part of the cache, and all that one stream has ahead
/// [`WINDOWS_AHEAD`] times as much.
const WINDOW_DIVISOR: usize = 32;

/// Windows between the reader and where its stream ends.
const WINDOWS_AHEAD: PageNumber = 6;

/// A stream is kept ahead of when its windows have become so many extents: two misses in
/// neighbouring extents may be chance.
const EXTENTS_CERTAIN: PageNumber = 4;

/// Readers that are distinguished.
const STREAMS_MAX: usize = 4;

/// So many misses behind the last run that was named, no stream begins: who names runs meets
/// neighbouring extents by chance, and to read on there brought OO7's documents in vain, a third of
/// all pages. As many as the misses of a traversal between two graphs, with room to spare.
const MISSES_OF_NAMER: u32 = 16;

/// Consecutive pages.
pub(super) type Run = Range<PageNumber>;

/// The streams of a buffer, and what its prefetcher has to do.
pub(super) struct ReadAhead {
    /// The least that a miss brings.
    extent_pages: PageNumber,
    /// 0: the cache is so small that streams are not noticed.
    window_pages_max: PageNumber,
    has_prefetcher: AtomicBool,
    work: Mutex<Work>,
    wanted: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct Work {
    /// The one that went on last comes first.
    streams: VecDeque<Stream>,
    queue: VecDeque<Run>,
    /// The runs that the prefetcher's threads read now.
    under_way: Vec<Run>,
    /// Misses that still count as those of a reader that names what it will read.
    misses_of_namer: u32,
    ended: bool,
}

/// A reader, as far as one can determine.
struct Stream {
    /// Everything before has been read or is in the queue.
    end: PageNumber,
    window_pages: PageNumber,
}

impl ReadAhead {
    /// Nobody reads yet. A run of `extent_pages`, at least 1, has to fit the cache.
    pub(super) fn new(extent_pages: PageNumber, cache_pages: usize) -> Self {
        let window_pages = (cache_pages / WINDOW_DIVISOR).min(WINDOW_PAGES_MAX) as PageNumber;
        let is_on = extent_pages > 1;
        Self {
            extent_pages,
            window_pages_max: if is_on { window_pages / extent_pages * extent_pages } else { 0 },
            has_prefetcher: AtomicBool::new(false),
            work: Mutex::default(),
            wanted: Condvar::new(),
            done: Condvar::new(),
        }
    }

    /// Whether streams are noticed at all.
    pub(super) const fn is_on(&self) -> bool {
        self.window_pages_max > 0
    }

    /// A page has to be read: what should be read together with it.
    pub(super) fn run_around(&self, page: PageNumber, pages_total: PageNumber) -> Run {
        let first = page / self.extent_pages * self.extent_pages;
        let end = first.saturating_add(self.extent_pages).min(pages_total);
        if !self.is_on() {
            return first..end;
        }
        let mut work = self.lock();
        if let Some(at) = work.queue.iter().position(|run| run.contains(&page)) {
            // No thread was free so far.
            return work.queue.remove(at).expect("it was found there");
        }
        let is_named = work.misses_of_namer > 0;
        work.misses_of_namer = work.misses_of_namer.saturating_sub(1);
        let goes_on = |stream: &Stream| {
            stream.end == first && (!is_named || stream.window_pages >= self.certain_pages())
        };
        let known = work.streams.iter().position(goes_on);
        if known.is_none() && is_named {
            return first..end;
        }
        let Some(mut stream) = known.and_then(|at| work.streams.remove(at)) else {
            work.streams.truncate(STREAMS_MAX - 1);
            work.streams.push_front(Stream { end, window_pages: self.extent_pages });
            return first..end;
        };
        let run = self.following(&mut stream, pages_total);
        self.keep_ahead(&mut work, &mut stream, page, pages_total);
        work.streams.push_front(stream);
        run
    }

    /// Whether reading this page shows where the reader is.
    #[inline]
    pub(super) fn is_milestone(&self, page: PageNumber) -> bool {
        page.is_multiple_of(self.extent_pages) && self.has_prefetcher.load(Ordering::Relaxed)
    }

    /// A reader has come to that page, which was there.
    pub(super) fn passed(&self, page: PageNumber, pages_total: PageNumber) {
        let mut work = self.lock();
        if work.misses_of_namer > 0 {
            // Who named the page, most likely: a stream whose end is near would be driven on by
            // chance, through the whole volume.
            return;
        }
        let is_near = |stream: &Stream| {
            let ahead = stream.end.checked_sub(page);
            ahead.is_some_and(|ahead| (1..=WINDOWS_AHEAD * stream.window_pages).contains(&ahead))
        };
        let near = work.streams.iter().position(is_near);
        if let Some(mut stream) = near.and_then(|at| work.streams.remove(at)) {
            self.keep_ahead(&mut work, &mut stream, page, pages_total);
            work.streams.push_front(stream);
        }
    }

    /// Put into the queue what the reader at `page` should not have to wait for.
    fn keep_ahead(
        &self,
        work: &mut Work,
        stream: &mut Stream,
        page: PageNumber,
        pages_total: PageNumber,
    ) {
        if stream.window_pages < self.certain_pages()
            || !self.has_prefetcher.load(Ordering::Relaxed)
        {
            return;
        }
        while stream.end < pages_total
            && stream.end.saturating_sub(page) <= (WINDOWS_AHEAD - 1) * stream.window_pages
        {
            let run = self.following(stream, pages_total);
            work.queue.push_back(run);
            self.wanted.notify_one();
        }
    }

    /// The window of a stream that is no chance any more.
    fn certain_pages(&self) -> PageNumber {
        (EXTENTS_CERTAIN * self.extent_pages).min(self.window_pages_max)
    }

    /// The next window of a stream, twice as long as the last.
    fn following(&self, stream: &mut Stream, pages_total: PageNumber) -> Run {
        stream.window_pages = (2 * stream.window_pages).min(self.window_pages_max);
        let first = stream.end;
        stream.end = first.saturating_add(stream.window_pages).min(pages_total);
        first..stream.end
    }

    /// A page will be read soon, of which nothing is in memory: its extent is brought meanwhile, as
    /// far as there is somebody to bring it and the cache has room for what waits.
    pub(super) fn expect(&self, page: PageNumber, pages_total: PageNumber) {
        if !self.has_prefetcher.load(Ordering::Relaxed) {
            return;
        }
        let first = page / self.extent_pages * self.extent_pages;
        let run = first..first.saturating_add(self.extent_pages).min(pages_total);
        let mut work = self.lock();
        let is_known = work.queue.iter().chain(&work.under_way).any(|run| run.contains(&page));
        let waiting: usize = work.queue.iter().map(Run::len).sum();
        if !is_known && waiting + run.len() <= (WINDOWS_AHEAD * self.window_pages_max) as usize {
            work.queue.push_back(run);
            work.misses_of_namer = MISSES_OF_NAMER;
            self.wanted.notify_one();
        }
    }

    /// There is a prefetcher from now on.
    pub(super) fn begin(&self) {
        self.has_prefetcher.store(true, Ordering::Relaxed);
    }

    /// Wait for something to do; `None` when there will be nothing more.
    pub(super) fn next(&self) -> Option<Task<'_>> {
        let mut work = self.lock();
        while !work.ended {
            if let Some(run) = work.queue.pop_front() {
                work.under_way.push(run.clone());
                return Some(Task { run, read_ahead: self });
            }
            work = self.wanted.wait(work).expect(UNPOISONED);
        }
        None
    }

    /// Forget all streams, and return when nothing is on its way.
    pub(super) fn rest(&self) {
        if !self.is_on() {
            return;
        }
        let mut work = self.lock();
        work.streams.clear();
        work.queue.clear();
        work.misses_of_namer = 0;
        while !work.under_way.is_empty() {
            work = self.done.wait(work).expect(UNPOISONED);
        }
    }

    /// End the prefetcher's threads.
    pub(super) fn end(&self) {
        self.has_prefetcher.store(false, Ordering::Relaxed);
        self.lock().ended = true;
        self.wanted.notify_all();
    }

    /// Return when the prefetcher has done all there was to do.
    #[cfg(test)]
    pub(super) fn wait_until_idle(&self) {
        let mut work = self.lock();
        while !work.queue.is_empty() || !work.under_way.is_empty() {
            work = self.done.wait(work).expect(UNPOISONED);
        }
    }

    /// The number of runs that nobody brings so far.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().queue.len()
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().expect(UNPOISONED)
    }
}

/// A run that a thread of the prefetcher brings; over when it is dropped.
pub(super) struct Task<'a> {
    pub(super) run: Run,
    read_ahead: &'a ReadAhead,
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        self.read_ahead.lock().under_way.retain(|run| *run != self.run);
        self.read_ahead.done.notify_all();
    }
}

const UNPOISONED: &str = "nothing panics under this lock";
