//! PARTS of 1981: 34 bytes a tuple for the scans, 200 for the keyed queries.
//!
//! The paper gives neither the types nor the values. Both follow the demonstration database of
//! INGRES, whose `parts` has 14 tuples of 34 bytes: the paper's 210 and 3,360 are multiples of 14.

use std::sync::Arc;

use crate::attribute::{Attribute, AttributeType};
use crate::columns::{Column, Relation};
use crate::edition::{DatasetError, Edition};
use crate::source::{Cursor, Source};

/// Smallest scale.
const ROWS_MIN: u64 = 1;
/// As far as part numbers of two bytes go.
const ROWS_MAX_1981: u64 = i16::MAX as u64;
/// As far as part numbers of four bytes go, in round numbers.
const ROWS_MAX_LARGE: u64 = 1_000_000_000;

/// Of 3,360 tuples, 130 were inserted after the relation was built.
const LATE: (u64, u64) = (130, 3_360);

const NAME_WIDTH: usize = 20;
const COLOR_WIDTH: usize = 8;
/// Fills a tuple with two-byte part numbers up to 200 bytes.
const FILLER_WIDTH: usize = 166;

/// Name, colour, weight, quantity on hand: the demonstration relation, in its order.
const DEMONSTRATION: [(&str, &str, i16, i16); 14] = [
    ("central processor", "pink", 10, 1),
    ("memory", "gray", 20, 32),
    ("disk drive", "black", 685, 2),
    ("tape drive", "black", 450, 4),
    ("tapes", "gray", 1, 250),
    ("line printer", "yellow", 578, 3),
    ("l-p paper", "white", 15, 95),
    ("terminals", "blue", 19, 15),
    ("paper tape reader", "black", 107, 0),
    ("paper tape punch", "black", 147, 0),
    ("terminal paper", "white", 2, 350),
    ("byte-soap", "clear", 0, 143),
    ("card reader", "gray", 327, 0),
    ("card punch", "gray", 427, 0),
];

/// The place of the one black part of 14 in the wide relation: the paper has "few" of them.
const BLACK: usize = 2;

/// PARTS with part numbers of two bytes, as in the paper, or of four, for more than 32,767 tuples.
pub struct Edition1981 {
    /// Whether part numbers have four bytes.
    pub large: bool,
}

impl Edition1981 {
    fn rows_max(&self) -> u64 {
        if self.large { ROWS_MAX_LARGE } else { ROWS_MAX_1981 }
    }
}

impl Edition for Edition1981 {
    fn benchmark(&self) -> &'static str {
        "ingres"
    }

    fn name(&self) -> &'static str {
        if self.large { "large" } else { "1981" }
    }

    fn relations(&self) -> &'static [&'static str] {
        &["parts", "wideparts"]
    }

    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError> {
        if !self.relations().contains(&relation) {
            return Err(self.unknown(relation));
        }
        let number = if self.large { AttributeType::Int4 } else { AttributeType::Int2 };
        let mut attributes = vec![
            ("pnum", number),
            ("pname", AttributeType::Char(NAME_WIDTH)),
            ("pcolor", AttributeType::Char(COLOR_WIDTH)),
            ("pweight", AttributeType::Int2),
            ("qoh", AttributeType::Int2),
        ];
        if relation == "wideparts" {
            attributes.push(("filler", AttributeType::Char(FILLER_WIDTH)));
        }
        let attribute = |(name, kind): (&str, _)| Attribute { name: name.to_owned(), kind };
        Ok(attributes.into_iter().map(attribute).collect())
    }

    /// The relation has no random part, and so no seed but 0.
    fn open(&self, relation: &str, rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError> {
        let attributes = self.attributes(relation)?;
        if !(ROWS_MIN..=self.rows_max()).contains(&rows) {
            return Err(DatasetError::RowsOutOfRange {
                benchmark: self.benchmark(),
                edition: self.name(),
                rows,
                rows_min: ROWS_MIN,
                rows_max: self.rows_max(),
            });
        }
        if seed != 0 {
            let (benchmark, edition) = (self.benchmark(), self.name());
            return Err(DatasetError::SeedOutOfRange { benchmark, edition, seed, seed_max: 0 });
        }
        let late = self.late_rows(relation, rows);
        Ok(Arc::new(Parts { name: relation.to_owned(), attributes, rows, late }))
    }

    fn late_rows(&self, relation: &str, rows: u64) -> u64 {
        if relation == "wideparts" { rows * LATE.0 / LATE.1 } else { 0 }
    }
}

struct Parts {
    name: String,
    attributes: Vec<Attribute>,
    rows: u64,
    late: u64,
}

impl Parts {
    /// The part number of a late row: they are spread evenly, so that each falls on another page.
    fn late_number(&self, late_row: u64) -> u64 {
        (2 * late_row + 1) * self.rows / (2 * self.late) + 1
    }

    /// The part number of a row: in order, late ones left out, and then those.
    fn number(&self, row: u64) -> u64 {
        let built = self.rows - self.late;
        if row >= built {
            return self.late_number(row - built);
        }
        // The late numbers below that of the row: each has as many built ones before it as it has
        // numbers before it that are not late.
        let (mut low, mut high) = (0, self.late);
        while low < high {
            let middle = low.midpoint(high);
            if self.late_number(middle) - 1 - middle <= row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        row + 1 + low
    }

    fn is_wide(&self) -> bool {
        self.attributes.len() > DEMONSTRATION_ATTRIBUTES
    }
}

const DEMONSTRATION_ATTRIBUTES: usize = 5;

impl Source for Parts {
    fn name(&self) -> &str {
        &self.name
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        Box::new(PartsCursor { parts: self, position: first })
    }
}

struct PartsCursor {
    parts: Arc<Parts>,
    position: u64,
}

impl Cursor for PartsCursor {
    fn position(&self) -> u64 {
        self.position
    }

    fn read(&mut self, count: usize, into: &mut Relation) {
        for row in self.position..self.position + count as u64 {
            let number = self.parts.number(row);
            let place = ((number - 1) % DEMONSTRATION.len() as u64) as usize;
            let (name, color, weight, on_hand) = DEMONSTRATION[place];
            let wide = self.parts.is_wide();
            let color = if wide && color == "black" && place != BLACK { "gray" } else { color };
            for (attribute, (_, column)) in into.columns.iter_mut().enumerate() {
                match (attribute, column) {
                    (0, Column::Int16(values)) => values.push(number as i16),
                    (0, Column::Int32(values)) => values.push(number as i32),
                    (1, Column::Text { width, bytes }) => push_text(bytes, name, *width),
                    (2, Column::Text { width, bytes }) => push_text(bytes, color, *width),
                    (3, Column::Int16(values)) => values.push(weight),
                    (4, Column::Int16(values)) => values.push(on_hand),
                    (5, Column::Text { width, bytes }) => push_filler(bytes, number, *width),
                    _ => unreachable!("the columns are those of `attributes`"),
                }
            }
        }
        self.position += count as u64;
    }
}

/// A text and blanks up to the width.
fn push_text(bytes: &mut Vec<u8>, text: &str, width: usize) {
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(bytes.len() + width - text.len(), b' ');
}

/// The part number in ten digits, and x's up to the width: no two fillers are alike, so that no
/// system keeps one of them only.
fn push_filler(bytes: &mut Vec<u8>, number: u64, width: usize) {
    let digits = format!("{number:010}");
    bytes.extend_from_slice(digits.as_bytes());
    bytes.resize(bytes.len() + width - digits.len(), b'x');
}
