//! A disk that fails leaves the page as it was, reports the error, and nothing is latched for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{ALL, TestDisk, buffer, is_resident, options, pages_mapped, set_word, word};
use crate::buffer::{BufferOptions, Occasion, WriteBack};
use crate::error::{LodeError, Result};
use crate::page::{PAGE_BYTES, PageBytes, PageNumber};
use crate::tactics::Replacement;

#[test]
fn a_page_that_cannot_be_read_is_reported_and_not_in_memory() {
    for replacement in ALL {
        let disk = TestDisk::with_pages(100);
        let buffer = buffer(&disk, &options(replacement));
        *disk.unreadable.lock().unwrap() = Some(7);
        for _ in 0..40 {
            assert!(matches!(buffer.read(7, |_| ()), Err(LodeError::Io { .. })));
            assert!(matches!(buffer.latch(7).err(), Some(LodeError::Io { .. })));
        }
        assert!(!is_resident(&buffer, 7));
        assert_eq!((pages_mapped(&buffer), buffer.counters().pages_resident), (0, 0));
        *disk.unreadable.lock().unwrap() = None;
        assert_eq!(word(&buffer, 7), 7);
        (0..100).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
    }
}

#[test]
fn a_damaged_page_is_reported_and_not_in_memory() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    disk.damage(7);
    for _ in 0..40 {
        assert!(matches!(buffer.read(7, |_| ()), Err(LodeError::Corrupt { .. })));
    }
    assert_eq!((pages_mapped(&buffer), buffer.counters().pages_resident), (0, 0));
    disk.damage(7);
    assert_eq!(word(&buffer, 7), 7);
}

#[test]
fn a_neighbour_that_cannot_be_had_does_not_matter_until_it_is_asked_for() {
    let cache_bytes = 64 * PAGE_BYTES as u64;
    let ahead = BufferOptions { read_ahead_pages: 8, cache_bytes, ..options(Replacement::Clock) };
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &ahead);
    disk.damage(9);
    assert_eq!((word(&buffer, 8), word(&buffer, 10)), (8, 10));
    assert!(matches!(buffer.read(9, |_| ()), Err(LodeError::Corrupt { .. })));
    *disk.unreadable.lock().unwrap() = Some(18);
    for page in [16, 17, 19, 23] {
        assert_eq!(word(&buffer, page), u64::from(page));
    }
    assert!(matches!(buffer.read(18, |_| ()), Err(LodeError::Io { .. })));
    assert_eq!(pages_mapped(&buffer) as u64, buffer.counters().pages_resident);
}

#[test]
fn a_volume_that_was_cut_is_corrupt() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    disk.bytes.lock().unwrap().truncate(50 * PAGE_BYTES);
    assert!(matches!(buffer.read(60, |_| ()), Err(LodeError::Corrupt { .. })));
    assert_eq!(word(&buffer, 49), 49);
}

#[test]
fn pages_that_cannot_be_written_stay_dirty() {
    for replacement in ALL {
        let disk = TestDisk::with_pages(100);
        let buffer = buffer(&disk, &options(replacement));
        (0..16).for_each(|page| set_word(&buffer, page, 1000));
        disk.unwritable.store(true, Ordering::Relaxed);
        for _ in 0..40 {
            assert!(matches!(buffer.read(50, |_| ()), Err(LodeError::Io { .. })));
        }
        assert!(matches!(buffer.write_dirty(), Err(LodeError::Io { .. })));
        (0..16).for_each(|page| assert_eq!(word(&buffer, page), 1000));
        disk.unwritable.store(false, Ordering::Relaxed);
        (20..60).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
        buffer.write_dirty().unwrap();
        (0..16).for_each(|page| assert_eq!(disk.word(page), 1000));
    }
}

struct Panics;

impl WriteBack for Panics {
    fn before_write(&self, _: &[(PageNumber, &PageBytes)], _: Occasion) -> Result<()> {
        panic!("on purpose");
    }
}

#[test]
fn a_panic_lets_every_page_go() {
    for replacement in ALL {
        let buffer = buffer(&TestDisk::with_pages(100), &options(replacement));
        let panics: Arc<dyn WriteBack> = Arc::new(Panics);
        buffer.set_write_back(panics.clone());
        (0..16).for_each(|page| set_word(&buffer, page, 1000));
        for _ in 0..20 {
            assert!(catch_unwind(AssertUnwindSafe(|| buffer.read(50, |_| ()))).is_err());
        }
        let in_a_read = || buffer.read(7, |_| -> u64 { panic!("on purpose") });
        assert!(catch_unwind(AssertUnwindSafe(in_a_read)).is_err());
        let latched = || {
            let mut latched = buffer.latch(8).unwrap();
            latched.page_mut().put_u8(super::WORD, 1);
            panic!("on purpose");
        };
        assert!(catch_unwind(AssertUnwindSafe(latched)).is_err());
        (0..16).for_each(|page| set_word(&buffer, page, 2000));
        assert_eq!(word(&buffer, 15), 2000);
    }
}

#[test]
fn memory_that_the_system_does_not_take_back_is_reported() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    assert_eq!(word(&buffer, 0), 0);
    #[expect(unsafe_code, reason = "rustix has no mlock of one page by its address")]
    // SAFETY: the page is the buffer's, and stays mapped for as long as that lives.
    let status = unsafe { libc::mlock(buffer.pages.page(0).cast(), PAGE_BYTES) };
    assert_eq!(status, 0, "one page may be locked");
    let mut pages = (1..100).chain(1..100);
    let outcome = pages.try_for_each(|page| buffer.read(page, |_| ()));
    assert!(matches!(&outcome, Err(LodeError::Limit { what }) if what.contains("mlockall")));
}
