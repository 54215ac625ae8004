//! The end of a compiled pipeline: what it stages, and how that goes to the receiver.

use super::call::{Handle, value};
use crate::aggregate::Partitions;
use crate::error::Result;
use crate::execution::compiled::code::{self, Argument, Form, Key};
use crate::execution::compiled::context::{Cell, Fed};
use crate::execution::{Receiver, Sink, State};
use crate::table::hash_fields;
use crate::tuple::{HASH_SEED, Value, hash_integer, width};

/// Integers from 0 to below this have a place of their own by value, without a hash.
const DIRECT_MAX: usize = 1 << 16;

/// A receiver, and memory for what is staged.
pub(super) enum End<'r> {
    Tuples { bytes: usize, tuples: Vec<u8>, sink: &'r mut dyn Sink },
    Aggregation(Box<Feed<'r>>),
}

/// The aggregation that is fed, and its arguments.
pub(super) struct Feed<'r> {
    into: &'r mut Partitions,
    key: Key,
    keys: Vec<u8>,
    updates: Vec<Update>,
    /// The partition of each row.
    partitions: Vec<u32>,
    /// The place where the key is one integer: the partition of each small one, plus one.
    direct: Vec<u32>,
    hashes: Vec<u64>,
    /// The numbers of all rows.
    all: Vec<u16>,
}

/// The arguments of an aggregate.
struct Update {
    argument: Argument,
    integers: Vec<i64>,
    cells: Vec<Cell>,
    rows: Vec<u16>,
}

impl<'r> End<'r> {
    /// For that receiver.
    pub fn new(end: &code::End, receiver: &'r mut Receiver<'_>) -> Self {
        let rows = end.rows_max;
        match (receiver, &end.form) {
            (Receiver::Tuples(sink), Form::Tuples { bytes }) => {
                Self::Tuples { bytes: *bytes, tuples: vec![0; rows * bytes], sink: &mut **sink }
            }
            (Receiver::Aggregation { partitions, .. }, Form::Aggregation { key, updates }) => {
                let bytes = match key {
                    Key::None => 0,
                    Key::Integer => size_of::<i64>(),
                    Key::Tuple { bytes } => *bytes,
                };
                let update = |argument: &Argument| Update {
                    argument: *argument,
                    integers: vec![0; if argument.is_integer { rows } else { 0 }],
                    cells: vec![Cell::NULL; if argument.is_integer { 0 } else { rows }],
                    rows: vec![0; if argument.is_conditional { rows } else { 0 }],
                };
                Self::Aggregation(Box::new(Feed {
                    into: partitions,
                    key: *key,
                    keys: vec![0; rows * bytes],
                    updates: updates.iter().map(update).collect(),
                    partitions: vec![0; rows],
                    direct: Vec::new(),
                    hashes: Vec::new(),
                    all: (0..rows as u16).collect(),
                }))
            }
            _ => unreachable!("code and receiver are of the same sink"),
        }
    }

    /// The place where compiled code puts tuples or keys.
    pub fn out(&mut self) -> *mut u8 {
        match self {
            Self::Tuples { tuples, .. } => tuples.as_mut_ptr(),
            Self::Aggregation(feed) => feed.keys.as_mut_ptr(),
        }
    }

    /// The place where it puts arguments.
    pub fn fed(&mut self) -> Vec<Fed> {
        let Self::Aggregation(feed) = self else { return Vec::new() };
        let argument = |update: &mut Update| Fed {
            values: if update.argument.is_integer {
                update.integers.as_mut_ptr().cast()
            } else {
                update.cells.as_mut_ptr().cast()
            },
            rows: update.rows.as_mut_ptr(),
            count: 0,
        };
        feed.updates.iter_mut().map(argument).collect()
    }

    /// Give the receiver so many rows that are staged.
    ///
    /// # Errors
    ///
    /// Of what it cannot keep.
    pub fn take(&mut self, handle: Handle, rows: usize, state: &mut State<'_>) -> Result<()> {
        state.work.rows += rows as u64;
        match self {
            Self::Tuples { bytes, tuples, sink } => {
                sink.add_many(state, &tuples[..rows * *bytes], rows)
            }
            Self::Aggregation(feed) => {
                state.work.hash_probes += feed.into.probes_of(rows);
                feed.find_partitions(rows)?;
                feed.feed(handle, rows)
            }
        }
    }
}

impl Feed<'_> {
    fn find_partitions(&mut self, rows: usize) -> Result<()> {
        match self.key {
            Key::None => {}
            Key::Integer => {
                for row in 0..rows {
                    let value = i64::from_le_bytes(crate::tuple::array(&self.keys, 8 * row));
                    let known = self.direct.get(value as usize).copied().unwrap_or(0);
                    self.partitions[row] = match known.checked_sub(1) {
                        Some(known) => known,
                        None => self.find_integer(value)?,
                    };
                }
            }
            Key::Tuple { bytes } => {
                let keys = &self.keys[..rows * bytes];
                self.hashes.clear();
                for key in keys.chunks_exact(bytes) {
                    let hash = hash_fields(key, &self.into.by().fields);
                    self.into.prefetch(hash);
                    self.hashes.push(hash);
                }
                let keys = keys.chunks_exact(bytes).zip(&self.hashes);
                for ((key, hash), partition) in keys.zip(&mut self.partitions) {
                    *partition = self.into.partition_of(key, *hash)? as u32;
                }
            }
        }
        Ok(())
    }

    /// The partition of an integer that has none by value yet.
    fn find_integer(&mut self, value: i64) -> Result<u32> {
        let bytes = width(self.into.by().fields[0].kind);
        let hash = hash_integer(HASH_SEED, value);
        let partition = self.into.partition_of(&value.to_le_bytes()[..bytes], hash)? as u32;
        // A negative value is beyond all places.
        if let Ok(at) = usize::try_from(value)
            && at < DIRECT_MAX
            && !Partitions::is_away(partition as usize)
        {
            if self.direct.len() <= at {
                self.direct.resize((at + 1).next_power_of_two(), 0);
            }
            self.direct[at] = partition + 1;
        }
        Ok(partition)
    }

    fn feed(&mut self, handle: Handle, rows: usize) -> Result<()> {
        // Rows of partitions that are away are reported one by one.
        let some_away = self.into.has_aside();
        for (number, update) in self.updates.iter().enumerate() {
            let Argument { aggregate, is_integer, is_conditional } = update.argument;
            let counted = if is_conditional {
                &update.rows[..handle.take_count(number)]
            } else {
                &self.all[..rows]
            };
            if is_integer && !some_away {
                let accumulator = self.into.accumulator(aggregate);
                accumulator.add_integers(&self.partitions, &update.integers, counted)?;
                continue;
            }
            for row in counted.iter().map(|row| usize::from(*row)) {
                // SAFETY: texts of what is staged lie in tuples of a batch that is still there:
                // code hands them over before it leaves the batch.
                #[expect(unsafe_code, reason = "texts are not copied into cells")]
                let of_cell = |cell| unsafe { value(cell) };
                let value = if is_integer {
                    Value::Integer(update.integers[row])
                } else {
                    of_cell(update.cells[row])
                };
                self.into.update(self.partitions[row] as usize, aggregate, value)?;
            }
        }
        if some_away { self.into.settle() } else { Ok(()) }
    }
}
