//! A budget's bytes as frames of a cache: `memory=cache`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lode::internals::buffer::Frames;
use lode::internals::page::PAGE_BYTES;

use super::return_freed;

/// Frames are borrowed so many at a time, where there are as many, because each time pages have to
/// go: 64 KiB, or a part of what is lent.
const FRAMES_MIN: usize = 16;
const FRAMES_DIVISOR: usize = 128;

/// So much that goes back at once goes back to the system, too: pages are read into other memory
/// than the allocator keeps.
const FREED_FRAMES: usize = (1 << 20) / PAGE_BYTES;

/// Frames that are borrowed, and the bytes in them.
#[derive(Debug)]
pub(super) struct Borrowed {
    frames: Frames,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    frames: usize,
}

impl Borrowed {
    /// Nothing yet.
    pub(super) fn of(frames: Frames) -> Self {
        Self { frames, held: Mutex::default() }
    }

    /// Have frames for so many bytes more.
    pub(super) fn try_take(&self, bytes: u64) -> bool {
        let mut held = self.held();
        let all = held.bytes + bytes;
        let lacking = frames_of(all).saturating_sub(held.frames);
        if lacking > 0 {
            let many = lacking.max(self.at_a_time()).min(self.frames.lendable() - held.frames);
            let borrowed = [many, lacking].into_iter().find(|&frames| self.frames.borrow(frames));
            let Some(frames) = borrowed.filter(|&frames| frames >= lacking) else { return false };
            held.frames += frames;
        }
        held.bytes = all;
        true
    }

    /// Need so many bytes less.
    pub(super) fn give_back(&self, bytes: u64) {
        let mut held = self.held();
        held.bytes -= bytes;
        let spare = held.frames - frames_of(held.bytes);
        // A few stay for who asks next, unless nobody does.
        let kept = if held.bytes == 0 { 0 } else { self.at_a_time() };
        if spare > 2 * kept {
            self.return_frames(&mut held, spare - kept);
        }
    }

    fn return_frames(&self, held: &mut Held, frames: usize) {
        if frames >= FREED_FRAMES {
            return_freed();
        }
        held.frames -= frames;
        self.frames.give_back(frames);
    }

    fn at_a_time(&self) -> usize {
        FRAMES_MIN.max(self.frames.lendable() / FRAMES_DIVISOR)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.frames.give_back(self.held().frames);
    }
}

fn frames_of(bytes: u64) -> usize {
    bytes.div_ceil(PAGE_BYTES as u64) as usize
}
