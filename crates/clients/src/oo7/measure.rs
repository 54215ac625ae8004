//! OO7's operations by name.

use crate::error::{ClientError, named};

/// An operation that a client can run. Traversals follow private components only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The whole tree, each private component, its whole graph.
    T1,
    /// The same with real work at each atomic part.
    T1Work,
    /// T1, and x and y of each composite part's root swapped.
    T2a,
    /// T1, and x and y of each atomic part swapped.
    T2b,
    /// The same, four times at each visit.
    T2c,
    /// As T2a, with the indexed date toggled.
    T3a,
    /// As T2b, with the indexed date toggled.
    T3b,
    /// As T2c, with the indexed date toggled.
    T3c,
    /// The letters I in each component's document.
    T4,
    /// Each component's document made to begin with `This is`.
    T5Do,
    /// The same back.
    T5Undo,
    /// The root atomic part of each component.
    T6,
    /// From a random atomic part to all assemblies above it.
    T7,
    /// The letters I in the manual.
    T8,
    /// The first and the last character of the manual compared.
    T9,
    /// T1 over every module.
    T10,
    /// T1 and T2a in one transaction.
    CachedUpdate,
    /// Ten random atomic parts by id.
    Q1,
    /// The newest hundredth of the atomic parts, by the index on dates.
    Q2,
    /// The newest tenth.
    Q3,
    /// From ten random titles to the base assemblies that use the document's composite part.
    Q4,
    /// Base assemblies that use a newer composite part.
    Q5,
    /// Assemblies that use one, directly or through others.
    Q6,
    /// All atomic parts.
    Q7,
    /// Pairs of atomic parts and the documents that they name.
    Q8,
    /// Ten composite parts made and used, one transaction.
    S1,
    /// The same ones deleted.
    S2,
    /// One random way from the root to a base assembly: T1 of its private components.
    M1,
    /// The same, then T2b of them in the same transaction.
    M2,
    /// As M1, of its shared components.
    M3,
    /// As M2, of its shared components.
    M4,
    /// T1 of both, then T2b of the private ones.
    M5,
    /// The same: the original program distinguishes the two by name alone.
    M6,
}

impl Measure {
    /// All, in the order in which a report names them.
    pub const ALL: [(&'static str, Self); 33] = [
        ("T1", Self::T1),
        ("T1WW", Self::T1Work),
        ("T2a", Self::T2a),
        ("T2b", Self::T2b),
        ("T2c", Self::T2c),
        ("T3a", Self::T3a),
        ("T3b", Self::T3b),
        ("T3c", Self::T3c),
        ("T4", Self::T4),
        ("T5do", Self::T5Do),
        ("T5undo", Self::T5Undo),
        ("T6", Self::T6),
        ("T7", Self::T7),
        ("T8", Self::T8),
        ("T9", Self::T9),
        ("T10", Self::T10),
        ("CU", Self::CachedUpdate),
        ("Q1", Self::Q1),
        ("Q2", Self::Q2),
        ("Q3", Self::Q3),
        ("Q4", Self::Q4),
        ("Q5", Self::Q5),
        ("Q6", Self::Q6),
        ("Q7", Self::Q7),
        ("Q8", Self::Q8),
        ("S1", Self::S1),
        ("S2", Self::S2),
        ("M1", Self::M1),
        ("M2", Self::M2),
        ("M3", Self::M3),
        ("M4", Self::M4),
        ("M5", Self::M5),
        ("M6", Self::M6),
    ];

    /// By name, as in plans and reports.
    pub fn named(name: &str) -> Result<Self, ClientError> {
        named("measure", &Self::ALL, name)
    }
}

/// The change that a traversal makes to atomic parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// x and y swapped.
    Swap,
    /// The indexed date toggled.
    Date,
}

/// To which of them, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// To the root of each composite part visited.
    Root,
    /// To each.
    Each,
    /// To each, that many times in a row.
    Repeated(u32),
}

/// Times of T2c and T3c.
pub(super) const REPEATED: u32 = 4;

impl Measure {
    /// Of the traversals that update.
    pub(super) const fn update(self) -> Option<(Change, Extent)> {
        Some(match self {
            Self::T2a => (Change::Swap, Extent::Root),
            Self::T2b => (Change::Swap, Extent::Each),
            Self::T2c => (Change::Swap, Extent::Repeated(REPEATED)),
            Self::T3a => (Change::Date, Extent::Root),
            Self::T3b => (Change::Date, Extent::Each),
            Self::T3c => (Change::Date, Extent::Repeated(REPEATED)),
            _ => return None,
        })
    }
}

/// The deeds of an operation of several users at the base assembly that it comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visit {
    /// Which of its components T1 walks through.
    pub reads: &'static [Components],
    /// Which T2b changes after that.
    pub changes: Option<Components>,
}

/// A base assembly's components of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Components {
    /// Of its own module.
    Private,
    /// Of any.
    Shared,
}

impl Measure {
    /// Of the operations that several users run.
    pub(super) const fn visit(self) -> Option<Visit> {
        const PRIVATE: Components = Components::Private;
        const SHARED: Components = Components::Shared;
        Some(match self {
            Self::M1 => Visit { reads: &[PRIVATE], changes: None },
            Self::M2 => Visit { reads: &[PRIVATE], changes: Some(PRIVATE) },
            Self::M3 => Visit { reads: &[SHARED], changes: None },
            Self::M4 => Visit { reads: &[SHARED], changes: Some(SHARED) },
            Self::M5 | Self::M6 => Visit { reads: &[PRIVATE, SHARED], changes: Some(PRIVATE) },
            _ => return None,
        })
    }
}
