//! The IDM tests' relations: one of any size, a dictionary, and two of the Wisconsin benchmark.

use std::sync::Arc;

use crate::attribute::Attribute;
use crate::edition::{DatasetError, Edition};
use crate::idm::{dictionary, simple};
use crate::source::{Cursor, Source};
use crate::wisconsin::edition_1983::Edition1983;

/// The smallest and largest size of `simple`; the paper's go from 100 to 150,000.
const ROWS_RANGE: std::ops::RangeInclusive<u64> = 10..=1_000_000_000;

/// The papers' names of relations of the Wisconsin benchmark, and that benchmark's own, with the
/// prefix of its attributes.
const BORROWED: [(&str, &str, &str); 2] =
    [("onektup", "thoustup", "one"), ("tenktup", "tenthoustup", "")];

/// All tests in one edition: none of their relations has two definitions.
pub struct Edition1986;

impl Edition for Edition1986 {
    fn benchmark(&self) -> &'static str {
        "idm"
    }

    fn name(&self) -> &'static str {
        "1986"
    }

    fn relations(&self) -> &'static [&'static str] {
        &["simple", "dictionary", "onektup", "tenktup"]
    }

    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError> {
        match relation {
            "simple" => Ok(simple::attributes()),
            "dictionary" => Ok(dictionary::attributes()),
            _ => {
                let (_, name, prefix) = self.borrowed(relation)?;
                let attributes = Edition1983.attributes(name)?.into_iter();
                Ok(attributes.map(|attribute| without(attribute, prefix)).collect())
            }
        }
    }

    /// `rows` is the size of `simple`; the papers fix those of the others.
    fn open(&self, relation: &str, rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError> {
        let attributes = self.attributes(relation)?;
        if !ROWS_RANGE.contains(&rows) {
            return Err(DatasetError::RowsOutOfRange {
                benchmark: self.benchmark(),
                edition: self.name(),
                rows,
                rows_min: *ROWS_RANGE.start(),
                rows_max: *ROWS_RANGE.end(),
            });
        }
        match relation {
            "simple" => Ok(simple::open(rows, seed)),
            "dictionary" => Ok(dictionary::open(seed)),
            _ => {
                let (name, of, _) = self.borrowed(relation)?;
                let source = Edition1983.open(of, rows, seed)?;
                Ok(Arc::new(Borrowed { name, attributes, source }))
            }
        }
    }
}

impl Edition1986 {
    fn borrowed(
        &self,
        relation: &str,
    ) -> Result<(&'static str, &'static str, &'static str), DatasetError> {
        let mut known = BORROWED.into_iter();
        known.find(|(name, ..)| *name == relation).ok_or_else(|| self.unknown(relation))
    }
}

fn without(attribute: Attribute, prefix: &str) -> Attribute {
    let name = attribute.name.strip_prefix(prefix).map(str::to_owned);
    Attribute { name: name.unwrap_or(attribute.name), ..attribute }
}

/// A relation of another edition under other names.
struct Borrowed {
    name: &'static str,
    attributes: Vec<Attribute>,
    source: Arc<dyn Source>,
}

impl Source for Borrowed {
    fn name(&self) -> &str {
        self.name
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn cursor(self: Arc<Self>, first: u64) -> Box<dyn Cursor> {
        Arc::clone(&self.source).cursor(first)
    }
}
