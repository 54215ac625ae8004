//! The objects of the database and their draws, as the specification's section 3 has them: see
//! `docs/reference/data.md`.
//!
//! One stream of random numbers makes all objects in the order of the original program. Each object
//! has a fixed number of draws, so that any of them is found by a jump.

use std::ops::RangeInclusive;

use super::tree;
use crate::edition::DatasetError;
use crate::oo1::random::{MODULUS, ParkMiller};

/// Composite parts of a module.
pub const COMPOSITES: u32 = 500;

/// Smallest and largest number of atomic parts. Below, a composite part would hold one atomic part;
/// above, the draws would run into their own beginning.
pub const PARTS_RANGE: RangeInclusive<u64> = 1_000..=50_000_000;

/// Atomic parts of a module from which a larger database has more modules: the paper's medium size.
const MODULE_PARTS_MAX: u64 = 100_000;

/// Bytes of a document and of a manual for each atomic part of a composite part: 2,000 and 100,000
/// at the 20 atomic parts of the small size, 20,000 and 1,000,000 at the 200 of the medium one.
const DOCUMENT_BYTES: u32 = 100;
const MANUAL_BYTES: u32 = 5_000;

/// Values of a type.
const KINDS: u32 = 10;

/// Values of x, y and length.
const COORDINATES: u32 = 100_000;

/// Build dates of any kind of object lie within so many days.
const DATES: u32 = 1_000;

/// The first date of modules, assemblies and atomic parts, and of young composite parts.
const DATE_FIRST: u32 = 1_000;
const DATE_FIRST_YOUNG: u32 = 2_000;

/// Of so many composite parts one is young: newer than all assemblies.
const YOUNG_EVERY: u32 = 10;

/// Draws of a module before its tree, and of a composite part before its atomic parts: type, date.
const OBJECT_DRAWS: u64 = 2;

/// Draws of an atomic part: type, date, x, y, document.
const PART_DRAWS: u64 = 5;

/// Draws of a module and its tree.
const MODULE_DRAWS: u64 = OBJECT_DRAWS + tree::TREE_DRAWS;

/// A database: a recipe of five numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Database {
    /// One, or several where a database is larger than the paper's medium size.
    pub modules: u32,
    /// Atomic parts of a composite part.
    pub parts_per_composite: u32,
    /// Connections that leave an atomic part: 3, 6 or 9.
    pub fan_out: u32,
    /// The generator's first state.
    pub seed: u32,
}

/// The attributes that every design object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// From 1, one count for each class.
    pub id: u32,
    /// The digit at the end of "type000" … "type009".
    pub kind: u8,
    /// Days, 0 to 2,999.
    pub build_date: i32,
}

/// An assembly, complex or base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Its id counts assemblies of its class.
    pub object: Object,
    /// Id of the complex assembly that it belongs to; None at a module's root.
    pub parent: Option<u32>,
    /// Its module's id.
    pub module: u32,
    /// 1 at the root, 7 of a base assembly.
    pub level: u32,
}

/// An atomic part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its id counts all atomic parts.
    pub object: Object,
    /// 0 … 99,999.
    pub x: i32,
    /// 0 … 99,999.
    pub y: i32,
    /// A document's id, of any module: the attribute that query 8 joins by.
    pub document: u32,
    /// The composite part that it belongs to.
    pub composite: u32,
}

/// A connection from an atomic part to another of the same composite part, or to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The atomic part it leaves.
    pub from: u32,
    /// The atomic part it leads to.
    pub to: u32,
    /// As [`Object::kind`].
    pub kind: u8,
    /// 0 … 99,999.
    pub length: i32,
}

impl Database {
    /// A database of `parts` atomic parts, `fan_out` connections from each: 10,000 are the paper's
    /// small size, 100,000 its medium one, and each 100,000 more are one more module. Within a
    /// module composite parts and documents grow with the atomic parts. Seed 0 is seed 1.
    pub fn new(parts: u64, fan_out: u32, seed: u64) -> Result<Self, DatasetError> {
        let (benchmark, edition) = ("oo7", edition_name(fan_out));
        let modules = parts.div_ceil(MODULE_PARTS_MAX).max(1);
        let composites = modules * u64::from(COMPOSITES);
        if !PARTS_RANGE.contains(&parts) {
            let (rows_min, rows_max) = PARTS_RANGE.into_inner();
            let rows = parts;
            return Err(DatasetError::RowsOutOfRange {
                benchmark,
                edition,
                rows,
                rows_min,
                rows_max,
            });
        }
        if !parts.is_multiple_of(composites) {
            let rule = "multiples of 500, above 100,000 of 500 for each 100,000 begun";
            return Err(DatasetError::RowsOffStep { benchmark, edition, rows: parts, rule });
        }
        let seed_max = u64::from(MODULUS - 1);
        if seed > seed_max {
            return Err(DatasetError::SeedOutOfRange { benchmark, edition, seed, seed_max });
        }
        Ok(Self {
            modules: modules as u32,
            parts_per_composite: (parts / composites) as u32,
            fan_out,
            seed: seed.max(1) as u32,
        })
    }

    /// Number of composite parts, and of documents.
    pub fn composite_count(&self) -> u32 {
        self.modules * COMPOSITES
    }

    /// Number of atomic parts.
    pub fn part_count(&self) -> u32 {
        self.composite_count() * self.parts_per_composite
    }

    /// Number of connections; they are numbered from 0, atomic part by atomic part.
    pub fn connection_count(&self) -> u32 {
        self.part_count() * self.fan_out
    }

    /// Characters of a document: the C program's last byte ends the text.
    pub fn document_length(&self) -> usize {
        (DOCUMENT_BYTES * self.parts_per_composite - 1) as usize
    }

    /// Characters of a manual.
    pub fn manual_length(&self) -> usize {
        (MANUAL_BYTES * self.parts_per_composite - 1) as usize
    }

    /// The draws of this database, at its beginning.
    pub fn draws(&self) -> Draws {
        Draws { start: ParkMiller::new(self.seed), stream: ParkMiller::new(self.seed), position: 0 }
    }

    /// Module `id`, from 1.
    pub fn module(&self, draws: &mut Draws, id: u32) -> Object {
        draws.go_to(u64::from(id - 1) * MODULE_DRAWS);
        draws.object(id, DATE_FIRST)
    }

    /// Complex assembly `id`, from 1 over all modules.
    pub fn complex_assembly(&self, draws: &mut Draws, id: u32) -> Assembly {
        let (module, number) = ((id - 1) / tree::COMPLEX, (id - 1) % tree::COMPLEX);
        draws.assembly(id, module, tree::complex(number))
    }

    /// Base assembly `id`, from 1 over all modules. Its draws are followed by its components'.
    pub fn base_assembly(&self, draws: &mut Draws, id: u32) -> Assembly {
        let (module, number) = ((id - 1) / tree::BASE, (id - 1) % tree::BASE);
        draws.assembly(id, module, tree::base(number))
    }

    /// Ids of the private components of a base assembly, then of the shared ones. A composite part
    /// may come twice: the components are a bag.
    pub fn components(
        &self,
        draws: &mut Draws,
        assembly: u32,
    ) -> [[u32; tree::COMPONENTS as usize]; 2] {
        let module = self.base_assembly(draws, assembly).module;
        let own = (module - 1) * COMPOSITES;
        let private = std::array::from_fn(|_| own + draws.draw(COMPOSITES));
        let shared = std::array::from_fn(|_| draws.draw(self.composite_count()));
        [private, shared]
    }

    /// Composite part `id`, from 1 over all modules.
    pub fn composite(&self, draws: &mut Draws, id: u32) -> Object {
        draws.go_to(self.before_composite(id));
        let young = id.is_multiple_of(YOUNG_EVERY);
        draws.object(id, if young { DATE_FIRST_YOUNG } else { 0 })
    }

    /// The atomic part from which a composite part's graph is entered: its first.
    pub fn root_part(&self, composite: u32) -> u32 {
        (composite - 1) * self.parts_per_composite + 1
    }

    /// Atomic part `id`, from 1 over all composite parts.
    pub fn part(&self, draws: &mut Draws, id: u32) -> Part {
        let (composite, number) = self.place_of_part(id);
        let before = self.before_composite(composite) + OBJECT_DRAWS;
        draws.go_to(before + u64::from(number) * PART_DRAWS);
        Part {
            object: draws.object(id, DATE_FIRST),
            x: draws.coordinate(),
            y: draws.coordinate(),
            document: draws.draw(self.composite_count()),
            composite,
        }
    }

    /// Connection `number`, from 0. The first of an atomic part leads to the next one, so that all
    /// of a composite part are on a ring.
    pub fn connection(&self, draws: &mut Draws, number: u32) -> Connection {
        let (from, place) = (number / self.fan_out + 1, number % self.fan_out);
        let (composite, part) = self.place_of_part(from);
        let before = u64::from(part) * self.connections_draws();
        let parts = self.before_composite(composite)
            + OBJECT_DRAWS
            + u64::from(self.parts_per_composite) * PART_DRAWS;
        // The ring's connection has no draw for its target.
        let within = if place == 0 { 0 } else { 3 * u64::from(place) - 1 };
        draws.go_to(parts + before + within);
        let target = if place == 0 {
            (part + 1) % self.parts_per_composite
        } else {
            draws.draw(self.parts_per_composite) - 1
        };
        let to = self.root_part(composite) + target;
        Connection { from, to, kind: draws.kind(), length: draws.coordinate() }
    }

    /// The composite part of an atomic part, and its number there, from 0.
    fn place_of_part(&self, id: u32) -> (u32, u32) {
        let number = id - 1;
        (number / self.parts_per_composite + 1, number % self.parts_per_composite)
    }

    /// Draws before those of a composite part: all modules, then the composite parts before it.
    pub(super) fn before_composite(&self, id: u32) -> u64 {
        let parts = u64::from(self.parts_per_composite);
        let each = OBJECT_DRAWS + parts * (PART_DRAWS + self.connections_draws());
        u64::from(self.modules) * MODULE_DRAWS + u64::from(id - 1) * each
    }

    /// Draws of the connections that leave an atomic part: type and length of each, and the target
    /// of all but the first.
    fn connections_draws(&self) -> u64 {
        3 * u64::from(self.fan_out) - 1
    }
}

/// Name of the edition with so many connections from an atomic part.
pub(super) fn edition_name(fan_out: u32) -> &'static str {
    match fan_out {
        6 => "1993-6",
        9 => "1993-9",
        _ => "1993-3",
    }
}

/// A place in the stream of random numbers. What is read in order needs no jump.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    start: ParkMiller,
    stream: ParkMiller,
    position: u64,
}

impl Draws {
    /// Go to the draw that `position` others come before.
    #[inline]
    fn go_to(&mut self, position: u64) {
        if position != self.position {
            self.stream = self.start.skip(position);
            self.position = position;
        }
    }

    #[inline]
    fn draw(&mut self, range: u32) -> u32 {
        self.position += 1;
        self.stream.draw(range)
    }

    /// Type and date of an object; dates begin with `first`.
    #[inline]
    fn object(&mut self, id: u32, first: u32) -> Object {
        let kind = self.kind();
        Object { id, kind, build_date: (first + self.draw(DATES) - 1) as i32 }
    }

    /// The assembly at a place of module `module`'s tree, from 0.
    fn assembly(&mut self, id: u32, module: u32, place: tree::Place) -> Assembly {
        self.go_to(u64::from(module) * MODULE_DRAWS + OBJECT_DRAWS + place.draws_before);
        Assembly {
            object: self.object(id, DATE_FIRST),
            parent: place.parent.map(|number| module * tree::COMPLEX + number + 1),
            module: module + 1,
            level: place.level,
        }
    }

    #[inline]
    fn kind(&mut self) -> u8 {
        (self.draw(KINDS) - 1) as u8
    }

    #[inline]
    fn coordinate(&mut self) -> i32 {
        (self.draw(COORDINATES) - 1) as i32
    }
}
