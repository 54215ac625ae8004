//! Which attributes of stored relations a pipeline reads. Those of a relation that is stored by
//! columns are put together into tuples, and no others.

use std::collections::BTreeSet;

use super::State;
use super::joining::form;
use crate::plan::{Pipeline, Source, Step};
use crate::tactics::{Accelerator, FileLayout};

/// The bytes of each slot's tuples that are read; None where all may be.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted(Option<form::Wanted>);

impl Wanted {
    /// The fields that a pipeline reads, unless all its relations are stored by rows.
    pub fn of(pipeline: &Pipeline, state: &State<'_>) -> Self {
        let by_columns = |name: &str| {
            let found = state.catalog.relation(name);
            found.is_some_and(|info| info.file_layout == FileLayout::Columns)
        };
        let sources = pipeline.steps.iter().filter_map(|step| match step {
            Step::Loop(source) => Some(source),
            _ => None,
        });
        let sources = std::iter::once(&pipeline.source).chain(sources).map(innermost);
        if !sources.clone().any(|source| relation_of(source).is_some_and(by_columns)) {
            return Self(None);
        }
        let (mut wanted, mut ids) = (form::Wanted::new(), BTreeSet::new());
        let mut reads = |expr: &_| form::columns(expr, &mut wanted, &mut ids);
        // A scan's qualification is its accelerator's, which reads what it needs itself, unless
        // it is on another thread and is given the tuples.
        let is_given = state.accelerator == Accelerator::Thread;
        for source in sources {
            match source {
                Source::Scan { .. } if !is_given => {}
                source => form::source_exprs(source, &mut reads),
            }
        }
        for step in &pipeline.steps {
            match step {
                Step::Loop(Source::First { condition, .. }) => {
                    condition.iter().for_each(&mut reads);
                }
                Step::Loop(_) => {}
                step => form::step_exprs(step, &mut reads),
            }
        }
        form::sink_exprs(&pipeline.sink, &mut reads);
        Self(Some(wanted))
    }

    /// Whether any of a slot's bytes from the first up to and without the second are read.
    pub fn has(&self, slot: usize, from: usize, to: usize) -> bool {
        self.0.as_ref().is_none_or(|wanted| {
            wanted.iter().any(|&(other, first, end)| other == slot && first < to && from < end)
        })
    }
}

/// The source whose first is sought, or the source.
fn innermost(source: &Source) -> &Source {
    match source {
        Source::First { source, .. } => innermost(source),
        source => source,
    }
}

fn relation_of(source: &Source) -> Option<&str> {
    match source {
        Source::Scan { relation, .. }
        | Source::Range { relation, .. }
        | Source::Lookup { relation, .. }
        | Source::End { relation, .. } => Some(relation),
        _ => None,
    }
}
