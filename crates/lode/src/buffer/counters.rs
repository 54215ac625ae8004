//! The counters of the buffer.

use std::sync::atomic::{AtomicU64, Ordering};

/// Events since the buffer was made. Hits are not among them: reading a page in memory writes
/// nothing anywhere, and a counter would cost more than the read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Times that a page was requested and had to be read from disk.
    pub misses: u64,
    /// Calls of the disk's read.
    pub reads: u64,
    /// Pages that these requested.
    pub pages_read: u64,
    /// Pages of them that came without being requested and were whole.
    pub pages_read_ahead: u64,
    /// Calls of the disk's write.
    pub writes: u64,
    /// Pages that these wrote.
    pub pages_written: u64,
    /// Times that dirty pages were written together, each after one [`super::WriteBack`].
    pub batches: u64,
    /// Pages dropped from memory.
    pub evictions: u64,
    /// Calls of the system that gave it their memory back.
    pub drops: u64,
    /// Times that someone had to wait for a page that another had latched or pinned, or for room
    /// while all pages were.
    pub latch_waits: u64,
    /// Times that someone looked again, because the page had changed or gone meanwhile.
    pub retries: u64,
    /// Records that walks have asked the processor for: [`super::Buffer::prefetch`].
    pub prefetches: u64,
    /// Now in memory, as the cap counts them.
    pub pages_resident: u64,
    /// The most that may be, with those that are lent.
    pub pages_resident_max: u64,
    /// Frames that are lent now: `memory=cache`, `shadows=cache`.
    pub pages_lent: u64,
    /// The most that were lent at a time.
    pub pages_lent_max: u64,
    /// Pages whose memory the kernel is asked for in huge pieces now: `hugepages`.
    pub pages_huge: u64,
}

/// The counters while they count.
#[derive(Default)]
pub(super) struct Events {
    pub(super) misses: Event,
    pub(super) reads: Event,
    pub(super) pages_read: Event,
    pub(super) pages_read_ahead: Event,
    pub(super) writes: Event,
    pub(super) pages_written: Event,
    pub(super) batches: Event,
    pub(super) evictions: Event,
    pub(super) drops: Event,
    pub(super) latch_waits: Event,
    pub(super) retries: Event,
    pub(super) prefetches: Event,
}

#[derive(Default)]
pub(super) struct Event(AtomicU64);

impl Event {
    pub(super) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Events {
    pub(super) fn so_far(&self) -> Counters {
        Counters {
            misses: self.misses.so_far(),
            reads: self.reads.so_far(),
            pages_read: self.pages_read.so_far(),
            pages_read_ahead: self.pages_read_ahead.so_far(),
            writes: self.writes.so_far(),
            pages_written: self.pages_written.so_far(),
            batches: self.batches.so_far(),
            evictions: self.evictions.so_far(),
            drops: self.drops.so_far(),
            latch_waits: self.latch_waits.so_far(),
            retries: self.retries.so_far(),
            prefetches: self.prefetches.so_far(),
            pages_resident: 0,
            pages_resident_max: 0,
            pages_lent: 0,
            pages_lent_max: 0,
            pages_huge: 0,
        }
    }
}
