//! Tuples of one length that stay where they are put.

use super::Reservation;
use crate::error::Result;

/// The first chunk; each next one is twice as long, up to [`CHUNK_BYTES_MAX`].
const CHUNK_BYTES_MIN: usize = 4 << 10;
/// So long that the kernel may back a chunk with huge pages.
const CHUNK_BYTES_MAX: usize = 2 << 20;

/// Tuples of one length. They never move, so a pointer to one is good for as long as they live and
/// are not cleared.
#[derive(Debug)]
pub struct Tuples {
    tuple_bytes: usize,
    chunks: Vec<Chunk>,
    /// The chunk that is being filled: those behind it are empty.
    filling: usize,
    len: usize,
    reservation: Reservation,
    /// Of the chunks that were others' once.
    taken_over: Vec<Reservation>,
}

/// The first byte of a tuple.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(pub(crate) *const u8);

// SAFETY: a place is only followed together with the owner of the tuple.
#[expect(unsafe_code, reason = "a pointer to memory of the same owner")]
unsafe impl Send for Place {}
// SAFETY: as above; a tuple that has a place is only read.
#[expect(unsafe_code, reason = "a pointer to memory of the same owner")]
unsafe impl Sync for Place {}

/// Whole tuples, one after another.
#[derive(Debug)]
struct Chunk {
    /// Its capacity never changes: that would move the tuples.
    bytes: Vec<u8>,
    tuples: usize,
    tuples_max: usize,
}

impl Tuples {
    /// None yet, of that many bytes each.
    pub fn new(tuple_bytes: usize, reservation: Reservation) -> Self {
        let (chunks, taken_over) = (Vec::new(), Vec::new());
        Self { tuple_bytes, chunks, filling: 0, len: 0, reservation, taken_over }
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The length of each in bytes.
    pub fn tuple_bytes(&self) -> usize {
        self.tuple_bytes
    }

    /// Their share of the memory.
    pub fn reservation(&mut self) -> &mut Reservation {
        &mut self.reservation
    }

    /// Put a copy of a tuple behind the others. None if the budget has no memory for it.
    #[inline]
    pub fn try_push(&mut self, tuple: &[u8]) -> Option<*const u8> {
        debug_assert_eq!(tuple.len(), self.tuple_bytes);
        if !self.try_reserve() {
            return None;
        }
        let chunk = self.chunks.get_mut(self.filling)?;
        let at = chunk.bytes.len();
        chunk.bytes.extend_from_slice(tuple);
        chunk.tuples += 1;
        self.len += 1;
        Some(chunk.bytes[at..].as_ptr())
    }

    /// Put a copy of a tuple behind the others.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for it.
    #[inline]
    pub fn push(&mut self, tuple: &[u8]) -> Result<*const u8> {
        self.try_push(tuple).ok_or_else(|| self.reservation.refusal())
    }

    /// Put copies of tuples, which lie one after another, behind the others.
    ///
    /// # Errors
    ///
    /// [`crate::QueryError::Memory`] if the budget has no memory for one of them; those before it
    /// are there.
    pub fn push_many(&mut self, tuples: &[u8]) -> Result<()> {
        if self.tuple_bytes == 0 {
            return Ok(());
        }
        let mut left = tuples;
        while !left.is_empty() {
            if !self.try_reserve() {
                return Err(self.reservation.refusal());
            }
            let Some(chunk) = self.chunks.get_mut(self.filling) else { break };
            let count = (chunk.tuples_max - chunk.tuples).min(left.len() / self.tuple_bytes);
            let (now, later) = left.split_at(count * self.tuple_bytes);
            chunk.bytes.extend_from_slice(now);
            chunk.tuples += count;
            self.len += count;
            left = later;
        }
        Ok(())
    }

    /// Take all of others over, which stay where they are, and so does what they take of their
    /// memory.
    pub fn append(&mut self, mut others: Self) {
        debug_assert_eq!(others.tuple_bytes, self.tuple_bytes);
        self.len += others.len;
        self.chunks.append(&mut others.chunks);
        self.taken_over.append(&mut others.taken_over);
        self.taken_over.push(others.reservation);
        self.filling = self.chunks.len().saturating_sub(1);
    }

    /// Make room for one tuple more. False if the budget has no memory for it.
    #[inline]
    pub fn try_reserve(&mut self) -> bool {
        let is_full = |chunk: &Chunk| chunk.tuples == chunk.tuples_max;
        !self.chunks.get(self.filling).is_none_or(is_full) || self.try_grow()
    }

    #[cold]
    fn try_grow(&mut self) -> bool {
        if self.filling + 1 < self.chunks.len() {
            self.filling += 1;
            return true;
        }
        let last = self.chunks.last().map_or(0, |chunk| chunk.bytes.capacity());
        let wanted = (2 * last).clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
        let tuples_max = (wanted / self.tuple_bytes.max(1)).max(1);
        let bytes = tuples_max * self.tuple_bytes;
        if !self.reservation.try_add(bytes as u64) {
            return false;
        }
        self.filling = self.chunks.len();
        self.chunks.push(Chunk { bytes: Vec::with_capacity(bytes), tuples: 0, tuples_max });
        true
    }

    /// The number of chunks.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// The tuples of a chunk, one after another, and how many they are.
    pub fn chunk(&self, number: usize) -> (&[u8], usize) {
        let chunk = &self.chunks[number];
        (&chunk.bytes, chunk.tuples)
    }

    /// Each in the order in which they were put in.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().flat_map(|chunk| {
            (0..chunk.tuples)
                .map(|at| &chunk.bytes[at * self.tuple_bytes..(at + 1) * self.tuple_bytes])
        })
    }

    /// Take the tuples out, some at a time and in order, and give the memory of each part back once
    /// `take` has seen it.
    pub fn drain(mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for chunk in std::mem::take(&mut self.chunks) {
            take(&chunk.bytes)?;
            self.reservation.give_back((chunk.tuples_max * self.tuple_bytes) as u64);
        }
        Ok(())
    }

    /// Drop all of them, and give the memory back.
    pub fn clear(&mut self) {
        let bytes: usize = self.chunks.iter().map(|chunk| chunk.tuples_max).sum();
        self.reservation.give_back((bytes * self.tuple_bytes) as u64);
        self.taken_over.clear();
        self.chunks.clear();
        (self.filling, self.len) = (0, 0);
    }

    /// Drop all of them, and keep the room for as many: what is given back and taken again at once
    /// is there twice for a while. Of what was others' nothing is kept.
    pub fn empty(&mut self) {
        if !self.taken_over.is_empty() {
            return self.clear();
        }
        for chunk in &mut self.chunks {
            chunk.bytes.clear();
            chunk.tuples = 0;
        }
        (self.filling, self.len) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    #[test]
    fn tuples_stay_where_they_are_put() {
        let memory = Memory::new(1 << 20);
        let mut tuples = Tuples::new(12, memory.reservation("a test"));
        let mut places = Vec::new();
        for number in 0..20_000_u32 {
            let tuple = [number.to_le_bytes(), [7; 4], number.to_be_bytes()].concat();
            places.push((tuples.push(&tuple).unwrap(), tuple));
        }
        assert_eq!(tuples.len(), 20_000);
        for ((place, expected), tuple) in places.iter().zip(tuples.iter()) {
            assert_eq!((*place, &expected[..]), (tuple.as_ptr(), tuple));
        }
        assert!(memory.used_bytes() >= 240_000);
        tuples.clear();
        assert_eq!((memory.used_bytes(), tuples.iter().count()), (0, 0));
    }

    #[test]
    fn many_tuples_are_as_each_alone() {
        let memory = Memory::new(1 << 20);
        let mut tuples = Tuples::new(12, memory.reservation("a test"));
        let all: Vec<u8> = (0..60_000_u32).map(|number| (number % 251) as u8).collect();
        let mut left = &all[..];
        for count in (0..).map(|round| round * 37 % 400) {
            let (now, later) = left.split_at(left.len().min(count * 12));
            tuples.push_many(now).unwrap();
            left = later;
            if left.is_empty() {
                break;
            }
            tuples.push(&left[..12]).unwrap();
            left = &left[12..];
        }
        assert_eq!((tuples.len(), tuples.iter().collect::<Vec<_>>().concat()), (5000, all));
        let mut tuples = Tuples::new(12, Memory::new(5000).reservation("a test"));
        assert!(tuples.push_many(&[7; 12 * 1000]).is_err());
        assert_eq!(tuples.len(), 341);
    }

    #[test]
    fn room_that_was_emptied_is_filled_again() {
        let memory = Memory::new(1 << 20);
        let mut tuples = Tuples::new(8, memory.reservation("a test"));
        let fill = |tuples: &mut Tuples, count: u64| {
            (0..count).for_each(|number| _ = tuples.push(&number.to_le_bytes()).unwrap());
            assert!(tuples.iter().zip(0..count).all(|(one, number)| one == number.to_le_bytes()));
            assert_eq!((tuples.iter().count() as u64, tuples.len() as u64), (count, count));
        };
        fill(&mut tuples, 20_000);
        let taken_bytes = memory.used_bytes();
        for count in [0, 1, 511, 512, 513, 19_999, 20_000] {
            tuples.empty();
            fill(&mut tuples, count);
            assert_eq!(memory.used_bytes(), taken_bytes);
        }
        tuples.push_many(&vec![7; 8 * 50_000]).unwrap();
        assert!(tuples.len() == 70_000 && memory.used_bytes() > taken_bytes);
    }

    #[test]
    fn tuples_taken_over_stay_in_their_memory() {
        let (memory, other) = (Memory::new(1 << 20), Memory::new(1 << 20));
        let mut tuples = Tuples::new(4, memory.reservation("a test"));
        let mut others = Tuples::new(4, other.reservation("a test"));
        (0..3000_u32).for_each(|number| _ = tuples.push(&number.to_le_bytes()).unwrap());
        let place = others.push(&3000_u32.to_le_bytes()).unwrap();
        tuples.append(others);
        tuples.push(&3001_u32.to_le_bytes()).unwrap();
        let numbers: Vec<_> =
            tuples.iter().map(|one| u32::from_le_bytes(one.try_into().unwrap())).collect();
        assert_eq!((numbers, tuples.len()), ((0..3002).collect(), 3002));
        assert!(tuples.iter().any(|tuple| tuple.as_ptr() == place) && other.used_bytes() > 0);
        tuples.clear();
        assert_eq!((memory.used_bytes(), other.used_bytes()), (0, 0));
    }

    #[test]
    fn the_budget_refuses_a_tuple_and_keeps_the_others() {
        let memory = Memory::new(10_000);
        let mut tuples = Tuples::new(1000, memory.reservation("a test"));
        let count = (0..100).filter(|_| tuples.try_push(&[1; 1000]).is_some()).count();
        assert!((4..=10).contains(&count), "{count}");
        assert!(tuples.push(&[1; 1000]).is_err());
        assert_eq!((tuples.len(), tuples.iter().count()), (count, count));
    }

    #[test]
    fn tuples_without_a_byte_are_counted() {
        let mut tuples = Tuples::new(0, Memory::new(0).reservation("a test"));
        (0..5000).for_each(|_| _ = tuples.push(&[]).unwrap());
        assert_eq!((tuples.len(), tuples.iter().count()), (5000, 5000));
    }
}
