//! The end of a pipeline: rows into its receiver.

use super::aggregate::Feed;
use super::pack::Packer;
use super::rows::Rows;
use crate::aggregate::Partitions;
use crate::error::Result;
use crate::execution::{Packed, Receiver, Sink, State};
use crate::plan;

/// A receiver, and what is computed for it.
pub(super) enum Target<'r, 'c> {
    Tuples { packer: Packer, tuples: Vec<u8>, sink: &'r mut (dyn Sink + 'c) },
    Aggregation { feed: Box<Feed>, partitions: &'r mut Partitions },
}

impl<'r, 'c> Target<'r, 'c> {
    /// For a sink and its receiver.
    pub fn new(sink: &plan::Sink, receiver: &'r mut Receiver<'c>, state: &State<'_>) -> Self {
        match (receiver, sink) {
            (
                Receiver::Aggregation { partitions, .. },
                plan::Sink::Aggregate { by, updates, .. },
            ) => {
                let feed = Box::new(Feed::new(by, updates, partitions, state));
                Self::Aggregation { feed, partitions }
            }
            (Receiver::Tuples(tuples), sink) => {
                let form = Packed::of(sink).expect("a sink that gets tuples says which");
                let packer = Packer::new(&form, state);
                Self::Tuples { packer, tuples: Vec::new(), sink: &mut **tuples }
            }
            (Receiver::Aggregation { .. }, _) => {
                unreachable!("only the sink of an aggregation has an aggregation for a receiver")
            }
        }
    }

    /// Give it the selected rows.
    ///
    /// # Errors
    ///
    /// Of a row for which a value cannot be computed or kept.
    pub fn take(&mut self, rows: &Rows, state: &mut State<'_>) -> Result<()> {
        state.work.rows += rows.selection.len() as u64;
        match self {
            Self::Tuples { packer, tuples, sink } => {
                packer
                    .pack(rows, &rows.selection, tuples)
                    .map_err(|fault| state.evaluation(fault))?;
                sink.add_many(state, tuples, rows.selection.len())
            }
            Self::Aggregation { feed, partitions } => feed.take(rows, partitions, state),
        }
    }
}
