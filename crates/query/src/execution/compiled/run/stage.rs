//! What a step needs while its pipeline runs.

use std::sync::Arc;

use loadstone_quel::schema::Kind;

use crate::aggregate::Groups;
use crate::error::{QueryError, Result};
use crate::execution::State;
use crate::plan::Step;
use crate::table::{DistinctTable, JoinTable};
use crate::tuple::{Field, HASH_SEED, Value, hash_integer, read_integer};

/// A step's tables.
pub(super) enum Stage {
    /// Of a step that is compiled whole.
    None,
    Probe {
        table: Arc<JoinTable>,
        /// The key's offset and bytes, where it is one integer that is never null.
        integer: Option<(usize, usize)>,
        matches: Vec<*const u8>,
    },
    Groups(Arc<Groups>),
    Distinct {
        seen: Box<DistinctTable>,
        tuple: Vec<u8>,
    },
}

/// That compiled code does not spill.
fn refusal(what: &str, state: &State<'_>) -> QueryError {
    let what = format!("{what}, which execution=compiled keeps in memory,");
    QueryError::Memory { what, budget_bytes: state.memory.budget_bytes() }
}

impl Stage {
    /// For a step.
    pub fn new(step: &Step, state: &State<'_>) -> Result<Self> {
        Ok(match step {
            Step::Filter(_) | Step::Loop(_) => Self::None,
            Step::Probe { table, .. } => {
                if state.away.contains_key(table) {
                    return Err(refusal("a hash table of a join", state));
                }
                let table = state.table(*table);
                let integer = match table.key() {
                    [Field { kind: Kind::Integer { bytes }, offset, null_at: None, .. }] => {
                        Some((*offset, *bytes))
                    }
                    _ => None,
                };
                Self::Probe { table, integer, matches: Vec::new() }
            }
            Step::ProbeGroups { aggregation, .. } => Self::Groups(state.aggregation(*aggregation)),
            Step::Distinct { pack, .. } => Self::Distinct {
                seen: Box::new(DistinctTable::new(&pack.layout, &state.share())?),
                tuple: vec![0; pack.layout.bytes],
            },
        })
    }

    /// Where compiled code packs a tuple of which it asks whether it is new.
    pub fn buffer(&mut self) -> *mut u8 {
        match self {
            Self::Distinct { tuple, .. } => tuple.as_mut_ptr(),
            _ => std::ptr::null_mut(),
        }
    }

    /// The entries with these keys.
    pub fn probe(&mut self, keys: &[Value<'_>]) -> &[*const u8] {
        let Self::Probe { table, matches, .. } = self else { return &[] };
        matches.clear();
        matches.extend(table.matches(keys).map(<[u8]>::as_ptr));
        matches
    }

    /// The entries with an integer as their only key.
    #[inline]
    pub fn probe_integer(&mut self, key: i64) -> &[*const u8] {
        let Self::Probe { table, integer: Some((offset, bytes)), matches } = self else {
            return self.probe(&[Value::Integer(key)]);
        };
        matches.clear();
        let (begin, end) = table.candidates(hash_integer(HASH_SEED, key));
        for entry in (begin..end).map(|number| table.entry(number)) {
            // SAFETY: the entry is a whole one of the table, which nobody changes.
            #[expect(unsafe_code, reason = "entries are read through pointers")]
            let tuple = unsafe { std::slice::from_raw_parts(entry, table.tuple_bytes()) };
            if read_integer(tuple, *offset, *bytes) == key {
                matches.push(entry);
            }
        }
        matches
    }
}
