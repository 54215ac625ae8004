//! A hash index: u64 key to u64 value, several values a key allowed, as extendible hashing does it
//! (Fagin, Nievergelt, Pippenger, Strong: *Extendible Hashing*, TODS 4(3), 1979).
//!
//! The first bits of a key's hash choose a cell of the directory, the cell names the bucket's page,
//! other bits choose the place in it. So a look-up reads two pages (three in a large index) and,
//! as a rule, one cache line of entries. It keeps no order: for ranges there is the B+tree.
//!
//! A bucket that is full is divided in two, and the directory doubled if it cannot determine the
//! halves apart; buckets that are nearly empty merge, and the directory shrinks. The root page
//! stays where it is.
//!
//! When a change answers an error, part of it may have been done: its transaction must be rolled
//! back.

mod bucket;
mod check;
mod copied;
mod directory;
mod load;
mod mixing;
mod search;
mod table;
#[cfg(test)]
mod tests;

pub use check::Summary;
pub use copied::Directory;

use self::bucket::Chain;
use self::directory::DEPTH_MAX;
use self::mixing::mix;
use self::search::Probe;
use self::table::{Change, Entry, QUARTER};
use crate::error::{LodeError, Result};
use crate::page::{FileNumber, NO_PAGE, PageBytes, PageKind, PageNumber};
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

/// The place where a value lies: its page and its offset there, a multiple of 8.
/// Until the index is changed.
pub type Cell = (PageNumber, usize);

/// A hash index, known by its root page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hash {
    root: PageNumber,
}

impl Hash {
    /// Make an empty index of two pages, and answer its root page.
    pub fn create<P: PageWrite>(pages: &mut P, file: FileNumber) -> Result<PageNumber> {
        Self::load(pages, file, [])
    }

    /// Make an index of these entries, with as many buckets as they need: much faster than to
    /// insert them one by one, and the same index. It takes 16 bytes of memory for each meanwhile.
    pub fn load<P: PageWrite>(
        pages: &mut P,
        file: FileNumber,
        entries: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<PageNumber> {
        let root = pages.allocate(file, PageKind::HashRoot)?;
        load::load(pages, root, entries.into_iter().collect())?;
        Ok(root)
    }

    /// The same of `count` entries that need not be in memory: they are in the order of
    /// [`Hash::order_of`] their keys, and `entry_at` answers the entry of a number from 0. It is
    /// requested neighbours, as a rule, and for each entry some times.
    ///
    /// # Errors
    ///
    /// The error of `pages` and of `entry_at`.
    pub fn load_sorted<P: PageWrite, E: From<LodeError>>(
        pages: &mut P,
        file: FileNumber,
        count: usize,
        entry_at: &mut dyn FnMut(usize) -> Result<(u64, u64), E>,
    ) -> Result<PageNumber, E> {
        let root = pages.allocate(file, PageKind::HashRoot)?;
        load::load_sorted(pages, root, count, entry_at)?;
        Ok(root)
    }

    /// The number in whose order [`Hash::load_sorted`] wants entries; different for each key.
    pub const fn order_of(key: u64) -> u64 {
        mix(key)
    }

    /// The index with that root page. Nothing is read.
    pub const fn open(root: PageNumber) -> Self {
        Self { root }
    }

    /// Its root page.
    pub const fn root(&self) -> PageNumber {
        self.root
    }

    /// A value of the key, any if it has several.
    #[expect(clippy::inline_always, reason = "its answer should stay in registers")]
    #[inline(always)]
    pub fn get_one<P: PageRead>(&self, pages: &P, key: u64) -> Result<Option<u64>> {
        Ok(self.find(pages, key)?.map(|(value, _)| value))
    }

    /// A value of the key, any if it has several, and where it lies.
    #[expect(clippy::inline_always, reason = "its answer should stay in registers")]
    #[inline(always)]
    pub fn find<P: PageRead>(&self, pages: &P, key: u64) -> Result<Option<(u64, Cell)>> {
        let hash = mix(key);
        find_from(pages, directory::locate(pages, self.root, hash)?.bucket, (key, hash))
    }

    /// Bring a copy of the directory up to date; costs one read of each of its pages where it is.
    /// It holds for as long as this transaction does not change the index: others cannot, since
    /// the pages are locked.
    pub fn refresh<P: PageRead>(&self, pages: &P, directory: &mut Directory) -> Result<()> {
        directory.refresh(pages, self.root)
    }

    /// A value of the key, any if it has several, by a copy of the directory: one page less is
    /// read.
    #[expect(clippy::inline_always, reason = "its answer should stay in registers")]
    #[inline(always)]
    pub fn get_by<P: PageRead>(
        &self,
        pages: &P,
        directory: &Directory,
        key: u64,
    ) -> Result<Option<u64>> {
        let hash = mix(key);
        let seen = directory.bucket_of(hash).and_then(|first| {
            pages.try_read(first, |view| search::try_find(view, key, hash)).flatten()
        });
        match seen {
            Some((value, _)) => Ok(Some(value)),
            None => get_slowly(pages, self.root, key),
        }
    }

    /// Give all values of the key to `each`, in no order.
    pub fn get<P: PageRead>(&self, pages: &P, key: u64, mut each: impl FnMut(u64)) -> Result<()> {
        let hash = mix(key);
        let first = directory::locate(pages, self.root, hash)?.bucket;
        let (mut chain, mut page, mut resume) = (Chain::from(first), first, 0);
        loop {
            let batch = pages.read(page, |view| search::values_of(view, key, hash, resume))?;
            if batch.foreign {
                return Err(bucket::foreign(page));
            }
            batch.values[..batch.count].iter().copied().for_each(&mut each);
            match batch.resume {
                Some(groups) => resume = groups,
                None if batch.next == NO_PAGE => return Ok(()),
                None => {
                    chain.follow(batch.next)?;
                    (page, resume) = (batch.next, 0);
                }
            }
        }
    }

    /// Give all entries to `each`, in no order.
    pub fn scan<P: PageRead>(&self, pages: &P, mut each: impl FnMut(u64, u64)) -> Result<()> {
        let mut before = NO_PAGE;
        for first in directory::buckets(pages, self.root)? {
            // A bucket's cells are neighbours: their hashes share their first bits.
            if first != before {
                let (_, entries) = bucket::whole(pages, first)?;
                for (key, value) in entries {
                    each(key, value);
                }
            }
            before = first;
        }
        Ok(())
    }

    /// Add a value to the key, also if it has that one already.
    pub fn insert<P: PageWrite>(&self, pages: &mut P, key: u64, value: u64) -> Result<()> {
        let hash = mix(key);
        let mut first = directory::locate(pages, self.root, hash)?.bucket;
        // Each round but the last divides a bucket by one more bit, or adds a page.
        for _ in 0..DEPTH_MAX + 2 {
            match insert_into(pages, first, (key, value))? {
                Change::Done { .. } => return Ok(()),
                Change::Not { next: NO_PAGE } => {}
                Change::Not { next } => match insert_into(pages, next, (key, value))? {
                    Change::Done { .. } => return Ok(()),
                    Change::Not { .. } => {}
                    Change::Foreign => return Err(bucket::foreign(next)),
                },
                Change::Foreign => return Err(bucket::foreign(first)),
            }
            bucket::make_space(pages, self.root, hash)?;
            first = directory::locate(pages, self.root, hash)?.bucket;
        }
        Err(bucket::misplaced(first))
    }

    /// Take a value from the key, one if it has it several times; whether it had it.
    pub fn remove<P: PageWrite>(&self, pages: &mut P, key: u64, value: u64) -> Result<bool> {
        let hash = mix(key);
        let first = directory::locate(pages, self.root, hash)?.bucket;
        match pages.write(first, |bytes| table::remove(bytes, (key, value)))? {
            Change::Done { count, next: NO_PAGE } if count < QUARTER => {
                bucket::merge(pages, self.root, hash)?;
                Ok(true)
            }
            Change::Done { next: NO_PAGE, .. } => Ok(true),
            Change::Done { next, .. } => {
                bucket::refill(pages, first, next, first)?;
                Ok(true)
            }
            Change::Not { next } => bucket::remove_behind(pages, first, next, (key, value)),
            Change::Foreign => Err(bucket::foreign(first)),
        }
    }

    /// Give all pages back, the root too.
    pub fn destroy<P: PageWrite>(self, pages: &mut P) -> Result<()> {
        let mut own = directory::own_pages(pages, self.root)?;
        let mut firsts = directory::buckets(pages, self.root)?;
        firsts.dedup();
        for first in firsts {
            own.extend(bucket::whole(pages, first)?.0);
        }
        own.push(self.root);
        own.into_iter().try_for_each(|page| pages.free(page))
    }

    /// Walk all of it and see whether each entry is where it must be, each count is right and no
    /// page too many is held.
    pub fn check<P: PageRead>(&self, pages: &P) -> Result<Summary> {
        check::check(pages, self.root)
    }
}

/// All of a page. The method itself is one function for each lifetime, this is one for all.
fn copy(view: View<'_>) -> Box<PageBytes> {
    view.copy()
}

fn insert_into<P: PageWrite>(pages: &mut P, page: PageNumber, entry: Entry) -> Result<Change> {
    pages.write(page, |bytes| table::insert(bytes, entry))
}

/// The look-ups that `search::try_find` leaves: a key that is not there, or far from its home; and
/// a large directory.
#[inline(never)]
fn get_slowly<P: PageRead>(pages: &P, root: PageNumber, key: u64) -> Result<Option<u64>> {
    Hash::open(root).get_one(pages, key)
}

#[expect(clippy::inline_always, reason = "its answer should stay in registers")]
#[inline(always)]
fn find_from<P: PageRead>(
    pages: &P,
    first: PageNumber,
    (key, hash): (u64, u64),
) -> Result<Option<(u64, Cell)>> {
    match pages.read(first, |view| search::probe(view, key, hash))? {
        Probe::Found { value, at } => Ok(Some((value, (first, at)))),
        Probe::Absent { next: NO_PAGE } => Ok(None),
        Probe::Absent { next } => find_behind(pages, first, next, key),
        Probe::Foreign => Err(bucket::foreign(first)),
    }
}

/// Look for a key in a bucket's further pages.
#[cold]
fn find_behind<P: PageRead>(
    pages: &P,
    first: PageNumber,
    second: PageNumber,
    key: u64,
) -> Result<Option<(u64, Cell)>> {
    let (mut chain, mut page) = (Chain::from(first), second);
    while page != NO_PAGE {
        chain.follow(page)?;
        page = match pages.read(page, |view| search::probe(view, key, mix(key)))? {
            Probe::Found { value, at } => return Ok(Some((value, (page, at)))),
            Probe::Absent { next } => next,
            Probe::Foreign => return Err(bucket::foreign(page)),
        };
    }
    Ok(None)
}
