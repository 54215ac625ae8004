use std::thread;

use super::super::Frames;
use super::*;

/// A buffer of 64 frames with pages in all of them, of which one half is changed.
fn full(replacement: Replacement) -> (Arc<TestDisk>, Arc<Buffer>) {
    let disk = TestDisk::with_pages(200);
    let options = BufferOptions { cache_bytes: 64 * PAGE_BYTES as u64, ..options(replacement) };
    let buffer = Arc::new(buffer(&disk, &options));
    for page in 0..64 {
        word(&buffer, page);
    }
    for page in 0..32 {
        set_word(&buffer, page, 7);
    }
    (disk, buffer)
}

fn counted(buffer: &Buffer) -> (u64, u64) {
    let counters = buffer.counters();
    (counters.pages_resident, counters.pages_lent)
}

#[test]
fn lent_and_resident_frames_never_exceed_the_cap() {
    for replacement in ALL {
        let (disk, buffer) = full(replacement);
        let frames = Frames::of(&buffer);
        assert_eq!((frames.lendable(), counted(&buffer)), (48, (64, 0)));
        assert!(frames.borrow(40), "{replacement:?}");
        assert!(pages_mapped(&buffer) <= 24, "{replacement:?}");
        assert!(!frames.borrow(9) && frames.borrow(8) && !frames.borrow(1), "{replacement:?}");
        for page in 0..200 {
            assert_eq!(word(&buffer, page), if page < 32 { 7 } else { u64::from(page) });
            let (resident, lent) = counted(&buffer);
            assert!(resident <= 16 && lent == 48 && pages_mapped(&buffer) <= 16);
        }
        assert!((0..32).all(|page| disk.word(page) == 7), "changed pages were written first");
        frames.give_back(48);
        for page in 0..64 {
            word(&buffer, page);
        }
        assert_eq!(counted(&buffer), (64, 0));
    }
}

#[test]
fn unavailable_memory_is_not_lent_in_part() {
    let (disk, buffer) = full(Replacement::Clock);
    let frames = Frames::of(&buffer);
    disk.unwritable.store(true, Ordering::Relaxed);
    for page in 32..64 {
        set_word(&buffer, page, 7);
    }
    assert!(!frames.borrow(1), "no page can be written, and none is clean");
    assert_eq!(counted(&buffer), (64, 0));
    disk.unwritable.store(false, Ordering::Relaxed);
    assert!(frames.borrow(48));
    drop(buffer);
    assert!(!frames.borrow(1), "a buffer that is gone lends nothing");
    frames.give_back(48);
}

#[test]
fn pins_leave_a_frame_whatever_is_lent() {
    let reserve = Reserve::default();
    let (_disk, buffer) = full(Replacement::Clock);
    let frames = Frames::of(&buffer);
    assert!((0..8).all(|page| buffer.pin(page, &reserve).unwrap()));
    assert!(buffer.pin(8, &reserve).is_err(), "an eighth can be pinned where the rest is lent");
    assert!(frames.borrow(48));
    assert!((100..200).all(|page| word(&buffer, page) == u64::from(page)));
    (0..8).for_each(|page| buffer.unpin(page, &reserve));
}

#[test]
fn threads_that_borrow_and_read_keep_the_cap() {
    let (_disk, buffer) = full(Replacement::Clock);
    let frames = Frames::of(&buffer);
    thread::scope(|scope| {
        for start in 0..2 {
            let (buffer, frames) = (&buffer, frames.clone());
            scope.spawn(move || {
                for round in 0..200 {
                    let count = (start * 7 + round * 5) % 30;
                    if frames.borrow(count) {
                        assert!(counted(buffer).1 as usize >= count);
                        frames.give_back(count);
                    }
                }
            });
            scope.spawn(move || {
                for round in 0..4_000 {
                    let page = (round * 37 + start as u32 * 11) % 168 + 32;
                    assert_eq!(word(buffer, page), u64::from(page));
                }
            });
        }
    });
    assert_eq!(counted(&buffer).1, 0);
    assert!(pages_mapped(&buffer) <= 64);
}
