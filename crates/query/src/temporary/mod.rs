//! Temporary relations: what a pipeline made for later ones, in an order.

mod keeper;

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::memory::{Place, Reservation, Tuples};
use crate::spill::Run;

pub use keeper::Keeper;

/// Tuples that no longer change.
#[derive(Debug)]
pub struct Temporary {
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    /// In memory; where each lies, in their order, or None where that is the order in which they
    /// were put in.
    Memory { tuples: Tuples, order: Option<Vec<Place>> },
    /// In the file of the statement, with room for the buffers of those that read them.
    File { run: Run, _buffers: Reservation },
}

impl Temporary {
    /// In the order in which they were put in.
    pub fn new(tuples: Tuples) -> Self {
        Self { kept: Kept::Memory { tuples, order: None } }
    }

    /// In another order: places of the tuples, maybe not of all.
    pub(crate) fn ordered(tuples: Tuples, order: Vec<Place>) -> Self {
        Self { kept: Kept::Memory { tuples, order: Some(order) } }
    }

    /// In the file of the statement.
    pub(crate) fn spilled(run: Run, buffers: Reservation) -> Self {
        Self { kept: Kept::File { run, _buffers: buffers } }
    }

    /// The number of tuples that it has.
    pub fn len(&self) -> usize {
        match &self.kept {
            Kept::Memory { tuples, order } => order.as_ref().map_or(tuples.len(), Vec::len),
            Kept::File { run, .. } => run.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length of a tuple in bytes.
    pub fn tuple_bytes(&self) -> usize {
        match &self.kept {
            Kept::Memory { tuples, .. } => tuples.tuple_bytes(),
            Kept::File { run, .. } => run.tuple_bytes(),
        }
    }

    /// Whether its tuples are in the file: a pointer to one is good only until the next batch.
    pub fn is_spilled(&self) -> bool {
        matches!(self.kept, Kept::File { .. })
    }

    /// Its tuples from the first on.
    pub fn scan(&self) -> TemporaryScan<'_> {
        self.scan_from(Position::default())
    }

    /// Its tuples from a place on.
    pub fn scan_from(&self, position: Position) -> TemporaryScan<'_> {
        TemporaryScan { temporary: self, position, one: Vec::new() }
    }

    /// Its tuples by their numbers. It has an order.
    pub(crate) fn numbered(&self) -> Numbered<'_> {
        Numbered { temporary: self, position: Position::default(), one: Vec::new() }
    }

    /// Places for so many threads, which take parts of it as they finish others, or for fewer where
    /// it has fewer parts: each place has its first part. None of a relation in the file, whose
    /// tuples are in memory only until the next ones are.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_batch`].
    pub fn shared(&self, threads: usize) -> Result<Vec<Position>> {
        if self.is_spilled() {
            return Ok(Vec::new());
        }
        let part = (self.len() / (threads * PARTS_OF_THREAD).max(1)).clamp(1, PART_MAX);
        let shared = Arc::new(SharedPosition { position: Mutex::default(), part });
        let (mut positions, mut tuples) = (Vec::new(), Vec::new());
        while positions.len() < threads && shared.next_batch(self, &mut tuples)? {
            let first = tuples.iter().map(|tuple| Place(*tuple)).collect();
            let shared = Some(Arc::clone(&shared));
            positions.push(Position { shared, first, ..Position::default() });
        }
        Ok(positions)
    }

    /// The next tuples, at most so many, in an emptied list; false if there are none. The pointers
    /// are good until the next batch from that position, and where the tuples are in memory for as
    /// long as the relation is.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where they are in a file that cannot be read.
    pub fn next_batch(
        &self,
        position: &mut Position,
        into: &mut Vec<*const u8>,
        tuples_max: usize,
    ) -> Result<bool> {
        into.clear();
        if let Some(shared) = &position.shared {
            // The tuples that this thread was given before all else.
            into.extend(position.first.drain(..).map(|place| place.0));
            return if into.is_empty() { shared.next_batch(self, into) } else { Ok(true) };
        }
        match &self.kept {
            Kept::Memory { tuples, order: Some(order) } => {
                debug_assert!(tuples.len() >= order.len());
                let end = order.len().min(position.at.saturating_add(tuples_max));
                into.extend(order[position.at..end].iter().map(|place| place.0));
                position.at = end;
            }
            Kept::Memory { tuples, order: None } => {
                batch_of_chunks(tuples, position, into, tuples_max);
            }
            Kept::File { run, .. } => batch_of_run(run, position, into, tuples_max)?,
        }
        Ok(!into.is_empty())
    }
}

fn batch_of_chunks(
    tuples: &Tuples,
    position: &mut Position,
    into: &mut Vec<*const u8>,
    tuples_max: usize,
) {
    while into.len() < tuples_max && position.chunk < tuples.chunk_count() {
        let (chunk, count) = tuples.chunk(position.chunk);
        let end = count.min(position.at + (tuples_max - into.len()));
        let place = |number: usize| chunk[number * tuples.tuple_bytes()..].as_ptr();
        into.extend((position.at..end).map(place));
        position.at = end;
        if end == count {
            (position.chunk, position.at) = (position.chunk + 1, 0);
        }
    }
}

/// Tuples of one part of a run: a batch never needs two of them in memory.
fn batch_of_run(
    run: &Run,
    position: &mut Position,
    into: &mut Vec<*const u8>,
    tuples_max: usize,
) -> Result<()> {
    if position.at == run.len() {
        return Ok(());
    }
    let bytes = run.tuple_bytes();
    let (part, first) = run.part_of(position.at);
    if position.part != Some(part) {
        run.read_part(part, &mut position.buffer)?;
        position.part = Some(part);
    }
    let tuples = position.buffer[(position.at - first) * bytes..].chunks_exact(bytes);
    into.extend(tuples.take(tuples_max).map(<[u8]>::as_ptr));
    position.at += into.len();
    Ok(())
}

/// A place in a temporary relation; at first its beginning.
#[derive(Debug, Default)]
pub struct Position {
    chunk: usize,
    /// The next tuple: within its chunk, or, where they have an order or are in a file, of all.
    at: usize,
    /// The bytes read of the file, and the part that they are.
    buffer: Vec<u8>,
    part: Option<usize>,
    /// The continuation of other threads, and the tuples that this one has of it already.
    shared: Option<Arc<SharedPosition>>,
    first: Vec<Place>,
}

/// A place in a temporary relation in memory that several threads move on.
#[derive(Debug)]
struct SharedPosition {
    position: Mutex<Position>,
    /// Tuples that a thread takes at a time.
    part: usize,
}

impl SharedPosition {
    fn next_batch(&self, of: &Temporary, into: &mut Vec<*const u8>) -> Result<bool> {
        let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        of.next_batch(&mut position, into, self.part)
    }
}

/// Tuples that a thread takes at a time at most.
const PART_MAX: usize = 1024;

/// Parts for each thread at least, of a relation that has as many tuples.
const PARTS_OF_THREAD: usize = 8;

impl Position {
    /// At the tuple of that number, of a relation that is in a file.
    pub(crate) fn of_spilled(tuple: usize) -> Self {
        Self { at: tuple, ..Self::default() }
    }

    /// The number of the next tuple, of a relation that is in a file.
    pub(crate) fn number(&self) -> usize {
        self.at
    }
}

/// A way through a temporary relation.
#[derive(Debug)]
pub struct TemporaryScan<'a> {
    temporary: &'a Temporary,
    position: Position,
    one: Vec<*const u8>,
}

impl TemporaryScan<'_> {
    /// The next tuple.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_batch`].
    pub fn next_tuple(&mut self) -> Result<Option<&[u8]>> {
        if !self.temporary.next_batch(&mut self.position, &mut self.one, 1)? {
            return Ok(None);
        }
        // SAFETY: the pointer is of a whole tuple, which stays until the next one is requested.
        #[expect(unsafe_code, reason = "tuples are read through pointers")]
        Ok(Some(unsafe { std::slice::from_raw_parts(self.one[0], self.temporary.tuple_bytes()) }))
    }

    /// The next tuples, as [`Temporary::next_batch`] gives them.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_batch`].
    pub fn next_batch(&mut self, into: &mut Vec<*const u8>, tuples_max: usize) -> Result<bool> {
        self.temporary.next_batch(&mut self.position, into, tuples_max)
    }
}

/// The tuples of a temporary relation by their numbers. Of one in the file, a part is in memory.
#[derive(Debug)]
pub(crate) struct Numbered<'a> {
    temporary: &'a Temporary,
    position: Position,
    one: Vec<*const u8>,
}

impl Numbered<'_> {
    /// The tuple of that number, from 0.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_batch`].
    pub fn tuple(&mut self, number: usize) -> Result<&[u8]> {
        self.position.at = number;
        let is_there = self.temporary.next_batch(&mut self.position, &mut self.one, 1)?;
        assert!(is_there, "tuple {number} of {}", self.temporary.len());
        // SAFETY: the pointer is of a whole tuple, which stays until another one is requested.
        #[expect(unsafe_code, reason = "tuples are read through pointers")]
        Ok(unsafe { std::slice::from_raw_parts(self.one[0], self.temporary.tuple_bytes()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    #[test]
    fn a_scan_gives_each_tuple_once_in_its_order() {
        let mut tuples = Tuples::new(8, Memory::new(1 << 20).reservation("a test"));
        let places: Vec<_> = (0..3000_i64)
            .map(|number| Place(tuples.push(&number.to_le_bytes()).unwrap()))
            .collect();
        let temporary = Temporary::new(tuples);
        assert_eq!(numbers(&temporary), (0..3000).collect::<Vec<_>>());
        let order = places.into_iter().rev().step_by(3).collect();
        let Kept::Memory { tuples, .. } = temporary.kept else { panic!("it is in memory") };
        let reversed = Temporary::ordered(tuples, order);
        assert_eq!(reversed.len(), 1000);
        assert_eq!(numbers(&reversed), (0..3000).rev().step_by(3).collect::<Vec<_>>());
    }

    fn numbers(temporary: &Temporary) -> Vec<i64> {
        let (mut scan, mut numbers) = (temporary.scan(), Vec::new());
        while let Some(tuple) = scan.next_tuple().unwrap() {
            numbers.push(i64::from_le_bytes(tuple.try_into().unwrap()));
        }
        let (mut batches, mut batch, mut count) = (temporary.scan(), Vec::new(), 0);
        while batches.next_batch(&mut batch, 1024).unwrap() {
            count += batch.len();
        }
        assert_eq!(count, numbers.len());
        numbers
    }
}
