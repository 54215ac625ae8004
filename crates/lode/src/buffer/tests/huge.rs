//! Large pages behind the small ones.

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
