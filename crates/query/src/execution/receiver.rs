//! What the sink of a pipeline becomes while the pipeline runs.

use std::sync::Arc;

use super::{Sink, State, changing};
use crate::aggregate::Partitions;
use crate::error::Result;
use crate::memory::{Memory, Tuples};
use crate::plan::{self, Plan};
use crate::sort::Sorter;
use crate::table::JoinBuilder;
use crate::temporary::Temporary;

/// Takes the rows of one pipeline.
pub enum Receiver<'a> {
    /// Each row as a tuple.
    Tuples(Box<dyn Sink + 'a>),
    /// Each row as by-values and arguments.
    Aggregation {
        /// The aggregation's number.
        number: usize,
        /// What has been added up.
        partitions: Box<Partitions>,
    },
}

impl<'a> Receiver<'a> {
    /// For that sink; rows for the client go to `client`.
    ///
    /// # Errors
    ///
    /// That memory or a relation is not to be had.
    pub fn new(
        plan: &Plan,
        sink: &plan::Sink,
        state: &mut State<'_>,
        client: &'a mut dyn Sink,
    ) -> Result<Self> {
        if let Some(changing) = changing::sink(sink, state)? {
            return Ok(Self::Tuples(changing));
        }
        let memory = &state.memory.clone();
        Ok(Self::Tuples(match sink {
            plan::Sink::Rows(_) => Box::new(ClientRows(client)),
            plan::Sink::Build { table, pack, key } => Box::new(Building {
                number: *table,
                builder: Some(JoinBuilder::new(&pack.layout, key, memory)),
            }),
            plan::Sink::Materialise { temporary, pack } => Box::new(Materialising {
                number: *temporary,
                tuples: Some(tuples(pack.layout.bytes, memory)),
            }),
            plan::Sink::Sort { temporary, pack, key, unique } => Box::new(Sorting {
                number: *temporary,
                sorter: Some(Sorter::new(&pack.layout, key, *unique, memory)),
            }),
            plan::Sink::Aggregate { aggregation, .. } => {
                let aggregated = &plan.aggregations[*aggregation];
                let partitions = match state.take_partitions(*aggregation) {
                    Some(partitions) => partitions.reopened(),
                    None => Box::new(Partitions::new(aggregated, memory)?),
                };
                return Ok(Self::Aggregation { number: *aggregation, partitions });
            }
            plan::Sink::Store { .. }
            | plan::Sink::Append { .. }
            | plan::Sink::Replace { .. }
            | plan::Sink::Delete { .. } => unreachable!("they have their sinks above"),
        }))
    }

    /// There are no more rows: what they came to stands in the state. Partitions that another
    /// pipeline may feed, too, wait there for [`State::finish_aggregation`].
    ///
    /// # Errors
    ///
    /// As of [`Sink::finish`].
    pub fn finish(self, state: &mut State<'_>) -> Result<()> {
        match self {
            Self::Tuples(mut sink) => sink.finish(state),
            Self::Aggregation { number, partitions } => {
                state.keep_partitions(number, partitions);
                Ok(())
            }
        }
    }
}

fn tuples(tuple_bytes: usize, memory: &Memory) -> Tuples {
    Tuples::new(tuple_bytes, memory.reservation("a temporary relation"))
}

/// A sink is finished once.
const FINISHED: &str = "a sink takes nothing after it was finished";

fn put<T>(all: &mut Vec<Option<Arc<T>>>, number: usize, made: T) {
    if all.len() <= number {
        all.resize_with(number + 1, || None);
    }
    all[number] = Some(Arc::new(made));
}

struct ClientRows<'a>(&'a mut dyn Sink);

impl Sink for ClientRows<'_> {
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.0.add(state, tuple)
    }

    fn add_many(&mut self, state: &mut State<'_>, tuples: &[u8], count: usize) -> Result<()> {
        self.0.add_many(state, tuples, count)
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        self.0.finish(state)
    }
}

struct Building {
    number: usize,
    builder: Option<JoinBuilder>,
}

impl Sink for Building {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.builder.as_mut().expect(FINISHED).add(tuple)
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let table = self.builder.take().expect(FINISHED).finish()?;
        put(&mut state.tables, self.number, table);
        Ok(())
    }
}

struct Materialising {
    number: usize,
    tuples: Option<Tuples>,
}

impl Sink for Materialising {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.tuples.as_mut().expect(FINISHED).push(tuple).map(|_| ())
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let temporary = Temporary::new(self.tuples.take().expect(FINISHED));
        put(&mut state.temporaries, self.number, temporary);
        Ok(())
    }
}

struct Sorting {
    number: usize,
    sorter: Option<Sorter>,
}

impl Sink for Sorting {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.sorter.as_mut().expect(FINISHED).add(tuple)
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let sorted = self.sorter.take().expect(FINISHED).finish()?;
        put(&mut state.temporaries, self.number, sorted);
        Ok(())
    }
}

/// Rows for the client, kept one after another.
#[derive(Debug, Default)]
pub struct CollectedRows {
    /// Their bytes.
    pub tuples: Vec<u8>,
    /// How many they are.
    pub count: usize,
}

impl Sink for CollectedRows {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.tuples.extend_from_slice(tuple);
        self.count += 1;
        Ok(())
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
    }
}
