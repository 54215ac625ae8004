//! The way in which atomic parts are reached, as asked by the tactics `hop` and `statement`, and as
//! read back by what is sent.

use super::Relational;
use super::graph::Graph;
use super::session::Session;
use crate::error::ClientError;
use crate::oo7::Part;
use crate::oo7::driver::Driver;
use crate::tactics::Tactics;

/// The way in which the atomic parts at the other ends of connections are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// `hop=join`: with their ids, by a join; else after them, each by a statement of its own.
    pub joins: bool,
    /// `statement=batch`: those of a whole level of a composite part's graph by one statement.
    pub by_levels: bool,
}

impl Reach {
    /// Of engines that have no tactic for it.
    pub const LOOKUP: Self = Self { joins: false, by_levels: false };

    /// The tactic `hop`.
    pub fn taken(tactics: &mut Tactics, by_levels: bool) -> Result<Self, ClientError> {
        Ok(Self { joins: tactics.take("hop", &[("lookup", false), ("join", true)])?, by_levels })
    }
}

/// An atomic part that was reached.
#[derive(Debug, Clone, Copy)]
pub enum Reached {
    /// Its id came alone.
    Id(u32),
    /// It came with its connection.
    Fetched(Part),
}

impl Reached {
    #[inline]
    pub(super) const fn id(self) -> u32 {
        match self {
            Self::Id(id) => id,
            Self::Fetched(part) => part.object.id,
        }
    }
}

impl<S: Session> Relational<S> {
    /// The tactics `hop` and `statement`, by what is sent for the graph of the first composite
    /// part.
    pub(super) fn found_habits(
        &mut self,
    ) -> Result<[(&'static str, &'static str); 2], ClientError> {
        let root = self.root_part(1)?;
        let mut ends = Vec::new();
        self.connected(root, &mut ends)?;
        let before = self.session.sent().statements;
        ends.iter().try_for_each(|&end| self.read(end).map(|_| ()))?;
        let for_ends = self.session.sent().statements - before;
        let next = ends.first().copied().unwrap_or(root);
        let before = self.session.sent().statements;
        self.connected(next, &mut ends)?;
        let by_levels = self.session.sent().statements == before;
        let before = self.session.sent().statements;
        if by_levels {
            Graph::default().level(
                &mut self.session,
                self.reach,
                &mut vec![root.id().cast_signed()],
            )?;
        }
        let for_level = self.session.sent().statements - before;
        let hop = if for_ends == 0 && for_level <= 1 { "join" } else { "lookup" };
        Ok([("hop", hop), ("statement", if by_levels { "batch" } else { "prepared" })])
    }
}
