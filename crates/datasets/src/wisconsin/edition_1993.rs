//! The scaled relations of 1993: four-byte integers, 208 bytes a tuple.

use std::sync::Arc;

use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};
use crate::edition::{DatasetError, Edition};
use crate::generator::{Permutation, Walk};
use crate::source::{Cursor, Source};
use crate::strings::{TEXT_WIDTH, text_1993, text_cyclic_1993};
use crate::wisconsin::skew::Skew;

/// Smallest and largest scale.
const ROWS_RANGE: std::ops::RangeInclusive<u64> = 10..=1_000_000_000;

/// The way in which an attribute follows from unique1, unique2 (the row number) or both.
#[derive(Clone, Copy)]
enum Rule {
    Unique1,
    Unique2,
    /// unique1 modulo that.
    Modulo(u32),
    /// onepercent times two, plus that.
    Doubled(i32),
    TextOfUnique1,
    TextOfUnique2,
    TextCyclic,
}

/// Benchmark Handbook (2nd ed. 1993), the table of attributes; names in lower case.
const ATTRIBUTES: [(&str, Rule); 16] = [
    ("unique1", Rule::Unique1),
    ("unique2", Rule::Unique2),
    ("two", Rule::Modulo(2)),
    ("four", Rule::Modulo(4)),
    ("ten", Rule::Modulo(10)),
    ("twenty", Rule::Modulo(20)),
    ("onepercent", Rule::Modulo(100)),
    ("tenpercent", Rule::Modulo(10)),
    ("twentypercent", Rule::Modulo(5)),
    ("fiftypercent", Rule::Modulo(2)),
    ("unique3", Rule::Unique1),
    ("evenonepercent", Rule::Doubled(0)),
    ("oddonepercent", Rule::Doubled(1)),
    ("stringu1", Rule::TextOfUnique1),
    ("stringu2", Rule::TextOfUnique2),
    ("string4", Rule::TextCyclic),
];

/// The distinct values of the attribute with the most repeated ones; the others' counts divide it.
const VALUES: u32 = 100;

/// The edition of 1993.
pub struct Edition1993 {
    /// Whether the values of the attributes that repeat them have unequal shares ([`Skew`]).
    pub skewed: bool,
}

impl Edition for Edition1993 {
    fn benchmark(&self) -> &'static str {
        "wisconsin"
    }

    fn name(&self) -> &'static str {
        if self.skewed { "1993-skewed" } else { "1993" }
    }

    fn relations(&self) -> &'static [&'static str] {
        &["onektup", "tenktup1", "tenktup2", "bprime"]
    }

    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError> {
        if self.relations().contains(&relation) {
            Ok(attributes())
        } else {
            Err(self.unknown(relation))
        }
    }

    /// onektup has a tenth of the large relations' rows and its own generator class; bprime is
    /// the first tenth of tenktup2.
    fn open(&self, relation: &str, rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError> {
        let attributes = self.attributes(relation)?;
        let out_of_range = DatasetError::RowsOutOfRange {
            benchmark: self.benchmark(),
            edition: self.name(),
            rows,
            rows_min: *ROWS_RANGE.start(),
            rows_max: *ROWS_RANGE.end(),
        };
        if !ROWS_RANGE.contains(&rows) {
            return Err(out_of_range);
        }
        let (cycle_rows, rows) = match relation {
            "onektup" => (rows / 10, rows / 10),
            "bprime" => (rows, rows / 10),
            _ => (rows, rows),
        };
        let permutation = Permutation::new(cycle_rows, seed).ok_or(out_of_range)?;
        let name = relation.to_owned();
        let skewed = self.skewed.then(|| Arc::new(Skew::new(VALUES)));
        Ok(Arc::new(Scaled { name, attributes, rows, permutation, skewed }))
    }
}

fn attributes() -> Vec<Attribute> {
    let kind = |rule| match rule {
        Rule::TextOfUnique1 | Rule::TextOfUnique2 | Rule::TextCyclic => {
            AttributeType::Char(TEXT_WIDTH)
        }
        _ => AttributeType::Int4,
    };
    ATTRIBUTES
        .into_iter()
        .map(|(name, rule)| Attribute { name: name.to_owned(), kind: kind(rule) })
        .collect()
}

struct Scaled {
    name: String,
    attributes: Vec<Attribute>,
    rows: u64,
    permutation: Permutation,
    skewed: Option<Arc<Skew>>,
}

impl Source for Scaled {
    fn name(&self) -> &str {
        &self.name
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn prepare(&self, threads: usize) {
        self.permutation.prepare(threads);
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        let walk = self.permutation.walk(first);
        let skewed = self.skewed.clone();
        Box::new(ScaledCursor {
            walk,
            position: first,
            skewed,
            unique1: Vec::new(),
            repeated: Vec::new(),
        })
    }
}

struct ScaledCursor {
    walk: Walk,
    position: u64,
    skewed: Option<Arc<Skew>>,
    /// Kept between reads for its memory.
    unique1: Vec<u32>,
    /// The values of unequal shares from which repeated ones are derived, where they are skewed.
    repeated: Vec<u32>,
}

impl Cursor for ScaledCursor {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        self.unique1.clear();
        self.unique1.extend((0..count).map(|_| self.walk.next_value()));
        if let Some(skew) = &self.skewed {
            self.repeated.clear();
            self.repeated.extend(self.unique1.iter().map(|unique1| skew.value(*unique1)));
        }
        for ((_, rule), (_, column)) in ATTRIBUTES.into_iter().zip(&mut into.columns) {
            match column {
                Column::Int32(values) => self.fill_integers(rule, values),
                Column::Text { bytes, .. } => self.fill_texts(rule, bytes),
                _ => unreachable!("attributes() declares int4 and char only"),
            }
        }
        self.position += count as u64;
    }
}

impl ScaledCursor {
    fn fill_integers(&self, rule: Rule, into: &mut Vec<i32>) {
        let unique1 = &self.unique1;
        let row = self.position as i32;
        let repeated = if self.skewed.is_some() { &self.repeated } else { unique1 };
        match rule {
            Rule::Unique2 => into.extend(row..row + unique1.len() as i32),
            Rule::Modulo(2) => fill(repeated, into, |value| value % 2),
            Rule::Modulo(4) => fill(repeated, into, |value| value % 4),
            Rule::Modulo(5) => fill(repeated, into, |value| value % 5),
            Rule::Modulo(10) => fill(repeated, into, |value| value % 10),
            Rule::Modulo(20) => fill(repeated, into, |value| value % 20),
            Rule::Modulo(100) => fill(repeated, into, |value| value % 100),
            Rule::Doubled(0) => fill(repeated, into, |value| value % 100 * 2),
            Rule::Doubled(1) => fill(repeated, into, |value| value % 100 * 2 + 1),
            Rule::Unique1 => fill(unique1, into, |value| value),
            _ => unreachable!("every integer rule of ATTRIBUTES is above"),
        }
    }

    fn fill_texts(&self, rule: Rule, into: &mut Vec<u8>) {
        let first = self.position;
        into.reserve(self.unique1.len() * TEXT_WIDTH);
        for (unique1, row) in self.unique1.iter().zip(first..) {
            into.extend_from_slice(&match rule {
                Rule::TextOfUnique1 => text_1993(*unique1),
                Rule::TextOfUnique2 => text_1993(row as u32),
                _ => text_cyclic_1993(row),
            });
        }
    }
}

/// Each modulus is a constant where this is called, so that the compiler removes the division.
#[inline]
fn fill(unique1: &[u32], into: &mut Vec<i32>, derive: impl Fn(u32) -> u32) {
    into.extend(unique1.iter().map(|value| derive(*value) as i32));
}
