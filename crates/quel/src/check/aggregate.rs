//! Aggregates: each a scope of its own, and where the surrounding block finds what it comes to.

use super::Checked;
use super::expression::{Block, Resolver, mention};
use super::resolved::{Aggregate, AggregatePlace, Partition, Scope, Slot, SlotSet, Term, Type};
use crate::error::Fault;
use crate::tree::{AggregateFunction, Expr, Span};
use std::collections::BTreeSet;

impl Resolver<'_> {
    pub(super) fn aggregate(
        &mut self,
        outer: &mut Block,
        function: AggregateFunction,
        (argument, by, filter): (&Expr, &[Expr], Option<&Expr>),
        span: Span,
    ) -> Checked<(Term, Type)> {
        let parts = std::iter::once(argument).chain(by).chain(filter);
        let mut block = Block::inner(parts);
        let (argument_term, argument_type) = self.expression(&mut block, argument)?;
        check_argument(function, argument_type, argument.span())?;
        let mut keys = Vec::new();
        for key in by {
            keys.push(self.key(&mut block, key)?);
        }
        let conditions = self.conditions(&mut block, filter)?;
        let by_slots = keys.iter().fold(0, |slots, key| slots | key.slots());
        let partition = (!keys.is_empty()).then(|| self.partition(keys, by_slots));
        self.aggregates.push(Aggregate {
            function,
            argument: argument_term,
            argument_type,
            partition,
            scope: Scope { slots: block.slots, conditions },
            span,
        });
        let number = self.aggregates.len() - 1;
        let (place, slots) = match partition {
            None => (AggregatePlace::Scalar, 0),
            Some(partition) => self.place(outer, partition, by, span)?,
        };
        Ok((Term::Aggregate { number, place, slots }, result_type(function, argument_type)))
    }

    fn key(&mut self, block: &mut Block, key: &Expr) -> Checked<Term> {
        let aggregates = self.aggregates.len();
        let (term, type_) = self.expression(block, key)?;
        if type_ == Type::Truth || self.aggregates.len() > aggregates {
            return Err(Fault::new(key.span(), "this cannot stand after `by`")
                .expecting("expected attributes, as in by t.hundred"));
        }
        Ok(term)
    }

    fn partition(&mut self, by: Vec<Term>, slots: SlotSet) -> usize {
        if let Some(same) = self.partitions.iter().position(|other| other.by == by) {
            return same;
        }
        self.partitions.push(Partition { by, slots });
        self.partitions.len() - 1
    }

    /// The place where the surrounding block finds the values of a partitioned aggregate: by the
    /// by-values of its own tuples if it mentions one of the by-variables, else the block runs over
    /// the groups themselves.
    fn place(
        &mut self,
        outer: &mut Block,
        partition: usize,
        by: &[Expr],
        span: Span,
    ) -> Checked<(AggregatePlace, SlotSet)> {
        let mut variables = BTreeSet::new();
        for key in by {
            mention(key, &mut variables);
        }
        if !variables.is_disjoint(&outer.mentioned) {
            let slots = self.partitions[partition].slots;
            outer.slots |= slots;
            return Ok((AggregatePlace::Linked { partition }, slots));
        }
        let slot = match outer.partition_slots.get(&partition) {
            Some(slot) => *slot,
            None => self.new_slot(Slot::Partition(partition), span)?,
        };
        outer.partition_slots.insert(partition, slot);
        outer.slots |= 1 << slot;
        Ok((AggregatePlace::Slot(slot), 1 << slot))
    }
}

fn check_argument(function: AggregateFunction, type_: Type, span: Span) -> Checked<()> {
    use AggregateFunction as F;
    let arithmetic = matches!(function, F::Sum | F::SumU | F::Avg | F::AvgU);
    if type_ == Type::Truth || (arithmetic && !type_.is_number()) {
        let message = format!("`{}` cannot take {}", function.text(), type_.text());
        let what = if arithmetic { "expected a number" } else { "expected a value" };
        return Err(Fault::new(span, message).expecting(what));
    }
    Ok(())
}

fn result_type(function: AggregateFunction, argument: Type) -> Type {
    use AggregateFunction as F;
    match function {
        F::Count | F::CountU | F::Any => Type::Integer,
        F::Avg | F::AvgU => Type::Real,
        F::Sum | F::SumU | F::Min | F::Max => argument,
    }
}
