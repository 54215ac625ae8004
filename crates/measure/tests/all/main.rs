//! One binary for what the crate promises from outside.

mod counters;
mod residency;
mod schedule;
mod statistics;

use loadstone_measure::{awake::Awake, clock, memory};

#[test]
fn time_never_runs_backwards() {
    let reads: Vec<u64> = (0..10_000).map(|_| clock::now_ns()).collect();
    assert!(reads.is_sorted());
    assert!(clock::resolution_ns() > 0);
    assert!(clock::cost_ns() > 0.0);
}

#[test]
fn a_wish_to_stay_awake_is_held_or_says_why_not() {
    let mut awake = Awake::hold();
    assert_eq!(awake.held(), awake.reason().is_empty(), "{}", awake.reason());
    awake.close();
    awake.close();
    assert!(!awake.held() && !awake.reason().is_empty());
}

#[test]
fn memory_is_touched_but_never_more_than_there_is() {
    assert!(memory::pretouch(1 << 20).expect("a mebibyte") > 0);
    memory::pretouch(0).expect("nothing is easy");
    let refused = memory::pretouch(usize::MAX).expect_err("no machine has that much");
    assert!(refused.to_string().contains("ask for less"), "{refused}");
}
