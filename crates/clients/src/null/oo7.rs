//! OO7 without any engine: every call returns at once, and the tree and the graphs have the sizes
//! of the paper's small database. What the loops cost with it, they cost with any engine; its
//! answers mean nothing. Nothing is kept out of line here: what plain structures save by being
//! compiled into the loop must not be charged to the loop.

use std::hint::black_box;
use std::ops::RangeInclusive;

use loadstone_datasets::oo7::{Database, tree};

use crate::clocked::NoTransactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::driver::Driver;
use crate::oo7::visits::Visits;
use crate::oo7::{Assembly, Kind, Object, Part};
use crate::tactics::{Address, Tactics};

/// The harness overhead in Rust.
#[derive(Debug, Clone, Copy)]
pub struct Null {
    parts: u32,
    fan_out: u32,
}

const OBJECT: Object = Object { id: 1, kind: Kind::of(0), build_date: 1_000 };

impl Null {
    /// Nothing is opened.
    #[expect(clippy::unnecessary_wraps, reason = "every driver opens in this shape")]
    pub const fn open(_address: &Address, _tactics: &mut Tactics) -> Result<Self, ClientError> {
        Ok(Self { parts: 20, fan_out: 3 })
    }
}

impl NoTransactions for Null {}

/// A handle of an assembly is its level, one of an atomic part its id.
impl Driver for Null {
    const ENGINE: &'static str = "null";
    const KEEPS: bool = false;

    type Complex = u32;
    type Base = u32;
    type Composite = u32;
    type Part = u32;

    fn load(&mut self, database: &Database) -> Result<(), ClientError> {
        *self = Self { parts: database.parts_per_composite, fan_out: database.fan_out };
        Ok(())
    }

    fn another(&self) -> Result<Self, ClientError> {
        Ok(*self)
    }

    fn design_root(&mut self, _module: u32) -> Result<u32, ClientError> {
        Ok(1)
    }

    #[inline]
    fn subassemblies(
        &mut self,
        of: u32,
        complex: &mut Vec<u32>,
        bases: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        let level = of + 1;
        let below = if level == tree::LEVELS { bases } else { complex };
        below.extend([level; tree::CHILDREN as usize]);
        Ok(())
    }

    #[inline]
    fn components(&mut self, _of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        out.extend([1; tree::COMPONENTS as usize]);
        Ok(())
    }

    fn shared_components(&mut self, of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        self.components(of, out)
    }

    #[inline]
    fn root_part(&mut self, of: u32) -> Result<u32, ClientError> {
        Ok(of)
    }

    #[inline]
    fn identity(&self, part: u32) -> u64 {
        part.into()
    }

    #[inline]
    fn read(&mut self, part: u32) -> Result<Part, ClientError> {
        Ok(Part { object: Object { id: black_box(part), ..OBJECT }, x: 0, y: 0, document: 1 })
    }

    #[inline]
    fn connected(&mut self, part: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        let next = if black_box(part) == self.parts { 1 } else { part + 1 };
        out.extend((0..self.fan_out).map(|_| next));
        Ok(())
    }

    #[inline]
    fn find(&mut self, id: u32) -> Result<(u32, Part), ClientError> {
        self.read(id).map(|part| (id, part))
    }

    fn dated(&mut self, _: RangeInclusive<i32>, _: &mut Visits) -> Result<(), ClientError> {
        Ok(())
    }

    fn scan(&mut self, _visits: &mut Visits) -> Result<(), ClientError> {
        Ok(())
    }

    fn composite_of(&mut self, _part: u32) -> Result<u32, ClientError> {
        Ok(1)
    }

    fn composite(&mut self, composite: u32) -> Result<Object, ClientError> {
        Ok(Object { id: composite, ..OBJECT })
    }

    fn users(&mut self, _of: u32, out: &mut Vec<u32>) -> Result<(), ClientError> {
        out.push(tree::LEVELS);
        Ok(())
    }

    fn base(&mut self, _base: u32) -> Result<(Assembly, u32), ClientError> {
        Ok((Assembly { object: OBJECT, is_base: true }, tree::LEVELS - 1))
    }

    fn complex(&mut self, complex: u32) -> Result<(Assembly, Option<u32>), ClientError> {
        let object = Object { id: complex, ..OBJECT };
        Ok((Assembly { object, is_base: false }, (complex > 1).then(|| complex - 1)))
    }

    fn bases(&mut self, out: &mut Vec<u32>) -> Result<(), ClientError> {
        out.extend((0..tree::BASE).map(|_| tree::LEVELS));
        Ok(())
    }

    fn titled(&mut self, _title: &str) -> Result<u32, ClientError> {
        Ok(1)
    }

    fn document(&mut self, _of: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        see(b"");
        Ok(())
    }

    fn manual(&mut self, _module: u32, mut see: impl FnMut(&[u8])) -> Result<(), ClientError> {
        see(b"");
        Ok(())
    }

    fn documents_of_parts(&mut self, _visits: &mut Visits) -> Result<(), ClientError> {
        Ok(())
    }

    #[inline]
    fn swap(&mut self, part: u32) -> Result<(), ClientError> {
        black_box(part);
        Ok(())
    }

    #[inline]
    fn toggle_date(&mut self, part: u32) -> Result<(), ClientError> {
        black_box(part);
        Ok(())
    }

    fn rewrite(&mut self, _of: u32, _text: &[u8]) -> Result<(), ClientError> {
        Ok(())
    }

    fn insert(&mut self, _: &Database, composite: u32, _: u32) -> Result<(), ClientError> {
        black_box(composite);
        Ok(())
    }

    fn delete(&mut self, _: &Database, composite: u32) -> Result<(), ClientError> {
        black_box(composite);
        Ok(())
    }

    fn contents(&mut self, _contents: &mut Contents) -> Result<(), ClientError> {
        Ok(())
    }

    fn size_bytes(&mut self) -> Result<u64, ClientError> {
        Ok(0)
    }

    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        Ok(vec![("answers".to_owned(), "none: no engine is called".to_owned())])
    }
}
