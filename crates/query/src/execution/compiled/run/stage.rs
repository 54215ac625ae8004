//! The state that a step needs while its pipeline runs.

use std::sync::Arc;

use loadstone_quel::schema::Kind;

use crate::aggregate::Groups;
use crate::error::Result;
use crate::execution::State;
use crate::execution::compiled::context::Place;
use crate::execution::joining::{Aside, RowForm};
use crate::plan::{Pipeline, Step};
use crate::table::{Duplicates, JoinTable};
use crate::tuple::{Field, HASH_SEED, Value, hash_integer, read_integer};

/// A step's tables.
pub(super) enum Stage {
    /// Of a step that is compiled whole.
    None,
    Probe {
        /// None between two tables.
        table: Option<Arc<JoinTable>>,
        /// Rows whose entries are not in it.
        aside: Option<Box<Aside>>,
        /// The key's offset and bytes, where it is one integer that is never null.
        integer: Option<(usize, usize)>,
        matches: Vec<*const u8>,
    },
    Groups(Arc<Groups>),
    Distinct {
        /// None once there are no more rows.
        seen: Option<Box<Duplicates>>,
        tuple: Vec<u8>,
        slot: usize,
    },
}

impl Stage {
    /// For the step of that number.
    pub fn new(number: usize, pipeline: &Pipeline, state: &mut State<'_>) -> Result<Self> {
        Ok(match &pipeline.steps[number] {
            Step::Filter(_) | Step::Loop(_) => Self::None,
            Step::Probe { table, .. } => {
                let away = state.away.remove(table);
                let form = || RowForm::new(pipeline, number);
                let aside = away.map(|away| Aside::new(away, form()).map(Box::new)).transpose()?;
                let table = state.table(*table);
                let integer = match table.key() {
                    [Field { kind: Kind::Integer { bytes }, offset, null_at: None, .. }] => {
                        Some((*offset, *bytes))
                    }
                    _ => None,
                };
                Self::Probe { table: Some(table), aside, integer, matches: Vec::new() }
            }
            Step::ProbeGroups { aggregation, .. } => Self::Groups(state.aggregation(*aggregation)),
            Step::Distinct { pack, slot } => {
                let seen = Duplicates::new(&pack.layout, &state.spill, &state.share())?;
                let tuple = vec![0; pack.layout.bytes];
                Self::Distinct { seen: Some(Box::new(seen)), tuple, slot: *slot }
            }
        })
    }

    /// The place where compiled code packs a tuple of which it asks whether it is new.
    pub fn buffer(&mut self) -> *mut u8 {
        match self {
            Self::Distinct { tuple, .. } => tuple.as_mut_ptr(),
            _ => std::ptr::null_mut(),
        }
    }

    /// Put a row aside whose entries are not in the table; whether that was to be done. `place`
    /// shows where its slots are.
    ///
    /// # Errors
    ///
    /// If it cannot be put.
    pub fn put_aside(
        &mut self,
        keys: &[Value<'_>],
        place: impl Fn(usize) -> Place,
    ) -> Result<bool> {
        let Self::Probe { aside: Some(aside), .. } = self else { return Ok(false) };
        let Some(hash) = aside.is_away(keys) else { return Ok(false) };
        aside.put(hash, |slot| place(slot).tuple, |slot| place(slot).id)?;
        Ok(true)
    }

    /// The entries with these keys.
    pub fn probe(&mut self, keys: &[Value<'_>]) -> &[*const u8] {
        let Self::Probe { table: Some(table), matches, .. } = self else { return &[] };
        matches.clear();
        matches.extend(table.matches(keys).map(<[u8]>::as_ptr));
        matches
    }

    /// The entries with an integer as their only key.
    #[inline]
    pub fn probe_integer(&mut self, key: i64) -> &[*const u8] {
        let Self::Probe { table: Some(table), integer: Some((offset, bytes)), matches, .. } = self
        else {
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
