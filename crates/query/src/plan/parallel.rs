//! Which pipelines several threads can work on, and why the others are one thread's.

use std::collections::BTreeSet;

use super::{Access, Pipeline, Plan, Sink, Source, Step};

impl Plan {
    /// Why a pipeline is worked on by one thread, however many there may be; None where its source
    /// is divided among them.
    pub fn why_alone(&self, number: usize) -> Option<&'static str> {
        let pipeline = &self.pipelines[number];
        match &pipeline.source {
            Source::Once | Source::First { .. } => return Some("its source is one row"),
            Source::End { .. } => return Some("its source is one end of an index"),
            Source::Merge { .. } => return Some("two sorted relations are read side by side"),
            Source::Lookup { access: Access::Hashed { .. }, .. } => {
                return Some("its source is one look-up by hash");
            }
            Source::Temporary { temporary, .. } if self.ordered().contains(temporary) => {
                return Some("its rows come in an order");
            }
            Source::Scan { .. }
            | Source::Range { .. }
            | Source::Lookup { .. }
            | Source::Temporary { .. }
            | Source::Groups { .. } => {}
        }
        if pipeline.steps.iter().any(|step| matches!(step, Step::Distinct { .. })) {
            return Some("one set removes the duplicates");
        }
        match &pipeline.sink {
            Sink::Materialise { temporary, .. } if self.ordered().contains(temporary) => {
                Some("its rows are kept in their order")
            }
            Sink::Aggregate { aggregation, .. } => self.why_fed_alone(*aggregation),
            _ => None,
        }
    }

    fn why_fed_alone(&self, aggregation: usize) -> Option<&'static str> {
        if self.aggregations.get(aggregation).is_some_and(|one| one.is_sorted) {
            return Some("its partitions come one after another");
        }
        let feeds = |one: &&Pipeline| match &one.sink {
            Sink::Aggregate { aggregation: other, .. } => *other == aggregation,
            _ => false,
        };
        let is_shared = self.pipelines.iter().filter(feeds).count() > 1;
        is_shared.then_some("another pipeline feeds its aggregation, too")
    }

    /// The temporary relations whose order matters: those that are sorted, what is made of them row
    /// by row, and what a merge reads.
    fn ordered(&self) -> BTreeSet<usize> {
        let mut ordered = BTreeSet::new();
        for pipeline in &self.pipelines {
            if let Source::Merge { left, right, .. } = &pipeline.source {
                ordered.extend([*left, *right]);
            }
            let comes_ordered = match &pipeline.source {
                Source::Temporary { temporary, .. } => ordered.contains(temporary),
                _ => false,
            };
            match &pipeline.sink {
                Sink::Sort { temporary, .. } => _ = ordered.insert(*temporary),
                Sink::Materialise { temporary, .. } if comes_ordered => {
                    ordered.insert(*temporary);
                }
                _ => {}
            }
        }
        ordered
    }
}
