//! The rows of a `retrieve` as a stream of Arrow batches.

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
use crate::tuple::Layout;

/// Bytes of tuples that make a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Room for them and for the rows that come together with the last of them, unless these are long.
const BATCH_CAPACITY: usize = BATCH_BYTES + (64 << 10);

/// Batches that wait for the reader of the stream.
const BATCHES_WAITING: usize = 2;

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
    /// Tuples of a statement that has ended, and which comes next.
    Collected { tuples: Vec<u8>, at: usize },
    /// Those of one that runs.
    Running { batches: Receiver<Result<Vec<u8>>>, cancel: Cancel, thread: Option<JoinHandle<()>> },
    /// Those of one that another process runs.
    Received(Received),
}

/// Gives the next tuples, and None at the end.
pub(crate) type Received = Box<dyn FnMut() -> Result<Option<Vec<u8>>> + Send>;

impl Rows {
    pub(super) fn collected(form: Arc<Form>, tuples: Vec<u8>) -> Self {
        Self { form, source: Source::Collected { tuples, at: 0 } }
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
            if let Err(error) = outcome {
                // A reader that has stopped wants no error either.
                _ = sink.sender.send(Err(error));
            }
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
            Source::Collected { tuples, at } => {
                let left = tuples.len() - *at;
                if left == 0 {
                    return Ok(None);
                }
                if *at == 0 && left <= 2 * BATCH_BYTES {
                    return Ok(Some(std::mem::take(tuples)));
                }
                let tuple_bytes = self.form.layout.bytes.max(1);
                let take = left.min((BATCH_BYTES / tuple_bytes).max(1) * tuple_bytes);
                *at += take;
                Ok(Some(tuples[*at - take..*at].to_vec()))
            }
            Source::Running { batches, .. } => batches.recv().ok().transpose(),
            Source::Received(next) => next(),
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        let Source::Running { batches, cancel, thread } = &mut self.source else { return };
        cancel.set();
        // Its sender sees that nobody receives any more, so that the thread ends at once.
        let (_, nobody) = sync_channel(1);
        *batches = nobody;
        if let Some(thread) = thread.take() {
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
    sender: SyncSender<Result<Vec<u8>>>,
    tuples: Vec<u8>,
}

impl Sending {
    fn send(&mut self) -> Result<()> {
        if self.tuples.is_empty() {
            return Ok(());
        }
        let empty = Vec::with_capacity(BATCH_CAPACITY);
        let tuples = std::mem::replace(&mut self.tuples, empty);
        self.sender.send(Ok(tuples)).map_err(|_| QueryError::Cancelled)
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

/// Keeps tuples in memory, up to a limit.
pub(super) struct Collecting {
    pub tuples: Vec<u8>,
    bytes_max: u64,
    /// Whether there were more: then what is here is of no use.
    pub is_full: bool,
}

impl Collecting {
    pub fn up_to(bytes_max: u64) -> Self {
        Self { tuples: Vec::new(), bytes_max, is_full: false }
    }
}

impl Sink for Collecting {
    fn add(&mut self, state: &mut State<'_>, tuple: &[u8]) -> Result<()> {
        self.add_many(state, tuple, 1)
    }

    fn add_many(&mut self, _: &mut State<'_>, tuples: &[u8], _: usize) -> Result<()> {
        if (self.tuples.len() + tuples.len()) as u64 > self.bytes_max {
            self.is_full = true;
            return Err(QueryError::Cancelled);
        }
        self.tuples.extend_from_slice(tuples);
        Ok(())
    }

    fn finish(&mut self, _: &mut State<'_>) -> Result<()> {
        Ok(())
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
