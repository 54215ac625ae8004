//! Hints belong to a page in memory, and go with it.

use std::sync::atomic::Ordering;

use super::{ALL, TestDisk, buffer, options, pages_mapped, set_word, word};
use crate::buffer::{BufferOptions, Replacement};
use crate::page::PAGE_BYTES;

fn swizzling(replacement: Replacement) -> BufferOptions {
    BufferOptions { swizzle: true, ..options(replacement) }
}

#[test]
fn without_swizzling_there_are_none() {
    let buffer = buffer(&TestDisk::with_pages(10), &options(Replacement::Clock));
    word(&buffer, 3);
    assert!(buffer.hint(3, 64).is_none());
}

#[test]
fn a_hint_starts_as_zero_stays_through_a_change_and_goes_with_its_page() {
    let buffer = buffer(&TestDisk::with_pages(100), &swizzling(Replacement::Clock));
    assert!(buffer.hint(3, 64).is_none(), "its page is not in memory");
    word(&buffer, 3);
    let hint = buffer.hint(3, 64).unwrap();
    assert_eq!(hint.swap(5, Ordering::Relaxed), 0);
    assert_eq!(buffer.hint(3, 72).unwrap().load(Ordering::Relaxed), 0);
    set_word(&buffer, 3, 33);
    assert_eq!(buffer.hint(3, 64).unwrap().load(Ordering::Relaxed), 5);
    buffer.write_dirty().unwrap();
    buffer.forget();
    assert!(buffer.hint(3, 64).is_none());
    assert_eq!(pages_mapped(&buffer), 0);
    word(&buffer, 3);
    assert_eq!(buffer.hint(3, 64).unwrap().load(Ordering::Relaxed), 0);
}

#[test]
fn only_words_of_the_page_have_hints() {
    let buffer = buffer(&TestDisk::with_pages(10), &swizzling(Replacement::Clock));
    word(&buffer, 3);
    assert!(buffer.hint(3, PAGE_BYTES - 8).is_some());
    for at in [1, 4, 63, PAGE_BYTES, PAGE_BYTES + 8, usize::MAX - 7] {
        assert!(buffer.hint(3, at).is_none(), "{at}");
    }
}

#[test]
fn a_page_with_hints_counts_twice_against_the_cap() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(100), &swizzling(replacement));
        for page in (0..100).chain(0..100) {
            word(&buffer, page);
            if let Some(hint) = buffer.hint(page, 128) {
                hint.store(u64::from(page), Ordering::Relaxed);
            }
            assert!(buffer.counters().pages_resident <= 16);
        }
        assert!((9..=16).contains(&pages_mapped(&buffer)), "{}", pages_mapped(&buffer));
    }
}
