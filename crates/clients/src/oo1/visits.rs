//! The null procedure at each part, and the checksum that is the answer.

use std::hint::black_box;

use crate::oo1::part::{Kind, Link, Part};

/// OO1's null procedure in the client's language: it takes x, y and type and does nothing, and the
/// optimiser must believe that it might.
///
/// The text comes in registers: its address would force the part into memory, and to read back what
/// was just written there in other pieces costs more than all the rest.
#[inline(never)]
fn null(x: i32, y: i32, (head, tail): (u64, u16)) {
    black_box(x);
    black_box(y);
    black_box(head);
    black_box(tail);
}

/// The sum of a measure's visits: a count, and a checksum that does not depend on the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visits {
    /// Parts, connections or points seen.
    pub count: u64,
    /// Wrapping sum of the mixed contents ([`Visits::part_in_order`]: a chain of them).
    pub checksum: u64,
}

impl Visits {
    /// A part visited.
    #[inline]
    pub fn part(&mut self, part: &Part) {
        null(part.x, part.y, part.kind.numbers());
        self.add(mix_part(part));
    }

    /// A part visited where the order is part of the answer.
    #[inline]
    pub fn part_in_order(&mut self, part: &Part) {
        null(part.x, part.y, part.kind.numbers());
        self.count += 1;
        self.checksum = self.checksum.rotate_left(7).wrapping_mul(ODD) ^ mix_part(part);
    }

    /// A connection seen.
    #[inline]
    pub fn link(&mut self, link: &Link) {
        null(link.length, link.to.cast_signed(), link.kind.numbers());
        self.add(mix(pair(link.from, link.to), u64::from(link.length.cast_unsigned()), link.kind));
    }

    /// The place of a part, which is all that the sequential scan fetches.
    #[inline]
    pub fn point(&mut self, x: i32, y: i32) {
        null(x, y, NO_KIND.numbers());
        self.add(mix(pair(x.cast_unsigned(), y.cast_unsigned()), 1, NO_KIND));
    }

    #[inline]
    fn add(&mut self, mixed: u64) {
        self.count += 1;
        self.checksum = self.checksum.wrapping_add(mixed);
    }
}

/// The place where no type is fetched.
const NO_KIND: Kind = Kind::of(0);

/// 2^64 divided by the golden ratio, and an odd number without pattern beside it.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
const ODD_TOO: u64 = 0xd6e8_feb8_6659_fd93;

#[inline]
fn mix_part(part: &Part) -> u64 {
    mix(pair(part.x.cast_unsigned(), part.y.cast_unsigned()), u64::from(part.id), part.kind)
}

/// Two multiplications and no loop: it is inside the clock of every variant. A sum of linear terms
/// would not see two values swapped between two parts, so each product is folded into itself.
#[inline]
fn mix(first: u64, second: u64, kind: Kind) -> u64 {
    let (text, end) = kind.numbers();
    let mixed = (first ^ text.rotate_left(17)).wrapping_mul(ODD);
    let mixed = (mixed ^ (mixed >> 29) ^ second ^ (u64::from(end) << 40)).wrapping_mul(ODD_TOO);
    mixed ^ (mixed >> 32)
}

#[inline]
const fn pair(first: u32, second: u32) -> u64 {
    (first as u64) << 32 | second as u64
}

#[cfg(test)]
mod tests {
    use super::Visits;
    use crate::oo1::part::{Kind, Link, Part};

    fn part(id: u32, x: i32, y: i32, kind: u8) -> Part {
        Part { id, x, y, kind: Kind::of(kind) }
    }

    fn sum(parts: &[Part]) -> u64 {
        let mut visits = Visits::default();
        for part in parts {
            visits.part(part);
        }
        visits.checksum
    }

    #[test]
    fn order_does_not_count_but_values_do() {
        let (one, two) = (part(1, 10, 20, 3), part(2, 30, 40, 5));
        assert_eq!(sum(&[one, two]), sum(&[two, one]));
        let swapped = [part(1, 30, 20, 3), part(2, 10, 40, 5)];
        assert_ne!(sum(&[one, two]), sum(&swapped), "x swapped between two parts");
        let swapped = [part(1, 10, 20, 5), part(2, 30, 40, 3)];
        assert_ne!(sum(&[one, two]), sum(&swapped), "types swapped");
        let swapped = [part(2, 10, 20, 3), part(1, 30, 40, 5)];
        assert_ne!(sum(&[one, two]), sum(&swapped), "ids swapped");
        assert_ne!(sum(&[part(1, 10, 20, 3)]), sum(&[part(1, 20, 10, 3)]), "x and y");
    }

    #[test]
    fn in_order_the_order_counts() {
        let chain = |parts: [Part; 2]| {
            let mut visits = Visits::default();
            for part in &parts {
                visits.part_in_order(part);
            }
            visits.checksum
        };
        let (one, two) = (part(1, 10, 20, 3), part(2, 30, 40, 5));
        assert_ne!(chain([one, two]), chain([two, one]));
    }

    #[test]
    fn a_connection_has_a_direction() {
        let link = |from, to| {
            let mut visits = Visits::default();
            visits.link(&Link { from, to, length: 7, kind: Kind::of(1) });
            visits.checksum
        };
        assert_ne!(link(1, 2), link(2, 1));
    }
}
