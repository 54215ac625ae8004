//! The place to look at: two maps in the first space page with a bit for each group, in the words
//! that its entries have to spare.
//!
//! A bit that is set promises nothing, and is cleared by a search in vain; a bit that is not
//! set says that looking is in vain. Groups behind the last bit are not known here: what is free
//! in them is found only by files that are near.

use crate::error::Result;
use crate::page::PageNumber;
use crate::pages::{PageRead, PageWrite};
use crate::space::SPACE_PAGE;
use crate::space::group::{EXTENTS, Geometry, read_group, summary_at};

/// Words of a map.
const WORDS: usize = EXTENTS / 2;

/// Groups that a map knows.
pub(super) const GROUPS: u32 = WORDS as u32 * u32::BITS;

/// The meaning of a map's bits for their groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    /// There may be extents without owner.
    Free,
    /// There may be extents, owned by some file, in which pages were freed.
    Partial,
}

impl Map {
    /// The entry whose spare word is word number `word` of the map.
    fn extent(self, word: usize) -> usize {
        match self {
            Self::Free => word,
            Self::Partial => WORDS + word,
        }
    }
}

/// Set or clear the bit of a group.
pub(super) fn put(pages: &mut impl PageWrite, map: Map, group: u32, value: bool) -> Result<()> {
    if group >= GROUPS {
        return Ok(());
    }
    let at = summary_at(map.extent((group / u32::BITS) as usize));
    let bit = 1 << (group % u32::BITS);
    // Most often the bit is right already: then the page is not written, nor locked for writing.
    let before = pages.read(SPACE_PAGE, |view| view.u32(at))?;
    let after = if value { before | bit } else { before & !bit };
    if before == after {
        return Ok(());
    }
    pages.write(SPACE_PAGE, |bytes| bytes.put_u32(at, after))
}

/// The first group from `from` on whose bit is set.
pub(super) fn next(
    pages: &impl PageRead,
    geometry: Geometry,
    map: Map,
    from: u32,
) -> Result<Option<u32>> {
    if from >= GROUPS {
        return Ok(None);
    }
    let word_first = (from / u32::BITS) as usize;
    read_group(pages, geometry, 0, |first| {
        for word in word_first..WORDS {
            let mut bits = first.summary(map.extent(word));
            if word == word_first {
                bits &= u32::MAX << (from % u32::BITS);
            }
            if bits != 0 {
                return Ok(Some(word as PageNumber * u32::BITS + bits.trailing_zeros()));
            }
        }
        Ok(None)
    })
}
