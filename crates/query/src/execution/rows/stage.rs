//! The parts of a pipeline in the form in which the driver runs them.

use std::sync::Arc;

use crate::aggregate::Groups;
use crate::error::Result;
use crate::execution::evaluation::{Condition, Evaluation, Packer, Row, Scalar};
use crate::execution::joining::{Aside, RowForm};
use crate::execution::merging::Merge;
use crate::execution::vectorised::Accelerator;
use crate::execution::{Packed, State};
use crate::expression::Expr;
use crate::plan::{self, Access, Pack, Pipeline, Side, Sink, Step};
use crate::relation::{Relation, TupleBatch};
use crate::table::{Duplicates, JoinTable};
use crate::temporary::Temporary;
use crate::tuple::Value;

/// The place where tuples come from, once or again for each outer row.
pub(super) struct Source {
    pub slot: usize,
    pub from: From,
    /// Kept from one run to the next, for its memory.
    pub batch: TupleBatch,
    /// The place where only the first tuple counts that fulfils a condition, or the first of all.
    pub first: Option<First>,
}

/// The condition that the first tuple that counts must fulfil.
pub(super) type First = Option<Box<dyn Condition>>;

pub(super) enum From {
    Once,
    Scan { relation: Relation, accelerator: Option<Accelerator> },
    Range { relation: Relation, access: Access, low: Limit, high: Limit },
    Lookup { relation: Relation, access: Access, key: Box<dyn Scalar> },
    End { relation: Relation, access: Access, side: Side },
    Temporary(Arc<Temporary>),
    Groups(Arc<Groups>),
    Merge(Box<Merge>),
}

/// A bound of a range, and whether it is included.
pub(super) type Limit = Option<(Box<dyn Scalar>, bool)>;

/// A step.
pub(super) enum Stage {
    /// All must hold; a false one spares those behind it.
    Filter(Vec<Box<dyn Condition>>),
    Loop(Source),
    Probe {
        /// None between two tables.
        table: Option<Arc<JoinTable>>,
        aside: Option<Box<Aside>>,
        slot: usize,
        keys: Vec<Box<dyn Scalar>>,
    },
    ProbeGroups {
        groups: Arc<Groups>,
        slot: usize,
        keys: Vec<Box<dyn Scalar>>,
    },
    Distinct {
        /// None once there are no more rows.
        seen: Option<Box<Duplicates>>,
        slot: usize,
        packer: Box<dyn Packer>,
        tuple: Vec<u8>,
    },
}

/// The form in which the sink gets each row.
pub(super) enum Target {
    /// A tuple.
    Tuple { packer: Box<dyn Packer>, tuple: Vec<u8> },
    /// By-values, and what the row does to each aggregate.
    Values { by: Vec<Box<dyn Scalar>>, updates: Vec<Update> },
}

pub(super) struct Update {
    pub aggregate: usize,
    pub argument: Box<dyn Scalar>,
    pub condition: Option<Box<dyn Condition>>,
}

/// Makes the parts of one pipeline.
pub(super) struct Maker<'a, 's> {
    pub evaluation: &'a dyn Evaluation,
    pub pipeline: &'a Pipeline,
    pub state: &'a mut State<'s>,
}

impl Maker<'_, '_> {
    pub fn source(&self, source: &plan::Source) -> Result<Source> {
        if let plan::Source::First { source, condition } = source {
            let condition = condition.as_ref().map(|one| self.evaluation.condition(one));
            return Ok(Source { first: Some(condition.transpose()?), ..self.source(source)? });
        }
        let relation = |name: &str, slot: usize| self.state.relation(name, slot);
        let limit = |bound: &Option<(Expr, bool)>| -> Result<Limit> {
            let bound = bound.as_ref();
            bound.map(|(expr, included)| Ok((self.evaluation.scalar(expr)?, *included))).transpose()
        };
        let (slot, from) = match source {
            // The first of a source is made of it above.
            plan::Source::Once | plan::Source::First { .. } => (0, From::Once),
            plan::Source::Scan { relation: name, slot, qualification } => {
                let (condition, relation) = (qualification.as_ref(), relation(name, *slot)?);
                let accelerator =
                    condition.map(|one| Accelerator::new(one, &relation, *slot, self.state));
                let accelerator = accelerator.transpose()?;
                (*slot, From::Scan { relation, accelerator })
            }
            plan::Source::Range { relation: name, slot, access, low, high } => {
                let (low, high) = (limit(low)?, limit(high)?);
                let (relation, access) = (relation(name, *slot)?, access.clone());
                (*slot, From::Range { relation, access, low, high })
            }
            plan::Source::Lookup { relation: name, slot, access, key } => {
                let key = self.evaluation.scalar(key)?;
                (
                    *slot,
                    From::Lookup { relation: relation(name, *slot)?, access: access.clone(), key },
                )
            }
            plan::Source::End { relation: name, slot, access, side } => {
                let (relation, access) = (relation(name, *slot)?, access.clone());
                (*slot, From::End { relation, access, side: *side })
            }
            plan::Source::Temporary { temporary, slot } => {
                (*slot, From::Temporary(self.state.temporary(*temporary)))
            }
            plan::Source::Groups { aggregation, slot } => {
                (*slot, From::Groups(self.state.aggregation(*aggregation)))
            }
            plan::Source::Merge { left, right, left_key, right_key } => {
                let slots = &self.pipeline.slots;
                let left = (self.state.temporary(*left), &left_key[..], &slots[0]);
                let right = (self.state.temporary(*right), &right_key[..], &slots[1]);
                (0, From::Merge(Box::new(Merge::new(left, right))))
            }
        };
        Ok(Source { slot, from, batch: TupleBatch::new(), first: None })
    }

    pub fn stages(&mut self) -> Result<Vec<Stage>> {
        (0..self.pipeline.steps.len()).map(|number| self.stage(number)).collect()
    }

    fn stage(&mut self, number: usize) -> Result<Stage> {
        Ok(match &self.pipeline.steps[number] {
            Step::Filter(condition) => Stage::Filter(self.evaluation.conditions(condition)?),
            Step::Loop(source) => Stage::Loop(self.source(source)?),
            Step::Probe { table, slot, keys } => {
                let away = self.state.away.remove(table);
                let form = || RowForm::new(self.pipeline, number);
                let aside = away.map(|away| Aside::new(away, form()).map(Box::new)).transpose()?;
                let table = Some(self.state.table(*table));
                Stage::Probe { table, aside, slot: *slot, keys: self.scalars(keys)? }
            }
            Step::ProbeGroups { aggregation, slot, keys } => {
                let groups = self.state.aggregation(*aggregation);
                Stage::ProbeGroups { groups, slot: *slot, keys: self.scalars(keys)? }
            }
            Step::Distinct { pack, slot } => Stage::Distinct {
                seen: {
                    let memory = self.state.share();
                    Some(Box::new(Duplicates::new(&pack.layout, &self.state.spill, &memory)?))
                },
                slot: *slot,
                packer: self.evaluation.packer(pack)?,
                tuple: vec![0; pack.layout.bytes],
            },
        })
    }

    pub fn target(&self) -> Result<Target> {
        if let Some(Packed { values, layout, span }) = Packed::of(&self.pipeline.sink) {
            let tuple = vec![0; layout.bytes];
            let packer = self.evaluation.packer(&Pack { values, layout, span })?;
            return Ok(Target::Tuple { packer, tuple });
        }
        let Sink::Aggregate { by, updates, .. } = &self.pipeline.sink else {
            return Ok(Target::Values { by: Vec::new(), updates: Vec::new() });
        };
        let update = |update: &plan::Update| -> Result<Update> {
            let condition = update.condition.as_ref().map(|one| self.evaluation.condition(one));
            let argument = self.evaluation.scalar(&update.argument)?;
            Ok(Update { aggregate: update.aggregate, argument, condition: condition.transpose()? })
        };
        let updates = updates.iter().map(update).collect::<Result<_>>()?;
        Ok(Target::Values { by: self.scalars(by)?, updates })
    }

    fn scalars(&self, exprs: &[Expr]) -> Result<Vec<Box<dyn Scalar>>> {
        exprs.iter().map(|expr| self.evaluation.scalar(expr)).collect()
    }
}

/// Values that need no memory of their own.
const INLINE: usize = 4;

/// Computes some values of a row, and does something with them.
#[inline]
pub(super) fn with_values<T>(
    scalars: &mut [Box<dyn Scalar>],
    row: &Row<'_>,
    then: impl FnOnce(&[Value<'_>]) -> T,
) -> Result<T, loadstone_quel::error::Fault> {
    let count = scalars.len();
    let (mut inline, mut more) = ([Value::Null; INLINE], Vec::new());
    if count > INLINE {
        more.resize(count, Value::Null);
    }
    let values = if count > INLINE { &mut more[..] } else { &mut inline[..count] };
    for (value, scalar) in values.iter_mut().zip(scalars) {
        *value = scalar.value(row)?;
    }
    Ok(then(values))
}
