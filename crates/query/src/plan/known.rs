//! The planner's knowledge of stored relations.

use super::Access;
use crate::catalog::{Catalog, Constant, Organisation};
use crate::expression::Expr;
use crate::tactics::FileLayout;
use crate::tuple::Layout;

/// The place where the planner looks up relations: a catalog, or facts made up for a test.
pub trait Relations {
    /// The knowledge of the relation of that name, in lower case.
    fn stored(&self, name: &str) -> Option<Stored>;
}

/// A stored relation.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its name.
    pub name: String,
    /// The form of its tuples.
    pub layout: Layout,
    /// The number of tuples that it has, about.
    pub rows: f64,
    /// The number of pages that they take, about.
    pub pages: f64,
    /// Whether they are stored by columns.
    pub by_columns: bool,
    /// The attribute that it is clustered or hashed on; None for a heap.
    pub organisation: Option<Access>,
    /// The attributes with a secondary index.
    pub indexes: Vec<usize>,
    /// The statistics of each attribute's values; empty if nothing is.
    pub statistics: Vec<Statistics>,
}

/// The statistics of an attribute's values.
#[derive(Debug, Clone)]
pub struct Statistics {
    /// The number of different ones, about.
    pub distinct: f64,
    /// The least and the greatest, as constants; None where there is none.
    pub range: Option<(Expr, Expr)>,
}

impl Relations for Catalog {
    fn stored(&self, name: &str) -> Option<Stored> {
        let info = self.relation(name)?;
        let organisation = match info.organisation {
            Organisation::Heap => None,
            Organisation::Clustered { attribute } => Some(Access::Clustered { attribute }),
            Organisation::Hash { attribute } => Some(Access::Hashed { attribute }),
        };
        let mut indexes: Vec<usize> = info
            .indexes
            .iter()
            .filter(|index| !index.is_primary)
            .map(|index| index.attributes[0])
            .collect();
        indexes.sort_unstable();
        indexes.dedup();
        let statistics = info.statistics.iter().map(|found| Statistics {
            distinct: found.distinct as f64,
            range: found.range.as_ref().map(|(least, greatest)| (expr(least), expr(greatest))),
        });
        Some(Stored {
            name: info.name.clone(),
            layout: info.layout.clone(),
            rows: info.rows as f64,
            pages: info.pages as f64,
            by_columns: info.file_layout == FileLayout::Columns,
            organisation,
            indexes,
            statistics: statistics.collect(),
        })
    }
}

fn expr(constant: &Constant) -> Expr {
    match constant {
        Constant::Integer(value) => Expr::Integer(*value),
        Constant::Real(value) => Expr::Real(*value),
        Constant::Text(text) => Expr::Text(text.clone()),
    }
}
