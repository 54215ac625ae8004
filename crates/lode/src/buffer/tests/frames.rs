//! Access to a frame under the state word that guards it: [`PageMut`] stores while [`View`]s
//! load. `make miri` runs it, too, where every access is held against Rust's memory model; what
//! the word's orderings allow at all is gone through in `protocol.rs`.

use std::sync::atomic::AtomicU64;
use std::thread;

use super::super::state::State;
use crate::aligned_page::AlignedPage;
use crate::page::{PAGE_BYTES, PageBytes};
use crate::page_mut::PageMut;
use crate::view::View;

/// Miri is a thousand times slower.
const ROUNDS: usize = if cfg!(miri) { 6 } else { 3_000 };

/// One page of memory and its word, as the buffer has many.
struct Frame {
    page: AlignedPage,
    word: AtomicU64,
}

impl Frame {
    /// Change the page as its owner.
    fn change<R>(&self, change: impl FnOnce(&mut PageMut<'_>) -> R) -> R {
        let state = State(&self.word);
        while !state.latch(state.load(), false) {
            thread::yield_now();
        }
        // SAFETY: the page stays while `self` does, and we have latched it.
        #[expect(unsafe_code, reason = "what `Latched::page_mut` does")]
        let mut page = unsafe { PageMut::at(self.page.start()) };
        let result = change(&mut page);
        state.unlatch(true);
        result
    }

    /// Look at the page once; `None` if that was disturbed.
    fn try_read<R>(&self, inspect: impl FnOnce(View<'_>) -> R) -> Option<R> {
        let state = State(&self.word);
        let before = state.load();
        if !before.is_open() {
            return None;
        }
        let seen = inspect(View::of(&self.page));
        state.is_as(before).then_some(seen)
    }

    /// Read the page as a plain array, pinned.
    fn pinned<R>(&self, inspect: impl FnOnce(&PageBytes) -> R) -> Option<R> {
        let state = State(&self.word);
        if !state.add_reader(state.load()) {
            return None;
        }
        let seen = inspect(&self.page);
        state.remove_reader();
        Some(seen)
    }
}

/// Every byte the same, each time by another kind of store.
fn fill(page: &mut PageMut<'_>, round: usize) {
    let byte = round as u8;
    match round % 4 {
        0 => page.put(0, &[byte; PAGE_BYTES]),
        1 => page.change(0..PAGE_BYTES, |bytes| bytes.fill(byte)),
        2 => {
            page.put(3, &[byte; 61]);
            page.put(0, &[byte; 3]);
            for filled in (6..12).map(|power| 1 << power) {
                page.copy_within(0..filled, filled);
            }
        }
        _ => {
            page.clear(0..PAGE_BYTES);
            for at in (0..PAGE_BYTES).step_by(16) {
                page.put_u64(at, u64::from_ne_bytes([byte; 8]));
                page.put_u32(at + 8, u32::from_ne_bytes([byte; 4]));
                page.put_u16(at + 12, u16::from_ne_bytes([byte; 2]));
                page.put_u8(at + 14, byte);
                page.put_u8(at + 15, byte);
            }
        }
    }
    assert!(page.iter().all(|&each| each == byte), "round {round}");
}

/// Looks that were not disturbed saw one round's bytes, whatever size they were read in.
#[test]
fn readers_of_a_frame_see_whole_changes() {
    let frame = Frame { page: AlignedPage::zeros(), word: AtomicU64::new(0) };
    assert!(State(&frame.word).claim());
    State(&frame.word).publish(false);
    let is_one = |view: View<'_>| {
        let byte = view.u8(PAGE_BYTES - 1);
        let mut some = Vec::new();
        view.append_to(&mut some, 1, 30);
        let mut whole = [0; PAGE_BYTES];
        view.copy_to(&mut whole);
        whole.iter().chain(&some).all(|&each| each == byte)
            && view.u16(40) == u16::from_ne_bytes([byte; 2])
            && view.u32(44) == u32::from_ne_bytes([byte; 4])
            && view.compare(33, 9, &[byte; 9]).is_eq()
            && view.words::<2>(64) == Some([u64::from_ne_bytes([byte; 8]); 2])
    };
    thread::scope(|threads| {
        threads.spawn(|| (1..=ROUNDS).for_each(|round| frame.change(|page| fill(page, round))));
        threads.spawn(|| {
            for _ in 0..ROUNDS {
                assert_ne!(frame.try_read(is_one), Some(false));
            }
        });
        threads.spawn(|| {
            for _ in 0..ROUNDS {
                let is_one = |bytes: &PageBytes| bytes.iter().all(|&each| each == bytes[0]);
                assert_ne!(frame.pinned(is_one), Some(false));
            }
        });
    });
    assert_eq!(frame.try_read(is_one), Some(true), "nobody disturbs the last read");
}
