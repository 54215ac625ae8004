//! Regions: pages of a program's own bytes, to be mapped as memory; `docs/reference/lode-format.md`
//! draws them.
//!
//! Rhino's paper calls it a storage object. A region knows which pages it has, in which order, and
//! nothing of what lies in them: [`crate::Writing::map`] gives them to a program as plain memory, a
//! page's 4,064 bytes behind its header of 32.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::error::{LodeError, Result};
use crate::page::{
    self, FileNumber, HEADER_BYTES, NO_PAGE, PAGE_BYTES, PageBytes, PageKind, PageNumber,
};
use crate::pages::{PageRead, PageWrite};
use crate::view::View;

/// The level of a page that names others.
const LIST: u8 = 255;

/// Pages that one list page names.
const PAGES_MAX: usize = (PAGE_BYTES - HEADER_BYTES) / size_of::<PageNumber>();

const _: () = assert!(PAGES_MAX == 1_016);

/// A file of a program's own bytes.
///
/// ```
/// use lode::{Database, LodeError, Region};
///
/// fn count_up(database: &Database) -> Result<(), LodeError> {
///     let mut writing = database.writing();
///     let region = writing.region("counters")?;
///     if region.pages(&writing)?.is_empty() {
///         region.extend(&mut writing, 16)?;
///     }
///     let pages = region.pages(&writing)?;
///     let mapping = writing.map(&pages)?;
///     writing.memory(mapping)?[Region::DATA][0] += 1; // a plain store
///     writing.commit()
/// }
/// # let folder = tempfile::tempdir().expect("a folder for the example");
/// # let path = folder.path().join("counters.lode");
/// # if cfg!(target_arch = "x86_64") {
/// # let tactics = lode::Tactics::of([("detect", "sigsegv")])?;
/// # let database = Database::create(&path, &tactics)?;
/// count_up(&database)?;
/// count_up(&database)?;
/// # let mut writing = database.writing();
/// # let pages = writing.region("counters")?.pages(&writing)?;
/// # let mapping = writing.map(&pages)?;
/// assert_eq!(writing.memory(mapping)?[Region::DATA][0], 2);
/// # }
/// # Ok::<(), LodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    file: FileNumber,
    root: PageNumber,
}

impl Region {
    /// A page's bytes that are the program's.
    pub const DATA: Range<usize> = HEADER_BYTES..PAGE_BYTES;

    /// A new one of that file, without a page.
    pub fn create(pages: &mut impl PageWrite, file: FileNumber) -> Result<Self> {
        let root = make_list(pages, file)?;
        Ok(Self { file, root })
    }

    /// The region that was created with that root.
    pub const fn open(file: FileNumber, root: PageNumber) -> Self {
        Self { file, root }
    }

    /// The page to open it by; it never changes.
    pub const fn root(self) -> PageNumber {
        self.root
    }

    /// Add so many pages of zeros at its end.
    ///
    /// # Errors
    ///
    /// As of any operation.
    pub fn extend(self, pages: &mut impl PageWrite, count: usize) -> Result<()> {
        let (mut list, mut listed) = self.last_list(pages)?;
        for _ in 0..count {
            if listed == PAGES_MAX {
                let next = make_list(pages, self.file)?;
                pages.write(list, |bytes| bytes.put_u32(page::offset::NEXT, next))?;
                (list, listed) = (next, 0);
            }
            let page = pages.allocate(self.file, PageKind::Region)?;
            // Bytes from before the page was free belong to nobody.
            pages.write(page, |bytes| page::format(bytes, PageKind::Region, self.file))?;
            pages.write(list, |bytes| {
                bytes.put_u32(entry_at(listed), page);
                bytes.put_u16(page::offset::COUNT, listed as u16 + 1);
            })?;
            listed += 1;
        }
        Ok(())
    }

    /// Its pages, in their order: all of them, to be mapped, or some.
    ///
    /// # Errors
    ///
    /// [`LodeError::Corrupt`] where this is no region's list.
    pub fn pages(self, pages: &impl PageRead) -> Result<Vec<PageNumber>> {
        let mut found = Vec::new();
        self.each_list(pages, |_, named| found.extend(named))?;
        Ok(found)
    }

    /// Give all of its pages back.
    ///
    /// # Errors
    ///
    /// As of [`Region::pages`].
    pub fn destroy(self, pages: &mut impl PageWrite) -> Result<()> {
        let mut all = Vec::new();
        self.each_list(pages, |list, named| {
            all.extend(named);
            all.push(list);
        })?;
        all.into_iter().try_for_each(|page| pages.free(page))
    }

    fn last_list(self, pages: &impl PageRead) -> Result<(PageNumber, usize)> {
        let mut last = (self.root, 0);
        self.each_list(pages, |list, named| last = (list, named.len()))?;
        Ok(last)
    }

    fn each_list(
        self,
        pages: &impl PageRead,
        mut see: impl FnMut(PageNumber, Vec<PageNumber>),
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        let mut list = self.root;
        while list != NO_PAGE {
            let found = pages.read(list, |view| self.named(view))?;
            let named = found.filter(|_| seen.insert(list));
            let Some((named, next)) = named else {
                return Err(LodeError::corrupt_page(list, "it is no list of this region"));
            };
            see(list, named);
            list = next;
        }
        Ok(())
    }

    /// The pages that a list page names, and the next one.
    fn named(self, view: View<'_>) -> Option<(Vec<PageNumber>, PageNumber)> {
        let count = usize::from(view.count());
        let is_list = view.kind() == PageKind::Region as u8
            && view.level() == LIST
            && view.u32(page::offset::FILE) == self.file
            && count <= PAGES_MAX;
        let named = || (0..count).map(|at| view.u32(entry_at(at))).collect();
        is_list.then(|| (named(), view.next()))
    }
}

/// Whether a page of a region names others.
pub(crate) fn is_list(bytes: &PageBytes) -> bool {
    bytes[page::offset::LEVEL] == LIST
}

fn make_list(pages: &mut impl PageWrite, file: FileNumber) -> Result<PageNumber> {
    let list = pages.allocate(file, PageKind::Region)?;
    pages.write(list, |bytes| {
        page::format(bytes, PageKind::Region, file);
        bytes.put_u8(page::offset::LEVEL, LIST);
    })?;
    Ok(list)
}

const fn entry_at(at: usize) -> usize {
    HEADER_BYTES + at * size_of::<PageNumber>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::memory::MemoryPages;

    #[test]
    fn pages_are_added_in_order_beyond_one_list_and_given_back() {
        let mut pages = MemoryPages::new();
        let region = Region::create(&mut pages, 7).unwrap();
        assert_eq!(region.pages(&pages).unwrap(), []);
        region.extend(&mut pages, 10).unwrap();
        let first = region.pages(&pages).unwrap();
        region.extend(&mut pages, 2 * PAGES_MAX).unwrap();
        let all = region.pages(&pages).unwrap();
        assert_eq!((all.len(), &all[..10]), (2 * PAGES_MAX + 10, &first[..]));
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        region.destroy(&mut pages).unwrap();
        assert_eq!(pages.allocated(), 0);
    }

    #[test]
    fn damage_to_a_list_is_reported() {
        let mut pages = MemoryPages::new();
        let region = Region::create(&mut pages, 7).unwrap();
        region.extend(&mut pages, 2).unwrap();
        let root = region.root();
        let reported = |pages: &MemoryPages, file, root| {
            Region::open(file, root).pages(pages).unwrap_err().to_string()
        };
        assert!(reported(&pages, 8, root).contains("no list of this region"));
        assert!(reported(&pages, 7, region.pages(&pages).unwrap()[0]).contains("no list"));
        pages.write(root, |bytes| bytes.put_u32(page::offset::NEXT, root)).unwrap();
        assert!(reported(&pages, 7, root).contains("no list"));
    }
}
