//! One binary for what the crate promises from outside.

mod counters;
mod dependence;
mod loops;
mod paired;
mod residency;
mod sampling;
mod schedule;
mod simulation;
mod statistics;

use loadstone_measure::{clock, idle_states::IdleStates, memory, processor, spin};

#[test]
fn time_never_runs_backwards() {
    let reads: Vec<u64> = (0..10_000).map(|_| clock::now_ns()).collect();
    assert!(reads.is_sorted());
    assert!(clock::resolution_ns() > 0);
    assert!(clock::cost_ns() > 0.0);
}

#[test]
fn a_wish_to_disable_idle_states_is_held_or_says_why_not() {
    let mut idle_states = IdleStates::disable();
    assert_eq!(idle_states.held(), idle_states.reason().is_empty(), "{}", idle_states.reason());
    idle_states.close();
    idle_states.close();
    assert!(!idle_states.held() && !idle_states.reason().is_empty());
}

#[test]
fn memory_is_touched_but_never_more_than_there_is() {
    assert!(memory::pretouch(1 << 20).expect("a mebibyte") > 0);
    memory::pretouch(0).expect("nothing is easy");
    let refused = memory::pretouch(usize::MAX).expect_err("no machine has that much");
    assert!(refused.to_string().contains("request less"), "{refused}");
}

#[test]
fn the_chain_of_a_spin_is_run() {
    // A lower bound that no machine breaks: six operations take 0.6 ns at 10 GHz, so in less time
    // the chain was not run but optimised away.
    assert!(spin::spin_ns(1_000_000) > 500_000);
}

#[test]
fn processors_report_of_time_since_boot_that_only_grows() {
    let before = processor::processor_times().expect("every Linux shows");
    let after = processor::processor_times().expect("every Linux shows");
    assert!(before.busy_ns > 0);
    assert!(after.busy_ns >= before.busy_ns && after.stolen_ns >= before.stolen_ns);
}
