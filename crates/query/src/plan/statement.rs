//! From a checked statement to its plan.

use std::collections::BTreeSet;

use loadstone_quel::check::resolved::{Action, Slot, Step as Statement, Term};

use super::draft::Draft;
use super::known::{Relations, Stored};
use super::planner::Planner;
use super::scene::{Item, Scene};
use super::scope::Scope;
use super::{Pack, Plan, Sink, Source, Step};
use crate::error::{QueryError, Result};
use crate::expression::Expr;
use crate::tactics::{Distinct, Tactics};
use crate::tuple::{Field, Layout};

/// The way in which a statement is run. Statements that only define something have a plan without
/// pipelines.
///
/// # Errors
///
/// [`QueryError::Relation`] where the statement was checked against other relations.
pub fn plan(statement: &Statement, relations: &dyn Relations, tactics: &Tactics) -> Result<Plan> {
    let of_slot = |slot: &Slot| match slot {
        Slot::Relation(name) => known(relations, name).map(Some),
        Slot::Partition(_) => Ok(None),
    };
    let scene = Scene {
        relations: statement.slots.iter().map(of_slot).collect::<Result<_>>()?,
        partitions: &statement.partitions,
        homes: vec![None; statement.aggregates.len()],
        groups: vec![None; statement.partitions.len()],
        aggregations: Vec::new(),
    };
    let mut planner = Planner { statement, tactics, scene, plan: Plan::default() };
    planner.aggregates();
    planner.action(relations)?;
    planner.plan.aggregations = planner.scene.aggregations;
    planner.plan.threads = tactics.parallelism.0;
    Ok(planner.plan)
}

fn known(relations: &dyn Relations, name: &str) -> Result<Stored> {
    relations.stored(name).ok_or_else(|| QueryError::Relation { name: name.to_owned() })
}

impl Planner<'_> {
    fn action(&mut self, relations: &dyn Relations) -> Result<()> {
        match &self.statement.action {
            Action::Nothing | Action::Create { .. } | Action::Destroy { .. } => {}
            Action::Retrieve { unique, into, terms } => {
                let layout = self.result(terms);
                let (draft, pack) = self.packed(terms, layout, BTreeSet::new(), !unique);
                self.retrieve(draft, pack, *unique, into.as_deref());
            }
            Action::Append { relation, terms } => {
                let layout = known(relations, relation)?.layout;
                let (draft, pack) = self.packed(terms, layout, BTreeSet::new(), true);
                let relation = relation.clone();
                self.plan.pipelines.push(draft.into(Sink::Append { relation, pack }));
            }
            Action::Replace { relation, slot, terms } => self.replace(relation, *slot, terms),
            Action::Delete { relation, slot } => {
                let item = Item::RecordId { slot: *slot };
                let mut draft = self.draft(BTreeSet::from([item]), false);
                let id = draft.item(&self.scene, item);
                let relation = relation.clone();
                self.plan.pipelines.push(draft.into(Sink::Delete { relation, id }));
            }
        }
        Ok(())
    }

    /// The rows of the statement itself; `counts`: it matters how often each comes.
    fn draft(&mut self, wanted: BTreeSet<Item>, counts: bool) -> Draft {
        let scope = &self.statement.scope;
        self.rows(&Scope { slots: scope.slots, conditions: &scope.conditions, wanted, counts })
    }

    /// The rows of the statement, and a tuple of these terms for each.
    fn packed(
        &mut self,
        terms: &[Term],
        layout: Layout,
        mut wanted: BTreeSet<Item>,
        counts: bool,
    ) -> (Draft, Pack) {
        wanted.extend(self.scene.items_of(terms));
        let mut draft = self.draft(wanted, counts);
        let values = terms.iter().map(|term| draft.expr(&self.scene, term)).collect();
        (draft, Pack { values, layout, span: self.statement.span })
    }

    /// The form of a result's tuples.
    fn result(&self, terms: &[Term]) -> Layout {
        let form = |(position, term): (usize, &Term)| {
            let (kind, is_nullable) = self.scene.kind(term);
            match self.statement.schema.get(position) {
                Some(attribute) => (attribute.name.clone(), attribute.kind, is_nullable),
                None => (format!("column{position}"), kind, is_nullable),
            }
        };
        Layout::of(terms.iter().enumerate().map(form))
    }

    fn retrieve(&mut self, mut draft: Draft, mut pack: Pack, unique: bool, into: Option<&str>) {
        if unique && self.tactics.distinct == Distinct::Sort {
            (draft, pack) = self.sorted(draft, pack);
        } else if unique {
            let slot = draft.slot(pack.layout.clone());
            let column = |field: &Field| Expr::Column { slot, field: field.clone() };
            let values = pack.layout.fields.iter().map(column).collect();
            let distinct = Pack { values, ..pack.clone() };
            draft.steps.push(Step::Distinct { pack, slot });
            pack = distinct;
        }
        let sink = match into {
            Some(relation) => Sink::Store { relation: relation.to_owned(), pack },
            None => Sink::Rows(pack),
        };
        self.plan.pipelines.push(draft.into(sink));
    }

    /// The rows sorted by all their values, each once.
    fn sorted(&mut self, draft: Draft, pack: Pack) -> (Draft, Pack) {
        let temporary = self.plan.temporaries.len();
        self.plan.temporaries.push(pack.layout.clone());
        let (rows, layout, span) = (draft.rows, pack.layout.clone(), pack.span);
        let key = (0..layout.fields.len()).collect();
        let sink = Sink::Sort { temporary, pack, key, unique: true };
        self.plan.pipelines.push(draft.into(sink));
        let mut sorted = Draft::new();
        let slot = sorted.slot(layout.clone());
        sorted.source = Source::Temporary { temporary, slot };
        sorted.rows = rows;
        let column = |field: &Field| Expr::Column { slot, field: field.clone() };
        let values = layout.fields.iter().map(column).collect();
        (sorted, Pack { values, layout, span })
    }

    fn replace(&mut self, relation: &str, slot: usize, terms: &[(usize, Term)]) {
        let stored = self.scene.relations[slot].as_ref().expect("what is replaced is a relation");
        let layout = stored.layout.clone();
        let whole: Vec<Term> = (0..layout.fields.len())
            .map(|column| {
                let new = terms.iter().find(|(changed, _)| *changed == column);
                new.map_or(Term::Column { slot, column }, |(_, term)| term.clone())
            })
            .collect();
        let item = Item::RecordId { slot };
        let (mut draft, pack) = self.packed(&whole, layout, BTreeSet::from([item]), false);
        let id = draft.item(&self.scene, item);
        let changed = terms.iter().map(|(column, _)| *column).collect();
        let relation = relation.to_owned();
        self.plan.pipelines.push(draft.into(Sink::Replace { relation, id, pack, changed }));
    }
}
