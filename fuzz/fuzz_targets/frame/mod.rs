//! Frames of the page server's wire out of any bytes.

use lode::internals::page::PAGE_BYTES;
use lode::internals::wire::{FRAME_BYTES_MAX, HEAD_BYTES};
use xxhash_rust::xxh3::xxh3_64;

/// Of a frame's head; the checksum stands before the length.
const LENGTH_AT: usize = 8;
const KIND_AT: usize = 12;

/// Pages at a content's end, of which one and several are different to a decoder.
const PAGES_MAX: usize = 3;

/// A frame under a checksum that fits. The bytes say its kind, how many pages of zeros its content
/// ends with (so many bytes no fuzzer finds), and the content before these.
pub fn around(bytes: &[u8]) -> Option<Vec<u8>> {
    let (&[kind, pages], content) = bytes.split_first_chunk()?;
    let mut frame = vec![0; HEAD_BYTES];
    frame.extend_from_slice(content);
    let pages = usize::from(pages) % (PAGES_MAX + 1);
    frame.resize(frame.len() + pages * PAGE_BYTES, 0);
    if frame.len() > FRAME_BYTES_MAX {
        return None;
    }
    let length = frame.len() as u32;
    frame[LENGTH_AT..KIND_AT].copy_from_slice(&length.to_le_bytes());
    frame[KIND_AT] = kind;
    let sum = xxh3_64(&frame[LENGTH_AT..]);
    frame[..LENGTH_AT].copy_from_slice(&sum.to_le_bytes());
    Some(frame)
}
