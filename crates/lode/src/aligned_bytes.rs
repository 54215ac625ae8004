//! Memory as direct disks want it, of any length.

use crate::page::PAGE_BYTES;

/// Bytes that begin at a multiple of [`PAGE_BYTES`]; zeros at first.
pub struct AlignedBytes {
    bytes: Vec<u8>,
    at: usize,
    count: usize,
}

impl AlignedBytes {
    /// So many zeros.
    pub fn new(count: usize) -> Self {
        let bytes = vec![0; count + PAGE_BYTES];
        let at = bytes.as_ptr().align_offset(PAGE_BYTES);
        Self { bytes, at, count }
    }

    /// All of them.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.at..self.at + self.count]
    }
}
