//! Relations that are known to the planner and stored nowhere.

use std::collections::{BTreeMap, BTreeSet};

use loadstone_datasets::{AttributeType, Column, open, read_all};
use loadstone_quel::schema::{Attribute, Catalogue, Kind};

use crate::expression::Expr;
use crate::plan::{Access, Relations, Statistics, Stored};
use crate::tuple::Layout;

/// Relations by name.
#[derive(Debug, Clone, Default)]
pub struct Facts(pub BTreeMap<String, Stored>);

impl Relations for Facts {
    fn stored(&self, name: &str) -> Option<Stored> {
        self.0.get(name).cloned()
    }
}

impl Facts {
    pub fn catalogue(&self) -> Catalogue {
        let attributes = |stored: &Stored| {
            let fields = stored.layout.fields.iter();
            let attribute = |field: &crate::tuple::Field| Attribute {
                name: field.name.clone(),
                kind: field.kind,
            };
            fields.map(attribute).collect()
        };
        self.0.iter().map(|(name, stored)| (name.clone(), attributes(stored))).collect()
    }

    /// A heap of so many tuples.
    pub fn add(&mut self, name: &str, attributes: &[(&str, Kind)], rows: f64) -> &mut Stored {
        let fields = attributes.iter().map(|(name, kind)| ((*name).to_owned(), *kind, false));
        let layout = Layout::of(fields);
        let pages = (rows * layout.bytes as f64 / 4_000.0).ceil();
        let stored = Stored {
            name: name.to_owned(),
            layout,
            rows,
            pages,
            by_columns: false,
            organisation: None,
            indexes: Vec::new(),
            statistics: Vec::new(),
        };
        self.0.entry(name.to_owned()).insert_entry(stored).into_mut()
    }

    /// The relations of an edition in a storage design, with the statistics of their data.
    pub fn wisconsin(edition: &str, design: &str) -> Self {
        let mut facts = Self::default();
        let relations: &[(&str, &str)] = match edition {
            "1983" => &[
                ("thoustup", "one"),
                ("twothoustup", ""),
                ("tenthoustup", ""),
                ("tenthoustup2", "two"),
                ("tempbprime", "two"),
            ],
            _ => &[("onektup", ""), ("tenktup1", ""), ("tenktup2", ""), ("bprime", "")],
        };
        for (name, prefix) in relations {
            facts.generated(edition, name);
            let stored = facts.0.get_mut(*name).unwrap();
            let attribute =
                |name: &str| stored.layout.position(&format!("{prefix}{name}")).unwrap();
            let third = if edition == "1983" { "hundred" } else { "onepercent" };
            (stored.organisation, stored.indexes) = match design {
                "heap" => (None, vec![]),
                "indexed" => (
                    Some(Access::Clustered { attribute: attribute("unique2") }),
                    vec![attribute("unique1"), attribute(third)],
                ),
                "hash" => (Some(Access::Hashed { attribute: attribute("unique2") }), vec![]),
                "string" => (
                    Some(Access::Clustered { attribute: attribute("stringu2") }),
                    vec![attribute("stringu1")],
                ),
                other => panic!("no design {other}"),
            };
        }
        facts
    }

    fn generated(&mut self, edition: &str, name: &str) {
        let source = open("wisconsin", edition, name, 10_000, 0).unwrap();
        let kinds = source.attributes().iter().map(|attribute| {
            let kind = match attribute.kind {
                AttributeType::Char(width) => Kind::Text { width },
                other => Kind::Integer { bytes: other.width_bytes() },
            };
            (attribute.name.as_str(), kind)
        });
        let kinds: Vec<_> = kinds.collect();
        let data = read_all(&source);
        let stored = self.add(name, &kinds, data.rows() as f64);
        stored.statistics = data.columns.iter().map(|(_, column)| statistics(column)).collect();
    }

    /// PARTS of section 2: 200 bytes, clustered on pnum.
    pub fn parts() -> Self {
        let integer = Kind::Integer { bytes: 2 };
        let mut facts = Self::default();
        let attributes = [
            ("pnum", integer),
            ("pname", Kind::Text { width: 20 }),
            ("pcolor", Kind::Text { width: 8 }),
            ("pweight", integer),
            ("qoh", integer),
            ("filler", Kind::Text { width: 166 }),
        ];
        let stored = facts.add("parts", &attributes, 3_360.0);
        stored.organisation = Some(Access::Clustered { attribute: 0 });
        let number = |distinct: f64, least, greatest| Statistics {
            distinct,
            range: Some((Expr::Integer(least), Expr::Integer(greatest))),
        };
        let text = |distinct: f64| Statistics { distinct, range: None };
        stored.statistics = vec![
            number(3_360.0, 1, 3_360),
            text(14.0),
            text(8.0),
            number(13.0, 0, 685),
            number(11.0, 0, 350),
            text(1.0),
        ];
        facts
    }
}

fn statistics(column: &Column) -> Statistics {
    fn of<T: Ord + Clone>(values: impl Iterator<Item = T>, expr: fn(T) -> Expr) -> Statistics {
        let set: BTreeSet<T> = values.collect();
        let range = set.first().cloned().zip(set.last().cloned());
        Statistics {
            distinct: set.len() as f64,
            range: range.map(|(least, greatest)| (expr(least), expr(greatest))),
        }
    }
    let integers = |values: Vec<i64>| of(values.into_iter(), Expr::Integer);
    match column {
        Column::Int16(values) => integers(values.iter().map(|&value| value.into()).collect()),
        Column::Int32(values) => integers(values.iter().map(|&value| value.into()).collect()),
        Column::Int64(values) | Column::Timestamp(values) => integers(values.clone()),
        Column::Text { width, bytes } => of(bytes.chunks(*width).map(<[u8]>::to_vec), Expr::Text),
    }
}
