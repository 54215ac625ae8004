//! The bytes of a file in memory, of which copies are cheap.

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::Destination;
use crate::random::Random;

/// Bytes that copies share until one of them is changed.
const CHUNK_BYTES: usize = 4096;

/// The longest contents: 64 GiB, for which the list of chunks takes 128 MiB. A wild length is
/// refused as a full disk would refuse it, before it takes all memory.
const LEN_BYTES_MAX: u64 = 1 << 36;

#[derive(Clone)]
struct Chunk {
    bytes: [u8; CHUNK_BYTES],
    /// Hash of the bytes, 0 for zeros; taken when somebody asks.
    sum: OnceLock<u64>,
}

impl Chunk {
    fn sum(&self) -> u64 {
        *self.sum.get_or_init(|| if is_zeros(&self.bytes) { 0 } else { xxh3_64(&self.bytes) })
    }
}

/// A sequence of bytes. A copy shares its chunks with the original, and a chunk that is absent is
/// zeros, so thousands of versions of a file that differ little take little room.
#[derive(Clone, Default)]
pub(super) struct Contents {
    len_bytes: u64,
    chunks: Vec<Option<Arc<Chunk>>>,
}

impl Contents {
    pub(super) const fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    pub(super) fn read(&self, offset: u64, mut into: Destination<'_>) -> io::Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        if offset.checked_add(into.len() as u64).is_none_or(|end| end > self.len_bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for piece in pieces(offset, into.len()) {
            let mut into = into.part(piece.from..piece.from + piece.count);
            match self.chunks.get(piece.chunk) {
                Some(Some(chunk)) => {
                    into.put(&chunk.bytes[piece.at..piece.at + piece.count]);
                }
                _ => into.fill(0),
            }
        }
        Ok(())
    }

    pub(super) fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        let end = offset.saturating_add(from.len() as u64);
        if end > self.len_bytes {
            self.set_len(end)?;
        }
        for piece in pieces(offset, from.len()) {
            let from = &from[piece.from..piece.from + piece.count];
            let is_there = matches!(self.chunks.get(piece.chunk), Some(Some(_)));
            if !is_there && is_zeros(from) {
                continue;
            }
            if piece.chunk >= self.chunks.len() {
                self.chunks.resize(piece.chunk + 1, None);
            }
            changed(&mut self.chunks[piece.chunk])[piece.at..piece.at + piece.count]
                .copy_from_slice(from);
        }
        Ok(())
    }

    /// Write a part of a patch, of which `part` is a range. Whole chunks are shared with it.
    pub(super) fn apply(&mut self, patch: &Patch, part: Range<usize>) -> io::Result<()> {
        let start = patch.offset + part.start as u64;
        let end = start + part.len() as u64;
        if !part.is_empty() && end > self.len_bytes {
            self.set_len(end)?;
        }
        for piece in pieces(start, part.len()) {
            let from = &patch.chunks[piece.chunk - patch.first_chunk()];
            let range = piece.at..piece.at + piece.count;
            if piece.chunk >= self.chunks.len() {
                self.chunks.resize(piece.chunk + 1, None);
            }
            let slot = &mut self.chunks[piece.chunk];
            match from {
                _ if piece.count == CHUNK_BYTES => slot.clone_from(from),
                Some(from) => changed(slot)[range.clone()].copy_from_slice(&from.bytes[range]),
                None => changed(slot)[range].fill(0),
            }
        }
        Ok(())
    }

    pub(super) fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        if len_bytes > LEN_BYTES_MAX {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.chunks.truncate(len_bytes.div_ceil(CHUNK_BYTES as u64) as usize);
        // Bytes that are cut must not come back when the file grows again.
        let last = (len_bytes / CHUNK_BYTES as u64) as usize;
        let retained_bytes = (len_bytes % CHUNK_BYTES as u64) as usize;
        if let Some(slot) = self.chunks.get_mut(last)
            && slot.is_some()
            && len_bytes < self.len_bytes
        {
            changed(slot)[retained_bytes..].fill(0);
        }
        self.len_bytes = len_bytes;
        Ok(())
    }

    /// A hash of the length and of every byte: equal for equal contents, and, but for a chance of
    /// about 2^-64, only for them.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut all = mixed(self.len_bytes ^ 0x6c6f_6465);
        for (at, chunk) in (1_u64..).zip(&self.chunks) {
            // Zeros that were written and zeros that were not are the same bytes.
            let sum = chunk.as_ref().map_or(0, |chunk| chunk.sum());
            if sum != 0 {
                all = all.wrapping_add(mixed(sum ^ mixed(at)));
            }
        }
        all
    }
}

/// Bytes and their place in a file, cut into the chunks of [`Contents`], so that a thousand images
/// with this write in them hold it once and hash it once.
#[derive(Clone)]
pub(super) struct Patch {
    offset: u64,
    count: usize,
    chunks: Arc<[Option<Arc<Chunk>>]>,
}

impl Patch {
    pub(super) fn new(offset: u64, bytes: &[u8]) -> Self {
        let chunk = |piece: Piece| {
            let bytes = &bytes[piece.from..piece.from + piece.count];
            let mut slot = None;
            if !is_zeros(bytes) {
                changed(&mut slot)[piece.at..piece.at + piece.count].copy_from_slice(bytes);
            }
            slot
        };
        let chunks = pieces(offset, bytes.len()).map(chunk).collect();
        Self { offset, count: bytes.len(), chunks }
    }

    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of bytes that it has.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    fn first_chunk(&self) -> usize {
        (self.offset / CHUNK_BYTES as u64) as usize
    }
}

/// The bytes of a chunk, to be changed: made if it is absent, copied if it is shared.
fn changed(slot: &mut Option<Arc<Chunk>>) -> &mut [u8; CHUNK_BYTES] {
    let absent = || Arc::new(Chunk { bytes: [0; CHUNK_BYTES], sum: OnceLock::new() });
    let chunk = Arc::make_mut(slot.get_or_insert_with(absent));
    chunk.sum.take();
    &mut chunk.bytes
}

/// Whether a part of a chunk is all zeros, by one comparison: this runs for every chunk of every
/// image, also where nothing is optimized.
fn is_zeros(bytes: &[u8]) -> bool {
    *bytes == [0; CHUNK_BYTES][..bytes.len()]
}

const fn mixed(number: u64) -> u64 {
    Random::new(number).next()
}

/// The part of a range of bytes that lies in one chunk.
struct Piece {
    chunk: usize,
    /// The place where it begins in the chunk.
    at: usize,
    /// The place where it begins in the range.
    from: usize,
    count: usize,
}

fn pieces(offset: u64, count: usize) -> impl Iterator<Item = Piece> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let here = offset + from as u64;
        let at = (here % CHUNK_BYTES as u64) as usize;
        let chunk = (here / CHUNK_BYTES as u64) as usize;
        let piece = Piece { chunk, at, from, count: (CHUNK_BYTES - at).min(count - from) };
        from += piece.count;
        (piece.count > 0).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_does_not_see_what_the_original_becomes() {
        let mut one = Contents::default();
        one.write(4090, b"0123456789").unwrap();
        let two = one.clone();
        one.write(4094, b"xxxx").unwrap();
        let mut bytes = [0; 10];
        two.read(4090, (&mut bytes[..]).into()).unwrap();
        assert_eq!(&bytes, b"0123456789");
        one.read(4090, (&mut bytes[..]).into()).unwrap();
        assert_eq!(&bytes, b"0123xxxx89");
    }

    #[test]
    fn fingerprints_differ_exactly_where_contents_do() {
        let mut one = Contents::default();
        one.set_len(20_000).unwrap();
        let empty = one.fingerprint();
        one.write(9_999, &[1]).unwrap();
        let written = one.fingerprint();
        assert_ne!(empty, written);
        one.write(5_903, &[1]).unwrap();
        let twice = one.fingerprint();
        assert_ne!(twice, written);
        one.write(9_999, &[0]).unwrap();
        // The same chunk at another place.
        assert_ne!(one.fingerprint(), written);
        one.write(5_903, &[0]).unwrap();
        assert_eq!(one.fingerprint(), empty);
        one.set_len(20_001).unwrap();
        assert_ne!(one.fingerprint(), empty);
    }

    #[test]
    fn a_patch_writes_what_a_write_writes() {
        const SEED: u64 = 77;
        let mut random = Random::new(SEED);
        let (mut written, mut patched) = (Contents::default(), Contents::default());
        for step in 0..200 {
            // Near the edges of chunks, where a part is nearly a whole one.
            let offset = (random.below(8) * CHUNK_BYTES + random.below(3)) as u64;
            let fill = random.below(3) as u8;
            let bytes = vec![fill; random.below(3) * CHUNK_BYTES + random.below(3)];
            let from = random.below(3).min(bytes.len());
            let to = bytes.len().saturating_sub(random.below(3)).max(from);
            written.write(offset + from as u64, &bytes[from..to]).unwrap();
            patched.apply(&Patch::new(offset, &bytes), from..to).unwrap();
            let same = written.fingerprint() == patched.fingerprint();
            assert!(same, "seed {SEED} step {step}");
        }
    }

    #[test]
    fn lengths_that_no_memory_has_are_refused() {
        let mut contents = Contents::default();
        contents.write(u64::MAX, &[1]).unwrap_err();
        contents.write(u64::MAX - 1, &[1]).unwrap_err();
        contents.set_len(u64::MAX).unwrap_err();
        contents.apply(&Patch::new(1 << 50, &[1]), 0..1).unwrap_err();
        contents.read(u64::MAX, (&mut [0][..]).into()).unwrap_err();
        assert_eq!(contents.len_bytes(), 0);
    }
}
