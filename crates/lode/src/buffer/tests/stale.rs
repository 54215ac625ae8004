//! Pages that others have changed on disk.

use super::*;
use crate::buffer::Buffer;

/// The pages whose word is above that.
fn drop_above(buffer: &Buffer, pages: Option<&[PageNumber]>, limit: u64) {
    buffer.drop_stale(pages, |view| view.u64(WORD) > limit);
}

#[test]
fn stale_pages_go_and_others_stay() {
    for replacement in ALL {
        let disk = TestDisk::with_pages(100);
        let buffer = buffer(&disk, &options(replacement));
        for page in 1..8 {
            word(&buffer, page);
        }
        drop_above(&buffer, Some(&[3, 5, 6, 50]), 4);
        let resident: Vec<_> = (0..100).filter(|&page| is_resident(&buffer, page)).collect();
        assert_eq!(resident, [1, 2, 3, 4, 7], "{replacement:?}");
        assert_eq!(buffer.counters().pages_resident, 5);
        drop_above(&buffer, None, 2);
        let resident: Vec<_> = (0..100).filter(|&page| is_resident(&buffer, page)).collect();
        assert_eq!(resident, [1, 2], "{replacement:?}");
        // The budget is kept in order: the cache fills again, and no further.
        for page in 10..60 {
            assert_eq!(word(&buffer, page), u64::from(page));
        }
        assert_eq!(buffer.counters().pages_resident, 16);
    }
}

#[test]
fn absent_pages_are_neither_read_nor_awaited() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    drop_above(&buffer, Some(&[1, 2, 3]), 0);
    drop_above(&buffer, None, 0);
    assert_eq!(buffer.peek(5, |view| view.u64(WORD)), None);
    assert_eq!(buffer.peek(PageNumber::MAX, |_| ()), None);
    buffer.refresh(5, |_| panic!("it is not in memory"));
    buffer.refresh(PageNumber::MAX, |_| panic!("there is no such page"));
    assert_eq!(disk.called(), []);
}

#[test]
fn a_peek_sees_and_does_not_count_as_a_use() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Lru));
    for page in 1..=16 {
        word(&buffer, page);
    }
    assert_eq!(buffer.peek(1, |view| view.u64(WORD)), Some(1));
    word(&buffer, 40);
    assert!(!is_resident(&buffer, 1), "it was used longest ago");
}

#[test]
fn a_refreshed_page_has_another_version_and_is_not_written() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    let ((), version) = buffer.read_with_version(7, |_| ()).unwrap();
    buffer.refresh(7, |_| false);
    assert!(buffer.try_read_version(7, version, |_| ()).is_some(), "nothing was changed");
    buffer.refresh(7, |bytes| {
        bytes.put_u64(WORD, 70);
        true
    });
    assert_eq!(buffer.try_read_version(7, version, |_| ()), None);
    assert_eq!(word(&buffer, 7), 70);
    buffer.write_dirty().unwrap();
    assert_eq!(buffer.counters().pages_written, 0);
}

/// A reader meanwhile sees the page as it was or as it is.
#[test]
fn readers_are_not_torn_by_refreshes() {
    let disk = TestDisk::with_pages(100);
    let buffer = buffer(&disk, &options(Replacement::Clock));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..300_u64 {
                word(&buffer, 7);
                buffer.refresh(7, |bytes| {
                    bytes.put_u64(WORD, round);
                    bytes.put_u64(PAGE_BYTES - 8, round);
                    true
                });
                if round % 16 == 0 {
                    buffer.drop_stale(Some(&[7]), |_| true);
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let whole_and_word =
                |view: crate::view::View<'_>| (view.u64(WORD), view.u64(PAGE_BYTES - 8));
            let (first, last) = buffer.read(7, whole_and_word).unwrap();
            assert!(first == last || (first, last) == (7, 0), "{first} and {last}");
        }
    });
}
