//! Pages that readers have pinned.

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
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(200), &options(replacement));
        (0..PINS_MAX).for_each(|page| assert!(buffer.pin(page).unwrap()));
        (8..200).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
        buffer.forget();
        for page in 0..PINS_MAX {
            assert!(is_resident(&buffer, page), "{replacement:?}");
            assert_eq!(pinned_word(&buffer, page), u64::from(page));
            buffer.unpin(page);
        }
        (8..200).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
        let stayed = (0..PINS_MAX).filter(|&page| is_resident(&buffer, page)).count();
        assert!(stayed < 8, "{replacement:?}: {stayed} of 8 are held by nobody and stay");
    }
}

#[test]
fn a_pinned_page_is_not_latched_and_says_so() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Clock));
    assert!(buffer.pin(7).unwrap() && buffer.pin(7).unwrap());
    for _ in 0..2 {
        assert!(matches!(buffer.latch(7).err(), Some(LodeError::Pinned { page: 7 })));
        buffer.unpin(7);
    }
    set_word(&buffer, 7, 70);
    assert_eq!(word(&buffer, 7), 70);
    assert_eq!(buffer.pages_pinned(), 0);
}

#[test]
fn half_of_the_cache_can_be_pinned_and_the_other_half_works_on() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(200), &options(replacement));
        (0..PINS_MAX).for_each(|page| assert!(buffer.pin(page).unwrap()));
        let error = buffer.pin(100).unwrap_err();
        assert!(matches!(error, LodeError::PinsFull { pages_max: 8, cache_bytes: 65_536 }));
        assert!(buffer.pin(3).unwrap(), "one more reader costs no frame");
        (100..200).for_each(|page| set_word(&buffer, page, 1));
        (100..200).for_each(|page| assert_eq!(word(&buffer, page), 1));
        buffer.unpin(3);
        assert!(buffer.pin(100).is_err(), "another still has page 3");
        buffer.unpin(3);
        assert!(buffer.pin(100).unwrap());
        assert_eq!(pinned_word(&buffer, 100), 1);
    }
}

#[test]
fn as_many_readers_as_can_be_counted_and_no_more() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Lru));
    let readers = (0..10_000).take_while(|_| buffer.pin(5).unwrap()).count();
    assert_eq!(readers, 2_047);
    assert_eq!(word(&buffer, 5), 5, "and the page is readable still");
    assert_eq!(buffer.pages_pinned(), 1);
    (0..readers).for_each(|_| buffer.unpin(5));
    set_word(&buffer, 5, 50);
    assert_eq!(word(&buffer, 5), 50);
}

#[test]
fn a_dirty_page_is_written_while_it_is_pinned() {
    let disk = TestDisk::with_pages(100);
    for replacement in ALL {
        let buffer = buffer(&disk, &options(replacement));
        set_word(&buffer, 9, 90);
        assert!(buffer.pin(9).unwrap());
        buffer.write_dirty().unwrap();
        assert_eq!(disk.word(9), 90);
        assert!(is_resident(&buffer, 9));
        buffer.unpin(9);
        set_word(&buffer, 9, 9);
        buffer.write_dirty().unwrap();
    }
}

#[test]
fn a_page_that_cannot_be_read_is_not_pinned() {
    let disk = TestDisk::with_pages(100);
    disk.damage(4);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    assert!(matches!(buffer.pin(4), Err(LodeError::Corrupt { .. })));
    assert!(matches!(buffer.pin(100), Err(LodeError::Corrupt { .. })));
    assert_eq!(buffer.pages_pinned(), 0);
}
