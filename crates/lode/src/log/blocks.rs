//! Memory as a direct disk wants it: whole blocks at addresses that are multiples of a block.

use std::ops::{Deref, DerefMut};

use crate::page::PAGE_BYTES;

/// The unit in which the log reads and writes, at offsets that are multiples of it.
pub(super) const BLOCK_BYTES: usize = PAGE_BYTES;

/// An aligned piece of memory of fixed length.
pub(super) struct Blocks {
    // Never pushed to: the address, and with it `from`, stays what it is.
    bytes: Vec<u8>,
    from: usize,
    len_bytes: usize,
}

impl Blocks {
    /// That many zeros, in whole blocks.
    pub fn zeroed(len_bytes: usize) -> Self {
        let len_bytes = len_bytes.next_multiple_of(BLOCK_BYTES);
        let bytes = vec![0; len_bytes + BLOCK_BYTES];
        let address = bytes.as_ptr().addr();
        let from = address.next_multiple_of(BLOCK_BYTES) - address;
        Self { bytes, from, len_bytes }
    }
}

impl Deref for Blocks {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.from..self.from + self.len_bytes]
    }
}

impl DerefMut for Blocks {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.len_bytes]
    }
}

/// The block that an offset lies in.
pub(super) const fn block_of(offset: u64) -> u64 {
    offset - offset % BLOCK_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BYTES, Blocks};

    #[test]
    fn memory_is_aligned_whole_and_zero() {
        for len_bytes in [1, BLOCK_BYTES, BLOCK_BYTES + 1, 10 * BLOCK_BYTES] {
            let blocks = Blocks::zeroed(len_bytes);
            assert!(blocks.as_ptr().addr().is_multiple_of(BLOCK_BYTES));
            assert_eq!(blocks.len(), len_bytes.next_multiple_of(BLOCK_BYTES));
            assert!(blocks.iter().all(|&byte| byte == 0));
        }
    }
}
