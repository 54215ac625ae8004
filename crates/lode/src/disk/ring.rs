//! Long reads as several shorter ones at once, through `io_uring`, so that the device sees a
//! queue; one after another where the kernel or a container's filter refuses.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use io_uring::{IoUring, opcode, types};

use super::Destination;
use super::file::read_exactly;

/// The unit of which offsets, lengths and buffers are multiples: no disk that Linux drives requests
/// more.
pub const DIRECT_BYTES: usize = 4096;

/// Bytes of one read in the queue. On a cloud machine's disk, reads of this length came to 0.7 of
/// its bandwidth one after another and to all of it in a queue of four; shorter ones cost more
/// calls than the queue won.
const CHUNK_BYTES: usize = 256 * 1024;

/// Reads in the queue at once, and the entries of a ring.
const IN_FLIGHT_MAX: u32 = 16;

/// Rings that no thread uses now. There come to be as many as threads read at once.
pub(super) struct Rings {
    idle: Mutex<Vec<IoUring>>,
    refused: AtomicBool,
}

impl std::fmt::Debug for Rings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Rings").field("refused", &self.refused).finish_non_exhaustive()
    }
}

impl Rings {
    /// No ring before the first long read.
    pub(super) const fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()), refused: AtomicBool::new(false) }
    }

    /// As on a machine without `io_uring`.
    #[cfg(test)]
    pub(super) const fn refused() -> Self {
        Self { idle: Mutex::new(Vec::new()), refused: AtomicBool::new(true) }
    }

    #[cfg(test)]
    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        self.idle.lock().unwrap().len()
    }

    /// Fill `into` from a file opened with `O_DIRECT`. All is aligned.
    pub(super) fn read(
        &self,
        file: &File,
        offset: u64,
        mut into: Destination<'_>,
    ) -> io::Result<()> {
        let mut whole = vec![false; into.len().div_ceil(CHUNK_BYTES)];
        if whole.len() > 1
            && let Some(mut ring) = self.take()
            && read_through(&mut ring, file, offset, into.reborrow(), &mut whole)
        {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(ring);
        }
        // Chunks that the ring has not read whole are read here, so that errors and ends come from
        // one place, and a kernel that does not know io_uring costs time only.
        let starts = (offset..).step_by(CHUNK_BYTES);
        for ((chunk, start), whole) in into.chunks(CHUNK_BYTES).zip(starts).zip(whole) {
            if !whole {
                read_exactly(file, start, chunk, DIRECT_BYTES)?;
            }
        }
        Ok(())
    }

    fn take(&self) -> Option<IoUring> {
        if self.refused.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(ring) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Some(ring);
        }
        let made = IoUring::new(IN_FLIGHT_MAX);
        if made.is_err() {
            // Forbidden, unknown or out of locked memory: not asked again.
            self.refused.store(true, Ordering::Relaxed);
        }
        made.ok()
    }
}

/// Read chunks, marking those that were read `whole`. Answers whether the ring can be used again.
///
/// Does not return, and does not panic, before the kernel has finished with every read that it
/// took: until then it may write into the buffer.
fn read_through(
    ring: &mut IoUring,
    file: &File,
    offset: u64,
    into: Destination<'_>,
    whole: &mut [bool],
) -> bool {
    let fd = types::Fd(file.as_raw_fd());
    let total_bytes = into.len();
    let mut waiting = into.chunks(CHUNK_BYTES).enumerate();
    let mut in_flight = 0;
    loop {
        while in_flight < IN_FLIGHT_MAX
            && let Some((at, mut chunk)) = waiting.next()
        {
            let start = offset + (at * CHUNK_BYTES) as u64;
            let read = opcode::Read::new(fd, chunk.as_mut_ptr(), chunk.len() as u32).offset(start);
            let entry = read.build().user_data(at as u64);
            // SAFETY: the destination is there for longer than this function runs, and it does not
            // return before the read has ended.
            #[expect(unsafe_code, reason = "the kernel is handed an address to write to")]
            let pushed = unsafe { ring.submission().push(&entry) };
            // There is room for it; were there none, the chunk would be read afterwards.
            in_flight += u32::from(pushed.is_ok());
        }
        if in_flight == 0 {
            return true;
        }
        let entered = ring.submit_and_wait(1);
        in_flight -= reap(ring, total_bytes, whole);
        if let Err(error) = entered
            && !passes(&error)
        {
            let not_taken = ring.submission().len() as u32;
            while in_flight > not_taken {
                std::thread::yield_now();
                in_flight -= reap(ring, total_bytes, whole);
            }
            return false;
        }
    }
}

/// Take the reads that have ended, and answer how many they were.
fn reap(ring: &mut IoUring, total_bytes: usize, whole: &mut [bool]) -> u32 {
    let mut count = 0;
    for entry in ring.completion() {
        count += 1;
        let at = entry.user_data() as usize;
        if let Some(whole) = whole.get_mut(at) {
            let expected = (total_bytes - at * CHUNK_BYTES).min(CHUNK_BYTES);
            *whole = usize::try_from(entry.result()) == Ok(expected);
        }
    }
    count
}

/// A signal, or the kernel short of something for now.
fn passes(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, ResourceBusy, WouldBlock};
    matches!(error.kind(), Interrupted | ResourceBusy | WouldBlock)
}
