//! The sinks that change relations. What they are given is kept until the statement's end, so that
//! it sees the relations as they were before it; only a new relation, which nobody can see, is
//! filled at once.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::HashMap;

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;
use lode::RecordId;

use super::{Packed, Sink, State};
use crate::catalog::RelationInfo;
use crate::error::{QueryError, Result};
use crate::memory::{Reservation, Tuples};
use crate::plan::{self, Pack};
use crate::relation::{Design, Loader, Workspace, change};
use crate::tuple::{self, Layout};

/// The sink of a pipeline that changes a relation; None for the others.
pub(super) fn sink(sink: &plan::Sink, state: &mut State<'_>) -> Result<Option<Box<dyn Sink>>> {
    let reservation = state.memory.reservation("the changes of a statement");
    Ok(Some(match sink {
        plan::Sink::Store { relation, pack } => Box::new(Storing::new(relation, pack, state)?),
        plan::Sink::Append { relation, pack } => Box::new(Appending {
            relation: relation.clone(),
            tuples: Tuples::new(pack.layout.bytes, reservation),
        }),
        plan::Sink::Replace { relation, pack, .. } => Box::new(Replacing {
            relation: relation.clone(),
            layout: Packed::of(sink).map(|packed| packed.layout).unwrap_or_default(),
            span: pack.span,
            changes: Changes::new(reservation),
        }),
        plan::Sink::Delete { relation, .. } => {
            Box::new(Deleting { relation: relation.clone(), changes: Changes::new(reservation) })
        }
        _ => return Ok(None),
    }))
}

/// The relation as the command found it, which alone changes it.
fn relation(name: &str, state: &State<'_>) -> Result<RelationInfo> {
    let found = state.catalog.relation(name).map(|info| RelationInfo::clone(info));
    found.ok_or_else(|| QueryError::Access {
        relation: name.to_owned(),
        how: "its name, which is gone".to_owned(),
    })
}

/// Into a new relation.
struct Storing {
    loader: Option<Loader>,
}

impl Storing {
    fn new(relation: &str, pack: &Pack, state: &mut State<'_>) -> Result<Self> {
        let design = Design { layout: state.layout, ..Design::default() };
        let workspace = Workspace::new(&state.memory, &state.spill, &state.cancel);
        let pages = state.transaction.writing()?;
        let loader = Loader::new(pages, relation, pack.layout.clone(), design, &workspace)?;
        Ok(Self { loader: Some(loader) })
    }
}

impl Sink for Storing {
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.add_many(state, tuple, 1)
    }

    fn add_many(&mut self, state: &mut State<'_>, tuples: &[u8], count: usize) -> Result<()> {
        match &mut self.loader {
            Some(loader) => loader.add_many(state.transaction.writing()?, tuples, count),
            None => Ok(()),
        }
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        if let Some(loader) = self.loader.take() {
            state.changed += loader.rows();
            // Nothing was defined since the command began, or it would have a newer catalog.
            loader.finish_in(state.transaction.writing()?, &state.catalog)?;
        }
        Ok(())
    }
}

/// Tuples that come to a relation.
struct Appending {
    relation: String,
    tuples: Tuples,
}

impl Sink for Appending {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.tuples.push(tuple).map(|_| ())
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let mut info = relation(&self.relation, state)?;
        let pages = state.transaction.writing()?;
        state.changed += change::append(pages, &mut info, self.tuples.iter())?;
        self.tuples.clear();
        Ok(())
    }
}

/// The tuples to be changed, each known by its record id and kept once.
struct Changes {
    places: HashMap<u64, usize>,
    /// The tuples given to sinks, one after another: a record id and maybe a tuple.
    bytes: Vec<u8>,
    reservation: Reservation,
}

/// The bytes of memory that a place of [`Changes`] takes, about.
const PLACE_BYTES: usize = 32;

impl Changes {
    fn new(reservation: Reservation) -> Self {
        Self { places: HashMap::new(), bytes: Vec::new(), reservation }
    }

    /// Keep what a tuple becomes; or what was kept for it before.
    fn keep(&mut self, change: &[u8]) -> Result<Option<&[u8]>> {
        let id = u64::from_le_bytes(tuple::array(change, 0));
        if let Some(&at) = self.places.get(&id) {
            return Ok(Some(&self.bytes[at..at + change.len()]));
        }
        self.reservation.add((change.len() + PLACE_BYTES) as u64)?;
        self.places.insert(id, self.bytes.len());
        self.bytes.extend_from_slice(change);
        Ok(None)
    }

    /// All, in the order of their record ids, which is that of their pages.
    fn sorted(&self) -> Vec<(RecordId, usize)> {
        let known = |(&id, &at): (&u64, &usize)| RecordId::of(id).map(|id| (id, at));
        let mut sorted: Vec<_> = self.places.iter().filter_map(known).collect();
        sorted.sort_unstable();
        sorted
    }
}

/// Other tuples in the place of some.
struct Replacing {
    relation: String,
    /// A record id, and the tuple behind it.
    layout: Layout,
    span: Span,
    changes: Changes,
}

impl Sink for Replacing {
    fn add(&mut self, state: &mut State<'_>, change: &[u8]) -> Result<()> {
        let Some(before) = self.changes.keep(change)? else { return Ok(()) };
        let differs = |field: &&tuple::Field| {
            let (one, other) = (tuple::read(before, field), tuple::read(change, field));
            one.compare_keys(other) != Ordering::Equal
        };
        match self.layout.fields[1..].iter().find(differs) {
            None => Ok(()),
            Some(field) => {
                let message = format!("a tuple would get two values of `{}`", field.name);
                let hint = "qualify the other range variables so that one tuple fits";
                Err(state.evaluation(Fault::new(self.span, message).expecting(hint)))
            }
        }
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let mut info = relation(&self.relation, state)?;
        let (bytes, id_bytes) = (&self.changes.bytes, size_of::<i64>());
        let sorted = self.changes.sorted();
        let tuples =
            sorted.iter().map(|&(id, at)| (id, &bytes[at + id_bytes..][..info.layout.bytes]));
        let tuples: Vec<_> = tuples.collect();
        state.changed += change::replace(state.transaction.writing()?, &mut info, tuples)?;
        Ok(())
    }
}

/// Tuples that go.
struct Deleting {
    relation: String,
    changes: Changes,
}

impl Sink for Deleting {
    fn add(&mut self, _: &mut State<'_>, change: &[u8]) -> Result<()> {
        self.changes.keep(change).map(|_| ())
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let mut info = relation(&self.relation, state)?;
        let ids: Vec<_> = self.changes.sorted().into_iter().map(|(id, _)| id).collect();
        state.changed += change::delete(state.transaction.writing()?, &mut info, &ids)?;
        Ok(())
    }
}
