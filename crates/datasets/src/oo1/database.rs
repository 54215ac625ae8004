//! The database of section 3 of the paper, by the literal rule.

use std::ops::{Range, RangeInclusive};

use super::random::{CYCLE_DRAWS, MODULUS, ParkMiller};
use crate::edition::DatasetError;

/// Connections that leave each part.
pub const FAN_OUT: u32 = 3;

/// Smallest and largest number of parts. Below, the window of near parts is empty; above, the draws
/// of the streams below would run into each other.
pub const PARTS_RANGE: RangeInclusive<u32> = 200..=100_000_000;

/// Largest seed: seeds are the generator's states.
pub const SEED_MAX: u32 = MODULUS - 1;

/// The seed that 0 stands for: the state that the generator's published values start from.
const SEED_DEFAULT: u32 = 1;

/// Values of x, y and length.
const COORDINATES: u32 = 100_000;

/// Values of a type.
const KINDS: u32 = 10;

/// 1 January 1980. The paper says "a 10-year range", no more.
pub const BUILD_FIRST_S: i64 = 315_532_800;

/// Until the end of 31 December 1989: 3,653 days.
pub const BUILD_SPAN_S: u32 = 3_653 * 86_400;

/// Draws of a connection: branch, target, type, length.
const CONNECTION_DRAWS: u64 = 4;

/// Draws of a part: type, x, y, build.
const PART_DRAWS: u64 = 4;

/// The place where on the cycle, counted from the seed, the streams begin: the connections at the
/// seed itself, 12 draws for each of up to 10⁸ parts; then the parts, 4 draws each; then the
/// measures.
const PARTS_STREAM: u64 = FAN_OUT as u64 * CONNECTION_DRAWS * *PARTS_RANGE.end() as u64;
pub(super) const MEASURES_STREAM: u64 = PARTS_STREAM + PART_DRAWS * *PARTS_RANGE.end() as u64;
const _: () = assert!(MEASURES_STREAM < CYCLE_DRAWS);

/// Name of the edition with or without locality.
pub(super) fn edition_name(locality: bool) -> &'static str {
    if locality { "1992" } else { "1992-no-locality" }
}

/// A database: a recipe of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Database {
    /// N, the number of parts.
    pub parts: u32,
    /// The generator's first state.
    pub seed: u32,
    /// Whether nine connections of ten lead to near parts, or none does (Table VI).
    pub locality: bool,
}

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 1, in load order.
    pub id: u32,
    /// The digit at the end of "part-type0" … "part-type9".
    pub kind: u8,
    /// 0 … 99,999.
    pub x: i32,
    /// 0 … 99,999.
    pub y: i32,
    /// Seconds since 1970, UTC.
    pub build_s: i64,
}

/// A connection from a part to another, or to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The part it leaves.
    pub from: u32,
    /// The part it leads to.
    pub to: u32,
    /// As [`Part::kind`].
    pub kind: u8,
    /// 0 … 99,999.
    pub length: i32,
}

impl Database {
    /// A database of `parts` parts within [`PARTS_RANGE`] from a `seed` up to [`SEED_MAX`]; seed
    /// 0 is seed 1.
    pub fn new(parts: u64, seed: u64, locality: bool) -> Result<Self, DatasetError> {
        let (benchmark, edition) = ("oo1", edition_name(locality));
        let Some(parts) = u32::try_from(parts).ok().filter(|parts| PARTS_RANGE.contains(parts))
        else {
            return Err(DatasetError::RowsOutOfRange {
                benchmark,
                edition,
                rows: parts,
                rows_min: (*PARTS_RANGE.start()).into(),
                rows_max: (*PARTS_RANGE.end()).into(),
            });
        };
        match u32::try_from(seed) {
            Ok(0) => Ok(Self { parts, seed: SEED_DEFAULT, locality }),
            Ok(seed @ 1..=SEED_MAX) => Ok(Self { parts, seed, locality }),
            _ => {
                let seed_max = SEED_MAX.into();
                Err(DatasetError::SeedOutOfRange { benchmark, edition, seed, seed_max })
            }
        }
    }

    /// Number of connections; they are numbered from 0, part by part.
    pub fn connection_count(&self) -> u32 {
        FAN_OUT * self.parts
    }

    /// Part `id`, from 1 to N. Costs a jump: read ranges by [`Database::part_range`].
    pub fn part(&self, id: u32) -> Part {
        draw_part(&mut self.part_stream(id), id)
    }

    /// The connections that leave part `from`. Costs a jump, as [`Database::part`].
    pub fn connections(&self, from: u32) -> [Connection; 3] {
        let mut stream = self.connection_stream(FAN_OUT * (from - 1));
        std::array::from_fn(|_| self.draw_connection(&mut stream, from, self.parts))
    }

    /// Connection `number`, from 0; its part is `1 + number / 3`. Costs a jump.
    pub fn connection(&self, number: u32) -> Connection {
        let from = 1 + number / FAN_OUT;
        self.draw_connection(&mut self.connection_stream(number), from, self.parts)
    }

    /// Parts with ids in `ids`, in order.
    pub fn part_range(&self, ids: Range<u32>) -> Parts {
        Parts { stream: self.part_stream(ids.start), ids }
    }

    /// Connections with numbers in `numbers`, in order.
    pub fn connection_range(&self, numbers: Range<u32>) -> Connections {
        Connections { database: *self, stream: self.connection_stream(numbers.start), numbers }
    }

    fn part_stream(&self, id: u32) -> ParkMiller {
        let before = PARTS_STREAM + u64::from(id.wrapping_sub(1)) * PART_DRAWS;
        ParkMiller::new(self.seed).skip(before)
    }

    fn connection_stream(&self, number: u32) -> ParkMiller {
        ParkMiller::new(self.seed).skip(u64::from(number) * CONNECTION_DRAWS)
    }

    /// The next connection of `from`; there are parts 1 to `existing`.
    #[inline]
    pub(super) fn draw_connection(
        &self,
        stream: &mut ParkMiller,
        from: u32,
        existing: u32,
    ) -> Connection {
        Connection {
            from,
            to: self.draw_target(stream, from, existing),
            kind: draw_kind(stream),
            length: draw_coordinate(stream),
        }
    }

    /// Branch and target. Without locality the branch is drawn and not followed, so that all else
    /// is the same in both databases.
    #[inline]
    fn draw_target(&self, stream: &mut ParkMiller, from: u32, existing: u32) -> u32 {
        let near = stream.draw(10) > 1;
        if near && self.locality {
            near_target(from, stream.draw(self.parts / 100), self.parts)
        } else {
            stream.draw(existing)
        }
    }
}

/// The paper's rule, literally: `drawn` is rand[1..N/100]. It is asymmetric, and bends the window
/// inwards at the ends, where it leaves some parts thinly connected: see `docs/reference/data.md`.
#[inline]
fn near_target(from: u32, drawn: u32, parts: u32) -> u32 {
    let half = i64::from(parts / 200);
    let mut target = i64::from(from) + i64::from(drawn) - 1 - half;
    if target < half {
        target += half;
    }
    if target > i64::from(parts) - half {
        target -= half;
    }
    target as u32
}

#[inline]
pub(super) fn draw_part(stream: &mut ParkMiller, id: u32) -> Part {
    Part {
        id,
        kind: draw_kind(stream),
        x: draw_coordinate(stream),
        y: draw_coordinate(stream),
        build_s: BUILD_FIRST_S + i64::from(stream.draw(BUILD_SPAN_S) - 1),
    }
}

#[inline]
fn draw_kind(stream: &mut ParkMiller) -> u8 {
    (stream.draw(KINDS) - 1) as u8
}

#[inline]
fn draw_coordinate(stream: &mut ParkMiller) -> i32 {
    (stream.draw(COORDINATES) - 1) as i32
}

/// Parts in order, each for four multiplications.
#[derive(Clone, Debug)]
pub struct Parts {
    stream: ParkMiller,
    ids: Range<u32>,
}

impl Parts {
    /// Id of the part to come.
    pub fn next_id(&self) -> u32 {
        self.ids.start
    }
}

impl Iterator for Parts {
    type Item = Part;

    #[inline]
    fn next(&mut self) -> Option<Part> {
        let id = self.ids.next()?;
        Some(draw_part(&mut self.stream, id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ids.size_hint()
    }
}

impl ExactSizeIterator for Parts {}

/// Connections in order, each for four multiplications.
#[derive(Clone, Debug)]
pub struct Connections {
    database: Database,
    stream: ParkMiller,
    numbers: Range<u32>,
}

impl Connections {
    /// Number of the connection to come.
    pub fn next_number(&self) -> u32 {
        self.numbers.start
    }
}

impl Iterator for Connections {
    type Item = Connection;

    #[inline]
    fn next(&mut self) -> Option<Connection> {
        let from = 1 + self.numbers.next()? / FAN_OUT;
        Some(self.database.draw_connection(&mut self.stream, from, self.database.parts))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl ExactSizeIterator for Connections {}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: u32 = 20_000;

    fn small(seed: u32) -> Database {
        Database::new(SMALL.into(), seed.into(), true).unwrap()
    }

    /// The connections when nothing but branch and target is drawn, as the published vector has
    /// it, and the generator's last state.
    fn targets(seed: u32) -> (Vec<[u32; 3]>, u32) {
        let mut stream = ParkMiller::new(seed);
        let database = small(seed);
        let targets = (1..=SMALL)
            .map(|from| std::array::from_fn(|_| database.draw_target(&mut stream, from, SMALL)))
            .collect();
        (targets, stream.state())
    }

    #[test]
    fn targets_are_those_of_the_test_vector() {
        let (targets, last) = targets(1);
        let first = [[2631, 92, 44], [13578, 188, 105], [9, 10595, 4], [17, 141, 190]];
        assert_eq!(targets[..4], first);
        assert_eq!(targets[SMALL as usize - 1], [19823, 19835, 19985]);
        assert_eq!(last, 1_988_301_851);
    }

    /// Self, repeated, more than 200 apart, parts that nothing leads to, the most that lead to
    /// one, and those that lead to the last.
    #[test]
    fn four_databases_have_the_known_statistics() {
        for (seed, expected) in [
            (1, [250, 252, 5964, 1008, 12, 0]),
            (2, [263, 237, 5952, 1059, 12, 0]),
            (42, [270, 210, 5861, 1053, 13, 0]),
            (1992, [239, 247, 6016, 1034, 14, 1]),
        ] {
            let mut incoming = vec![0_u32; SMALL as usize + 1];
            let (mut selves, mut repeated, mut far) = (0, 0, 0);
            for (from, targets) in (1..).zip(targets(seed).0) {
                for (place, to) in targets.into_iter().enumerate() {
                    incoming[to as usize] += 1;
                    selves += u32::from(to == from);
                    far += u32::from(to.abs_diff(from) > 200);
                    repeated += u32::from(targets[..place].contains(&to));
                }
            }
            let unreached = incoming[1..].iter().filter(|count| **count == 0).count() as u32;
            let most = *incoming.iter().max().unwrap();
            let last = incoming[SMALL as usize];
            assert_eq!([selves, repeated, far, unreached, most, last], expected, "seed {seed}");
        }
    }

    /// Every window of the literal rule: lowest, highest, how many, ways to the likeliest.
    #[test]
    fn windows_are_those_of_the_literal_rule() {
        for (from, expected) in [
            (1, (1, 199, 199, 2)),
            (50, (50, 199, 150, 2)),
            (100, (100, 199, 100, 2)),
            (150, (100, 249, 150, 2)),
            (200, (100, 299, 200, 1)),
            (10_000, (9_900, 10_099, 200, 1)),
            (19_800, (19_700, 19_899, 200, 1)),
            (19_900, (19_800, 19_900, 101, 2)),
            (19_950, (19_801, 19_949, 149, 2)),
            (20_000, (19_801, 19_999, 199, 2)),
        ] {
            let mut ways = std::collections::BTreeMap::new();
            for drawn in 1..=200 {
                *ways.entry(near_target(from, drawn, SMALL)).or_insert(0) += 1;
            }
            let (lowest, highest) = (*ways.keys().next().unwrap(), *ways.keys().last().unwrap());
            let most = *ways.values().max().unwrap();
            assert_eq!((lowest, highest, ways.len(), most), expected, "part {from}");
        }
    }

    #[test]
    fn near_parts_exist_whatever_the_size() {
        for parts in (200..1_000).step_by(37).chain([200, 299, 300, 399, 20_000]) {
            for from in 1..=parts {
                for drawn in [1, parts / 100] {
                    let to = near_target(from, drawn, parts);
                    assert!((1..=parts).contains(&to), "N = {parts}: {from} to {to}");
                }
            }
        }
    }
}
