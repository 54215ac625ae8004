//! The last texts of a database: known, with all that they came to; and how long a text may be.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use super::Database;
use super::statement::Statement;
use crate::error::{QueryError, Result};
use crate::memory::Reservation;

/// Texts that a database keeps, those used last.
const TEXTS_MAX: usize = 256;

/// Longer texts are not kept, and count in the memory budget.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// While a text is read and while it runs, each of its bytes counts as so many in the budget. A
/// token takes 48 and may be one letter long. The plan that is made of the tokens takes about as
/// much (the example `long_texts` measures it).
const BYTES_PER_BYTE: u64 = 64;

impl Database {
    /// The longest text for which there is memory.
    pub(crate) fn text_bytes_max(&self) -> u64 {
        (self.memory.budget_bytes() / BYTES_PER_BYTE).max(TEXT_BYTES_MAX as u64)
    }

    /// That a text has too many bytes.
    #[cold]
    pub(crate) fn too_long(&self, bytes: u64) -> QueryError {
        let what = format!("a text of {bytes} bytes, which takes {BYTES_PER_BYTE} times as many,");
        let budget_bytes = self.memory.budget_bytes();
        QueryError::Memory { what, share_bytes: budget_bytes, budget_bytes }
    }

    /// The memory of a text.
    ///
    /// # Errors
    ///
    /// [`QueryError::Memory`] if the budget does not have it.
    pub(super) fn text_memory(&self, text: &str) -> Result<Reservation> {
        let mut memory = self.memory.reservation("the text");
        let bytes = text.len() as u64;
        if text.len() > TEXT_BYTES_MAX && !memory.try_add(bytes.saturating_mul(BYTES_PER_BYTE)) {
            return Err(self.too_long(bytes));
        }
        Ok(memory)
    }
}

/// The texts that a database was given last, read. Those who find theirs here pass each other:
/// who had to wait, or read and planned the text anew instead, would take two to three times as
/// long for a look-up by an index as one who is alone.
#[derive(Debug, Default)]
pub(super) struct Texts(RwLock<Read>);

#[derive(Debug, Default)]
struct Read {
    by_text: BTreeMap<Arc<str>, Kept>,
    /// Twice the number of texts that were added so far.
    added: u64,
}

#[derive(Debug)]
struct Kept {
    statement: Arc<Statement>,
    /// `Read::added` when it was added, or one more than when it was used last. (A count of all
    /// uses would be written by every statement of every thread.)
    used: AtomicU64,
}

impl Texts {
    /// The statement of a text, read now if it is not known.
    ///
    /// # Errors
    ///
    /// As of [`Statement::new`].
    pub fn statement(&self, text: &str) -> Result<Arc<Statement>> {
        // Nobody waits for a lock that a forked parent may have held.
        if let Ok(read) = self.0.try_read()
            && let Some(kept) = read.by_text.get(text)
        {
            let now = read.added + 1;
            if kept.used.load(Ordering::Relaxed) != now {
                kept.used.store(now, Ordering::Relaxed);
            }
            return Ok(Arc::clone(&kept.statement));
        }
        let statement = Arc::new(Statement::new(text)?);
        if text.len() <= TEXT_BYTES_MAX
            && let Ok(mut read) = self.0.try_write()
        {
            return Ok(read.add(statement));
        }
        Ok(statement)
    }
}

impl Read {
    /// Keep a statement; where another thread has kept the same text meanwhile, its statement is
    /// the answer, which may have a plan already.
    fn add(&mut self, statement: Arc<Statement>) -> Arc<Statement> {
        if let Some(kept) = self.by_text.get(&statement.text) {
            return Arc::clone(&kept.statement);
        }
        if self.by_text.len() >= TEXTS_MAX {
            let used = |kept: &Kept| kept.used.load(Ordering::Relaxed);
            let oldest = self.by_text.iter().min_by_key(|(_, kept)| used(kept));
            let oldest = oldest.map(|(text, _)| Arc::clone(text));
            oldest.and_then(|text| self.by_text.remove(&text));
        }
        self.added += 2;
        let kept = Kept { statement: Arc::clone(&statement), used: AtomicU64::new(self.added) };
        self.by_text.insert(Arc::clone(&statement.text), kept);
        statement
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{TEXTS_MAX, Texts};

    fn text(number: usize) -> String {
        format!("range of p is parts retrieve (p.number) where p.number = {number}")
    }

    #[test]
    fn a_text_that_is_looked_up_meanwhile_is_found_all_the_same() {
        let texts = Texts::default();
        let first = texts.statement(&text(1)).unwrap();
        let _another_thread = texts.0.read().unwrap();
        assert!(Arc::ptr_eq(&first, &texts.statement(&text(1)).unwrap()));
    }

    #[test]
    fn a_text_that_is_used_outlasts_those_that_are_not() {
        let texts = Texts::default();
        let used = texts.statement(&text(0)).unwrap();
        let unused = texts.statement(&text(1)).unwrap();
        for number in 2..2 * TEXTS_MAX {
            texts.statement(&text(number)).unwrap();
            assert!(Arc::ptr_eq(&used, &texts.statement(&text(0)).unwrap()), "{number}");
        }
        assert!(!Arc::ptr_eq(&unused, &texts.statement(&text(1)).unwrap()));
        assert_eq!(texts.0.read().unwrap().by_text.len(), TEXTS_MAX);
    }
}
