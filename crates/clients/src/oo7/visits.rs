//! The null operation at each object, and the checksum that is the answer.

use std::hint::black_box;

use crate::oo7::objects::{Assembly, Kind, Object, Part};

/// OO7's null operation: it takes an object's id and one more attribute, does nothing, and the
/// optimiser must believe that it might.
#[inline(never)]
fn null(id: u32, value: i32) {
    black_box(id);
    black_box(value);
}

/// The sum of an operation's visits: a count, and a checksum that does not depend on the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visits {
    /// Objects seen, or what an operation counts instead: updates, letters.
    pub count: u64,
    /// Wrapping sum of the mixed contents.
    pub checksum: u64,
}

impl Visits {
    /// An atomic part visited.
    #[inline]
    pub fn part(&mut self, part: &Part) {
        null(part.object.id, part.x);
        self.add(mix_part(part));
    }

    /// An assembly visited.
    #[inline]
    pub fn assembly(&mut self, assembly: &Assembly) {
        null(assembly.object.id, assembly.object.build_date);
        self.add(mix_object(&assembly.object, 1 + u64::from(assembly.is_base)));
    }

    /// An atomic part with the title of the document that it names.
    #[inline]
    pub fn pair(&mut self, part: u32, title: &[u8]) {
        null(part, title.len() as i32);
        self.add(mix(part.into(), Letters::default().and(title).hash, NO_KIND));
    }

    /// A text looked through: what was found in it is counted.
    #[inline]
    pub fn letters(&mut self, found: u64, length: u64) {
        self.add(mix(found, length, NO_KIND));
        self.count = self.count - 1 + found;
    }

    /// The first and the last character of a text: counted if they are equal.
    pub fn ends(&mut self, first: Option<u8>, last: Option<u8>) {
        let end = |byte: Option<u8>| byte.map_or(0, |byte| 1 + u64::from(byte));
        self.add(mix(end(first), end(last), NO_KIND));
        self.count -= u64::from(first != last);
    }

    /// Replace the visits counted on the way by the contents left behind.
    #[must_use]
    pub const fn leaving(self, count: u64, contents: &Self) -> Self {
        let checksum = self.checksum.wrapping_add(contents.checksum.rotate_left(32));
        Self { count, checksum }
    }

    #[inline]
    pub(super) fn add(&mut self, mixed: u64) {
        self.count = self.count.wrapping_add(1);
        self.checksum = self.checksum.wrapping_add(mixed);
    }
}

/// A text seen piece by piece: however it is cut, the same numbers.
#[derive(Debug, Clone, Copy)]
pub struct Letters {
    /// Of all bytes in their order.
    pub hash: u64,
}

impl Default for Letters {
    fn default() -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Letters {
    /// With one more piece (FNV-1a).
    #[must_use]
    pub fn and(self, piece: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self { hash: piece.iter().fold(self.hash, step) }
    }
}

/// The place where no type is fetched.
pub(super) const NO_KIND: Kind = Kind::of(0);

/// 2^64 divided by the golden ratio, and an odd number without pattern beside it.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
const ODD_TOO: u64 = 0xd6e8_feb8_6659_fd93;

#[inline]
pub(super) fn mix_part(part: &Part) -> u64 {
    let place = pair(part.x.cast_unsigned(), part.y.cast_unsigned());
    mix(place ^ u64::from(part.document).rotate_left(44), mix_object(&part.object, 0), NO_KIND)
}

/// `class` shows objects of equal attributes apart.
#[inline]
pub(super) fn mix_object(object: &Object, class: u64) -> u64 {
    let named = pair(object.id, object.build_date.cast_unsigned());
    mix(named, class, object.kind)
}

/// Two multiplications and no loop: it is inside the clock of every variant. A sum of linear terms
/// would not see two values swapped between two objects, so each product is folded into itself.
#[inline]
pub(super) fn mix(first: u64, second: u64, kind: Kind) -> u64 {
    let (text, end) = kind.numbers();
    let mixed = (first ^ text.rotate_left(17)).wrapping_mul(ODD);
    let mixed = (mixed ^ (mixed >> 29) ^ second ^ (u64::from(end) << 40)).wrapping_mul(ODD_TOO);
    mixed ^ (mixed >> 32)
}

#[inline]
pub(super) const fn pair(first: u32, second: u32) -> u64 {
    (first as u64) << 32 | second as u64
}
