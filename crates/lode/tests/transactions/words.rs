//! The content of the tests' pages: some words, at the places that are easily forgotten.

use std::collections::BTreeMap;

use lode::internals::error::Result;
use lode::internals::page::{PAGE_BYTES, PageBytes, PageKind, PageNumber};
use lode::internals::space::FilePages;
use lode::{Database, PageRead, PageWrite, Reading, Tactics};

/// The first word behind the header, the last of the page, and between.
pub const PLACES: [usize; 5] = [32, 40, 2_048, 2_064, PAGE_BYTES - 8];

/// The words of a page.
pub type Words = [u64; PLACES.len()];

/// The content of a database: every page of its file.
pub type State = BTreeMap<PageNumber, Words>;

/// All pages belong to this file.
pub const FILE: u32 = 1;

pub fn tactics(text: &str) -> Tactics {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Under `log=set-range`, some places are changed as what they are and some as a page.
pub fn put(pages: &mut impl PageWrite, page: PageNumber, place: usize, word: u64) -> Result<()> {
    let at = PLACES[place];
    if place.is_multiple_of(3) {
        return pages.write(page, |bytes| bytes.put_u64(at, word));
    }
    let range = |_: &PageBytes| Ok(at..at + size_of::<u64>());
    pages.write_range(page, range, |bytes| bytes.copy_from_slice(&word.to_le_bytes()))?
}

pub fn get(pages: &impl PageRead, page: PageNumber) -> Result<Words> {
    pages.read(page, |view| PLACES.map(|at| view.u64(at)))
}

pub fn allocate(pages: &mut impl PageWrite) -> Result<PageNumber> {
    pages.allocate(FILE, PageKind::Heap)
}

/// Everything that is there, from the space pages and the pages themselves.
pub fn state_of(database: &Database) -> Result<State> {
    let reading: Reading = database.reading();
    let mut of_file = FilePages::new(database.extent_pages(), FILE)?;
    let mut state = State::new();
    while let Some(page) = of_file.next(&reading)? {
        state.insert(page, get(&reading, page)?);
    }
    Ok(state)
}
