//! RVM's trials by name.

use loadstone_datasets::rvm::Pattern;

use crate::error::ClientError;

/// A measure that a client can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// A trial: 4,000 transactions, one after another.
    Trial(Pattern),
    /// Everything that is stored, read.
    Audit,
}

impl Measure {
    /// All, in the order in which a report names them.
    pub const ALL: [(&'static str, Self); 4] = [
        ("tpca-sequential", Self::Trial(Pattern::Sequential)),
        ("tpca-random", Self::Trial(Pattern::Random)),
        ("tpca-localized", Self::Trial(Pattern::Localized)),
        ("tpca-audit", Self::Audit),
    ];

    /// By name, as in plans and reports.
    pub fn named(name: &str) -> Result<Self, ClientError> {
        match Self::ALL.iter().find(|(known, _)| *known == name) {
            Some(&(_, measure)) => Ok(measure),
            None => Err(ClientError::Unknown {
                kind: "measure",
                name: name.to_owned(),
                known: Self::ALL.iter().map(|(known, _)| (*known).to_owned()).collect(),
            }),
        }
    }
}
