//! Probing the hash table of a join with a batch of rows.

use std::sync::Arc;

use loadstone_quel::check::resolved::Type;
use loadstone_quel::error::Fault;
use loadstone_quel::schema::Kind;

use super::kernels::Kernels;
use super::rows::Rows;
use super::value::{Computed, Stored, at};
use crate::counters::Work;
use crate::error::QueryError;
use crate::execution::State;
use crate::execution::joining::Aside;
use crate::table::{JoinTable, prefetch};
use crate::tactics::Simd;
use crate::tuple::{HASH_SEED, hash_integer};

/// Pairs of a row and an entry with the row's key.
pub(super) struct Probe {
    /// None between two tables.
    table: Option<Arc<JoinTable>>,
    keys: Vec<Computed>,
    kernels: &'static Kernels,
    /// Whether the key is one integer on both sides, never null.
    integer: Option<(usize, usize)>,
    hashes: Vec<u64>,
    /// Entries that may fit: the position in `hashes`, and the entry's number.
    numbers: Vec<(usize, usize)>,
    /// The pairs of the batch: the rows ascend.
    pub rows: Vec<u16>,
    pub entries: Vec<*const u8>,
}

impl Probe {
    /// Of that table, by these keys.
    pub fn new(table: Arc<JoinTable>, keys: Vec<Computed>, simd: Simd) -> Self {
        let integer = match (&keys[..], table.key()) {
            ([key], [field]) if key.type_() == Type::Integer && !key.may_be_null() => {
                match (field.kind, field.null_at) {
                    (Kind::Integer { bytes }, None) => Some((field.offset, bytes)),
                    _ => None,
                }
            }
            _ => None,
        };
        Self {
            table: Some(table),
            keys,
            kernels: Kernels::of(simd),
            integer,
            hashes: Vec::new(),
            numbers: Vec::new(),
            rows: Vec::new(),
            entries: Vec::new(),
        }
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
        let put = |aside: &mut Aside, hash: u64, row: usize| {
            let tuple = |slot: usize| batch.slots[slot].tuples[row];
            aside.put(hash, tuple, |slot| batch.slots[slot].ids[row])
        };
        let mut outcome = Ok(());
        if self.integer.is_some() {
            let keys = self.keys[0].compute(batch, &selection);
            let keys = &keys.map_err(|fault| state.evaluation(fault))?.integers;
            selection.retain(|row| {
                let row = usize::from(*row);
                let hash = hash_integer(HASH_SEED, keys[row]);
                let is_away = aside.has(hash);
                if is_away && outcome.is_ok() {
                    outcome = put(aside, hash, row);
                }
                !is_away
            });
            batch.selection = selection;
            return outcome;
        }
        let mut vectors = Vec::with_capacity(self.keys.len());
        for key in &mut self.keys {
            let values = key.compute(batch, &selection);
            vectors.push(values.map_err(|fault| state.evaluation(fault))?);
        }
        let mut values = Vec::with_capacity(vectors.len());
        selection.retain(|row| {
            let row = usize::from(*row);
            values.clear();
            values.extend(vectors.iter().map(|vector| vector.value(row)));
            let Some(hash) = aside.is_away(&values) else { return true };
            if outcome.is_ok() {
                outcome = put(aside, hash, row);
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
    pub fn find(&mut self, batch: &Rows, work: &mut Work) -> Result<(), Fault> {
        self.rows.clear();
        self.entries.clear();
        match self.integer {
            Some(place) => self.find_integers(batch, place, work),
            None => self.find_values(batch),
        }
    }

    /// In passes, each of which asks memory for what the next one needs: hashes and directory
    /// words; entries that may fit, or the links to them; their keys.
    fn find_integers(
        &mut self,
        batch: &Rows,
        (offset, bytes): (usize, usize),
        work: &mut Work,
    ) -> Result<(), Fault> {
        let Self { table, keys, kernels, hashes, numbers, rows, entries, .. } = self;
        let Some(table) = table else { return Ok(()) };
        let keys = &keys[0].compute(batch, &batch.selection)?.integers;
        if batch.selection.len() == batch.len {
            hashes.resize(batch.len, 0);
            kernels.hash(&keys[..batch.len], hashes);
            kernels.count(work);
        } else {
            let keys = batch.selection.iter().map(|row| keys[usize::from(*row)]);
            hashes.clear();
            hashes.extend(keys.map(|key| hash_integer(HASH_SEED, key)));
        }
        for hash in &*hashes {
            table.prefetch_directory(*hash);
        }
        if table.is_copied() {
            for (row, hash) in batch.selection.iter().zip(&*hashes) {
                let (begin, end) = table.candidates(*hash);
                for number in begin..end {
                    table.prefetch_entry(number);
                    rows.push(*row);
                    entries.push(table.entry(number));
                }
            }
        } else {
            numbers.clear();
            for (at, hash) in hashes.iter().enumerate() {
                let (begin, end) = table.candidates(*hash);
                for number in begin..end {
                    table.prefetch_entry(number);
                    numbers.push((at, number));
                }
            }
            for &(at, number) in &*numbers {
                if let Some(entry) = table.entry_with(number, hashes[at]) {
                    prefetch(entry.wrapping_add(offset));
                    rows.push(batch.selection[at]);
                    entries.push(entry);
                }
            }
        }
        match bytes {
            1 => keep_equal::<i8>(rows, entries, keys, offset),
            2 => keep_equal::<i16>(rows, entries, keys, offset),
            4 => keep_equal::<i32>(rows, entries, keys, offset),
            _ => keep_equal::<i64>(rows, entries, keys, offset),
        }
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

/// Keep the pairs of which the integer of that type at an offset of the entry is the row's key.
fn keep_equal<T: Stored>(
    rows: &mut Vec<u16>,
    entries: &mut Vec<*const u8>,
    keys: &[i64],
    offset: usize,
) {
    let mut kept = 0;
    for pair in 0..rows.len() {
        let (row, entry) = (rows[pair], entries[pair]);
        // SAFETY: the entry is a whole one of the table, and the key's field is of its layout.
        #[expect(unsafe_code, reason = "entries are read through pointers")]
        let key = unsafe { at::<T>(entry, offset) }.wide();
        (rows[kept], entries[kept]) = (row, entry);
        kept += usize::from(key == keys[usize::from(row)]);
    }
    rows.truncate(kept);
    entries.truncate(kept);
}
