//! Drawn graphs whose records have moved since their references were made, and damaged ones.

use std::ops::ControlFlow;
use std::sync::Arc;

use lode::internals::disk::Memory;
use lode::{Database, Edges, LodeError, PageRead, Reference, Writing};
use proptest::prelude::*;

use crate::stored::{COUNT, Graph, IN, OUT, SWITCHES, Stored, id, number};

fn database(text: &str) -> Database {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    Database::on(volume, log, &text.parse().unwrap()).unwrap()
}

fn graph() -> impl Strategy<Value = Graph> {
    (2..30_usize)
        .prop_flat_map(|count| prop::collection::vec(prop::collection::vec(0..count, 0..=3), count))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_goes_every_path_whatever_the_tactics(
        graph in graph(),
        grown in prop::collection::vec((0..30_usize, 60..3_500_usize), 0..8),
        from in 0..30_usize,
        depth in 0..4_u32,
    ) {
        let from = from % graph.len();
        for (swizzle, prefetch) in SWITCHES {
            let database = database(&format!("cache=131072&swizzle={swizzle}&prefetch={prefetch}"));
            let mut writing = database.writing();
            let stored = Stored::new(&mut writing, &graph, 0).unwrap();
            for &(number, len) in &grown {
                stored.grow(&mut writing, number % graph.len(), len).unwrap();
            }
            let visited = stored.compare(&writing, &graph, from, depth);
            writing.commit().unwrap();
            stored.compare(&database.reading(), &graph, from, depth);
            let wanted = if prefetch == "on" { 2 * visited } else { 0 };
            prop_assert_eq!(database.counters().unwrap().buffer.prefetches, wanted);
        }
    }
}

/// Three that lead to each other, and the first to itself.
fn small() -> (Writing, Stored) {
    let mut writing = database("swizzle=on&prefetch=on").writing();
    let stored = Stored::new(&mut writing, &vec![vec![1, 2, 0], vec![2], vec![]], 0).unwrap();
    (writing, stored)
}

#[test]
fn one_step_is_had_by_itself() {
    let (pages, stored) = small();
    let mut ends = vec![stored.oids[1]];
    stored.to().ends(&pages, stored.oids[0], &mut ends).unwrap();
    stored.from().ends(&pages, stored.oids[2], &mut ends).unwrap();
    assert_eq!(ends, [1, 1, 2, 0, 0, 1].map(|number: usize| stored.oids[number]));
}

#[test]
fn a_reference_to_nothing_is_damage_and_a_start_at_nothing_is_a_mistake() {
    let reported = |damage: &dyn Fn(&mut Writing, &Stored)| {
        let (mut pages, stored) = small();
        damage(&mut pages, &stored);
        let forward = stored.to().walk(&pages, stored.oids[0], 3, number, go_on);
        let joined = stored.joined(OUT, IN).walk(&pages, stored.part_ids[0], 3, number, go_on);
        [forward, joined].map(|walked| walked.map(drop).map_err(|error| error.to_string()))
    };
    let gone = reported(&|pages, stored| {
        stored.objects.delete(pages, id(stored.oids[2])).unwrap();
        stored.parts.delete(pages, id(stored.part_ids[2])).unwrap();
    });
    assert!(
        gone.iter().all(|one| one.as_ref().is_err_and(|reported| reported.contains("not there")))
    );
    let (mut pages, stored) = small();
    stored.objects.delete(&mut pages, id(stored.oids[0])).unwrap();
    let missing = stored.to().walk(&pages, stored.oids[0], 1, number, go_on);
    assert!(matches!(missing, Err(LodeError::Missing { .. })), "{missing:?}");
    let circle = reported(&|pages, stored| {
        let first = first_connection(pages, stored);
        let next = first.0.to_le_bytes();
        stored
            .connections
            .change(pages, id(first), |record| record[8..16].copy_from_slice(&next))
            .unwrap();
    });
    assert!(circle[0].is_ok() && circle[1].as_ref().unwrap_err().contains("in a circle"));
    let other = reported(&|pages, stored| {
        let (first, parent) = (first_connection(pages, stored), stored.part_ids[1].0);
        stored
            .connections
            .change(pages, id(first), |record| record[..8].copy_from_slice(&parent.to_le_bytes()))
            .unwrap();
    });
    assert!(other[1].as_ref().unwrap_err().contains("another parent"));
}

#[test]
fn a_number_of_references_that_no_page_holds_is_damage() {
    let (mut pages, stored) = small();
    stored
        .objects
        .change(&mut pages, id(stored.oids[0]), |object| object[COUNT..COUNT + 2].fill(9))
        .unwrap();
    let reported = stored.from().walk(&pages, stored.oids[0], 1, number, go_on).unwrap_err();
    assert!(reported.to_string().contains("too short for its references"), "{reported}");
}

fn go_on(_: Reference, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn first_connection(pages: &impl PageRead, stored: &Stored) -> Reference {
    let joined = stored.joined(OUT, IN);
    stored.parts.read_at(pages, stored.part_ids[0], |view, at| joined.start(view, at)).unwrap()
}
