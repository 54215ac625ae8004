//! A reader that goes through pages in order is noticed, and finds them in memory.

use std::sync::Arc;

use super::{ALL, Call, TestDisk, buffer, is_resident, options, word};
use crate::buffer::{Buffer, BufferOptions, Prefetcher};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::tactics::Replacement;

const PAGES: PageNumber = 1000;

/// With 1,024 pages, windows of 8, 16 and then 32; with 256, windows of 8.
fn streaming(cache_pages: u64) -> BufferOptions {
    let cache_bytes = cache_pages * PAGE_BYTES as u64;
    BufferOptions { cache_bytes, read_ahead_pages: 8, ..options(Replacement::Clock) }
}

fn pass(buffer: &Buffer, pages: impl IntoIterator<Item = PageNumber>) {
    pages.into_iter().for_each(|page| assert_eq!(word(buffer, page), u64::from(page)));
}

#[test]
fn one_run_missed_after_another_brings_twice_as_much_up_to_a_part_of_the_cache() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    pass(&buffer, 0..100);
    let reads = [(0, 8), (8, 16), (24, 32), (56, 32), (88, 32)];
    assert_eq!(disk.called(), reads.map(|(first, pages)| Call::Read(first, pages)));
}

#[test]
fn a_stream_ends_with_the_volume() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    pass(&buffer, 976..PAGES);
    assert_eq!(disk.called(), [Call::Read(976, 8), Call::Read(984, 16)]);
}

#[test]
fn readers_are_distinguished() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    for step in 0..24 {
        pass(&buffer, [100, 300, 500, 700].map(|start| start / 8 * 8 + step));
    }
    let called = disk.called();
    assert_eq!(called.len(), 8);
    assert!(called[..4].iter().all(|call| matches!(call, Call::Read(_, 8))));
    assert!(called[4..].iter().all(|call| matches!(call, Call::Read(_, 16))));
}

#[test]
fn who_jumps_brings_no_more_than_an_extent() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    pass(&buffer, (0..60).map(|step| step * 368 % PAGES));
    assert!(disk.called().iter().all(|call| matches!(call, Call::Read(_, 8))));
}

#[test]
fn a_prefetcher_reads_what_comes_next_and_no_more_than_some_windows() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = Arc::new(buffer(&disk, &streaming(1024)));
    let _prefetcher = Prefetcher::of(&buffer);
    pass(&buffer, 0..25);
    buffer.read_ahead.wait_until_idle();
    let there = (0..PAGES).take_while(|&page| is_resident(&buffer, page)).count();
    assert_eq!(there, 24 + 6 * 32, "six windows from where the reader is");
    assert_eq!(buffer.counters().misses, 3);
    pass(&buffer, 25..PAGES);
    buffer.read_ahead.wait_until_idle();
    assert_eq!(buffer.counters().pages_read, PAGES.into(), "each once");
}

#[test]
fn a_prefetcher_reads_the_right_pages_to_a_small_cache() {
    for replacement in ALL {
        let disk = TestDisk::with_pages(PAGES);
        let options = BufferOptions { replacement, ..streaming(256) };
        let buffer = Arc::new(buffer(&disk, &options));
        let prefetcher = Prefetcher::of(&buffer);
        pass(&buffer, (0..PAGES).chain(0..PAGES));
        assert!(buffer.counters().pages_resident <= 256, "{replacement:?}");
        drop(prefetcher);
        pass(&buffer, 0..PAGES);
    }
}

#[test]
fn forgotten_pages_do_not_come_back_by_themselves() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = Arc::new(buffer(&disk, &streaming(1024)));
    let prefetcher = Prefetcher::of(&buffer);
    for end in 40..80 {
        pass(&buffer, 0..end);
        buffer.forget();
        assert_eq!(buffer.counters().pages_resident, 0);
    }
    drop(prefetcher);
    assert_eq!(buffer.counters().pages_resident, 0);
}

#[test]
fn a_page_that_cannot_be_read_ahead_is_reported_when_it_is_asked_for() {
    let disk = TestDisk::with_pages(PAGES);
    disk.damage(200);
    *disk.unreadable.lock().unwrap() = Some(301);
    let buffer = Arc::new(buffer(&disk, &streaming(1024)));
    let _prefetcher = Prefetcher::of(&buffer);
    for page in 0..PAGES {
        let seen = buffer.read(page, |_| ());
        assert_eq!(seen.is_err(), page == 200 || page == 301, "page {page}");
    }
}
