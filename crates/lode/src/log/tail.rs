//! The end of the log, in memory: records that have not been handed to the disk.

use std::mem;

use super::Lsn;
use super::blocks::{BLOCK_BYTES, Blocks};

/// Two pieces of memory that change places: appends go to the one while the other is written.
pub(super) struct Tail {
    active: Blocks,
    // None while a thread writes it.
    spare: Option<Blocks>,
    // The position of the first byte of `active`: it begins a block of the file.
    start: Lsn,
    end: Lsn,
}

/// The blocks to be written: whole blocks, the last filled with zeros.
pub(super) struct Piece {
    pub blocks: Blocks,
    pub start: Lsn,
    pub len_bytes: usize,
}

impl Tail {
    /// An empty tail at a position that begins a block.
    pub fn new(bytes_max: usize, start: Lsn) -> Self {
        let spare = Some(Blocks::zeroed(bytes_max));
        Self { active: Blocks::zeroed(bytes_max), spare, start, end: start }
    }

    /// Go on behind what lies in the file: the bytes of the block that the log ends in.
    pub fn begin_with(&mut self, block: &[u8]) {
        self.active[..block.len()].copy_from_slice(block);
        self.end = Lsn(self.start.0 + block.len() as u64);
    }

    /// Drop everything, and go on at a position that begins a block.
    pub const fn reset(&mut self, start: Lsn) {
        self.start = start;
        self.end = start;
    }

    /// The position of the next record.
    pub const fn end(&self) -> Lsn {
        self.end
    }

    pub fn fits(&self, len_bytes: usize) -> bool {
        self.used_bytes() + len_bytes <= self.active.len()
    }

    /// Room for the next record, which fits.
    pub fn push(&mut self, len_bytes: usize) -> &mut [u8] {
        let at = self.used_bytes();
        self.end.0 += len_bytes as u64;
        &mut self.active[at..at + len_bytes]
    }

    /// The bytes from a record on, if it is here.
    pub fn bytes_from(&self, lsn: Lsn) -> Option<&[u8]> {
        let at = lsn.0.checked_sub(self.start.0)? as usize;
        self.active[..self.used_bytes()].get(at..)
    }

    /// Take everything before a record's end to be written; what follows, and the block that the
    /// end lies in, stays. Only one piece may be out.
    pub fn take(&mut self, end: Lsn) -> Piece {
        let cut = (end.0 - self.start.0) as usize;
        let retained_from = cut - cut % BLOCK_BYTES;
        let used = self.used_bytes();
        let mut next = self.spare.take().expect("one thread writes at a time and gives back");
        next[..used - retained_from].copy_from_slice(&self.active[retained_from..used]);
        let mut blocks = mem::replace(&mut self.active, next);
        let len_bytes = cut.next_multiple_of(BLOCK_BYTES);
        blocks[cut..len_bytes].fill(0);
        let piece = Piece { blocks, start: self.start, len_bytes };
        self.start.0 += retained_from as u64;
        piece
    }

    /// The piece has been written.
    pub fn give_back(&mut self, piece: Piece) {
        self.spare = Some(piece.blocks);
    }

    const fn used_bytes(&self) -> usize {
        (self.end.0 - self.start.0) as usize
    }
}
