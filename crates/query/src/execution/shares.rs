//! The way in which the memory of a statement is divided among what its pipelines make: hash
//! tables, temporary relations, aggregations, sets of rows without duplicates.

use std::collections::BTreeMap;
use std::ops::Range;

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

/// What is there when, by the number of a pipeline.
#[derive(Debug)]
pub(super) struct Shares {
    /// Among so many is what is left divided when it begins.
    at_once: Vec<u64>,
    /// Which holders no later one reads.
    ending: Vec<Vec<Holder>>,
    /// Whether it is the last to feed its aggregation.
    completes: Vec<bool>,
}

impl Shares {
    /// Of a plan. Takes time linear in the number of its pipelines, but for a logarithm.
    pub fn of(plan: &Plan) -> Self {
        // From which pipeline to which each holder is there.
        let mut lives: BTreeMap<Holder, (usize, usize)> = BTreeMap::new();
        let mut fed = BTreeMap::new();
        for (number, pipeline) in plan.pipelines.iter().enumerate() {
            for holder in held(number, pipeline) {
                lives.entry(holder).or_insert((number, number)).1 = number;
            }
            if let Sink::Aggregate { aggregation, .. } = pipeline.sink {
                fed.insert(aggregation, number);
            }
        }
        let count = plan.pipelines.len();
        let (mut begun, mut ending) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (holder, (first, mut last)) in lives {
            // A result without by-values is read wherever an expression has it.
            if let Holder::Aggregation(number) = holder
                && plan.aggregations.get(number).is_some_and(|one| one.by == 0)
            {
                last = count;
            } else {
                ending[last].push(holder);
            }
            begun[first].push(last);
        }
        let mut completes = vec![false; count];
        for last in fed.into_values() {
            completes[last] = true;
        }
        Self { at_once: at_once(&begun), ending, completes }
    }

    /// Let each thing that a pipeline makes have its part of what is left: as much as all that are
    /// there at the same time, and are not there yet, can have.
    pub fn divide(&self, pipeline: usize, state: &mut State<'_>) {
        let left = state.memory.budget_bytes().saturating_sub(state.memory.used_bytes());
        state.share_bytes = left / self.at_once[pipeline].max(1);
    }

    /// The aggregation that no pipeline behind this one feeds, if it feeds one.
    pub fn completed(&self, number: usize, pipeline: &Pipeline) -> Option<usize> {
        match pipeline.sink {
            Sink::Aggregate { aggregation, .. } if self.completes[number] => Some(aggregation),
            _ => None,
        }
    }

    /// Let go of what no later pipeline reads.
    pub fn release(&self, pipeline: usize, state: &mut State<'_>) {
        for holder in &self.ending[pipeline] {
            match *holder {
                Holder::Table(number) => drop_at(&mut state.tables, number),
                Holder::Temporary(number) => drop_at(&mut state.temporaries, number),
                Holder::Aggregation(number) => drop_at(&mut state.aggregations, number),
                Holder::Distinct(..) | Holder::Changes => {}
            }
        }
    }
}

/// For each pipeline, of those holders that are not there before it the most that are there at one
/// time until all have gone that begin with it; `begun` has the ends of those.
fn at_once(begun: &[Vec<usize>]) -> Vec<u64> {
    let mut there = Most::new(begun.len() + 1);
    let mut at_once = vec![1; begun.len()];
    for (number, ends) in begun.iter().enumerate().rev() {
        for &end in ends {
            there.add(number..end + 1);
        }
        let last = ends.iter().copied().max().unwrap_or(number);
        at_once[number] = there.most(number..last + 1);
    }
    at_once
}

/// Counts at places, of which ranges are added to and looked through: a segment tree.
struct Most {
    places: usize,
    /// For each node: the amount added to its whole range, and the maximum of that range.
    nodes: Vec<(u64, u64)>,
}

impl Most {
    fn new(places: usize) -> Self {
        let places = places.next_power_of_two();
        Self { places, nodes: vec![(0, 0); 2 * places] }
    }

    /// One more at each place of a range.
    fn add(&mut self, range: Range<usize>) {
        self.visit(1, 0..self.places, &range, 1);
    }

    /// The most at a place of a range.
    fn most(&mut self, range: Range<usize>) -> u64 {
        self.visit(1, 0..self.places, &range, 0)
    }

    /// Add to the part of a node that lies in the range; the most there then.
    fn visit(&mut self, node: usize, of: Range<usize>, range: &Range<usize>, more: u64) -> u64 {
        if range.end <= of.start || of.end <= range.start {
            return 0;
        }
        if range.start <= of.start && of.end <= range.end {
            self.nodes[node].0 += more;
            self.nodes[node].1 += more;
            return self.nodes[node].1;
        }
        let middle = usize::midpoint(of.start, of.end);
        let left = self.visit(2 * node, of.start..middle, range, more);
        let right = self.visit(2 * node + 1, middle..of.end, range, more);
        let added = self.nodes[node].0;
        self.nodes[node].1 = added + self.nodes[2 * node].1.max(self.nodes[2 * node + 1].1);
        added + left.max(right)
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::at_once;

    proptest! {
        #[test]
        fn as_many_share_as_are_there_at_one_time(lives in vec((0..9_usize, 0..9_usize), 0..30)) {
            let mut begun = vec![Vec::new(); 9];
            for &(first, more) in &lives {
                begun[first].push((first + more).min(9));
            }
            let counted = at_once(&begun);
            for (number, ends) in begun.iter().enumerate() {
                let last = ends.iter().copied().max().unwrap_or(number);
                let there = |at: usize| {
                    let new = begun[number..=at.min(8)].iter().flatten();
                    new.filter(|&&end| at <= end).count() as u64
                };
                let expected = (number..=last).map(there).max();
                prop_assert_eq!(Some(counted[number]), expected);
            }
        }
    }
}
