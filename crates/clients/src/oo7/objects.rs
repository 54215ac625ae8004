//! The values that reach the program's variables.

use loadstone_datasets::oo7::database::{self, Database, Draws};

use crate::error::ClientError;

/// Text of an object's type: `type003`, padded with zero bytes to the ten that the schema has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind(pub [u8; 10]);

impl Kind {
    /// The type of that number, 0 to 9.
    #[inline]
    pub const fn of(number: u8) -> Self {
        let mut text = *b"type000\0\0\0";
        text[6] += number;
        Self(text)
    }

    /// From an engine's text.
    #[inline]
    pub fn read(engine: &'static str, text: &[u8]) -> Result<Self, ClientError> {
        let mut padded = [0; 10];
        let Some(place) = padded.get_mut(..text.len()) else {
            let what = format!("the type {:?}", String::from_utf8_lossy(text));
            return Err(ClientError::Malformed { engine, what });
        };
        place.copy_from_slice(text);
        Ok(Self(padded))
    }

    /// The text as it is stored.
    #[inline]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0).expect("types are made of ASCII").trim_end_matches('\0')
    }

    /// The text as two numbers, for a checksum.
    #[inline]
    pub(super) fn numbers(self) -> (u64, u16) {
        let (head, tail) = self.0.split_first_chunk().expect("eight of ten bytes");
        let tail = tail.first_chunk().expect("two are left");
        (u64::from_le_bytes(*head), u16::from_le_bytes(*tail))
    }
}

/// The attributes that every design object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// From 1, one count for each class.
    pub id: u32,
    /// Its type.
    pub kind: Kind,
    /// Days.
    pub build_date: i32,
}

/// An assembly's own attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assembly {
    /// Its id counts assemblies of its class.
    pub object: Object,
    /// Whether its class is that of base assemblies.
    pub is_base: bool,
}

/// An atomic part's own attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Id, type and date.
    pub object: Object,
    /// 0 … 99,999.
    pub x: i32,
    /// 0 … 99,999.
    pub y: i32,
    /// A document's id, by which query 8 joins.
    pub document: u32,
}

impl Object {
    /// As generated.
    pub const fn of(object: &database::Object) -> Self {
        let database::Object { id, kind, build_date } = *object;
        Self { id, kind: Kind::of(kind), build_date }
    }
}

impl Part {
    /// As generated.
    pub const fn of(part: &database::Part) -> Self {
        let database::Part { object, x, y, document, .. } = *part;
        Self { object: Object::of(&object), x, y, document }
    }

    /// As generated, by its id.
    pub fn generated(database: &Database, draws: &mut Draws, id: u32) -> Self {
        Self::of(&database.part(draws, id))
    }
}

/// A date after T3: odd ones become later, even ones earlier, and twice is as before.
#[inline]
pub(crate) const fn toggled(date: i32) -> i32 {
    if date % 2 == 0 { date - 1 } else { date + 1 }
}
