//! Touching memory before it is needed: a hypervisor takes idle memory back, and the first touch
//! afterwards costs three to fifty times what it costs while the hypervisor still backs the page.

use std::hint::black_box;

use crate::clock;

const CHUNK_BYTES: usize = 64 << 20;

/// Why memory was not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// More than the machine can give without swapping or killing somebody.
    #[error("{asked_bytes} bytes requested but {available_bytes} available: request less")]
    TooMuch {
        /// The memory requested.
        asked_bytes: usize,
        /// `MemAvailable`.
        available_bytes: usize,
    },
    /// The allocator refused.
    #[error("{0} bytes could not be allocated: request less, or raise the limit (ulimit -v)")]
    Refused(usize),
}

/// Allocate `size_bytes`, write to every page, free it all; returns the ns it took.
pub fn pretouch(size_bytes: usize) -> Result<u64, MemoryError> {
    // The kernel promises more than it has and kills processes when called on it: ask first.
    if let Some(available_bytes) = available_bytes()
        && size_bytes > available_bytes
    {
        return Err(MemoryError::TooMuch { asked_bytes: size_bytes, available_bytes });
    }
    let start = clock::now_ns();
    let page = rustix::param::page_size();
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut left = size_bytes;
    while left > 0 {
        let bytes = left.min(CHUNK_BYTES);
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(bytes).map_err(|_| MemoryError::Refused(size_bytes))?;
        // The spare room is memory that the kernel has not given yet: one byte a page makes it.
        for byte in chunk.spare_capacity_mut().iter_mut().step_by(page) {
            byte.write(1);
        }
        black_box(chunk.as_ptr());
        held.push(chunk);
        left -= bytes;
    }
    drop(black_box(held));
    Ok(clock::now_ns() - start)
}

fn available_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
