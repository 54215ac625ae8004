//! The rows of a `retrieve` as a stream of Arrow batches.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::arrow::batch_of;
use super::cancel::Cancel;
use super::planned::Form;
use crate::error::{QueryError, Result};
use crate::execution::{Sink, State};
use crate::memory::Reservation;
use crate::tuple::Layout;

/// Bytes of tuples that make a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Room for them and for the rows that come together with the last of them, unless these are long.
const BATCH_CAPACITY: usize = BATCH_BYTES + (64 << 10);

/// Batches that wait for the reader of the stream.
const BATCHES_WAITING: usize = 2;

/// In tests, the thread of a statement panics at a batch that ends so.
#[cfg(test)]
pub(crate) const PLANTED_PANIC: &[u8] = b"a planted panic!";

/// Batches, until there are no more.
///
/// The rows of a statement that was run to its end lie in memory; a statement that gives more runs
/// on a thread of its own, which waits while two batches of a megabyte are not taken. Dropping the
/// stream ends it.
pub struct Rows {
    form: Arc<Form>,
    source: Source,
}

enum Source {
    /// Those of a statement that has ended.
    Collected(Collecting),
    /// Those of one that runs.
    Running { batches: Receiver<Sent>, cancel: Cancel, thread: Option<JoinHandle<()>> },
    /// Nothing: the last tuples were given, or the error that ended the statement.
    Ended,
    /// Those of one that another process runs.
    Received(Received),
}

/// The next tuples of a statement that runs, None behind the last ones. A thread that ends without
/// an end of its rows has failed.
type Sent = Result<Option<Vec<u8>>>;

/// Gives the next tuples, and None at the end.
pub(crate) type Received = Box<dyn FnMut() -> Result<Option<Vec<u8>>> + Send>;

impl Rows {
    pub(super) fn collected(form: Arc<Form>, all: Collecting) -> Self {
        Self { form, source: Source::Collected(all) }
    }

    /// Rows that `run` puts into the sink, on a thread of its own.
    pub(super) fn running(
        form: Arc<Form>,
        cancel: Cancel,
        run: impl FnOnce(&mut dyn Sink) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let (sender, batches) = sync_channel(BATCHES_WAITING);
        let work = move || {
            let mut sink = Sending { sender, tuples: Vec::with_capacity(BATCH_CAPACITY) };
            let outcome = run(&mut sink).and_then(|()| sink.send());
            // A reader that has stopped wants neither the end nor an error.
            _ = sink.sender.send(outcome.map(|()| None));
        };
        let thread = std::thread::Builder::new().name("lode query".to_owned()).spawn(work);
        let thread = thread.map_err(|error| QueryError::Input {
            what: format!("there is no thread to run the query: {error}"),
        })?;
        let source = Source::Running { batches, cancel, thread: Some(thread) };
        Ok(Self { form, source })
    }

    /// Rows of that form, as they come from elsewhere.
    pub(crate) fn received(layout: Layout, source: Received) -> Self {
        Self { form: Arc::new(Form::of(layout)), source: Source::Received(source) }
    }

    /// The form of the tuples that [`Rows::next_tuples`] gives.
    pub fn layout(&self) -> &Layout {
        &self.form.layout
    }

    /// The next tuples, one behind the other; None at the end.
    ///
    /// # Errors
    ///
    /// The error that ended the statement.
    pub fn next_tuples(&mut self) -> Result<Option<Vec<u8>>> {
        match &mut self.source {
            Source::Collected(all) => Ok(all.take_batch()),
            Source::Running { batches, thread, .. } => {
                let sent = batches.recv().unwrap_or_else(|_| Err(panicked(thread.take())));
                if !matches!(sent, Ok(Some(_))) {
                    self.source = Source::Ended;
                }
                sent
            }
            Source::Ended => Ok(None),
            Source::Received(next) => next(),
        }
    }
}

/// Why a statement's thread has ended in the middle of its rows.
#[cold]
fn panicked(thread: Option<JoinHandle<()>>) -> QueryError {
    let payload = thread.and_then(|thread| thread.join().err());
    let words = payload.as_ref().and_then(|payload| {
        let owned = payload.downcast_ref::<String>().map(String::as_str);
        owned.or_else(|| payload.downcast_ref::<&str>().copied())
    });
    QueryError::Panicked { what: words.unwrap_or("it did not say why").to_owned() }
}

impl Drop for Rows {
    fn drop(&mut self) {
        let source = std::mem::replace(&mut self.source, Source::Ended);
        let Source::Running { batches, cancel, thread } = source else { return };
        cancel.set();
        // Its sender sees that nobody receives any more, so that the thread ends at once.
        drop(batches);
        if let Some(thread) = thread {
            _ = thread.join();
        }
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_tuples() {
            Ok(tuples) => {
                tuples.map(|tuples| batch_of(&self.form.schema, &self.form.layout, &tuples))
            }
            Err(error) => Some(Err(ArrowError::ExternalError(error.into()))),
        }
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.form.schema)
    }
}

/// Sends tuples to the reader of a stream.
struct Sending {
    sender: SyncSender<Sent>,
    tuples: Vec<u8>,
}

impl Sending {
    fn send(&mut self) -> Result<()> {
        if self.tuples.is_empty() {
            return Ok(());
        }
        #[cfg(test)]
        assert!(!self.tuples.ends_with(PLANTED_PANIC), "a test planted this");
        let empty = Vec::with_capacity(BATCH_CAPACITY);
        let tuples = std::mem::replace(&mut self.tuples, empty);
        self.sender.send(Ok(Some(tuples))).map_err(|_| QueryError::Cancelled)
    }
}

impl Sink for Sending {
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.add_many(state, tuple, 1)
    }

    fn add_many(&mut self, state: &mut State<'_>, tuples: &[u8], _: usize) -> Result<()> {
        self.tuples.extend_from_slice(tuples);
        if self.tuples.len() < BATCH_BYTES {
            return Ok(());
        }
        // One batch of a source may be all of a product, and its reader may take hours.
        state.check_cancelled()?;
        self.send()
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        self.send()
    }
}

/// Keeps tuples in memory, up to a limit or within a budget.
pub(super) struct Collecting {
    /// About a megabyte each, but for the last.
    batches: VecDeque<Vec<u8>>,
    bytes: u64,
    bytes_max: u64,
    /// The memory of the batches, where it counts in a budget.
    reservation: Option<Reservation>,
    /// Whether there were more than the limit: then what is here is of no use.
    pub is_full: bool,
}

impl Collecting {
    /// So few that they count in no budget; of more the answer is to be begun again.
    pub fn up_to(bytes_max: u64) -> Self {
        let batches = VecDeque::new();
        Self { batches, bytes: 0, bytes_max, reservation: None, is_full: false }
    }

    /// As many as the budget has memory for.
    pub fn within(reservation: Reservation) -> Self {
        Self { reservation: Some(reservation), ..Self::up_to(u64::MAX) }
    }

    /// A batch with room for so many bytes.
    fn batch(&mut self, bytes: usize) -> Result<&mut Vec<u8>> {
        if self.batches.back().is_none_or(|last| last.len() >= BATCH_BYTES) {
            self.batches.push_back(Vec::new());
        }
        let batch = self.batches.back_mut().expect("one was put in if there was none");
        let (capacity, wanted) = (batch.capacity(), batch.len() + bytes);
        if wanted > capacity {
            let wanted = wanted.max((2 * capacity).min(BATCH_CAPACITY));
            // While they are moved, its tuples are there twice.
            self.reservation.as_mut().map_or(Ok(()), |own| own.add(wanted as u64))?;
            batch.reserve_exact(wanted - batch.len());
            self.reservation.iter_mut().for_each(|own| own.give_back(capacity as u64));
        }
        Ok(batch)
    }

    /// The first tuples, which are the reader's from then on.
    fn take_batch(&mut self) -> Option<Vec<u8>> {
        let batch = self.batches.pop_front()?;
        self.reservation.iter_mut().for_each(|own| own.give_back(batch.capacity() as u64));
        Some(batch)
    }
}

impl Sink for Collecting {
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.add_many(state, tuple, 1)
    }

    fn add_many(&mut self, _: &mut State<'_>, tuples: &[u8], _: usize) -> Result<()> {
        self.bytes += tuples.len() as u64;
        if self.bytes > self.bytes_max {
            self.is_full = true;
            return Err(QueryError::Cancelled);
        }
        if !tuples.is_empty() {
            self.batch(tuples.len())?.extend_from_slice(tuples);
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
    }

    fn begins_again(&self) -> bool {
        self.is_full
    }
}

/// Drops what it is given.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn add(&mut self, _: &mut State<'_>, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn add_many(&mut self, _: &mut State<'_>, _: &[u8], _: usize) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
    }
}

/// The result of a statement.
pub enum Outcome {
    /// Rows for the client.
    Rows(Rows),
    /// Tuples that its last command stored or changed; None where that command only defined.
    Changed(Option<u64>),
}
