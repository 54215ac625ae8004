//! Transactions that own their database's handle, since a client keeps them from call to call.

use std::sync::Arc;

use lode::{Database, Reading, Writing};
use self_cell::self_cell;

type MaybeWriting<'a> = Option<Writing<'a>>;

self_cell! {
    /// A transaction that looks.
    pub struct Reader {
        owner: Arc<Database>,
        #[covariant]
        dependent: Reading,
    }
}

self_cell! {
    /// A transaction that changes; nothing once it has ended. Dropped, it is rolled back.
    struct Cell {
        owner: Arc<Database>,
        #[covariant]
        dependent: MaybeWriting,
    }
}

/// Begin to look.
pub fn reader(database: &Arc<Database>) -> Reader {
    Reader::new(Arc::clone(database), |database| database.reading())
}

/// A transaction that changes. Dropped, it is rolled back.
pub struct Writer(Cell);

impl Writer {
    /// Begin to change.
    pub fn new(database: &Arc<Database>) -> Self {
        Self(Cell::new(Arc::clone(database), |database| Some(database.writing())))
    }

    /// Do something with its pages.
    pub fn with<R>(&mut self, act: impl FnOnce(&mut Writing<'_>) -> R) -> R {
        self.0.with_dependent_mut(|_, writing| {
            act(writing.as_mut().expect("it is there until the commit takes it"))
        })
    }

    /// Make it all visible, and durable as the tactics say.
    pub fn commit(mut self) -> Result<(), lode::LodeError> {
        let commit = |writing: &mut MaybeWriting<'_>| writing.take().map(Writing::commit);
        self.0.with_dependent_mut(|_, writing| commit(writing)).unwrap_or(Ok(()))
    }
}
