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

#[test]
fn extents_that_a_reader_names_are_there_when_it_comes() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = Arc::new(buffer(&disk, &streaming(1024)));
    // Nobody brings them.
    buffer.expect(400);
    assert_eq!(buffer.read_ahead.waiting(), 0);
    pass(&buffer, [400]);
    let _prefetcher = Prefetcher::of(&buffer);
    let named = [900, 101, 102, 505, 999, PAGES, PageNumber::MAX, 401];
    for page in named {
        buffer.expect(page);
    }
    buffer.read_ahead.wait_until_idle();
    let mut called = disk.called();
    called.sort_by_key(|call| if let Call::Read(first, _) = call { *first } else { 0 });
    assert_eq!(called, [96, 400, 504, 896, 992].map(|first| Call::Read(first, 8)));
    pass(&buffer, [900, 101, 102, 505, 999]);
    assert_eq!(buffer.counters().misses, 1);
}

#[test]
fn no_more_is_named_than_a_part_of_the_cache_holds() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(256));
    // As with a prefetcher whose threads are all busy.
    buffer.read_ahead.begin();
    for page in [100, 101] {
        buffer.expect(page);
    }
    assert_eq!(buffer.read_ahead.waiting(), 1);
    (0..PAGES).for_each(|page| buffer.expect(page));
    assert_eq!(buffer.read_ahead.waiting(), 6);
}

/// OO7's graphs lie in neighbouring extents, and behind them is what nobody reads.
#[test]
fn a_reader_that_names_extents_begins_no_stream_until_it_has_stopped() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    buffer.read_ahead.begin();
    buffer.expect(900);
    pass(&buffer, (0..17).map(|extent| 8 * extent));
    assert_eq!(disk.called(), (0..17).map(|extent| Call::Read(8 * extent, 8)).collect::<Vec<_>>());
    // The last was the first of a stream again.
    pass(&buffer, [136]);
    assert_eq!(disk.called().last(), Some(&Call::Read(136, 16)));
}

#[test]
fn a_stream_that_is_no_chance_goes_on_beside_a_reader_that_names_extents() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    pass(&buffer, [0, 8, 24]);
    buffer.read_ahead.begin();
    buffer.expect(900);
    pass(&buffer, [56]);
    assert_eq!(disk.called().last(), Some(&Call::Read(56, 32)));
}

#[test]
fn pages_that_were_named_drive_no_stream_on() {
    let disk = TestDisk::with_pages(PAGES);
    let buffer = buffer(&disk, &streaming(1024));
    pass(&buffer, [0, 8, 24]);
    buffer.read_ahead.begin();
    buffer.expect(900);
    pass(&buffer, [32]);
    assert_eq!(buffer.read_ahead.waiting(), 1);
}
