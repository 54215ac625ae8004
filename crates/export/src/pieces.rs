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

/// An export on its way.
pub(crate) struct Job<'a> {
    pub(crate) request: &'a Request,
    pub(crate) rows: Range<u64>,
    pub(crate) observe: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl Job<'_> {
    /// Make pieces of `piece_rows` rows (the last may be shorter) and give them to `sink` in order.
    pub(crate) fn run<M: Maker>(
        &mut self,
        piece_rows: u64,
        maker: impl Fn() -> M,
        mut sink: impl FnMut(&mut M::Piece) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
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
