//! The cost of a look-up and of a step, printed: `cargo test --release -p lode speed -- --ignored
//! --nocapture`. Nothing is asserted about time.

use std::hint::black_box;
use std::ops::Bound;

use super::super::Btree;
use super::{empty, number};
use crate::pages::memory::MemoryPages;

const KEYS: u64 = 20_000;
const ROUNDS: u64 = 2_000_000;

/// Monotonic time.
fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to nothing but `time`, which lives longer than it.
    #[expect(unsafe_code, reason = "the crate has no clock, and needs none but here")]
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(answer, 0);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[expect(clippy::print_stderr, reason = "the figures are what it is for")]
fn report(what: &str, count: u64, mut work: impl FnMut(u64) -> u64) {
    // The best of many short blocks: others use the machine, too.
    let (blocks, mut best, mut random) = (count.min(200), f64::MAX, 1_u64);
    for _ in 0..blocks {
        let start = now_ns();
        for _ in 0..count / blocks {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            black_box(work((random >> 33) % KEYS));
        }
        best = best.min((now_ns() - start) as f64 / (count / blocks) as f64);
    }
    eprintln!("{what:<44} {best:8.1} ns");
}

fn loaded(keys: impl Iterator<Item = Vec<u8>>, fill_percent: u8) -> (MemoryPages, Btree) {
    let (mut pages, tree) = empty();
    tree.bulk_load(&mut pages, keys.map(|key| (key, [7; 8])), fill_percent).unwrap();
    (pages, tree)
}

#[test]
#[ignore = "prints figures, asserts nothing"]
fn speed_of_getting() {
    let (pages, tree) = loaded((0..KEYS).map(|key| number(key).to_vec()), 100);
    report("get, integers, packed", ROUNDS, |key| {
        tree.get(&pages, &number(key), |value| value.u64(0)).unwrap().unwrap()
    });
    let (mut pages, tree) = empty();
    for step in 0..KEYS {
        tree.insert(&mut pages, &number(step * 7_919 % KEYS), &[7; 8]).unwrap();
    }
    report("get, integers, inserted at random", ROUNDS, |key| {
        tree.get(&pages, &number(key), |value| value.u64(0)).unwrap().unwrap()
    });
    let wide = |key: u64| (key + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    let mut keys = (0..KEYS).map(wide).collect::<Vec<_>>();
    keys.sort_unstable();
    let (pages, tree) = loaded(keys.into_iter().map(|key| key.to_vec()), 90);
    report("get, hashed integers", ROUNDS, |key| {
        tree.get(&pages, &wide(key), |value| value.u64(0)).unwrap().unwrap()
    });
    let text = |key: u64| format!("part type {}, number {key:06}", key % 3);
    let mut keys = (0..KEYS).map(text).collect::<Vec<_>>();
    keys.sort_unstable();
    let texts = (0..KEYS).map(text).collect::<Vec<_>>();
    let (pages, tree) = loaded(keys.into_iter().map(String::into_bytes), 90);
    report("get, texts of 30 bytes", ROUNDS, |key| {
        let key = texts[key as usize].as_bytes();
        tree.get(&pages, key, |value| value.u64(0)).unwrap().unwrap()
    });
}

#[test]
#[ignore = "prints figures, asserts nothing"]
fn speed_of_ranges() {
    let connection = |part: u64, nth: u64| [number(part), number(nth)].concat();
    let keys = (0..KEYS * 3).map(|at| connection(at / 3, at % 3));
    let (pages, tree) = loaded(keys, 90);
    let mut cursor = tree.forwards(&pages, ..).unwrap();
    report("seek and 3 steps, with a cursor kept", ROUNDS / 4, |part| {
        let (low, high) = (number(part), number(part + 1));
        cursor.seek((Bound::Included(&low[..]), Bound::Excluded(&high[..]))).unwrap();
        let mut sum = 0;
        while let Some((_, value)) = cursor.entry().unwrap() {
            sum += u64::from(value[0]);
        }
        assert_eq!(sum, 21);
        sum
    });
    report("seek and 3 steps, with a cursor each", ROUNDS / 4, |part| {
        let (low, high) = (number(part), number(part + 1));
        let range = (Bound::Included(&low[..]), Bound::Excluded(&high[..]));
        let mut cursor = tree.forwards(&pages, range).unwrap();
        let mut sum = 0;
        while let Some((_, value)) = cursor.entry().unwrap() {
            sum += u64::from(value[0]);
        }
        sum
    });
    let scans = 20;
    for forwards in [true, false] {
        report(if forwards { "60,000 steps" } else { "60,000 steps back" }, scans, |_| {
            let mut cursor =
                if forwards { tree.forwards(&pages, ..) } else { tree.backwards(&pages, ..) }
                    .unwrap();
            let mut sum = 0;
            while let Some((_, value)) = cursor.entry().unwrap() {
                sum += u64::from(value[0]);
            }
            sum
        });
    }
}

#[test]
#[ignore = "prints figures, asserts nothing"]
fn speed_of_changing() {
    let (mut pages, tree) = empty();
    let mut at = 0;
    report("put, ascending", KEYS * 10, |_| {
        at += 1;
        u64::from(tree.put(&mut pages, &number(at), &[7; 8]).unwrap().is_some())
    });
    let (mut pages, tree) = empty();
    report("put or remove at random", ROUNDS / 4, |key| {
        at += 1;
        if at % 2 == 0 {
            u64::from(tree.insert(&mut pages, &number(key), &[7; 8]).unwrap())
        } else {
            u64::from(tree.remove(&mut pages, &number(key)).unwrap().is_some())
        }
    });
}
