//! A disk of memory: `disk=memory`, and what a simulated crash leaves behind.

use std::io;
use std::sync::{PoisonError, RwLock};

use crate::disk::contents::Contents;
use crate::disk::{Destination, Disk};

/// Bytes in memory, lost with the program. Nothing is ever unsynced. Zeros that were never
/// written take no room, so [`Disk::set_len`] promises less than a file does.
#[derive(Default)]
pub struct Memory(RwLock<Contents>);

impl Memory {
    /// No bytes.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) const fn of(contents: Contents) -> Self {
        Self(RwLock::new(contents))
    }
}

impl Disk for Memory {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len_bytes())
    }

    fn read_into(&self, offset: u64, into: Destination<'_>) -> io::Result<()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).write(offset, from)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, len_bytes: u64) -> io::Result<()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).set_len(len_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::{behaves_like_a_model, ends_where_it_ends};

    #[test]
    fn behaves_like_bytes_in_memory() {
        let memory = Memory::new();
        behaves_like_a_model(&memory, 1);
        ends_where_it_ends(&memory);
    }
}
