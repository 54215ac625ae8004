use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;

use std::sync::Mutex;
use std::thread;

use super::*;

const A: Resource = Resource::Page(7);
const B: Resource = Resource::Page(8);

/// Wait until that many stand in line: the only way to know that a thread has begun to wait.
fn await_waiting(locks: &Locks, count: usize) {
    while locks.table().waiting.len() < count {
        thread::yield_now();
    }
}

#[test]
fn who_only_looks_shares_and_who_changes_waits() {
    let locks = Locks::new();
    locks.acquire(1, A, Mode::Shared).unwrap();
    locks.acquire(2, A, Mode::Shared).unwrap();
    locks.acquire(2, A, Mode::Shared).unwrap();
    assert_eq!(locks.counters().waits, 0);
    thread::scope(|scope| {
        let writer = scope.spawn(|| locks.acquire(3, A, Mode::Exclusive));
        await_waiting(&locks, 1);
        locks.release(1, [A]);
        assert!(!writer.is_finished());
        locks.release(2, [A]);
        writer.join().unwrap().unwrap();
    });
    locks.release(3, [A]);
    assert!(locks.table().queues.is_empty() && locks.table().threads.is_empty());
}

#[test]
fn a_reader_does_not_overtake_a_waiting_writer_but_an_upgrade_does() {
    let locks = Locks::new();
    let order = Mutex::new(Vec::new());
    locks.acquire(1, A, Mode::Shared).unwrap();
    thread::scope(|scope| {
        for (count, (number, mode)) in
            [(2, Mode::Exclusive), (3, Mode::Shared), (4, Mode::Shared)].into_iter().enumerate()
        {
            let (locks, order) = (&locks, &order);
            scope.spawn(move || {
                locks.acquire(number, A, mode).unwrap();
                order.lock().unwrap().push(number);
                locks.release(number, [A]);
            });
            await_waiting(locks, count + 1);
        }
        // The only holder: the upgrade is granted though three are in line.
        locks.acquire(1, A, Mode::Exclusive).unwrap();
        order.lock().unwrap().push(1);
        locks.release(1, [A]);
    });
    let order = order.into_inner().unwrap();
    assert_eq!(order[..2], [1, 2], "{order:?}");
}

#[test]
fn of_two_in_a_circle_the_younger_is_reported() {
    for older_waits_first in [true, false] {
        let locks = Locks::new();
        locks.acquire(1, A, Mode::Exclusive).unwrap();
        let ready = Barrier::new(2);
        thread::scope(|scope| {
            let (ready, locks) = (&ready, &locks);
            let younger = scope.spawn(move || {
                locks.acquire(2, B, Mode::Exclusive).unwrap();
                ready.wait();
                if older_waits_first {
                    await_waiting(locks, 1);
                }
                let reported = locks.acquire(2, A, Mode::Shared);
                locks.release(2, [B]);
                reported
            });
            ready.wait();
            if !older_waits_first {
                await_waiting(locks, 1);
            }
            locks.acquire(1, B, Mode::Exclusive).unwrap();
            assert!(matches!(younger.join().unwrap(), Err(LodeError::Deadlock)));
        });
        assert_eq!(locks.counters(), LockCounters { waits: 2, deadlocks: 1 });
    }
}

#[test]
fn two_who_both_want_more_of_one_page_are_a_circle() {
    let locks = Locks::new();
    locks.acquire(1, A, Mode::Shared).unwrap();
    locks.acquire(2, A, Mode::Shared).unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(|| locks.acquire(1, A, Mode::Exclusive));
        await_waiting(&locks, 1);
        assert!(matches!(locks.acquire(2, A, Mode::Exclusive), Err(LodeError::Deadlock)));
        locks.release(2, [A]);
        first.join().unwrap().unwrap();
    });
}

#[test]
fn a_thread_that_waits_for_itself_is_reported() {
    let locks = Locks::new();
    locks.acquire(1, Resource::Volume, Mode::Shared).unwrap();
    let reported = locks.acquire(2, Resource::Volume, Mode::Exclusive);
    assert!(matches!(reported, Err(LodeError::Deadlock)));
    locks.release(2, []);
    locks.release(1, [Resource::Volume]);
    locks.acquire(3, Resource::Volume, Mode::Exclusive).unwrap();
}

#[test]
fn an_owner_that_is_cancelled_waits_no_more_and_keeps_what_it_holds() {
    let locks = Locks::new();
    locks.acquire(1, A, Mode::Exclusive).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            locks.acquire(2, B, Mode::Exclusive).unwrap();
            locks.acquire(2, A, Mode::Shared)
        });
        await_waiting(&locks, 1);
        locks.cancel(2);
        assert!(matches!(waiter.join().unwrap(), Err(LodeError::Deadlock)));
    });
    // The transaction may still have a free lock, and keeps its own until it lets go.
    locks.acquire(2, Resource::Page(9), Mode::Shared).unwrap();
    assert!(matches!(locks.acquire(2, A, Mode::Shared), Err(LodeError::Deadlock)));
    locks.release(2, [B, Resource::Page(9)]);
    locks.release(1, [A]);
    assert!(locks.table().queues.is_empty() && locks.table().waiting.is_empty());
    assert!(locks.table().cancelled.is_empty());
}

#[test]
fn a_ring_of_threads_always_gets_on() {
    const THREADS: u64 = 5;
    const ROUNDS: u64 = 40;
    let locks = Locks::new();
    let (next, done) = (AtomicU64::new(1), AtomicUsize::new(0));
    thread::scope(|scope| {
        for place in 0..THREADS {
            let (locks, next, done) = (&locks, &next, &done);
            scope.spawn(move || {
                let pages = [place, (place + 1) % THREADS].map(|page| Resource::Page(page as u32));
                let mut left = ROUNDS;
                while left > 0 {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let both = pages.iter().try_for_each(|&page| {
                        locks.acquire(number, page, Mode::Shared)?;
                        thread::yield_now();
                        locks.acquire(number, page, Mode::Exclusive)
                    });
                    left -= u64::from(both.is_ok());
                    done.fetch_add(usize::from(both.is_ok()), Ordering::Relaxed);
                    locks.release(number, pages);
                }
            });
        }
    });
    assert_eq!(done.into_inner() as u64, THREADS * ROUNDS);
    assert!(locks.table().queues.is_empty() && locks.table().waiting.is_empty());
}
