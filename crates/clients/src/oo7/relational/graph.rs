//! The graph of one composite part, fetched level by level: one round trip for all parts that are a
//! connection further from its root, not one or two for each of them.
//!
//! It is requested when the program first goes along a connection, and given up when the program
//! enters the next composite part: what it holds is never older than the visit.

use rustc_hash::FxHashMap;

use super::{Columns, Reach, Reached, Session, part};
use crate::error::ClientError;
use crate::oo7::Part;
use crate::oo7::rows::Value;
use crate::oo7::sql::Query;

/// By the id of the part that connections leave: the parts at their other ends.
#[derive(Default)]
pub struct Graph {
    ends: FxHashMap<u32, Vec<Part>>,
}

impl Graph {
    /// Nothing is known.
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// Append the parts at the other ends of a part's connections; of a part that is not known, all
    /// that it leads to is fetched first.
    pub fn connected<S: Session>(
        &mut self,
        session: &mut S,
        reach: Reach,
        id: u32,
        out: &mut Vec<Reached>,
    ) -> Result<(), ClientError> {
        if !self.ends.contains_key(&id) {
            let mut level = vec![id.cast_signed()];
            while !level.is_empty() {
                self.level(session, reach, &mut level)?;
            }
        }
        out.extend(self.ends.get(&id).into_iter().flatten().map(|&part| Reached::Fetched(part)));
        Ok(())
    }

    /// Fetch what the parts of a level lead to, and leave the ids of those that were not known as
    /// the next level.
    pub fn level<S: Session>(
        &mut self,
        session: &mut S,
        reach: Reach,
        level: &mut Vec<i32>,
    ) -> Result<(), ClientError> {
        for id in level.iter() {
            self.ends.insert(id.cast_unsigned(), Vec::new());
        }
        let mut reached = Vec::with_capacity(4 * level.len());
        if reach.joins {
            session.ask(Query::LevelJoined, &[Value::Ids(level)], |row| {
                reached.push((row.id(), part::<S>(row)?));
                Ok(())
            })?;
        } else {
            looked_up(session, level, &mut reached)?;
        }
        level.clear();
        for (from, part) in reached {
            let id = part.object.id;
            if !self.ends.contains_key(&id) && !level.contains(&id.cast_signed()) {
                level.push(id.cast_signed());
            }
            self.ends.entry(from).or_default().push(part);
        }
        Ok(())
    }
}

/// The ids at the other ends by one statement, and their parts by another.
fn looked_up<S: Session>(
    session: &mut S,
    level: &[i32],
    reached: &mut Vec<(u32, Part)>,
) -> Result<(), ClientError> {
    let mut pairs = Vec::with_capacity(4 * level.len());
    session.ask(Query::LevelIds, &[Value::Ids(level)], |row| {
        pairs.push((row.id(), row.int()));
        Ok(())
    })?;
    let mut ids: Vec<i32> = pairs.iter().map(|&(_, to)| to).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut parts = FxHashMap::default();
    session.ask(Query::LevelParts, &[Value::Ids(&ids)], |row| {
        let part = part::<S>(row)?;
        parts.insert(part.object.id.cast_signed(), part);
        Ok(())
    })?;
    for (from, to) in pairs {
        let missing = || ClientError::Missing { engine: S::ENGINE, id: to.cast_unsigned() };
        reached.push((from, *parts.get(&to).ok_or_else(missing)?));
    }
    Ok(())
}
