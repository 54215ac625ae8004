//! The relations of 1983: two-byte integers, 182 bytes a tuple, sizes fixed.

use std::sync::Arc;

use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};
use crate::edition::{DatasetError, Edition};
use crate::shuffle::permutation;
use crate::source::{Cursor, Source};
use crate::strings::{TEXT_WIDTH, text_1983, text_cyclic_1983};

/// The way in which an attribute follows from the row's random numbers or its number.
#[derive(Clone, Copy)]
enum Rule {
    Unique1,
    Row,
    /// The shared random number, modulo that: the range for which the attribute is named.
    Shared(u32),
    /// A random number of its own, modulo 1000.
    Thousand,
    /// 1, 3 … 99 or 2, 4 … 100 by row number, starting from that.
    Cyclic(u32),
    TextOfUnique1,
    TextOfRow,
    TextCyclic,
}

/// Order and derivations: the decisions on Figure 1 of the paper, listed in
/// `docs/reference/data.md`.
const ATTRIBUTES: [(&str, Rule); 16] = [
    ("unique1", Rule::Unique1),
    ("unique2", Rule::Row),
    ("two", Rule::Shared(2)),
    ("four", Rule::Shared(4)),
    ("ten", Rule::Shared(10)),
    ("twenty", Rule::Shared(20)),
    ("hundred", Rule::Shared(100)),
    ("thousand", Rule::Thousand),
    ("twothous", Rule::Shared(2_000)),
    ("fivethous", Rule::Shared(5_000)),
    ("tenthous", Rule::Shared(10_000)),
    ("odd100", Rule::Cyclic(1)),
    ("even100", Rule::Cyclic(2)),
    ("stringu1", Rule::TextOfUnique1),
    ("stringu2", Rule::TextOfRow),
    ("string4", Rule::TextCyclic),
];

/// The shared random numbers are below this, the widest range for which an attribute is named.
const SHARED_RANGE: u32 = 10_000;

/// Streams of permutations that a relation's own stream has: unique1, shared, thousand.
const STREAMS: u64 = 3;

/// A relation of the paper.
struct Definition {
    name: &'static str,
    /// Put before every attribute's name, where the joins need names of their own.
    prefix: &'static str,
    rows: u32,
    /// Size of the relation whose first rows these are.
    cycle_rows: u32,
    /// Which random permutations it has.
    stream: u64,
}

const fn define(
    name: &'static str,
    prefix: &'static str,
    rows: u32,
    cycle_rows: u32,
    stream: u64,
) -> Definition {
    Definition { name, prefix, rows, cycle_rows, stream }
}

const DEFINITIONS: [Definition; 6] = [
    define("thoustup", "one", 1_000, 1_000, 0),
    define("twothoustup", "", 2_000, 2_000, 1),
    define("fivethoustup", "", 5_000, 5_000, 2),
    define("tenthoustup", "", 10_000, 10_000, 3),
    define("tenthoustup2", "two", 10_000, 10_000, 4),
    define("tempbprime", "two", 1_000, 10_000, 4),
];

/// The edition of 1983.
pub struct Edition1983;

impl Edition1983 {
    fn definition(&self, relation: &str) -> Result<&'static Definition, DatasetError> {
        DEFINITIONS
            .iter()
            .find(|definition| definition.name == relation)
            .ok_or_else(|| self.unknown(relation))
    }
}

impl Edition for Edition1983 {
    fn benchmark(&self) -> &'static str {
        "wisconsin"
    }

    fn name(&self) -> &'static str {
        "1983"
    }

    fn relations(&self) -> &'static [&'static str] {
        const NAMES: [&str; DEFINITIONS.len()] = {
            let mut names = [""; DEFINITIONS.len()];
            let mut index = 0;
            while index < names.len() {
                names[index] = DEFINITIONS[index].name;
                index += 1;
            }
            names
        };
        &NAMES
    }

    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError> {
        self.definition(relation).map(attributes)
    }

    /// The paper fixes the sizes: `rows` changes nothing.
    fn open(&self, relation: &str, _rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError> {
        let definition = self.definition(relation)?;
        let random = |purpose| {
            permutation(seed, definition.stream * STREAMS + purpose, definition.cycle_rows)
        };
        Ok(Arc::new(Fixed {
            definition,
            attributes: attributes(definition),
            unique1: random(0),
            shared: shared(definition, seed, &random(1)),
            thousand: random(2),
        }))
    }
}

/// The random numbers below [`SHARED_RANGE`] that most attributes reduce: modulo the relation's
/// size a permutation, so that the attribute named after that size takes every value once, and
/// spread over the whole range, so that each wider one keeps the range for which it is named,
/// whatever the size of the relation (section 3.1 has such a `fivethous` of `twothoustup`).
fn shared(definition: &Definition, seed: u64, base: &[u32]) -> Vec<u32> {
    let rows = definition.cycle_rows;
    let parts = SHARED_RANGE / rows;
    if parts == 1 {
        return base.to_vec();
    }
    // Behind the streams of all relations.
    let stream = DEFINITIONS.len() as u64 * STREAMS + definition.stream;
    let part = permutation(seed, stream, rows);
    base.iter().zip(part).map(|(base, part)| base + rows * (part % parts)).collect()
}

fn attributes(definition: &Definition) -> Vec<Attribute> {
    let kind = |rule| match rule {
        Rule::TextOfUnique1 | Rule::TextOfRow | Rule::TextCyclic => AttributeType::Char(TEXT_WIDTH),
        _ => AttributeType::Int2,
    };
    ATTRIBUTES
        .into_iter()
        .map(|(name, rule)| Attribute {
            name: format!("{}{name}", definition.prefix),
            kind: kind(rule),
        })
        .collect()
}

/// The three permutations are small enough to be held: 10,000 numbers each.
struct Fixed {
    definition: &'static Definition,
    attributes: Vec<Attribute>,
    unique1: Vec<u32>,
    shared: Vec<u32>,
    thousand: Vec<u32>,
}

impl Source for Fixed {
    fn name(&self) -> &str {
        self.definition.name
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        u64::from(self.definition.rows)
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        Box::new(FixedCursor { source: self, position: first as usize })
    }
}

impl Fixed {
    fn integer(&self, rule: Rule, row: usize) -> i16 {
        (match rule {
            Rule::Unique1 => self.unique1[row],
            Rule::Row => row as u32,
            Rule::Shared(range) => self.shared[row] % range,
            Rule::Thousand => self.thousand[row] % 1_000,
            Rule::Cyclic(first) => first + 2 * (row as u32 % 50),
            _ => unreachable!("the text rules fill text columns"),
        }) as i16
    }

    fn text(&self, rule: Rule, row: usize) -> [u8; TEXT_WIDTH] {
        match rule {
            Rule::TextOfUnique1 => text_1983(self.unique1[row]),
            Rule::TextOfRow => text_1983(row as u32),
            _ => text_cyclic_1983(row as u64),
        }
    }
}

struct FixedCursor {
    source: Arc<Fixed>,
    position: usize,
}

impl Cursor for FixedCursor {
    fn position(&self) -> u64 {
        self.position as u64
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        let rows = self.position..self.position + count;
        for ((_, rule), (_, column)) in ATTRIBUTES.into_iter().zip(&mut into.columns) {
            match column {
                Column::Int16(values) => {
                    values.extend(rows.clone().map(|row| self.source.integer(rule, row)));
                }
                Column::Text { bytes, .. } => {
                    bytes.extend(rows.clone().flat_map(|row| self.source.text(rule, row)));
                }
                _ => unreachable!("attributes() declares int2 and char only"),
            }
        }
        self.position += count;
    }
}
