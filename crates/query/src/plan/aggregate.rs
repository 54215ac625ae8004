//! Aggregates: each runs before what uses it, those with the same tuples together.

use std::collections::{BTreeMap, BTreeSet};

use loadstone_quel::check::resolved::{Aggregate, SlotSet, Term};
use loadstone_quel::tree::AggregateFunction;

use super::draft::Draft;
use super::planner::Planner;
use super::scene::{Home, Item};
use super::scope::Scope;
use super::{Aggregation, Sink, Source, Update};
use crate::expression::Expr;
use crate::tactics::Grouping;
use crate::tuple::Layout;

/// Aggregates that share an aggregation.
pub(super) struct Group {
    /// 1 for those without aggregates in them, 2 for those with such ones, and so on.
    depth: usize,
    /// Their partition; None for scalar ones.
    partition: Option<usize>,
    /// Their numbers.
    pub(super) members: Vec<usize>,
}

impl Planner<'_> {
    /// Pipelines for all aggregates of the statement, inner ones first.
    pub(super) fn aggregates(&mut self) {
        let mut groups = self.grouped();
        groups.sort_by_key(|group| group.depth);
        for group in &groups {
            let aggregation = self.define(group);
            if let Some(partition) = group.partition {
                self.scene.groups[partition].get_or_insert(aggregation);
            }
            self.feed(aggregation, group);
        }
    }

    fn grouped(&self) -> Vec<Group> {
        let aggregates = &self.statement.aggregates;
        let mut depths: Vec<usize> = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        // Of those with as many conditions of the same constants only, the conditions are compared.
        let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, one) in aggregates.iter().enumerate() {
            let mut inner = BTreeSet::new();
            let terms = std::iter::once(&one.argument).chain(&one.scope.conditions);
            terms.for_each(|term| aggregates_in(term, &mut inner));
            let depth = 1 + inner.iter().map(|&inner| depths[inner]).max().unwrap_or(0);
            depths.push(depth);
            let mut constants = Vec::new();
            if one.partition.is_none() {
                one.scope.conditions.iter().for_each(|term| constants_in(term, &mut constants));
            }
            let alike = alike.entry((depth, one.partition, constants)).or_default();
            let same = |group: &&usize| {
                let first = &aggregates[groups[**group].members[0]];
                one.partition.is_some() || is_same_scope(first, one)
            };
            if let Some(&group) = alike.iter().find(same) {
                groups[group].members.push(number);
            } else {
                alike.push(groups.len());
                groups.push(Group { depth, partition: one.partition, members: vec![number] });
            }
        }
        groups
    }

    /// The form of an aggregation's tuples.
    fn define(&mut self, group: &Group) -> usize {
        let partition = group.partition.map(|number| &self.statement.partitions[number]);
        let by: &[Term] = partition.map(|one| one.by.as_slice()).unwrap_or_default();
        let mut fields = Vec::new();
        for (position, term) in by.iter().enumerate() {
            let (kind, is_nullable) = self.scene.kind(term);
            fields.push((self.name(term, &format!("by{position}")), kind, is_nullable));
        }
        let mut functions = Vec::new();
        for &number in &group.members {
            let one = &self.statement.aggregates[number];
            let kind = self.scene.result_kind(one.function, &one.argument);
            let text = one.function.text();
            let own = self.name(&one.argument, "");
            let name = if own.is_empty() { text.to_owned() } else { format!("{text} {own}") };
            fields.push((name, kind, self.may_be_null(one)));
            functions.push((one.function, one.span));
        }
        let layout = Layout::of(fields);
        self.scene.aggregations.push(Aggregation {
            layout,
            by: by.len(),
            functions,
            is_sorted: false,
        });
        let aggregation = self.scene.aggregations.len() - 1;
        for (position, &number) in group.members.iter().enumerate() {
            self.scene.homes[number] = Some(Home { aggregation, field: by.len() + position });
        }
        aggregation
    }

    /// The aggregate of no tuples, or of nulls alone, is null, but for the functions that count.
    fn may_be_null(&self, one: &Aggregate) -> bool {
        use AggregateFunction as F;
        if matches!(one.function, F::Count | F::CountU | F::Any) {
            return false;
        }
        let Some(partition) = one.partition else { return true };
        let partition = &self.statement.partitions[partition];
        !one.scope.conditions.is_empty()
            || one.scope.slots != partition.slots
            || self.scene.kind(&one.argument).1
    }

    fn name(&self, term: &Term, other: &str) -> String {
        let Term::Column { slot, column } = term else { return other.to_owned() };
        let relation = self.scene.relations[*slot].as_ref();
        relation.map_or(other.to_owned(), |one| one.layout.fields[*column].name.clone())
    }

    /// The pipelines whose rows are aggregated.
    fn feed(&mut self, aggregation: usize, group: &Group) {
        let statement = self.statement;
        let Some(number) = group.partition else {
            if let Some(ends) = self.ends(group) {
                for (aggregate, end) in ends.into_iter().enumerate() {
                    self.feed_end(aggregation, aggregate, end);
                }
                return;
            }
            let scope = &statement.aggregates[group.members[0]].scope;
            let updates: Vec<_> =
                group.members.iter().enumerate().map(|(at, &number)| (at, number, false)).collect();
            self.feed_by(aggregation, scope.slots, &scope.conditions, &[], &updates);
            return;
        };
        let partition = &statement.partitions[number];
        // A tuple makes its partition exist even if the aggregate's own conditions drop it: they
        // become conditions of the update where the tuples are those of the partition. Where an
        // aggregate runs over more, or the partition itself over a product, it has a pipeline of
        // its own.
        let is_single = partition.slots.count_ones() <= 1;
        let (shared, own): (Vec<_>, Vec<_>) =
            group.members.iter().copied().enumerate().partition(|(_, number)| {
                let scope = &statement.aggregates[*number].scope;
                scope.slots == partition.slots && (is_single || scope.conditions.is_empty())
            });
        let shared: Vec<_> = shared.into_iter().map(|(at, number)| (at, number, true)).collect();
        // The order of one pipeline says nothing of another's.
        self.scene.aggregations[aggregation].is_sorted =
            self.tactics.aggregate == Grouping::Sort && own.is_empty();
        self.feed_by(aggregation, partition.slots, &[], &partition.by, &shared);
        for (at, number) in own {
            let scope = &statement.aggregates[number].scope;
            let update = [(at, number, false)];
            self.feed_by(aggregation, scope.slots, &scope.conditions, &partition.by, &update);
        }
    }

    /// One pipeline: which aggregates a row counts for (position, number, whether its own
    /// conditions decide there).
    fn feed_by(
        &mut self,
        aggregation: usize,
        slots: SlotSet,
        conditions: &[Term],
        by: &[Term],
        updates: &[(usize, usize, bool)],
    ) {
        let statement = self.statement;
        let mut wanted: BTreeSet<Item> = self.scene.items_of(by);
        for &(_, number, is_conditional) in updates {
            let one = &statement.aggregates[number];
            self.scene.items(&one.argument, &mut wanted);
            if is_conditional {
                wanted.extend(self.scene.items_of(&one.scope.conditions));
            }
        }
        let counts = updates.iter().any(|&(_, number, _)| {
            use AggregateFunction as F;
            let function = statement.aggregates[number].function;
            !matches!(function, F::Any | F::Min | F::Max | F::CountU | F::SumU | F::AvgU)
        });
        let is_sorted = self.scene.aggregations[aggregation].is_sorted;
        let items = wanted.clone();
        let mut draft = self.rows(&Scope { slots, conditions, wanted, counts });
        if is_sorted {
            draft = self.sorted_by(draft, by, &items);
        }
        let by = by.iter().map(|term| draft.expr(&self.scene, term)).collect();
        let updates = updates.iter().map(|&(aggregate, number, is_conditional)| {
            let one = &statement.aggregates[number];
            let condition =
                is_conditional.then(|| all(&mut draft, self, &one.scope.conditions)).flatten();
            let argument = draft.expr(&self.scene, &one.argument);
            Update { aggregate, argument, condition }
        });
        let updates = updates.collect();
        self.plan.pipelines.push(draft.into(Sink::Aggregate { aggregation, by, updates }));
    }
}

impl Planner<'_> {
    /// The items of these rows, sorted by the by-values.
    fn sorted_by(&mut self, mut draft: Draft, by: &[Term], items: &BTreeSet<Item>) -> Draft {
        let by: Vec<&Term> = by.iter().collect();
        let (pack, packed) = draft.pack(&self.scene, &by, items);
        let temporary = self.plan.temporaries.len();
        self.plan.temporaries.push(pack.layout.clone());
        let (key, rows) = ((0..by.len()).collect(), draft.rows);
        let sink = Sink::Sort { temporary, pack, key, unique: false };
        self.plan.pipelines.push(draft.into(sink));
        let mut sorted = Draft::new();
        let slot = sorted.packed(&packed);
        sorted.source = Source::Temporary { temporary, slot };
        sorted.rows = rows;
        sorted
    }
}

/// All conditions as one; None for none.
fn all(draft: &mut Draft, planner: &Planner<'_>, conditions: &[Term]) -> Option<Expr> {
    let mut parts: Vec<Expr> =
        conditions.iter().map(|condition| draft.expr(&planner.scene, condition)).collect();
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Expr::And(parts)),
    }
}

fn is_same_scope(one: &Aggregate, other: &Aggregate) -> bool {
    one.scope.slots == other.scope.slots && one.scope.conditions == other.scope.conditions
}

/// The whole numbers and texts in a term, in its order.
fn constants_in<'t>(term: &'t Term, into: &mut Vec<(i64, &'t [u8])>) {
    match term {
        Term::Integer(value) => into.push((*value, &[])),
        Term::Text(text) => into.push((0, text)),
        Term::Real(_) | Term::Parameter { .. } | Term::Column { .. } | Term::Aggregate { .. } => {}
        Term::Not(operand)
        | Term::Negate { operand, .. }
        | Term::Match { text: operand, .. }
        | Term::Call { argument: operand, .. } => constants_in(operand, into),
        Term::And(left, right)
        | Term::Or(left, right)
        | Term::Compare { left, right, .. }
        | Term::Arithmetic { left, right, .. } => {
            constants_in(left, into);
            constants_in(right, into);
        }
    }
}

fn aggregates_in(term: &Term, into: &mut BTreeSet<usize>) {
    match term {
        Term::Integer(_)
        | Term::Real(_)
        | Term::Text(_)
        | Term::Parameter { .. }
        | Term::Column { .. } => {}
        Term::Aggregate { number, .. } => _ = into.insert(*number),
        Term::Not(operand)
        | Term::Negate { operand, .. }
        | Term::Match { text: operand, .. }
        | Term::Call { argument: operand, .. } => aggregates_in(operand, into),
        Term::And(left, right)
        | Term::Or(left, right)
        | Term::Compare { left, right, .. }
        | Term::Arithmetic { left, right, .. } => {
            aggregates_in(left, into);
            aggregates_in(right, into);
        }
    }
}
