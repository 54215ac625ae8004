//! The relation of tests 1 and 2: nine attributes, 100 bytes a tuple.
//!
//! The papers say no more of it than that, and that it has a clustered and a non-clustered index.

use std::sync::Arc;

use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};
use crate::generator::{Permutation, Walk};
use crate::source::{Cursor, Source};
use crate::splitmix::mix;
use crate::strings::text_1993;

const TEXT_BYTES: usize = 36;
const RANDOM: [&str; 5] = ["random1", "random2", "random3", "random4", "random5"];
/// Random numbers are below this.
const RANDOM_RANGE: u64 = 10_000;

/// `ordered` is the row number, `scattered` a permutation of it.
pub fn attributes() -> Vec<Attribute> {
    let numbers = ["ordered", "scattered"].into_iter().chain(RANDOM);
    let numbers = numbers.map(|name| (name, AttributeType::Int4));
    let texts = ["text1", "text2"].map(|name| (name, AttributeType::Char(TEXT_BYTES)));
    let attribute = |(name, kind): (&str, _)| Attribute { name: name.to_owned(), kind };
    numbers.chain(texts).map(attribute).collect()
}

/// The relation with `rows` tuples, at most 10^9.
pub fn open(rows: u64, seed: u64) -> Arc<dyn Source> {
    let permutation = Permutation::new(rows, seed).expect("checked against the range");
    Arc::new(Simple { attributes: attributes(), rows, seed, permutation })
}

struct Simple {
    attributes: Vec<Attribute>,
    rows: u64,
    seed: u64,
    permutation: Permutation,
}

impl Source for Simple {
    fn name(&self) -> &'static str {
        "simple"
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
        Box::new(SimpleCursor { seed: mix(self.seed), walk, position: first })
    }
}

struct SimpleCursor {
    seed: u64,
    walk: Walk,
    position: u64,
}

impl Cursor for SimpleCursor {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        for row in self.position..self.position + count as u64 {
            let scattered = self.walk.next_value();
            let random = |number: u64| mix(self.seed.wrapping_add(row * 5 + number)) % RANDOM_RANGE;
            for (place, (_, column)) in into.columns.iter_mut().enumerate() {
                match column {
                    Column::Int32(values) => values.push(match place {
                        0 => row as i32,
                        1 => scattered as i32,
                        _ => random(place as u64 - 2) as i32,
                    }),
                    Column::Text { bytes, .. } => {
                        let number = if place == 7 { row as u32 } else { scattered };
                        bytes.extend_from_slice(&text_1993(number)[..TEXT_BYTES]);
                    }
                    _ => unreachable!("attributes() declares int4 and char only"),
                }
            }
        }
        self.position += count as u64;
    }
}
