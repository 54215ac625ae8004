//! The way in which the memory of a statement is divided among what its pipelines make: hash
//! tables, temporary relations, aggregations, sets of rows without duplicates.

use std::collections::BTreeMap;

use super::State;
use crate::plan::{Pipeline, Plan, Sink, Source, Step};

/// A holder of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Table(usize),
    Temporary(usize),
    Aggregation(usize),
    /// The set of a step, by pipeline and position.
    Distinct(usize, usize),
    /// The changes that the statement makes at its end.
    Changes,
}

/// From which pipeline to which each holder is there.
#[derive(Debug)]
pub(super) struct Shares {
    lives: BTreeMap<Holder, (usize, usize)>,
}

impl Shares {
    /// Of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut shares = Self { lives: BTreeMap::new() };
        for (number, pipeline) in plan.pipelines.iter().enumerate() {
            for holder in held(number, pipeline) {
                let life = shares.lives.entry(holder).or_insert((number, number));
                life.1 = number;
            }
        }
        // A result without by-values is read wherever an expression has it.
        for (holder, life) in &mut shares.lives {
            if let Holder::Aggregation(number) = holder
                && plan.aggregations.get(*number).is_some_and(|one| one.by == 0)
            {
                life.1 = plan.pipelines.len();
            }
        }
        shares
    }

    /// Let each thing that a pipeline makes have its part of what is left: as much as all that are
    /// there at the same time, and are not there yet, can have.
    pub fn divide(&self, pipeline: usize, state: &mut State<'_>) {
        let is_new = |life: &&(usize, usize)| life.0 >= pipeline;
        let last = self.lives.values().filter(|life| life.0 == pipeline).map(|life| life.1).max();
        let at_once = (pipeline..=last.unwrap_or(pipeline)).map(|at| {
            self.lives.values().filter(is_new).filter(|life| life.0 <= at && at <= life.1).count()
        });
        let at_once = at_once.max().unwrap_or(1).max(1) as u64;
        let left = state.memory.budget_bytes().saturating_sub(state.memory.used_bytes());
        state.share_bytes = left / at_once;
    }

    /// Let go of what no later pipeline reads.
    pub fn release(&self, pipeline: usize, state: &mut State<'_>) {
        for (holder, life) in &self.lives {
            if life.1 != pipeline {
                continue;
            }
            match *holder {
                Holder::Table(number) => drop_at(&mut state.tables, number),
                Holder::Temporary(number) => drop_at(&mut state.temporaries, number),
                Holder::Aggregation(number) => drop_at(&mut state.aggregations, number),
                Holder::Distinct(..) | Holder::Changes => {}
            }
        }
    }
}

/// Gather the holders that a source reads.
fn of_source(source: &Source, held: &mut Vec<Holder>) {
    match source {
        Source::First { source, .. } => of_source(source, held),
        Source::Temporary { temporary, .. } => held.push(Holder::Temporary(*temporary)),
        Source::Groups { aggregation, .. } => held.push(Holder::Aggregation(*aggregation)),
        Source::Merge { left, right, .. } => {
            held.extend([Holder::Temporary(*left), Holder::Temporary(*right)]);
        }
        Source::Once
        | Source::Scan { .. }
        | Source::Range { .. }
        | Source::Lookup { .. }
        | Source::End { .. } => {}
    }
}

fn drop_at<T>(all: &mut [Option<T>], number: usize) {
    if let Some(one) = all.get_mut(number) {
        *one = None;
    }
}

/// The holders that a pipeline makes or reads.
fn held(number: usize, pipeline: &Pipeline) -> Vec<Holder> {
    let mut held = Vec::new();
    of_source(&pipeline.source, &mut held);
    for (at, step) in pipeline.steps.iter().enumerate() {
        match step {
            Step::Filter(_) => {}
            Step::Loop(source) => of_source(source, &mut held),
            Step::Probe { table, .. } => held.push(Holder::Table(*table)),
            Step::ProbeGroups { aggregation, .. } => held.push(Holder::Aggregation(*aggregation)),
            Step::Distinct { .. } => held.push(Holder::Distinct(number, at)),
        }
    }
    match &pipeline.sink {
        Sink::Build { table, .. } => held.push(Holder::Table(*table)),
        Sink::Materialise { temporary, .. } | Sink::Sort { temporary, .. } => {
            held.push(Holder::Temporary(*temporary));
        }
        Sink::Aggregate { aggregation, .. } => held.push(Holder::Aggregation(*aggregation)),
        Sink::Append { .. } | Sink::Replace { .. } | Sink::Delete { .. } => {
            held.push(Holder::Changes);
        }
        Sink::Rows(_) | Sink::Store { .. } => {}
    }
    held
}
