//! Marks hold for a page as it was when they were made, and go with it.

use super::{ALL, TestDisk, buffer, options, pages_mapped, set_word, word};
use crate::buffer::{Buffer, BufferOptions, Replacement};
use crate::page::PageNumber;
use crate::pages::Stamp;
use crate::view::View;

const AT: usize = 64;

fn swizzling(replacement: Replacement) -> BufferOptions {
    BufferOptions { swizzle: true, ..options(replacement) }
}

/// Mark a record at an offset of a page as it is now.
fn mark(buffer: &Buffer, page: PageNumber, slot: u16, at: usize) {
    let ((), stamp) = buffer.read_and_stamp(page, |_| ()).unwrap();
    buffer.mark(page, slot, stamp, at);
}

fn marked(buffer: &Buffer, page: PageNumber, slot: u16) -> Option<usize> {
    buffer.read_marked(page, slot, |_, at| at)
}

fn number(view: View<'_>, at: usize) -> u64 {
    view.u64(at)
}

#[test]
fn without_swizzling_there_are_none() {
    let buffer = buffer(&TestDisk::with_pages(10), &options(Replacement::Clock));
    mark(&buffer, 3, 0, AT);
    assert_eq!(marked(&buffer, 3, 0), None);
}

#[test]
fn a_page_that_was_never_in_memory_has_none() {
    let buffer = buffer(&TestDisk::with_pages(10), &swizzling(Replacement::Clock));
    assert_eq!(marked(&buffer, 3, 0), None);
    word(&buffer, 3);
    assert_eq!(marked(&buffer, 3, 0), None);
    assert_eq!(marked(&buffer, PageNumber::MAX, 0), None);
    buffer.mark(3, 0, Stamp::default(), AT);
    assert_eq!(marked(&buffer, 3, 0), None);
}

#[test]
fn every_slot_that_has_a_word_has_its_own() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(10), &swizzling(replacement));
        for page in [3, 7] {
            for slot in 0..600 {
                mark(&buffer, page, slot, usize::from(slot % 512) * 8);
            }
        }
        for page in [3, 7] {
            for slot in 0..600 {
                let expected = (slot < 512).then_some(usize::from(slot) * 8);
                assert_eq!(marked(&buffer, page, slot), expected, "{replacement:?}: {slot}");
            }
        }
    }
}

#[test]
fn a_mark_ends_with_a_change_and_with_the_page() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(100), &swizzling(replacement));
        mark(&buffer, 3, 5, AT);
        assert_eq!(marked(&buffer, 3, 5), Some(AT));
        set_word(&buffer, 3, 33);
        assert_eq!(marked(&buffer, 3, 5), None);
        mark(&buffer, 3, 5, AT);
        assert_eq!(buffer.read_marked(3, 5, number), Some(33));
        buffer.write_dirty().unwrap();
        assert_eq!(marked(&buffer, 3, 5), Some(AT), "writing changes nothing");
        buffer.forget();
        assert_eq!(marked(&buffer, 3, 5), None);
        assert_eq!(pages_mapped(&buffer), 0);
        word(&buffer, 3);
        assert_eq!(marked(&buffer, 3, 5), None);
    }
}

#[test]
fn a_guess_counts_while_the_mark_says_the_same() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(100), &swizzling(replacement));
        let guessed = |at: usize| buffer.read_guessed(3, 5, at, |_, at| at);
        word(&buffer, 3);
        for at in [0, AT] {
            assert_eq!(guessed(at), None, "there is no mark");
        }
        mark(&buffer, 3, 5, AT);
        assert_eq!(guessed(AT), Some(AT));
        for other in [0, AT + 8, AT + 1, AT | 1 << 15, AT | 1 << 16] {
            assert_eq!(guessed(other), None, "{other}");
        }
        set_word(&buffer, 3, 33);
        assert_eq!(guessed(AT), None, "the page has changed");
        mark(&buffer, 3, 5, AT);
        assert_eq!(guessed(AT), Some(AT));
        buffer.write_dirty().unwrap();
        buffer.forget();
        assert_eq!(guessed(AT), None, "the page has gone");
    }
}

#[test]
fn a_page_with_marks_counts_twice_against_the_cap() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(100), &swizzling(replacement));
        for page in (0..100).chain(0..100) {
            mark(&buffer, page, 1, AT);
            assert!(buffer.counters().pages_resident <= 16);
        }
        assert!((9..=16).contains(&pages_mapped(&buffer)), "{}", pages_mapped(&buffer));
    }
}
