//! Which benchmarks, editions and relations there are. A new edition is one more entry here.

use std::sync::Arc;

use crate::edition::{DatasetError, Edition};
use crate::source::Source;
use crate::{idm, ingres, oo1, oo7, wisconsin};

/// Every edition there is.
pub const EDITIONS: [&dyn Edition; 11] = [
    &wisconsin::edition_1983::Edition1983,
    &wisconsin::edition_1993::Edition1993 { skewed: false },
    &wisconsin::edition_1993::Edition1993 { skewed: true },
    &oo1::edition_1992::Edition1992 { locality: true },
    &oo1::edition_1992::Edition1992 { locality: false },
    &ingres::edition_1981::Edition1981 { large: false },
    &ingres::edition_1981::Edition1981 { large: true },
    &idm::edition_1986::Edition1986,
    &oo7::edition_1993::Edition1993 { fan_out: 3 },
    &oo7::edition_1993::Edition1993 { fan_out: 6 },
    &oo7::edition_1993::Edition1993 { fan_out: 9 },
];

/// The edition of that benchmark and name.
pub fn edition(benchmark: &str, name: &str) -> Result<&'static dyn Edition, DatasetError> {
    EDITIONS
        .into_iter()
        .find(|edition| edition.benchmark() == benchmark && edition.name() == name)
        .ok_or_else(|| DatasetError::UnknownEdition {
            benchmark: benchmark.to_owned(),
            edition: name.to_owned(),
            known: known(benchmark),
        })
}

/// The editions of that benchmark; of all, if there is none of it.
fn known(benchmark: &str) -> String {
    let is_known = EDITIONS.iter().any(|edition| edition.benchmark() == benchmark);
    let offered = EDITIONS.iter().filter(|edition| !is_known || edition.benchmark() == benchmark);
    let names = offered.map(|edition| format!("{} {}", edition.benchmark(), edition.name()));
    names.collect::<Vec<_>>().join(", ")
}

/// A relation by its full name.
pub fn open(
    benchmark: &str,
    edition_name: &str,
    relation: &str,
    rows: u64,
    seed: u64,
) -> Result<Arc<dyn Source>, DatasetError> {
    edition(benchmark, edition_name)?.open(relation, rows, seed)
}
