use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::page::offset;
use crate::pages::counting::CountingPages;
use crate::pages::memory::MemoryPages;
use crate::view::View;

/// Extents as small as they may be, so that groups end soon: 1,016 pages each.
const EXTENT_PAGES: u32 = 4;
const GROUP_PAGES: u32 = 1_016;

fn volume(extent_pages: u32) -> MemoryPages {
    let mut pages = MemoryPages::new();
    format(&mut pages, extent_pages).unwrap();
    pages
}

/// A file of a given number whose last page is kept, as the catalog does.
struct File {
    number: FileNumber,
    hint: PageNumber,
}

impl File {
    fn new(number: FileNumber) -> Self {
        Self { number, hint: NO_PAGE }
    }

    fn allocate(&mut self, pages: &mut impl PageWrite, extent_pages: u32) -> PageNumber {
        self.hint = allocate(pages, extent_pages, self.number, self.hint, PageKind::Heap).unwrap();
        self.hint
    }

    fn pages(&self, pages: &impl PageRead, extent_pages: u32) -> Vec<PageNumber> {
        let mut of_file = FilePages::new(extent_pages, self.number).unwrap();
        std::iter::from_fn(|| of_file.next(pages).unwrap()).collect()
    }
}

fn fill(pages: &mut impl PageWrite, file: &mut File, count: usize) -> Vec<PageNumber> {
    (0..count).map(|_| file.allocate(pages, EXTENT_PAGES)).collect()
}

#[test]
fn an_empty_volume_is_one_extent_and_holds_nothing() {
    for extent_pages in [4, 16, 64] {
        let pages = volume(extent_pages);
        assert_eq!(pages_total(&pages, extent_pages).unwrap(), extent_pages);
        let empty = Usage { extents: 1, extents_free: 1, pages_used: 0 };
        assert_eq!(usage(&pages, extent_pages).unwrap(), empty);
        assert_eq!(File::new(1).pages(&pages, extent_pages), []);
    }
}

#[test]
fn reserved_pages_are_never_given_out_and_the_rest_of_their_extent_is() {
    let mut pages = volume(16);
    let mut file = File::new(1);
    let given: Vec<_> = (0..13).map(|_| file.allocate(&mut pages, 16)).collect();
    assert_eq!(given, (4..17).collect::<Vec<_>>());
}

#[test]
fn a_file_alone_lies_in_one_piece_across_groups() {
    let mut pages = volume(EXTENT_PAGES);
    let mut file = File::new(7);
    let given = fill(&mut pages, &mut file, 2_500);
    assert!(given.is_sorted());
    assert_eq!(file.pages(&pages, EXTENT_PAGES), given);
    // The first extent of a group is full of its reserved pages.
    let expected = (0..).filter(|page| page % GROUP_PAGES >= 4).take(2_500);
    assert!(given.iter().copied().eq(expected));
    for &page in &given {
        let header = |view: View<'_>| (view.kind(), view.u32(offset::FILE));
        assert_eq!(pages.read(page, header).unwrap(), (PageKind::Heap as u8, 7));
    }
}

#[test]
fn files_that_grow_in_turn_have_extents_of_their_own() {
    let mut pages = volume(16);
    let mut files = [File::new(1), File::new(2), File::new(3)];
    for _ in 0..100 {
        for file in &mut files {
            file.allocate(&mut pages, 16);
        }
    }
    for file in &files {
        let extents: BTreeSet<_> = file.pages(&pages, 16).iter().map(|page| page / 16).collect();
        // 100 pages in extents of 16; the first extent has room for 12.
        assert_eq!(extents.len(), 7);
    }
}

#[test]
fn the_extent_right_behind_is_preferred() {
    let mut pages = volume(EXTENT_PAGES);
    let mut file = File::new(1);
    let given = fill(&mut pages, &mut file, 40);
    let mut other = File::new(2);
    // Free extents lie before and behind; the other file's last page lies before the second.
    for &page in given[0..4].iter().chain(&given[20..24]).chain(&given[32..36]) {
        free(&mut pages, EXTENT_PAGES, page).unwrap();
    }
    other.hint = given[19];
    assert_eq!(other.allocate(&mut pages, EXTENT_PAGES), given[20]);
}

#[test]
fn freed_pages_of_a_file_are_used_again_before_the_volume_grows() {
    let mut pages = volume(EXTENT_PAGES);
    let mut file = File::new(1);
    let given = fill(&mut pages, &mut file, 3 * GROUP_PAGES as usize);
    // One page of every second extent: all in use by the file, none wholly free.
    let freed: BTreeSet<_> = given.iter().copied().filter(|page| page % 8 == 5).collect();
    for &page in &freed {
        free(&mut pages, EXTENT_PAGES, page).unwrap();
    }
    let mut behind: BTreeSet<_> = fill(&mut pages, &mut file, freed.len()).into_iter().collect();
    // Only the extent that was begun last has pages of its own to give first.
    behind.retain(|page| !freed.contains(page));
    assert!(behind.len() < EXTENT_PAGES as usize, "{behind:?}");
}

#[test]
fn all_that_was_freed_is_given_out_again_without_growth() {
    let mut pages = volume(EXTENT_PAGES);
    let mut files = [File::new(1), File::new(2)];
    for round in 0..3 {
        for file in &mut files {
            fill(&mut pages, file, 1_500);
        }
        let total = pages_total(&pages, EXTENT_PAGES).unwrap();
        assert!(total < 3_000 + 4 * 3 + 64 * EXTENT_PAGES, "round {round}: {total} pages");
        for file in &files {
            free_file(&mut pages, EXTENT_PAGES, file.number).unwrap();
            assert_eq!(file.pages(&pages, EXTENT_PAGES), []);
        }
        let usage = usage(&pages, EXTENT_PAGES).unwrap();
        // Of each group, the extent of the reserved pages has no owner either.
        assert_eq!((usage.extents_free, usage.pages_used), (usage.extents, 0));
    }
}

#[test]
fn a_bulk_load_costs_few_page_reads_each() {
    let mut pages = CountingPages::new(volume(EXTENT_PAGES));
    let (mut file, mut other) = (File::new(1), File::new(2));
    // Half-empty extents of another file in many groups must not slow this one down.
    let given = fill(&mut pages, &mut other, 10_000);
    for page in given.iter().filter(|page| *page % 2 == 0) {
        free(&mut pages, EXTENT_PAGES, *page).unwrap();
    }
    pages.take_counts();
    fill(&mut pages, &mut file, 20_000);
    let counts = pages.take_counts();
    assert!(counts.reads < 100_000 && counts.writes < 50_000, "{counts:?}");
}

fn corrupt<T>(result: &Result<T>) -> bool {
    matches!(result, Err(LodeError::Corrupt { .. }))
}

#[test]
fn unused_pages_cannot_be_freed() {
    let mut pages = volume(16);
    let mut file = File::new(1);
    let page = file.allocate(&mut pages, 16);
    for other in [0, 3, page + 1, 15] {
        assert!(corrupt(&free(&mut pages, 16, other)), "page {other}");
    }
    free(&mut pages, 16, page).unwrap();
    assert!(corrupt(&free(&mut pages, 16, page)));
    assert!(corrupt(&free(&mut pages, 16, 1_000_000)));
    assert!(corrupt(&allocate(&mut pages, 16, 1, 1_000_000, PageKind::Heap)));
    assert!(corrupt(&allocate(&mut pages, 16, 0, 0, PageKind::Heap)));
    assert!(corrupt(&format(&mut pages, 5)));
}

#[test]
fn a_page_whose_header_and_extent_disagree_is_seen() {
    let mut pages = volume(16);
    let mut file = File::new(1);
    let page = file.allocate(&mut pages, 16);
    pages.write(page + 1, |bytes| bytes.put_u8(offset::KIND, PageKind::Heap as u8)).unwrap();
    assert!(corrupt(&allocate(&mut pages, 16, 1, page, PageKind::Heap)));
    pages.write(page, |bytes| bytes.put_u32(offset::FILE, 2)).unwrap();
    assert!(corrupt(&free(&mut pages, 16, page)));
}

#[test]
fn a_reserved_page_is_not_given_back_whatever_its_header_says() {
    let mut pages = volume(16);
    File::new(1).allocate(&mut pages, 16);
    pages.write(0, |bytes| page::format(bytes, PageKind::Heap, 1)).unwrap();
    assert!(corrupt(&free(&mut pages, 16, 0)));
}

#[test]
fn an_extent_that_contradicts_itself_is_seen() {
    // Entry 1 of extents of 16 pages: the file, then the pages in use.
    let (file_at, used_at) = (48, 56);
    for (file, used) in [(0, 1), (1, 0), (1, 1 << 16), (u32::MAX, u64::MAX)] {
        let mut pages = volume(16);
        let mut owner = File::new(1);
        (0..20).for_each(|_| _ = owner.allocate(&mut pages, 16));
        usage(&pages, 16).unwrap();
        pages
            .write(SPACE_PAGE, |bytes| {
                bytes.put_u32(file_at, file);
                bytes.put_u64(used_at, used);
            })
            .unwrap();
        assert!(corrupt(&usage(&pages, 16)), "file {file} uses {used:x}");
        assert!(corrupt(&allocate(&mut pages, 16, 1, 17, PageKind::Heap)));
        assert!(corrupt(&free(&mut pages, 16, 17)));
    }
}

#[test]
fn extents_of_another_size_are_seen() {
    let pages = volume(16);
    assert!(corrupt(&pages_total(&pages, 32)));
    assert!(corrupt(&usage(&pages, 8)));
}

/// Random garbage in the space page's fields: an error or an answer, but no panic and no end that
/// never comes.
fn garbled(at: usize, value: u64) {
    let mut pages = volume(EXTENT_PAGES);
    let mut file = File::new(1);
    let given = fill(&mut pages, &mut file, 30);
    pages.write(SPACE_PAGE, |bytes| bytes.put_u64(at & !7, value)).unwrap();
    let _ = free(&mut pages, EXTENT_PAGES, given[3]);
    let _ = allocate(&mut pages, EXTENT_PAGES, 1, given[12], PageKind::Heap);
    let _ = allocate(&mut pages, EXTENT_PAGES, 2, 0, PageKind::Heap);
    let _ = usage(&pages, EXTENT_PAGES);
    let mut of_file = FilePages::new(EXTENT_PAGES, 1).unwrap();
    let mut count = 0;
    while let Ok(Some(_)) = of_file.next(&pages) {
        count += 1;
        assert!(count <= GROUP_PAGES);
    }
}

#[derive(Debug, Clone)]
enum Operation {
    Allocate { file: usize, count: usize },
    Free { file: usize, at: usize, count: usize },
    FreeFile { file: usize },
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let one = prop_oneof![
        5 => (0..3_usize, 1..200_usize)
            .prop_map(|(file, count)| Operation::Allocate { file, count }),
        4 => (0..3_usize, any::<usize>(), 1..150_usize)
            .prop_map(|(file, at, count)| Operation::Free { file, at, count }),
        1 => (0..3_usize).prop_map(|file| Operation::FreeFile { file }),
    ];
    prop::collection::vec(one, 1..60)
}

/// Run against sets of pages; what is wrong is a panic.
fn against_sets(extent_pages: u32, operations: &[Operation]) {
    let mut pages = volume(extent_pages);
    let mut files = [File::new(1), File::new(2), File::new(9)];
    let mut sets: [BTreeSet<PageNumber>; 3] = Default::default();
    let mut owners: BTreeMap<PageNumber, usize> = BTreeMap::new();
    for operation in operations {
        match *operation {
            Operation::Allocate { file, count } => {
                for _ in 0..count {
                    let page = files[file].allocate(&mut pages, extent_pages);
                    assert!(page % (254 * extent_pages) >= 4, "a reserved page was given out");
                    assert_eq!(owners.insert(page, file), None, "page {page} twice");
                    sets[file].insert(page);
                }
            }
            Operation::Free { file, at, count } => {
                for step in 0..count.min(sets[file].len()) {
                    let at = at.wrapping_add(step * 7) % sets[file].len();
                    let page = *sets[file].iter().nth(at).unwrap();
                    free(&mut pages, extent_pages, page).unwrap();
                    sets[file].remove(&page);
                    owners.remove(&page);
                }
            }
            Operation::FreeFile { file } => {
                free_file(&mut pages, extent_pages, files[file].number).unwrap();
                owners.retain(|_, owner| *owner != file);
                sets[file].clear();
            }
        }
        let total = pages_total(&pages, extent_pages).unwrap();
        assert!(total.is_multiple_of(extent_pages));
        assert!(owners.keys().all(|&page| page < total));
    }
    for (file, set) in files.iter().zip(&sets) {
        assert!(file.pages(&pages, extent_pages).iter().eq(set));
    }
    let usage = usage(&pages, extent_pages).unwrap();
    assert_eq!(usage.pages_used, owners.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn space_gives_out_what_sets_say(operations in operations(), extent_pages in 2..=6_u32) {
        against_sets(1 << extent_pages, &operations);
    }

    #[test]
    fn a_garbled_space_page_is_never_a_panic(at in 16..4_089_usize, value: u64, few: bool) {
        garbled(at, if few { value >> 58 } else { value });
    }
}
