//! The form of a pipeline's sink while the pipeline runs.

use std::sync::Arc;

use super::joining::Building;
use super::parallel::Collected;
use super::{Sink, State, changing};
use crate::aggregate::Partitions;
use crate::error::Result;
use crate::memory::Memory;
use crate::plan::{self, Plan};
use crate::sort::Sorter;
use crate::temporary::Keeper;

/// Takes the rows of one pipeline.
pub enum Receiver<'a> {
    /// Each row as a tuple.
    Tuples(Box<dyn Sink + 'a>),
    /// Each row as by-values and arguments.
    Aggregation {
        /// The aggregation's number.
        number: usize,
        /// The totals.
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
        let memory = &state.share();
        Ok(Self::Tuples(match sink {
            plan::Sink::Rows(_) => Box::new(ClientRows(client)),
            plan::Sink::Build { table, pack, key } => {
                let building = Building::new(&pack.layout, key, memory, &state.spill)?;
                Box::new(Entries { number: *table, building: Some(building) })
            }
            plan::Sink::Materialise { temporary, pack } => Box::new(Materialising {
                number: *temporary,
                keeper: Some(Keeper::new(pack.layout.bytes, &state.spill, memory)?),
            }),
            plan::Sink::Sort { temporary, pack, key, unique } => {
                let sorter = Sorter::new(&pack.layout, key, *unique, memory);
                let sorter = sorter.spilling(&state.spill, memory)?.cancelled_by(&state.cancel);
                Box::new(Sorting { number: *temporary, sorter: Some(sorter) })
            }
            plan::Sink::Aggregate { aggregation, .. } => {
                let aggregated = &plan.aggregations[*aggregation];
                let partitions = if let Some(partitions) = state.take_partitions(*aggregation) {
                    partitions.reopened()
                } else {
                    let is_looked_up = is_looked_up(plan, *aggregation);
                    let spill = &state.spill;
                    Box::new(Partitions::spilling(aggregated, memory, spill, is_looked_up)?)
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

/// Whether a step of the plan looks for results of an aggregation.
fn is_looked_up(plan: &Plan, number: usize) -> bool {
    let mut steps = plan.pipelines.iter().flat_map(|pipeline| &pipeline.steps);
    steps.any(|step| {
        matches!(step, plan::Step::ProbeGroups { aggregation, .. } if *aggregation == number)
    })
}

/// A sink is finished once.
const FINISHED: &str = "a sink takes nothing after it was finished";

/// A part that a thread has kept belongs to the sink that takes it over.
const OWN_PART: &str = "a sink is given the parts that it made";

fn put<T>(all: &mut Vec<Option<Arc<T>>>, number: usize, made: Arc<T>) {
    if all.len() <= number {
        all.resize_with(number + 1, || None);
    }
    all[number] = Some(made);
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

struct Entries {
    number: usize,
    building: Option<Building>,
}

impl Sink for Entries {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.building.as_mut().expect(FINISHED).add(tuple)
    }

    fn add_many(&mut self, _: &mut State<'_>, tuples: &[u8], count: usize) -> Result<()> {
        self.building.as_mut().expect(FINISHED).add_many(tuples, count)
    }

    fn part(&self, threads: usize, memory: &Memory) -> Option<Collected> {
        let (builder, entries_max) = self.building.as_ref()?.part(threads, memory);
        Some(Collected::Entries { builder, entries_max })
    }

    fn merge(&mut self, _: &mut State<'_>, part: Collected) -> Result<()> {
        let Collected::Entries { builder, .. } = part else { unreachable!("{OWN_PART}") };
        self.building.as_mut().expect(FINISHED).merge(builder)
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let (table, away) = self.building.take().expect(FINISHED).finish()?;
        put(&mut state.tables, self.number, table);
        state.away.extend(away.map(|away| (self.number, away)));
        Ok(())
    }
}

struct Materialising {
    number: usize,
    keeper: Option<Keeper>,
}

impl Sink for Materialising {
    fn add(&mut self, _: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.keeper.as_mut().expect(FINISHED).add(tuple)
    }

    fn part(&self, _: usize, memory: &Memory) -> Option<Collected> {
        Some(Collected::Tuples(self.keeper.as_ref()?.part(memory)))
    }

    fn merge(&mut self, _: &mut State<'_>, part: Collected) -> Result<()> {
        self.keeper.as_mut().expect(FINISHED).merge(part.into_tuples())
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let temporary = self.keeper.take().expect(FINISHED).finish()?;
        put(&mut state.temporaries, self.number, Arc::new(temporary));
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

    fn part(&self, _: usize, memory: &Memory) -> Option<Collected> {
        Some(Collected::Sorter(Box::new(self.sorter.as_ref()?.part(memory))))
    }

    fn merge(&mut self, _: &mut State<'_>, part: Collected) -> Result<()> {
        let Collected::Sorter(part) = part else { unreachable!("{OWN_PART}") };
        self.sorter.as_mut().expect(FINISHED).merge(*part)
    }

    fn finish(&mut self, state: &mut State<'_>) -> Result<()> {
        let sorter = self.sorter.take().expect(FINISHED);
        let temporary = sorter.finish(&|| state.check_cancelled())?;
        put(&mut state.temporaries, self.number, Arc::new(temporary));
        Ok(())
    }
}

/// Rows for the client, kept one after another.
#[derive(Debug, Default)]
pub struct CollectedRows {
    /// Their bytes.
    pub tuples: Vec<u8>,
    /// Their number.
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
