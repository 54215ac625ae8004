//! Each tactic takes the page that it says it takes, and the cap holds.

use super::{ALL, TestDisk, buffer, is_resident, options, pages_mapped, set_word, word};
use crate::buffer::evict::Outcome;
use crate::buffer::{Buffer, BufferOptions};
use crate::error::LodeError;
use crate::page::{PAGE_BYTES, PageNumber};
use crate::tactics::Replacement;

fn read_all(buffer: &Buffer, pages: impl IntoIterator<Item = PageNumber>) {
    for page in pages {
        assert_eq!(word(buffer, page), u64::from(page));
    }
}

#[test]
fn lru_takes_the_page_whose_last_use_is_longest_ago() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Lru));
    read_all(&buffer, 0..16);
    read_all(&buffer, [0, 5, 1, 2]);
    drop(buffer.latch(3).unwrap());
    read_all(&buffer, 20..26);
    let resident: Vec<_> = (0..16).filter(|&page| is_resident(&buffer, page)).collect();
    assert_eq!(resident, [0, 1, 2, 3, 5, 11, 12, 13, 14, 15]);
}

#[test]
fn a_repeated_scan_larger_than_the_cache_always_misses_under_lru() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Lru));
    for _ in 0..5 {
        read_all(&buffer, 0..17);
    }
    assert_eq!(buffer.counters().misses, 5 * 17);
}

#[test]
fn a_repeated_scan_larger_than_the_cache_sometimes_hits_under_random() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Random));
    for _ in 0..20 {
        read_all(&buffer, 0..17);
    }
    let misses = buffer.counters().misses;
    assert!((17 + 19..200).contains(&misses), "{misses}");
}

#[test]
fn lru_2_keeps_what_is_used_again_from_a_scan() {
    for (replacement, retained) in [(Replacement::Lru2, 4), (Replacement::Lru, 0)] {
        let buffer = buffer(&TestDisk::with_pages(200), &options(replacement));
        // Each use is far enough from the one before to count.
        for round in 0..3 {
            read_all(&buffer, 0..4);
            read_all(&buffer, (0..12).map(|page| 20 + 12 * round + page));
        }
        read_all(&buffer, 100..150);
        assert_eq!((0..4).filter(|&page| is_resident(&buffer, page)).count(), retained);
    }
}

#[test]
fn reading_ahead_is_no_use_to_lru_2() {
    let cache_bytes = 64 * PAGE_BYTES as u64;
    let ahead = BufferOptions { cache_bytes, read_ahead_pages: 16, ..options(Replacement::Lru2) };
    let buffer = buffer(&TestDisk::with_pages(600), &ahead);
    for round in 0..3 {
        read_all(&buffer, 0..16);
        read_all(&buffer, 16 + 16 * round..32 + 16 * round);
    }
    read_all(&buffer, 100..500);
    assert!((0..16).all(|page| is_resident(&buffer, page)));
}

#[test]
fn a_page_that_has_moved_to_another_slot_meanwhile_stays() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Random));
    read_all(&buffer, [5, 6]);
    set_word(&buffer, 6, 7);
    let slot_of = |page| buffer.budget.resident().find(|&(_, there)| there == page).unwrap().0;
    for page in [5, 6] {
        assert!(matches!(buffer.try_evict(slot_of(11 - page), page), Outcome::Stays));
        assert!(is_resident(&buffer, page));
    }
    assert!(matches!(buffer.try_evict(slot_of(6), 6), Outcome::Dirty(_)));
    assert!(matches!(buffer.try_evict(slot_of(5), 5), Outcome::Clean));
}

#[test]
fn clock_spares_once_what_was_looked_at_since_it_passed() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Clock));
    read_all(&buffer, 0..17);
    // The hand went round once, took every second-chance bit, and evicted page 0, the first.
    assert!(!is_resident(&buffer, 0));
    read_all(&buffer, [1, 3]);
    read_all(&buffer, [17, 18]);
    let resident: Vec<_> = (0..6).filter(|&page| is_resident(&buffer, page)).collect();
    assert_eq!(resident, [1, 3, 5]);
}

#[test]
fn a_direct_reference_counts_as_a_use() {
    for replacement in [Replacement::Clock, Replacement::Lru, Replacement::Lru2] {
        let buffer = buffer(&TestDisk::with_pages(400), &options(replacement));
        // The clock's first passing watches all and takes the first.
        read_all(&buffer, [99]);
        let ((), version) = buffer.read_with_version(7, |_| ()).unwrap();
        for page in 100..300 {
            read_all(&buffer, [page]);
            let seen = buffer.try_read_version(7, version, |view| view.u64(super::WORD));
            assert_eq!(seen, Some(7), "{replacement:?}: gone after page {page}");
        }
    }
}

#[test]
fn an_evicted_page_takes_no_memory() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(1000), &options(replacement));
        read_all(&buffer, 0..1000);
        assert_eq!(pages_mapped(&buffer), 16);
        assert_eq!(buffer.counters().evictions, 1000 - 16);
    }
}

#[test]
fn a_cache_full_of_latched_pages_is_an_error_and_no_dead_end() {
    for replacement in [Replacement::Clock, Replacement::Lru2] {
        let buffer = buffer(&TestDisk::with_pages(100), &options(replacement));
        let mut latched: Vec<_> = (0..16).map(|page| buffer.latch(page).unwrap()).collect();
        let error = buffer.read(50, |_| ()).unwrap_err();
        assert!(matches!(error, LodeError::CacheTooSmall { cache_bytes: 65536 }), "{error}");
        latched.pop();
        assert_eq!(word(&buffer, 50), 50);
        drop(latched);
        read_all(&buffer, 0..100);
    }
}

#[test]
fn forgetting_again_and_again_leaves_nothing_behind() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(100), &options(replacement));
        for _ in 0..100 {
            read_all(&buffer, 0..10);
            buffer.forget();
            assert_eq!(pages_mapped(&buffer), 0);
        }
        if let crate::buffer::Tactic::Recency(recency) = &buffer.tactic {
            assert_eq!(recency.listed(), 0);
        }
    }
}

#[test]
fn a_run_takes_the_frames_of_neighbours_together() {
    let disk = TestDisk::with_pages(400);
    let cache_bytes = 64 * PAGE_BYTES as u64;
    for replacement in ALL {
        let ahead = BufferOptions { cache_bytes, read_ahead_pages: 16, ..options(replacement) };
        let buffer = buffer(&disk, &ahead);
        read_all(&buffer, 0..200);
        let counters = buffer.counters();
        assert_eq!(counters.pages_read - counters.evictions, counters.pages_resident);
        if replacement != Replacement::Random {
            // Each run of 16 that came when the cache was full had another go.
            assert!(counters.evictions >= 8 * 16, "{replacement:?}: {counters:?}");
            assert!(counters.drops <= counters.evictions / 8, "{replacement:?}: {counters:?}");
        }
    }
}
