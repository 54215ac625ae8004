//! An edition of a benchmark's database, and the errors of requesting one.

use std::sync::Arc;

use crate::attribute::Attribute;
use crate::source::Source;

/// A name that is not in the catalogue, or a size or seed that the edition does not define.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatasetError {
    /// No edition of that benchmark and name.
    #[error("no data for {benchmark} {edition}; there is: {known}")]
    UnknownEdition {
        /// The benchmark requested.
        benchmark: String,
        /// The edition requested.
        edition: String,
        /// The editions that exist, separated by commas.
        known: String,
    },
    /// The edition has no relation of that name.
    #[error("{benchmark} {edition} has no relation '{relation}'; it has: {known}")]
    UnknownRelation {
        /// The benchmark requested.
        benchmark: &'static str,
        /// The edition requested.
        edition: &'static str,
        /// The relation requested.
        relation: String,
        /// The relations that exist, separated by commas.
        known: String,
    },
    /// The scale lies outside what the edition's rule covers.
    #[error("{benchmark} {edition} is defined for {rows_min} to {rows_max} rows, not {rows}")]
    RowsOutOfRange {
        /// The benchmark requested.
        benchmark: &'static str,
        /// The edition requested.
        edition: &'static str,
        /// The scale requested.
        rows: u64,
        /// Smallest scale.
        rows_min: u64,
        /// Largest scale.
        rows_max: u64,
    },
    /// The scale lies between two that the edition's rule defines.
    #[error("{benchmark} {edition} is defined for {rule}, not for {rows}")]
    RowsOffStep {
        /// The benchmark requested.
        benchmark: &'static str,
        /// The edition requested.
        edition: &'static str,
        /// The scale requested.
        rows: u64,
        /// The scales that there are.
        rule: &'static str,
    },
    /// The seed is no state of the edition's generator.
    #[error("{benchmark} {edition} has seeds up to {seed_max}, not {seed}")]
    SeedOutOfRange {
        /// The benchmark requested.
        benchmark: &'static str,
        /// The edition requested.
        edition: &'static str,
        /// The seed requested.
        seed: u64,
        /// Largest seed.
        seed_max: u64,
    },
}

/// One edition of a benchmark's database.
pub trait Edition: Sync {
    /// The benchmark's name.
    fn benchmark(&self) -> &'static str;

    /// The edition's name.
    fn name(&self) -> &'static str;

    /// Names of the relations, in the paper's order.
    fn relations(&self) -> &'static [&'static str];

    /// Attributes of a relation, in the paper's order.
    fn attributes(&self, relation: &str) -> Result<Vec<Attribute>, DatasetError>;

    /// A relation at scale `rows` (the size of the large relations) from `seed`.
    fn open(&self, relation: &str, rows: u64, seed: u64) -> Result<Arc<dyn Source>, DatasetError>;

    /// The number of rows of a relation, its last ones, that the paper inserts after the relation
    /// is built.
    fn late_rows(&self, relation: &str, rows: u64) -> u64 {
        let _ = (relation, rows);
        0
    }

    /// The error for a relation that this edition lacks.
    fn unknown(&self, relation: &str) -> DatasetError {
        DatasetError::UnknownRelation {
            benchmark: self.benchmark(),
            edition: self.name(),
            relation: relation.to_owned(),
            known: self.relations().join(", "),
        }
    }
}
