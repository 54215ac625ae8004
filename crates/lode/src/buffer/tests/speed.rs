//! The cost of reading a page in memory: `cargo test --release -p lode --lib -- --ignored
//! --nocapture what_a_look_costs`.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loadstone_measure::clock::now_ns;

use super::{ALL, TestDisk, buffer, options};
use crate::buffer::{Buffer, BufferOptions};
use crate::page::{PAGE_BYTES, PageNumber};
use crate::pages::Version;

const PAGES: PageNumber = 256;
const ROUNDS: u32 = 20_000;

/// ns for each call, the least of five.
fn cost_ns(mut call: impl FnMut(PageNumber) -> u64) -> f64 {
    let once = |call: &mut dyn FnMut() -> u64| {
        let start = now_ns();
        black_box(call());
        (now_ns() - start) as f64 / f64::from(ROUNDS) / f64::from(PAGES)
    };
    let mut all = || {
        let mut sum = 0_u64;
        for _ in 0..ROUNDS {
            for page in 0..PAGES {
                sum = sum.wrapping_add(call(page));
            }
        }
        sum
    };
    (0..5).map(|_| once(&mut all)).fold(f64::MAX, f64::min)
}

#[inline(never)]
fn read(buffer: &Buffer, page: PageNumber) -> u64 {
    buffer.read(page, |view| view.u64(64)).unwrap_or(0)
}

#[inline(never)]
fn try_read_version(buffer: &Buffer, page: PageNumber, version: Version) -> u64 {
    buffer.try_read_version(page, version, |view| view.u64(64)).unwrap_or(0)
}

#[inline(never)]
fn load(words: &[AtomicU64], page: PageNumber) -> u64 {
    words.get(page as usize * 512 + 8).map_or(0, |word| word.load(Ordering::Relaxed))
}

#[test]
#[ignore = "it measures"]
#[expect(clippy::print_stderr, reason = "it is there to print")]
fn cost_of_a_read() {
    let cache_bytes = 2048 * PAGE_BYTES as u64;
    for replacement in ALL {
        let settings = BufferOptions { cache_bytes, ..options(replacement) };
        let buffer = Arc::new(buffer(&TestDisk::with_pages(PAGES), &settings));
        let versions: Vec<Version> =
            (0..PAGES).map(|page| buffer.read_with_version(page, |_| ()).unwrap().1).collect();
        let words = buffer.pages.as_words();
        eprintln!(
            "{replacement:?}: load {:.2} ns, read {:.2} ns, inlined {:.2} ns (load {:.2} ns), \
             with version {:.2} ns",
            cost_ns(|page| load(black_box(words), page)),
            cost_ns(|page| read(black_box(&buffer), page)),
            cost_ns(|page| buffer.read(page, |view| view.u64(64)).unwrap_or(0)),
            cost_ns(|page| words[page as usize * 512 + 8].load(Ordering::Relaxed)),
            cost_ns(|page| try_read_version(black_box(&buffer), page, versions[page as usize])),
        );
    }
}
