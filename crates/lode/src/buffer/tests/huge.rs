//! Large pages behind the small ones.

use super::super::Frames;
use super::*;

const HUGE_PAGES: u32 = (2 << 20) / PAGE_BYTES as u32;

/// A cache that has room for the whole volume, until that grows.
fn roomy() -> BufferOptions {
    let cache_bytes = 8 * u64::from(HUGE_PAGES) * PAGE_BYTES as u64;
    BufferOptions { cache_bytes, ..options(Replacement::Clock) }
}

#[test]
fn pages_come_and_go_singly_within_a_huge_one() {
    let disk = TestDisk::with_pages(HUGE_PAGES + 20);
    let buffer = buffer(&disk, &roomy());
    for page in 0..HUGE_PAGES + 20 {
        assert_eq!(word(&buffer, page), u64::from(page));
    }
    set_word(&buffer, 7, 1007);
    buffer.write_dirty().unwrap();
    buffer.forget();
    assert_eq!(buffer.counters().pages_resident, 0);
    let mapped = pages_mapped(&buffer) as u32;
    assert!(mapped <= HUGE_PAGES - 20, "{mapped}: the last piece's, which nobody requested");
    assert_eq!((word(&buffer, 6), word(&buffer, 7), word(&buffer, 8)), (6, 1007, 8));
    assert_eq!(buffer.counters().pages_resident, 3);
}

#[test]
fn a_volume_that_outgrows_the_cache_keeps_its_contents_and_the_cap() {
    let disk = TestDisk::with_pages(10);
    let buffer = buffer(&disk, &BufferOptions { pages_max: 16 * HUGE_PAGES, ..roomy() });
    buffer.grow(9 * HUGE_PAGES).unwrap();
    for page in 0..9 * HUGE_PAGES {
        set_word(&buffer, page, u64::from(page) + 5);
    }
    let counters = buffer.counters();
    assert!(counters.pages_resident <= counters.pages_resident_max);
    for page in (0..9 * HUGE_PAGES).step_by(97) {
        assert_eq!(word(&buffer, page), u64::from(page) + 5);
    }
}

#[test]
fn a_cache_that_may_lend_keeps_its_huge_pages_until_the_volume_has_no_room_beside_what_is_lent() {
    let pages = HUGE_PAGES + 20;
    let disk = TestDisk::with_pages(pages);
    let cache_bytes = 4 * u64::from(HUGE_PAGES) * PAGE_BYTES as u64;
    let options = BufferOptions { pages_max: 16 * HUGE_PAGES, cache_bytes, ..roomy() };
    let buffer = Arc::new(buffer(&disk, &options));
    let huge = || buffer.counters().pages_huge;
    let frames = Frames::of(&buffer);
    assert_eq!(huge(), 2 * u64::from(HUGE_PAGES), "nothing is lent");
    for page in (0..pages).step_by(3) {
        assert_eq!(word(&buffer, page), u64::from(page));
    }
    // Of the cache's four pieces the volume takes two.
    assert!(frames.borrow(2 * HUGE_PAGES as usize));
    assert_eq!(huge(), 2 * u64::from(HUGE_PAGES), "the volume has room beside it");
    assert!(frames.borrow(1));
    assert_eq!(huge(), 0);
    let resident = buffer.counters().pages_resident as usize;
    assert_eq!(pages_mapped(&buffer), resident, "what nobody read has gone");
    for page in 0..pages {
        assert_eq!(word(&buffer, page), u64::from(page));
    }
    frames.give_back(2 * HUGE_PAGES as usize + 1);
    buffer.grow(pages + 1).unwrap();
    assert_eq!(huge(), 0, "it stays so");
}
