//! The last texts of a database: known, with all that they came to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::statement::Statement;
use crate::error::Result;

/// Texts that a database keeps, those used last.
const TEXTS_MAX: usize = 256;

/// Longer texts are not kept.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// The texts that a database was given last, read.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<Read>);

#[derive(Debug, Default)]
struct Read {
    /// Each with the time of its last use.
    by_text: BTreeMap<Arc<str>, (Arc<Statement>, u64)>,
    uses: u64,
}

impl Texts {
    /// The statement of a text, read now if it is not known.
    ///
    /// # Errors
    ///
    /// As of [`Statement::new`].
    pub fn statement(&self, text: &str) -> Result<Arc<Statement>> {
        // Nobody waits for a mutex that a forked parent may have held.
        if let Ok(mut read) = self.0.try_lock() {
            read.uses += 1;
            let now = read.uses;
            if let Some((statement, used)) = read.by_text.get_mut(text) {
                *used = now;
                return Ok(Arc::clone(statement));
            }
        }
        let statement = Arc::new(Statement::new(text)?);
        if text.len() <= TEXT_BYTES_MAX
            && let Ok(mut read) = self.0.try_lock()
        {
            let now = read.uses;
            if read.by_text.len() >= TEXTS_MAX {
                let oldest = read.by_text.iter().min_by_key(|(_, (_, used))| *used);
                let oldest = oldest.map(|(text, _)| Arc::clone(text));
                oldest.and_then(|text| read.by_text.remove(&text));
            }
            let key = Arc::clone(&statement.text);
            read.by_text.insert(key, (Arc::clone(&statement), now));
        }
        Ok(statement)
    }
}
