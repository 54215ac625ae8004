//! Histories made by hand: each has one anomaly, by which the checker must call it, or none.

use crate::checker::Operation::{self, Append, Read};
use crate::checker::{Anomaly, Kind, Outcome, Transaction, check};

fn append(key: usize, value: u64) -> Operation {
    Append { key, value }
}

fn read(key: usize, values: &[u64]) -> Operation {
    Read { key, values: values.to_vec() }
}

/// All at the same time, and a last one that reads the lists 0, 1 and so on.
fn at_once(transactions: &[(Outcome, &[Operation])], at_end: &[&[u64]]) -> Vec<Transaction> {
    let end = transactions.len() as u64 + 1;
    let made = transactions.iter().map(|(outcome, operations)| Transaction {
        began: 0,
        ended: end,
        outcome: *outcome,
        operations: operations.to_vec(),
    });
    let operations = at_end.iter().enumerate().map(|(key, values)| read(key, values)).collect();
    let last =
        Transaction { began: end + 1, ended: end + 2, outcome: Outcome::Committed, operations };
    made.chain([last]).collect()
}

fn found(history: &[Transaction]) -> Option<Kind> {
    check(history).map(|Anomaly { kind, .. }| kind)
}

const YES: Outcome = Outcome::Committed;
const NO: Outcome = Outcome::Aborted;

#[test]
fn one_after_another_is_in_order() {
    let history = at_once(
        &[
            (YES, &[append(0, 1), read(0, &[1])]),
            (YES, &[read(0, &[1]), append(0, 2), append(0, 3), append(1, 4)]),
            (NO, &[read(0, &[1, 2, 3]), append(0, 5), read(0, &[1, 2, 3, 5])]),
            (YES, &[read(0, &[1, 2, 3]), read(1, &[4])]),
            (YES, &[read(0, &[]), read(1, &[])]),
        ],
        &[&[1, 2, 3], &[4]],
    );
    assert_eq!(check(&history), None);
}

#[test]
fn a_value_from_nowhere_or_twice_is_garbage() {
    for end in [&[1, 7][..], &[1, 1]] {
        let history = at_once(&[(YES, &[append(0, 1)])], &[end]);
        assert_eq!(found(&history), Some(Kind::Garbage), "{end:?}");
    }
}

#[test]
fn a_transaction_that_does_not_see_its_own_is_found() {
    let history = at_once(&[(YES, &[append(0, 1), read(0, &[])])], &[&[1]]);
    assert_eq!(found(&history), Some(Kind::Internal));
    let history =
        at_once(&[(YES, &[append(0, 1)]), (YES, &[read(0, &[]), read(0, &[1])])], &[&[1]]);
    assert_eq!(found(&history), Some(Kind::Internal));
}

#[test]
fn lists_that_fork_have_no_order() {
    let history = at_once(
        &[(YES, &[append(0, 1)]), (YES, &[append(0, 2)]), (YES, &[read(0, &[2])])],
        &[&[1, 2]],
    );
    assert_eq!(found(&history), Some(Kind::IncompatibleOrder));
}

#[test]
fn a_committed_value_that_is_gone_is_lost() {
    let history = at_once(&[(YES, &[append(0, 1)]), (YES, &[append(0, 2)])], &[&[1]]);
    assert_eq!(found(&history), Some(Kind::LostWrite));
}

#[test]
fn a_value_that_was_taken_back_must_not_be_read() {
    let history = at_once(&[(NO, &[append(0, 1)]), (YES, &[read(0, &[1])])], &[&[1]]);
    assert_eq!(found(&history), Some(Kind::G1a));
}

#[test]
fn half_of_a_transaction_must_not_be_read() {
    let history =
        at_once(&[(YES, &[append(0, 1), append(0, 2)]), (YES, &[read(0, &[1])])], &[&[1, 2]]);
    assert_eq!(found(&history), Some(Kind::G1b));
}

#[test]
fn writes_in_two_orders_are_a_cycle() {
    let history = at_once(
        &[(YES, &[append(0, 1), append(1, 2)]), (YES, &[append(1, 3), append(0, 4)])],
        &[&[1, 4], &[3, 2]],
    );
    assert_eq!(found(&history), Some(Kind::G0));
}

#[test]
fn two_who_read_each_other_are_a_cycle() {
    let history = at_once(
        &[(YES, &[append(0, 1), read(1, &[2])]), (YES, &[append(1, 2), read(0, &[1])])],
        &[&[1], &[2]],
    );
    assert_eq!(found(&history), Some(Kind::G1c));
}

#[test]
fn a_lost_update_is_a_cycle_with_one_read() {
    let history = at_once(
        &[(YES, &[read(0, &[]), append(0, 1)]), (YES, &[read(0, &[]), append(0, 2)])],
        &[&[1, 2]],
    );
    assert_eq!(found(&history), Some(Kind::GSingle));
}

#[test]
fn write_skew_is_a_cycle_with_two_reads() {
    let history = at_once(
        &[(YES, &[read(0, &[]), append(1, 1)]), (YES, &[read(1, &[]), append(0, 2)])],
        &[&[2], &[1]],
    );
    assert_eq!(found(&history), Some(Kind::G2Item));
}

#[test]
fn an_old_answer_is_recognised_by_its_time() {
    let mut history = at_once(&[(YES, &[append(0, 1)]), (YES, &[read(0, &[])])], &[&[1]]);
    assert_eq!(check(&history), None);
    (history[0].ended, history[1].began) = (1, 2);
    assert_eq!(found(&history), Some(Kind::RealTime));
}
