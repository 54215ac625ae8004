//! The place of each page in a mapping.
//!
//! A reader of a mapped part asks for its page each time: a hash of the number would cost more than
//! the rest of that look. The pages of a file lie close together, so a table from the first to the
//! last does, unless few pages lie far apart.

use crate::lock::numbers::NumberMap;
use crate::page::PageNumber;

/// Entries of a table, for each page that is mapped: 64 bytes beside the page's 4,096.
const ENTRIES_OF_A_PAGE: usize = 16;

/// The entry of a page that is not mapped.
const NOWHERE: u32 = u32::MAX;

/// The places of a mapping's pages, by their numbers.
pub(super) enum Places {
    /// Those of all pages from the first that is mapped.
    Near { first: PageNumber, places: Box<[u32]> },
    /// Those of the mapped ones.
    Far(NumberMap<PageNumber, u32>),
}

impl Places {
    /// The places of pages in this order; the page that is there twice, if one is.
    pub(super) fn of(pages: &[PageNumber]) -> Result<Self, PageNumber> {
        let first = pages.iter().copied().min().unwrap_or_default();
        let last = pages.iter().copied().max().unwrap_or_default();
        let entries = (last - first) as usize + 1;
        let mut found = if entries <= pages.len().saturating_mul(ENTRIES_OF_A_PAGE) {
            Self::Near { first, places: vec![NOWHERE; entries].into_boxed_slice() }
        } else {
            Self::Far(NumberMap::default())
        };
        for (&page, place) in pages.iter().zip(0..) {
            if found.insert(page, place) {
                return Err(page);
            }
        }
        Ok(found)
    }

    /// Whether the page had a place already.
    fn insert(&mut self, page: PageNumber, place: u32) -> bool {
        match self {
            Self::Near { first, places } => {
                std::mem::replace(&mut places[(page - *first) as usize], place) != NOWHERE
            }
            Self::Far(places) => places.insert(page, place).is_some(),
        }
    }

    /// The place of a page, if it is mapped.
    #[inline]
    pub(super) fn get(&self, page: PageNumber) -> Option<usize> {
        let place = match self {
            Self::Near { first, places } => *places.get(page.wrapping_sub(*first) as usize)?,
            Self::Far(places) => *places.get(&page)?,
        };
        (place != NOWHERE).then_some(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_its_place_whether_they_lie_near_or_far() {
        let near = [12, 10, 11, 40];
        let far = [12, 10, 4_000_000_000, 40];
        assert!(matches!(Places::of(&near), Ok(Places::Near { first: 10, .. })));
        assert!(matches!(Places::of(&far), Ok(Places::Far(_))));
        for pages in [near, far] {
            let places = Places::of(&pages).unwrap();
            let found = pages.map(|page| places.get(page));
            assert_eq!(found, [0, 1, 2, 3].map(Some), "{pages:?}");
            assert_eq!([0, 9, 13, 41, u32::MAX].map(|page| places.get(page)), [None; 5]);
        }
    }

    #[test]
    fn a_page_that_is_there_twice_is_reported() {
        assert_eq!(Places::of(&[3, 4, 3]).err(), Some(3));
        assert_eq!(Places::of(&[3, 4_000_000, 4_000_000]).err(), Some(4_000_000));
        assert!(Places::of(&[7]).is_ok());
    }
}
