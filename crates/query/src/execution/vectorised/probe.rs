//! Probing the hash table of a join with a batch of rows.

use std::sync::Arc;

use loadstone_quel::check::resolved::Type;
use loadstone_quel::error::Fault;
use loadstone_quel::schema::Kind;

use super::rows::Rows;
use super::value::{Computed, at};
use crate::error::QueryError;
use crate::execution::State;
use crate::execution::joining::Aside;
use crate::table::JoinTable;
use crate::tuple::{HASH_SEED, hash_integer};

/// Pairs of a row and an entry with the row's key.
pub(super) struct Probe {
    /// None between two tables.
    table: Option<Arc<JoinTable>>,
    keys: Vec<Computed>,
    /// Whether the key is one integer on both sides, never null.
    integer: Option<(usize, usize)>,
    hashes: Vec<u64>,
    /// The pairs of the batch: the rows ascend.
    pub rows: Vec<u16>,
    pub entries: Vec<*const u8>,
}

impl Probe {
    /// Of that table, by these keys.
    pub fn new(table: Arc<JoinTable>, keys: Vec<Computed>) -> Self {
        let integer = match (&keys[..], table.key()) {
            ([key], [field]) if key.type_() == Type::Integer && !key.may_be_null() => {
                match (field.kind, field.null_at) {
                    (Kind::Integer { bytes }, None) => Some((field.offset, bytes)),
                    _ => None,
                }
            }
            _ => None,
        };
        let (hashes, rows, entries) = (Vec::new(), Vec::new(), Vec::new());
        Self { table: Some(table), keys, integer, hashes, rows, entries }
    }

    /// Let go of the table: rows find nothing until there is another.
    pub fn take_table(&mut self) -> Option<Arc<JoinTable>> {
        self.table.take()
    }

    /// Another table of the same form.
    pub fn set_table(&mut self, table: &Arc<JoinTable>) {
        self.table = Some(Arc::clone(table));
    }

    /// Put the rows aside whose entries are away; they are selected no longer.
    ///
    /// # Errors
    ///
    /// Of a row for which a key cannot be computed, and where it cannot be put.
    pub fn put_aside(
        &mut self,
        batch: &mut Rows,
        aside: &mut Aside,
        state: &State<'_>,
    ) -> Result<(), QueryError> {
        let mut selection = std::mem::take(&mut batch.selection);
        let mut vectors = Vec::with_capacity(self.keys.len());
        for key in &mut self.keys {
            let values = key.compute(batch, &selection);
            vectors.push(values.map_err(|fault| state.evaluation(fault))?);
        }
        let mut values = Vec::with_capacity(vectors.len());
        let mut outcome = Ok(());
        selection.retain(|row| {
            let row = usize::from(*row);
            values.clear();
            values.extend(vectors.iter().map(|vector| vector.value(row)));
            let Some(hash) = aside.is_away(&values) else { return true };
            if outcome.is_ok() {
                let tuple = |slot: usize| batch.slots[slot].tuples[row];
                let id = |slot: usize| batch.slots[slot].ids[row];
                outcome = aside.put(hash, tuple, id);
            }
            false
        });
        batch.selection = selection;
        outcome
    }

    /// Find the pairs of the selected rows.
    ///
    /// # Errors
    ///
    /// Of a row for which a key cannot be computed.
    pub fn find(&mut self, batch: &Rows) -> Result<(), Fault> {
        self.rows.clear();
        self.entries.clear();
        match self.integer {
            Some((offset, bytes)) => self.find_integers(batch, offset, bytes),
            None => self.find_values(batch),
        }
    }

    /// In three passes, each of which asks memory for what the next one needs: hashes and
    /// directory words; entries that may fit; their keys.
    #[expect(unsafe_code, reason = "entries are read through pointers")]
    fn find_integers(&mut self, batch: &Rows, offset: usize, bytes: usize) -> Result<(), Fault> {
        let Some(table) = &self.table else { return Ok(()) };
        let keys = &self.keys[0].compute(batch, &batch.selection)?.integers;
        self.hashes.clear();
        for row in &batch.selection {
            let hash = hash_integer(HASH_SEED, keys[usize::from(*row)]);
            table.prefetch_directory(hash);
            self.hashes.push(hash);
        }
        for (row, hash) in batch.selection.iter().zip(&self.hashes) {
            let (begin, end) = table.candidates(*hash);
            for number in begin..end {
                table.prefetch_entry(number);
                self.rows.push(*row);
                self.entries.push(table.entry(number));
            }
        }
        let mut kept = 0;
        for pair in 0..self.rows.len() {
            let (row, entry) = (self.rows[pair], self.entries[pair]);
            // SAFETY: the entry is a whole one of the table, and the key's field is of its layout.
            let key = unsafe {
                match bytes {
                    1 => i64::from(at::<i8>(entry, offset)),
                    2 => i64::from(i16::from_le(at(entry, offset))),
                    4 => i64::from(i32::from_le(at(entry, offset))),
                    _ => i64::from_le(at(entry, offset)),
                }
            };
            (self.rows[kept], self.entries[kept]) = (row, entry);
            kept += usize::from(key == keys[usize::from(row)]);
        }
        self.rows.truncate(kept);
        self.entries.truncate(kept);
        Ok(())
    }

    fn find_values(&mut self, batch: &Rows) -> Result<(), Fault> {
        let mut vectors = Vec::with_capacity(self.keys.len());
        for key in &mut self.keys {
            vectors.push(key.compute(batch, &batch.selection)?);
        }
        let Some(table) = &self.table else { return Ok(()) };
        let mut values = Vec::with_capacity(vectors.len());
        for row in &batch.selection {
            values.clear();
            values.extend(vectors.iter().map(|vector| vector.value(usize::from(*row))));
            for entry in table.matches(&values) {
                self.rows.push(*row);
                self.entries.push(entry.as_ptr());
            }
        }
        Ok(())
    }
}
