//! Pages that readers have pinned.

use std::thread;

use super::*;
use crate::error::LodeError;

/// Of the 16 pages that the cache holds, so many can be pinned.
const PINS_MAX: u32 = 8;

fn pinned_word(buffer: &Buffer, page: PageNumber) -> u64 {
    // SAFETY: the tests below have pinned the page.
    #[expect(unsafe_code, reason = "a pinned page is a plain array")]
    let bytes = unsafe { &*buffer.pinned_bytes(page) };
    page::u64_at(bytes, WORD)
}

#[test]
fn pinned_pages_stay_while_others_come_and_go() {
    let reserve = Reserve::default();
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(200), &options(replacement));
        (0..PINS_MAX).for_each(|page| assert!(buffer.pin(page, &reserve).unwrap()));
        (8..200).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
        buffer.forget();
        for page in 0..PINS_MAX {
            assert!(is_resident(&buffer, page), "{replacement:?}");
            assert_eq!(pinned_word(&buffer, page), u64::from(page));
            buffer.unpin(page, &reserve);
        }
        (8..200).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
        let stayed = (0..PINS_MAX).filter(|&page| is_resident(&buffer, page)).count();
        assert!(stayed < 8, "{replacement:?}: {stayed} of 8 are held by nobody and stay");
    }
}

#[test]
fn a_pinned_page_is_not_latched_and_says_so() {
    let reserve = Reserve::default();
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Clock));
    assert!(buffer.pin(7, &reserve).unwrap() && buffer.pin(7, &reserve).unwrap());
    for _ in 0..2 {
        assert!(matches!(buffer.latch(7).err(), Some(LodeError::Pinned { page: 7 })));
        buffer.unpin(7, &reserve);
    }
    set_word(&buffer, 7, 70);
    assert_eq!(word(&buffer, 7), 70);
    assert_eq!(buffer.pages_pinned(), 0);
}

#[test]
fn half_of_the_cache_can_be_pinned_and_the_other_half_works_on() {
    let reserve = Reserve::default();
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(200), &options(replacement));
        (0..PINS_MAX).for_each(|page| assert!(buffer.pin(page, &reserve).unwrap()));
        let error = buffer.pin(100, &reserve).unwrap_err();
        assert!(matches!(error, LodeError::PinsFull { pages_max: 8, cache_bytes: 65_536 }));
        assert!(buffer.pin(3, &reserve).unwrap(), "one more reader costs no frame");
        (100..200).for_each(|page| set_word(&buffer, page, 1));
        (100..200).for_each(|page| assert_eq!(word(&buffer, page), 1));
        buffer.unpin(3, &reserve);
        assert!(buffer.pin(100, &reserve).is_err(), "another still has page 3");
        buffer.unpin(3, &reserve);
        assert!(buffer.pin(100, &reserve).unwrap());
        assert_eq!(pinned_word(&buffer, 100), 1);
    }
}

#[test]
fn as_many_readers_as_can_be_counted_and_no_more() {
    let reserve = Reserve::default();
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Lru));
    let readers = (0..10_000).take_while(|_| buffer.pin(5, &reserve).unwrap()).count();
    assert_eq!(readers, 2_047);
    assert_eq!(word(&buffer, 5), 5, "and the page is readable still");
    assert_eq!(buffer.pages_pinned(), 1);
    (0..readers).for_each(|_| buffer.unpin(5, &reserve));
    set_word(&buffer, 5, 50);
    assert_eq!(word(&buffer, 5), 50);
}

#[test]
fn a_dirty_page_is_written_while_it_is_pinned() {
    let reserve = Reserve::default();
    let disk = TestDisk::with_pages(100);
    for replacement in ALL {
        let buffer = buffer(&disk, &options(replacement));
        set_word(&buffer, 9, 90);
        assert!(buffer.pin(9, &reserve).unwrap());
        buffer.write_dirty().unwrap();
        assert_eq!(disk.word(9), 90);
        assert!(is_resident(&buffer, 9));
        buffer.unpin(9, &reserve);
        set_word(&buffer, 9, 9);
        buffer.write_dirty().unwrap();
    }
}

#[test]
fn a_page_that_cannot_be_read_is_not_pinned() {
    let reserve = Reserve::default();
    let disk = TestDisk::with_pages(100);
    disk.damage(4);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    assert!(matches!(buffer.pin(4, &reserve), Err(LodeError::Corrupt { .. })));
    assert!(matches!(buffer.pin(100, &reserve), Err(LodeError::Corrupt { .. })));
    assert_eq!(buffer.pages_pinned(), 0);
}

/// A buffer of which a thread reserves eight pages at a time.
fn roomy(disk: &Arc<TestDisk>) -> Buffer {
    let cache_bytes = 16_384 * PAGE_BYTES as u64;
    let options = BufferOptions { cache_bytes, pages_max: 16_384, ..options(Replacement::Clock) };
    buffer(disk, &options)
}

#[test]
fn a_thread_reserves_pages_and_gives_them_back() {
    let buffer = roomy(&TestDisk::with_pages(200));
    let (one, other) = (Reserve::default(), Reserve::default());
    assert!(buffer.pin(1, &one).unwrap());
    assert_eq!(buffer.pages_pinned(), 8, "with seven that it may pin without asking");
    (2..9).for_each(|page| assert!(buffer.pin(page, &one).unwrap()));
    assert_eq!(buffer.pages_pinned(), 8);
    // Another unpins what this one has pinned: both know how many are theirs.
    assert!(buffer.pin(1, &other).unwrap());
    (1..9).for_each(|page| buffer.unpin(page, &one));
    buffer.unpin(1, &other);
    assert_eq!(buffer.pages_pinned(), 8);
    buffer.give_back_all(&one);
    assert_eq!(buffer.pages_pinned(), 1);
    buffer.give_back_all(&other);
    assert_eq!(buffer.pages_pinned(), 0);
}

#[test]
fn a_thread_keeps_few_of_the_pages_that_it_lets_go_of() {
    let buffer = roomy(&TestDisk::with_pages(200));
    let reserve = Reserve::default();
    (0..200).for_each(|page| assert!(buffer.pin(page, &reserve).unwrap()));
    (0..200).for_each(|page| buffer.unpin(page, &reserve));
    assert!(buffer.pages_pinned() <= 14, "{} are reserved", buffer.pages_pinned());
}

#[test]
fn pages_that_others_reserve_are_not_pinned_twice() {
    let buffer = buffer(&TestDisk::with_pages(200), &options(Replacement::Clock));
    let (one, other) = (Reserve::default(), Reserve::default());
    // Of so small a cache none is reserved beside those that are pinned.
    (0..3).for_each(|page| assert!(buffer.pin(page, &one).unwrap()));
    (0..2).for_each(|page| buffer.unpin(page, &one));
    let pinned = (10..200).take_while(|&page| buffer.pin(page, &other).is_ok()).count();
    assert_eq!(pinned, 7);
    assert!(buffer.pin(3, &one).is_err());
    buffer.unpin(10, &other);
    assert!(buffer.pin(3, &one).unwrap());
}

#[test]
fn threads_count_their_pins_together() {
    let buffer = roomy(&TestDisk::with_pages(200));
    thread::scope(|scope| {
        for start in 0..3 {
            let buffer = &buffer;
            scope.spawn(move || {
                let reserve = Reserve::default();
                for round in 0..2_000 {
                    let pages = (0..5).map(|at| (start * 7 + round * 13 + at * 3) % 40);
                    pages.clone().for_each(|page| assert!(buffer.pin(page, &reserve).unwrap()));
                    pages.for_each(|page| buffer.unpin(page, &reserve));
                }
                buffer.give_back_all(&reserve);
            });
        }
    });
    assert_eq!(buffer.pages_pinned(), 0);
}
