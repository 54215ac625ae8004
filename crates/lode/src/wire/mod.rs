//! The messages of a page server and its clients; `docs/reference/lode-format.md` draws it.
//!
//! A frame is a length, a kind, a checksum and what the kind says. Whatever bytes come, decoding
//! answers a frame or that it is none, and takes memory for what came and not for what it claims.

mod address;
mod bytes;
mod link;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use xxhash_rust::xxh3::xxh3_64;

pub(crate) use address::unreached;
pub use address::{Address, Listener, Stream};
pub use link::Link;
pub use reply::{Refusal, Reply, Stale, Welcome};
pub use request::{Access, Change, Hello, Lock, Request};

/// The language that this program speaks. The frame's head, the hello and the refusal are the same
/// in all.
pub const VERSION: u32 = 2;

/// The longest frame: 64 pages, or the numbers of 65,536, with room to spare.
pub const FRAME_BYTES_MAX: usize = 512 * 1024;

/// A frame's head.
pub const HEAD_BYTES: usize = 16;

/// Pages that can be fetched at once: the largest extent.
pub const FETCH_PAGES_MAX: u32 = 64;

const MAGIC: &[u8; 8] = b"LODEWIRE";

/// Offsets of the fields that every frame begins with.
mod offset {
    pub(super) const CHECKSUM: usize = 0;
    pub(super) const LENGTH: usize = 8;
    pub(super) const KIND: usize = 12;
}

const _: () = assert!(offset::LENGTH == offset::CHECKSUM + size_of::<u64>());
const _: () = assert!(offset::KIND == offset::LENGTH + size_of::<u32>());
const _: () = assert!(HEAD_BYTES == offset::KIND + size_of::<u32>());
const _: () = assert!(FETCH_PAGES_MAX as usize * crate::page::PAGE_BYTES * 2 <= FRAME_BYTES_MAX);

/// The length of the frame that begins with these bytes, if there can be such a frame. `head` has
/// at least [`HEAD_BYTES`].
pub fn frame_bytes(head: &[u8]) -> Option<usize> {
    let field = head.get(offset::LENGTH..)?.first_chunk()?;
    let length = u32::from_le_bytes(*field) as usize;
    (HEAD_BYTES..=FRAME_BYTES_MAX).contains(&length).then_some(length)
}

/// The kind of a whole frame and what it says, if its checksum fits.
pub fn open_frame(frame: &[u8]) -> Option<(u8, &[u8])> {
    if frame_bytes(frame)? != frame.len() {
        return None;
    }
    let sum = u64::from_le_bytes(*frame.first_chunk()?);
    let (&[kind, zeros @ ..], content) = frame[offset::KIND..].split_first_chunk::<4>()?;
    if zeros != [0; 3] {
        return None;
    }
    (sum == xxh3_64(&frame[offset::LENGTH..])).then_some((kind, content))
}

/// Whether these bytes begin as a client's first words to a page server do, in any release.
pub fn is_hello(begun: &[u8]) -> bool {
    begun.get(HEAD_BYTES..).is_some_and(|content| content.starts_with(MAGIC))
}

/// The request in a whole frame, or `None` for anything else.
pub fn decode_request(frame: &[u8]) -> Option<Request> {
    let (kind, content) = open_frame(frame)?;
    Request::decode(kind, content)
}

/// The reply in a whole frame, or `None` for anything else.
pub fn decode_reply(frame: &[u8]) -> Option<Reply> {
    let (kind, content) = open_frame(frame)?;
    Reply::decode(kind, content)
}

/// Make a frame in place of what `into` holds.
fn frame(into: &mut Vec<u8>, kind: u8, content: impl FnOnce(&mut Vec<u8>)) {
    into.clear();
    into.resize(HEAD_BYTES, 0);
    content(into);
    assert!(into.len() <= FRAME_BYTES_MAX, "nobody says so much at once");
    let length = into.len() as u32;
    into[offset::LENGTH..][..4].copy_from_slice(&length.to_le_bytes());
    into[offset::KIND] = kind;
    let sum = xxh3_64(&into[offset::LENGTH..]);
    into[offset::CHECKSUM..][..8].copy_from_slice(&sum.to_le_bytes());
}
