//! The reads that a page not in memory asks of the disk.

use super::{Call, TestDisk, buffer, is_resident, options, set_word, word};
use crate::buffer::{Buffer, BufferOptions};
use crate::error::LodeError;
use crate::page::PAGE_BYTES;
use crate::pages::Version;
use crate::tactics::Replacement;

fn reading_ahead(read_ahead_pages: u32) -> BufferOptions {
    let cache_bytes = 64 * PAGE_BYTES as u64;
    BufferOptions { cache_bytes, read_ahead_pages, ..options(Replacement::Clock) }
}

#[test]
fn a_miss_reads_the_aligned_run_around_it() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &reading_ahead(8));
    assert_eq!(word(&buffer, 13), 13);
    assert_eq!(disk.called(), [Call::Read(8, 8)]);
    (8..16).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
    assert_eq!(disk.called(), []);
    let counters = buffer.counters();
    assert_eq!((counters.misses, counters.reads), (1, 1));
    assert_eq!((counters.pages_read, counters.pages_read_ahead), (8, 7));
}

#[test]
fn a_run_ends_with_the_volume() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &reading_ahead(8));
    assert_eq!(word(&buffer, 98), 98);
    assert_eq!(disk.called(), [Call::Read(96, 4)]);
}

#[test]
fn each_absent_stretch_is_one_read() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &reading_ahead(8));
    word(&buffer, 13);
    set_word(&buffer, 10, 1000);
    set_word(&buffer, 14, 1000);
    buffer.forget();
    disk.called();
    assert_eq!(word(&buffer, 12), 12);
    assert_eq!(disk.called(), [Call::Read(8, 2), Call::Read(11, 3), Call::Read(15, 1)]);
    assert_eq!((word(&buffer, 10), word(&buffer, 14)), (1000, 1000));
}

#[test]
fn a_run_takes_a_quarter_of_the_cache_at_most() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &reading_ahead(64));
    word(&buffer, 20);
    assert_eq!(disk.called(), [Call::Read(16, 16)]);
}

#[test]
fn a_scan_with_read_ahead_reads_each_page_once() {
    for replacement in super::ALL {
        let disk = TestDisk::with_pages(512);
        let buffer = buffer(&disk, &BufferOptions { replacement, ..reading_ahead(8) });
        (0..512).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
        // Random may take a page that was read ahead and not yet read.
        let spare = if replacement == Replacement::Random { 64 } else { 0 };
        assert!(disk.called().len() <= 64 + spare, "{replacement:?}");
    }
}

#[test]
fn a_page_beyond_the_volume_is_corrupt_until_the_volume_grows() {
    let disk = TestDisk::with_pages(10);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    for page in [10, 1023, 1024, u32::MAX] {
        let error = buffer.read(page, |_| ()).unwrap_err();
        assert!(matches!(error, LodeError::Corrupt { .. }), "{error}");
        assert!(matches!(buffer.latch(page).err(), Some(LodeError::Corrupt { .. })));
        assert_eq!(buffer.try_read_version(page, Version(0), |_| ()), None);
    }
    assert_eq!(disk.called(), [], "the disk is not asked");
    buffer.grow(20).unwrap();
    buffer.grow(15).unwrap();
    assert_eq!((buffer.pages_total(), word(&buffer, 19)), (20, 0));
    assert!(matches!(buffer.grow(1025), Err(LodeError::Limit { .. })));
    assert_eq!(buffer.pages_total(), 20);
}

#[test]
fn no_version_fits_a_page_that_is_not_in_memory() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Clock));
    let is_seen =
        |buffer: &Buffer, version| buffer.try_read_version(7, Version(version), |_| ()).is_some();
    assert!((0..4).all(|version| !is_seen(&buffer, version)));
    let ((), version) = buffer.read_with_version(7, |_| ()).unwrap();
    assert_eq!(
        (0..4).filter(|&version| is_seen(&buffer, version)).collect::<Vec<_>>(),
        [version.0]
    );
    buffer.forget();
    assert!((0..4).all(|version| !is_seen(&buffer, version)));
    let ((), again) = buffer.read_with_version(7, |_| ()).unwrap();
    assert!(version < again && !is_seen(&buffer, version.0) && is_seen(&buffer, again.0));
}

#[test]
fn only_a_change_changes_the_version_of_a_page_in_memory() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Clock));
    let version = || buffer.read_with_version(7, |_| ()).unwrap().1;
    let first = version();
    let latched = buffer.latch(7).unwrap();
    assert_eq!((latched[super::WORD], latched.page()), (7, 7));
    assert_eq!(buffer.try_read_version(7, first, |_| ()), None, "it is latched");
    drop(latched);
    assert_eq!(version(), first);
    set_word(&buffer, 7, 8);
    assert_eq!(version(), Version(first.0 + 1));
    buffer.write_dirty().unwrap();
    assert_eq!(version(), Version(first.0 + 1), "writing it does not change it");
}

#[test]
fn a_reader_who_is_disturbed_again_and_again_comes_to_an_end() {
    let buffer = buffer(&TestDisk::with_pages(100), &options(Replacement::Clock));
    let mut reads = 0;
    let seen = buffer.read(7, |view| {
        reads += 1;
        // Somebody changes the page during each read, for as long as it can.
        if let Some(latched) = try_latch(&buffer, 7) {
            drop(latched);
        }
        // A read within the read passes, also at the page that is pinned by now.
        (view.u64(super::WORD), word(&buffer, 7))
    });
    assert_eq!(seen.unwrap(), (7, 7));
    assert!((3..20).contains(&reads), "{reads}");
    assert!(buffer.counters().retries >= 2);
    set_word(&buffer, 7, 8);
    assert_eq!(word(&buffer, 7), 8, "nobody holds it any more");
}

/// Change a page, unless somebody has it.
fn try_latch(buffer: &Buffer, page: u32) -> Option<crate::buffer::Latched<'_>> {
    let state = buffer.state_of(page);
    state.latch(state.load(), true).then(|| {
        let mut latched = crate::buffer::Latched::take(buffer, page);
        let byte = latched[super::WORD + 8] ^ 1;
        latched.page_mut().put_u8(super::WORD + 8, byte);
        latched
    })
}

#[test]
fn a_cache_of_fewer_than_sixteen_pages_is_refused() {
    let disk = TestDisk::with_pages(10);
    let cache_bytes = 16 * PAGE_BYTES as u64 - 1;
    let few = BufferOptions { cache_bytes, ..options(Replacement::Clock) };
    let error = Buffer::new(disk.clone(), &few).err().unwrap();
    assert!(matches!(error, LodeError::CacheTooSmall { .. }), "{error}");
    let small = BufferOptions { pages_max: 9, ..options(Replacement::Clock) };
    assert!(matches!(Buffer::new(disk, &small).err(), Some(LodeError::Limit { .. })));
}

#[test]
fn unused_pages_read_ahead_are_evicted_first() {
    let disk = TestDisk::with_pages(200);
    let buffer = buffer(&disk, &reading_ahead(4));
    (0..16).for_each(|run| assert_eq!(word(&buffer, 4 * run), u64::from(4 * run)));
    (100..124).for_each(|page| assert_eq!(word(&buffer, page), u64::from(page)));
    assert!((0..16).all(|run| is_resident(&buffer, 4 * run)));
}
