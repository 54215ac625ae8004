//! Temporary relations: what a pipeline made for later ones, in an order.

use crate::error::Result;
use crate::memory::{Place, Tuples};

/// Tuples that no longer change.
#[derive(Debug)]
pub struct Temporary {
    tuples: Tuples,
    /// Where each lies, in their order; None where that is the order in which they were put in.
    order: Option<Vec<Place>>,
}

impl Temporary {
    /// In the order in which they were put in.
    pub fn new(tuples: Tuples) -> Self {
        Self { tuples, order: None }
    }

    /// In another order: places of the tuples, maybe not of all.
    pub(crate) fn ordered(tuples: Tuples, order: Vec<Place>) -> Self {
        Self { tuples, order: Some(order) }
    }

    /// How many tuples it has.
    pub fn len(&self) -> usize {
        self.order.as_ref().map_or(self.tuples.len(), Vec::len)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length of a tuple in bytes.
    pub fn tuple_bytes(&self) -> usize {
        self.tuples.tuple_bytes()
    }

    /// Its tuples from the first on.
    pub fn scan(&self) -> TemporaryScan<'_> {
        TemporaryScan { temporary: self, position: Position::default() }
    }

    /// The tuple at a position, which then is that of the next one.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Spill`] where it is in a file that cannot be read.
    #[inline]
    pub fn next_tuple(&self, position: &mut Position) -> Result<Option<&[u8]>> {
        let bytes = self.tuple_bytes();
        if let Some(order) = &self.order {
            let Some(Place(start)) = order.get(position.at) else { return Ok(None) };
            position.at += 1;
            // SAFETY: places of an order lead to tuples of `tuples`, which never moves them.
            #[expect(unsafe_code, reason = "the tuple lies in memory that the relation owns")]
            return Ok(Some(unsafe { std::slice::from_raw_parts(*start, bytes) }));
        }
        while position.chunk < self.tuples.chunk_count() {
            let (chunk, count) = self.tuples.chunk(position.chunk);
            if position.at < count {
                position.at += 1;
                return Ok(Some(&chunk[(position.at - 1) * bytes..position.at * bytes]));
            }
            *position = Position { chunk: position.chunk + 1, at: 0 };
        }
        Ok(None)
    }

    /// The next tuples, at most so many, in an emptied list; false if there are none. The pointers
    /// are good for as long as the relation is.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_tuple`].
    pub fn next_batch(
        &self,
        position: &mut Position,
        into: &mut Vec<*const u8>,
        tuples_max: usize,
    ) -> Result<bool> {
        into.clear();
        while into.len() < tuples_max
            && let Some(tuple) = self.next_tuple(position)?
        {
            into.push(tuple.as_ptr());
        }
        Ok(!into.is_empty())
    }
}

/// A place in a temporary relation; at first its beginning.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    chunk: usize,
    at: usize,
}

/// A way through a temporary relation.
#[derive(Debug)]
pub struct TemporaryScan<'a> {
    temporary: &'a Temporary,
    position: Position,
}

impl<'a> TemporaryScan<'a> {
    /// The next tuple.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_tuple`].
    pub fn next_tuple(&mut self) -> Result<Option<&'a [u8]>> {
        self.temporary.next_tuple(&mut self.position)
    }

    /// The next tuples, as [`Temporary::next_batch`] gives them.
    ///
    /// # Errors
    ///
    /// As of [`Temporary::next_tuple`].
    pub fn next_batch(&mut self, into: &mut Vec<*const u8>, tuples_max: usize) -> Result<bool> {
        self.temporary.next_batch(&mut self.position, into, tuples_max)
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
        let reversed = Temporary::ordered(temporary.tuples, order);
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
