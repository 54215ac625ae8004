//! Pieces of a file made by many threads and delivered in order.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use loadstone_datasets::{Cursor, Source};

use crate::error::ExportError;
use crate::request::Request;

/// Turns the cursor's next rows into a piece of the file. One belongs to each thread.
pub(crate) trait Maker: Send {
    /// Finished bytes or their like; reused, so that its memory is.
    type Piece: Default + Send;

    fn make(
        &mut self,
        cursor: &mut dyn Cursor,
        rows: usize,
        piece: &mut Self::Piece,
    ) -> Result<(), ExportError>;
}

/// Rows that are longer than this come in fewer a piece: a piece of documents of 20,000 bytes would
/// otherwise take 160 MB, and each thread has two.
const ROW_BYTES: u64 = 256;

/// The rows of a piece, of which there would be so many if rows were short.
fn rows_of_a_piece(piece_rows: u64, source: &dyn Source) -> u64 {
    let row_bytes = source.attributes().iter().map(|each| each.kind.width_bytes() as u64).sum();
    (piece_rows.saturating_mul(ROW_BYTES) / ROW_BYTES.max(row_bytes)).max(1)
}

/// An export on its way.
pub(crate) struct Job<'a> {
    pub(crate) request: &'a Request,
    pub(crate) rows: Range<u64>,
    pub(crate) observe: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl Job<'_> {
    /// Make pieces of `piece_rows` rows (of fewer where rows are long, and the last may be shorter)
    /// and give them to `sink` in order.
    pub(crate) fn run<M: Maker>(
        &mut self,
        piece_rows: u64,
        maker: impl Fn() -> M,
        mut sink: impl FnMut(&mut M::Piece) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let piece_rows = rows_of_a_piece(piece_rows, self.request.source.as_ref());
        let plan = Plan { source: &self.request.source, rows: self.rows.clone(), piece_rows };
        let mut deliver = |number: u64, piece: &mut M::Piece| {
            sink(piece)?;
            let done = plan.piece(number).end - plan.rows.start;
            match (self.observe)(done) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(ExportError::Interrupted),
            }
        };
        let threads = (self.request.threads as u64).min(plan.count()).max(1);
        if threads == 1 {
            let mut piece = M::Piece::default();
            let mut worker = Worker::new(&plan, maker());
            return (0..plan.count()).try_for_each(|number| {
                worker.make(number, &mut piece)?;
                deliver(number, &mut piece)
            });
        }
        plan.source.prepare(threads as usize);
        std::thread::scope(|scope| {
            let lines: Vec<Line<M::Piece>> = (0..threads)
                .map(|first| {
                    let (line, end) = Line::new();
                    let worker = Worker::new(&plan, maker());
                    let numbers = (first..plan.count()).step_by(threads as usize);
                    scope.spawn(move || worker.run(numbers, &end));
                    line
                })
                .collect();
            // Leaving early drops the lines, at which the workers end.
            (0..plan.count()).try_for_each(|number| {
                let line = &lines[(number % threads) as usize];
                let made = line.made.recv().map_err(|_| worker_died())?;
                let mut piece = made?;
                deliver(number, &mut piece)?;
                // A worker that has ended needs no memory back.
                let _ = line.used.send(piece);
                Ok(())
            })
        })
    }
}

fn worker_died() -> ExportError {
    ExportError::Encode("a worker thread ended before its work did".to_owned())
}

/// Which rows make which piece.
struct Plan<'a> {
    source: &'a Arc<dyn Source>,
    rows: Range<u64>,
    piece_rows: u64,
}

impl Plan<'_> {
    fn count(&self) -> u64 {
        (self.rows.end - self.rows.start).div_ceil(self.piece_rows)
    }

    fn piece(&self, number: u64) -> Range<u64> {
        let first = self.rows.start + number * self.piece_rows;
        first..(first + self.piece_rows).min(self.rows.end)
    }
}

/// The writer's end of the two-way connection to a worker.
struct Line<P> {
    made: Receiver<Result<P, ExportError>>,
    used: Sender<P>,
}

/// The worker's end.
struct LineEnd<P> {
    made: SyncSender<Result<P, ExportError>>,
    used: Receiver<P>,
}

impl<P> Line<P> {
    fn new() -> (Self, LineEnd<P>) {
        // One finished piece may wait: a slow disk must not fill the memory.
        let (made_sender, made) = sync_channel(1);
        let (used, used_receiver) = channel();
        (Self { made, used }, LineEnd { made: made_sender, used: used_receiver })
    }
}

struct Worker<'a, M> {
    plan: &'a Plan<'a>,
    maker: M,
    cursor: Option<Box<dyn Cursor>>,
}

impl<'a, M: Maker> Worker<'a, M> {
    fn new(plan: &'a Plan<'a>, maker: M) -> Self {
        Self { plan, maker, cursor: None }
    }

    fn make(&mut self, number: u64, piece: &mut M::Piece) -> Result<(), ExportError> {
        let rows = self.plan.piece(number);
        let cursor = self
            .cursor
            .take()
            .filter(|cursor| cursor.position() == rows.start)
            .unwrap_or_else(|| Arc::clone(self.plan.source).cursor(rows.start));
        let cursor = self.cursor.insert(cursor);
        self.maker.make(cursor.as_mut(), (rows.end - rows.start) as usize, piece)
    }

    fn run(mut self, numbers: impl Iterator<Item = u64>, line: &LineEnd<M::Piece>) {
        for number in numbers {
            let mut piece = line.used.try_recv().unwrap_or_default();
            let made = self.make(number, &mut piece).map(|()| piece);
            let failed = made.is_err();
            if line.made.send(made).is_err() || failed {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rows_of_a_piece;

    fn rows(benchmark: &str, edition: &str, relation: &str, piece_rows: u64) -> u64 {
        let source = loadstone_datasets::open(benchmark, edition, relation, 100_000, 0).unwrap();
        rows_of_a_piece(piece_rows, source.as_ref())
    }

    #[test]
    fn a_piece_of_long_rows_has_few_and_one_of_short_rows_all() {
        assert_eq!(rows("wisconsin", "1993", "tenktup1", 8_192), 8_192);
        assert_eq!(rows("oo7", "1993-3", "atomicpart", 8_192), 8_192);
        // Documents of 20,000 bytes: 2 MB of them; and the manual of 1,000,000.
        assert!((100..=105).contains(&rows("oo7", "1993-3", "document", 8_192)));
        assert_eq!(rows("oo7", "1993-3", "manual", 8_192), 2);
        assert_eq!(rows("oo7", "1993-3", "manual", 1), 1);
    }
}
