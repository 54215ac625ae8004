//! The least and the greatest of a whole relation by the end of an index.

use loadstone_quel::check::resolved::{Aggregate, Term};
use loadstone_quel::tree::AggregateFunction;

use super::aggregate::Group;
use super::draft::Draft;
use super::planner::Planner;
use super::{Access, Side, Sink, Source, Update};
use crate::tactics::Optimizer;

/// An aggregate that one end of an index answers.
pub(super) struct End {
    /// The slot of the statement.
    slot: usize,
    column: usize,
    access: Access,
    side: Side,
}

impl Planner<'_> {
    /// For each of some scalar aggregates the end of an index that answers it; None where one of
    /// them has none, because then the relation is read anyhow. `optimizer=rules` knows no such
    /// end: it is what the systems of the papers did, and none of them did this.
    pub(super) fn ends(&self, group: &Group) -> Option<Vec<End>> {
        if self.tactics.optimizer != Optimizer::Cost {
            return None;
        }
        group.members.iter().map(|&number| self.end(&self.statement.aggregates[number])).collect()
    }

    fn end(&self, aggregate: &Aggregate) -> Option<End> {
        let side = match aggregate.function {
            AggregateFunction::Min => Side::Least,
            AggregateFunction::Max => Side::Greatest,
            _ => return None,
        };
        let Term::Column { slot, column } = aggregate.argument else { return None };
        if !aggregate.scope.conditions.is_empty() || aggregate.scope.slots != 1 << slot {
            return None;
        }
        let stored = self.scene.relations[slot].as_ref()?;
        let access = match stored.organisation {
            Some(Access::Clustered { attribute }) if attribute == column => {
                Access::Clustered { attribute }
            }
            _ if stored.indexes.contains(&column) => Access::Index { attribute: column },
            _ => return None,
        };
        Some(End { slot, column, access, side })
    }

    /// The pipeline of one of them.
    pub(super) fn feed_end(&mut self, aggregation: usize, aggregate: usize, end: End) {
        let End { slot: of, column, access, side } = end;
        let Some(stored) = &self.scene.relations[of] else { return };
        let (relation, layout) = (stored.name.clone(), stored.layout.clone());
        let mut draft = Draft::new();
        let slot = draft.whole(of, layout);
        draft.source = Source::End { relation, slot, access, side };
        let argument = draft.expr(&self.scene, &Term::Column { slot: of, column });
        let updates = vec![Update { aggregate, argument, condition: None }];
        let sink = Sink::Aggregate { aggregation, by: Vec::new(), updates };
        self.plan.pipelines.push(draft.into(sink));
    }
}
