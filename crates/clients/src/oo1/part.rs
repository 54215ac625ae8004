//! The values that reach the program's variables.

use crate::error::ClientError;

/// Text of a part's or a connection's type, as it stands in the program: 10 bytes, `part-type3`,
/// padded with zero bytes if an engine gives back less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind(pub [u8; 10]);

impl Kind {
    /// The type of that number, 0 to 9.
    #[inline]
    pub const fn of(number: u8) -> Self {
        let mut text = *b"part-type0";
        text[9] += number;
        Self(text)
    }

    /// From an engine's text; `None` for more than 10 bytes.
    #[inline]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        // The one length that occurs is copied without a call.
        if let Ok(&whole) = <&[u8; 10]>::try_from(text) {
            return Some(Self(whole));
        }
        let mut padded = [0; 10];
        padded.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self(padded))
    }

    /// [`Self::from_text`] for drivers.
    #[inline]
    pub fn read(engine: &'static str, text: &[u8]) -> Result<Self, ClientError> {
        Self::from_text(text).ok_or_else(|| ClientError::Malformed {
            engine,
            what: format!("the type {:?}", String::from_utf8_lossy(text)),
        })
    }

    /// The text as two numbers, for a checksum.
    #[inline]
    pub(crate) fn numbers(self) -> (u64, u16) {
        let (head, tail) = self.0.split_first_chunk().expect("eight of ten bytes");
        let tail = tail.first_chunk().expect("two are left");
        (u64::from_le_bytes(*head), u16::from_le_bytes(*tail))
    }

    /// The text as it is stored.
    #[inline]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0).expect("types are made of ASCII").trim_end_matches('\0')
    }
}

/// A part in program variables: what OO1's look-up and traversal fetch (appendix: id, type, x, y).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// 1..N in load order.
    pub id: u32,
    /// 0..99999.
    pub x: i32,
    /// 0..99999.
    pub y: i32,
    /// Its type.
    pub kind: Kind,
}

/// A connection in program variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The part it leaves.
    pub from: u32,
    /// The part it leads to.
    pub to: u32,
    /// 0..99999.
    pub length: i32,
    /// Its type.
    pub kind: Kind,
}
