//! The state word under every order in which threads can run and memory can show it (loom).

use loom::model;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::thread;

use crate::buffer::pins::add_within;
use crate::buffer::state::{Atomic, State};
use crate::pages::Version;

impl Atomic for AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    fn exchange(&self, old: u64, new: u64, success: Ordering) -> bool {
        self.compare_exchange(old, new, success, Ordering::Relaxed).is_ok()
    }

    fn fence(ordering: Ordering) {
        fence(ordering);
    }
}

/// A page of two words that are always equal, but for moments in which somebody owns it. What is
/// on disk is `disk`; an evicted page's bytes are zeros.
struct Page {
    word: AtomicU64,
    bytes: [AtomicU64; 2],
    disk: AtomicU64,
}

impl Page {
    /// In memory, clean, of version 1 and bytes 5.
    fn resident() -> Arc<Self> {
        let page = Self::evicted();
        assert!(page.read_from_disk());
        page
    }

    fn evicted() -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        Arc::new(Self { word: zero(), bytes: [zero(), zero()], disk: AtomicU64::new(5) })
    }

    fn state(&self) -> State<'_, AtomicU64> {
        State(&self.word)
    }

    fn put(&self, value: u64) {
        self.bytes.iter().for_each(|byte| byte.store(value, Ordering::Relaxed));
    }

    fn read_from_disk(&self) -> bool {
        let claimed = self.state().claim();
        if claimed {
            self.put(self.disk.load(Ordering::Relaxed));
            self.state().publish(false);
        }
        claimed
    }

    /// One optimistic look.
    fn try_read(&self) -> Option<(Version, u64)> {
        let before = self.state().load();
        if !before.is_readable() {
            return None;
        }
        let seen = [0, 1].map(|at| self.bytes[at].load(Ordering::Relaxed));
        self.state().is_as(before).then(|| {
            assert_eq!(seen[0], seen[1], "half a change");
            (before.version(), seen[0])
        })
    }

    /// Add to both words, if the page can be latched.
    fn change(&self, by: u64) -> bool {
        let latched = self.state().latch(self.state().load(), true);
        if latched {
            let now = self.bytes[0].load(Ordering::Relaxed);
            assert_eq!(now, self.bytes[1].load(Ordering::Relaxed), "somebody else owns it, too");
            self.put(now + by);
            self.state().unlatch(true);
        }
        latched
    }

    /// Evict, after writing if dirty.
    fn evict(&self) -> bool {
        let word = self.state().load();
        if word.is_dirty() {
            if !self.state().pin(word) {
                return false;
            }
            let copy = [0, 1].map(|at| self.bytes[at].load(Ordering::Relaxed));
            assert_eq!(copy[0], copy[1], "half a change is being written");
            self.disk.store(copy[0], Ordering::Relaxed);
            assert_eq!(copy[0], self.bytes[1].load(Ordering::Relaxed), "changed while pinned");
            if !self.state().latch_pinned(false) {
                return false;
            }
        } else if !self.state().latch(word, false) {
            return false;
        }
        self.put(0);
        self.state().vacate();
        true
    }

    /// The bytes that the page has, wherever they are.
    fn value(&self) -> u64 {
        self.try_read().map_or_else(|| self.disk.load(Ordering::Relaxed), |(_, value)| value)
    }
}

#[test]
fn a_look_sees_all_of_a_change_or_nothing() {
    model(|| {
        let page = Page::resident();
        let writer = thread::spawn({
            let page = page.clone();
            move || page.change(1) && page.change(1)
        });
        for _ in 0..2 {
            if let Some((version, value)) = page.try_read() {
                assert_eq!(version.0 + 4, value, "equal versions are equal bytes");
            }
        }
        assert!(writer.join().unwrap());
    });
}

#[test]
fn no_look_sees_a_page_that_is_going_or_coming() {
    model(|| {
        let page = Page::resident();
        let evictor = thread::spawn({
            let page = page.clone();
            move || assert!(page.evict() && page.read_from_disk())
        });
        if let Some((version, value)) = page.try_read() {
            assert!(value == 5 && (1..=2).contains(&version.0));
        }
        evictor.join().unwrap();
        assert_eq!(page.try_read(), Some((Version(2), 5)));
    });
}

#[test]
fn of_two_who_bring_a_page_one_does() {
    model(|| {
        let page = Page::evicted();
        let other = thread::spawn({
            let page = page.clone();
            move || page.read_from_disk()
        });
        let ours = page.read_from_disk();
        assert!(ours ^ other.join().unwrap());
        assert_eq!(page.try_read(), Some((Version(1), 5)));
    });
}

#[test]
fn two_changes_and_an_eviction_lose_nothing() {
    model(|| {
        let page = Page::resident();
        assert!(page.change(1));
        let writer = thread::spawn({
            let page = page.clone();
            move || u64::from(page.change(10))
        });
        let evictor = thread::spawn({
            let page = page.clone();
            move || page.evict()
        });
        let changed = writer.join().unwrap();
        evictor.join().unwrap();
        assert_eq!(page.value(), 6 + 10 * changed);
    });
}

#[test]
fn pinned_pages_stay_unchanged_until_released() {
    model(|| {
        let page = Page::resident();
        let other = thread::spawn({
            let page = page.clone();
            move || (u64::from(page.change(1)), page.evict())
        });
        let word = page.state().load();
        if page.state().add_reader(word) {
            let first = page.bytes[0].load(Ordering::Relaxed);
            let second = page.bytes[1].load(Ordering::Relaxed);
            assert_eq!(first, second, "half a change");
            assert!(first >= 5, "evicted");
            assert_eq!(page.bytes[0].load(Ordering::Relaxed), first, "changed while pinned");
            assert!(page.state().remove_reader());
        }
        let (changed, _) = other.join().unwrap();
        assert_eq!(page.value(), 5 + changed);
        assert!(!page.state().load().has_readers());
    });
}

#[test]
fn a_page_that_is_being_written_can_be_pinned_and_is_not_evicted_then() {
    model(|| {
        let page = Page::resident();
        assert!(page.change(1));
        let evictor = thread::spawn({
            let page = page.clone();
            move || page.evict()
        });
        let word = page.state().load();
        if page.state().add_reader(word) {
            assert_eq!([0, 1].map(|at| page.bytes[at].load(Ordering::Relaxed)), [6, 6]);
            page.state().remove_reader();
        }
        evictor.join().unwrap();
        assert_eq!(page.value(), 6);
    });
}

#[test]
fn notes_of_others_do_not_undo_a_hold() {
    model(|| {
        let page = Page::resident();
        assert!(page.change(1));
        assert!(page.state().pin(page.state().load()));
        let other = thread::spawn({
            let page = page.clone();
            move || {
                page.state().give_second_chance(page.state().load());
                u64::from(page.change(1))
            }
        });
        assert_eq!(page.try_read(), Some((Version(2), 6)), "everyone may look");
        assert_eq!(page.try_read(), Some((Version(2), 6)), "and nobody changes it");
        page.state().unpin(true);
        let changed = other.join().unwrap();
        let word = page.state().load();
        assert!(!word.is_pinned());
        assert_eq!(word.is_dirty(), changed == 1);
        assert_eq!(page.try_read(), Some((Version(2 + changed), 6 + changed)));
    });
}

#[test]
fn a_thread_that_asks_for_too_much_takes_the_last_place_from_nobody() {
    model(|| {
        let (count, most) = (Arc::new(AtomicU64::new(1)), 2);
        let other = thread::spawn({
            let count = count.clone();
            move || add_within(&*count, 2, most)
        });
        assert!(add_within(&*count, 1, most), "one place is free, and nobody else can take it");
        assert!(!other.join().unwrap());
        assert_eq!(count.load(Ordering::Relaxed), 2);
    });
}
