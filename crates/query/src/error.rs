//! The errors of a query.

use loadstone_quel::QuelError;
use lode::LodeError;

/// Why a query has no answer. Nothing of a failed statement is kept.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The text is wrong, or means something that cannot be computed; points into the text.
    #[error(transparent)]
    Quel(#[from] QuelError),
    /// The storage refused, or is damaged.
    #[error(transparent)]
    Lode(LodeError),
    /// The memory budget is too small even with everything spilled that can be.
    #[error(
        "{what} needs more than {}: give `memory=` more",
        of_budget(*share_bytes, *budget_bytes)
    )]
    Memory {
        /// Which part of the plan asked.
        what: String,
        /// The bytes of the budget that this part may have.
        share_bytes: u64,
        /// The budget of all statements, in bytes: what `memory=` says.
        budget_bytes: u64,
    },
    /// A statement was checked against other relations than there are.
    #[error("there is no relation `{name}` any more: prepare the statement again")]
    Relation {
        /// Its name.
        name: String,
    },
    /// A tactic's value that there is not, or that excludes another's.
    #[error("{what}")]
    Tactic {
        /// The error, and the names that exist.
        what: String,
    },
    /// A relation cannot be reached as the plan says: the plan was made for another catalog.
    #[error("`{relation}` cannot be reached by {how}: plan the statement again")]
    Access {
        /// The relation.
        relation: String,
        /// The way in which it was to be reached.
        how: String,
    },
    /// Two tuples with the same values where a unique index allows one.
    #[error(
        "`{relation}` would have two tuples with the same `{attributes}`, of which it has a unique \
         index: change one of them, or make the index without `unique`"
    )]
    Duplicate {
        /// The relation.
        relation: String,
        /// The index's attributes.
        attributes: String,
    },
    /// A caller's value fits nowhere.
    #[error("{what}")]
    Input {
        /// The value, and those that exist.
        what: String,
    },
    /// A server of statements reports an error of its storage or its memory, or it does not answer.
    #[error("{what}")]
    Served {
        /// Its words.
        what: String,
    },
    /// A statement's thread has failed by a fault of ours.
    #[error("the statement failed by a fault of lode's ({what}): please report it")]
    Panicked {
        /// The words of the panic.
        what: String,
    },
    /// The program's caller requested its end.
    #[error("the query was cancelled")]
    Cancelled,
    /// A file for spilled tuples cannot be written or read.
    #[error(
        "what does not fit into memory cannot be kept in {path}: {source}; free space there, or \
         give `memory=` more"
    )]
    Spill {
        /// The folder.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
}

impl From<LodeError> for QueryError {
    fn from(error: LodeError) -> Self {
        match error {
            // Nobody else ends the transactions of statements.
            LodeError::Interrupted => Self::Cancelled,
            error => Self::Lode(error),
        }
    }
}

/// The result of a query's parts.
pub type Result<T, E = QueryError> = std::result::Result<T, E>;

fn of_budget(share_bytes: u64, budget_bytes: u64) -> String {
    if share_bytes >= budget_bytes {
        return format!("the memory budget of {budget_bytes} bytes");
    }
    format!("its share of {share_bytes} bytes of the memory budget of {budget_bytes} bytes")
}
