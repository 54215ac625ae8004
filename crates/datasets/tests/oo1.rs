//! Properties of OO1's database and inputs: splits, places on the cycle, sizes, limits.

use std::collections::HashSet;

use loadstone_datasets::oo1::database::{BUILD_FIRST_S, BUILD_SPAN_S};
use loadstone_datasets::oo1::{Connection, Database, Part};
use loadstone_datasets::{Column, DatasetError, open, read_all};
use proptest::prelude::*;

use relations::assert_same_rows;

mod relations;

fn database(parts: u64, locality: bool) -> Database {
    Database::new(parts, 0, locality).expect("within the limits")
}

/// Computed from the rules of `docs/reference/data.md` by another program.
#[test]
fn the_first_rows_are_known() {
    let database = database(20_000, true);
    let connection = |from, to, kind, length| Connection { from, to, kind, length };
    let first = [(2_631, 7, 45_865), (44, 0, 67_886), (187, 3, 51_941)];
    assert_eq!(
        database.connections(1),
        first.map(|(to, kind, length)| connection(1, to, kind, length))
    );
    assert_eq!(database.connections(20_000)[2], connection(20_000, 16_446, 9, 80_421));
    let part = |id, kind, x, y, build_s| Part { id, kind, x, y, build_s };
    assert_eq!(database.part(1), part(1, 4, 2_258, 67_007, 592_362_354));
    assert_eq!(database.part(2), part(2, 4, 75_502, 68_727, 622_792_740));
}

#[test]
fn locality_changes_targets_and_nothing_else() {
    let near: Vec<_> = database(20_000, true).connection_range(0..60_000).collect();
    let any: Vec<_> = database(20_000, false).connection_range(0..60_000).collect();
    let rest = |each: &Connection| (each.from, each.kind, each.length);
    assert!(near.iter().map(rest).eq(any.iter().map(rest)));
    let same = near.iter().zip(&any).filter(|(near, any)| near.to == any.to).count();
    // A tenth follows the same branch.
    assert!((5_500..6_500).contains(&same), "{same}");
    let far = |each: &&Connection| each.to.abs_diff(each.from) > 200;
    assert!((5_500..6_500).contains(&near.iter().filter(far).count()));
    assert!(any.iter().filter(far).count() > 58_000);
    let parts = |locality| database(20_000, locality).part_range(1..20_001);
    assert!(parts(true).eq(parts(false)));
}

#[test]
fn attributes_fill_their_ranges() {
    let database = database(20_000, true);
    let parts: Vec<Part> = database.part_range(1..20_001).collect();
    assert!(parts.iter().map(|part| part.id).eq(1..=20_000));
    let connections: Vec<Connection> = database.connection_range(0..60_000).collect();
    assert!(connections.iter().map(|each| each.from).eq((0..60_000).map(|number| 1 + number / 3)));
    let kinds = parts.iter().map(|part| part.kind).chain(connections.iter().map(|each| each.kind));
    let mut of_kind = [0; 10];
    kinds.for_each(|kind| of_kind[usize::from(kind)] += 1);
    assert!(of_kind.iter().all(|count| (7_500..8_500).contains(count)), "{of_kind:?}");
    let lengths = connections.iter().map(|each| each.length);
    for numbers in [
        parts.iter().map(|part| part.x).collect::<Vec<_>>(),
        parts.iter().map(|part| part.y).collect(),
        lengths.collect(),
    ] {
        let mean =
            numbers.iter().map(|number| i64::from(*number)).sum::<i64>() / numbers.len() as i64;
        assert!((49_000..51_000).contains(&mean), "{mean}");
        assert!(numbers.iter().all(|number| (0..100_000).contains(number)));
        assert!(numbers.iter().any(|number| *number < 100));
        assert!(numbers.iter().any(|number| *number >= 99_900));
    }
    let builds: Vec<i64> = parts.iter().map(|part| part.build_s - BUILD_FIRST_S).collect();
    let span = i64::from(BUILD_SPAN_S);
    assert!(builds.iter().all(|build| (0..span).contains(build)));
    let early = builds.iter().filter(|build| **build < span / 10).count();
    assert!((1_800..2_200).contains(&early), "{early}");
}

/// The largest database: the last rows follow from nothing before them.
#[test]
fn the_largest_database_reaches_its_last_rows() {
    for locality in [true, false] {
        let largest = database(100_000_000, locality);
        let last = largest.connections(100_000_000);
        assert_eq!(largest.connection_range(299_999_997..300_000_000).collect::<Vec<_>>(), last);
        assert_eq!(largest.connection(299_999_999), last[2]);
        assert_eq!(largest.part(100_000_000).id, 100_000_000);
    }
}

/// Eight numbers in a row that come twice would mean that two streams or iterations overlap.
#[test]
fn streams_share_no_numbers() {
    let database = database(20_000, true);
    let mut seen = HashSet::new();
    for iteration in 0..10 {
        let references = database.reference_numbers(iteration);
        let lists = [
            database.lookup_ids(iteration),
            database.group_ids(iteration),
            database.update_ids(iteration),
            references.iter().map(|number| 1 + number / 3).collect(),
        ];
        for list in lists {
            for window in list.windows(8) {
                assert!(seen.insert(window.to_vec()), "iteration {iteration}");
            }
        }
    }
}

#[test]
fn inputs_are_within_the_database_and_differ_by_iteration() {
    for parts in [200, 20_000, 2_000_000] {
        let database = database(parts, true);
        let parts = database.parts;
        let mut starts = HashSet::new();
        for iteration in 0..10 {
            let lists = [
                (database.lookup_ids(iteration), 1_000),
                (database.group_ids(iteration), 1_000),
                (database.update_ids(iteration), 100),
                (vec![database.start(iteration), database.reverse_start(iteration)], 2),
            ];
            for (list, count) in lists {
                assert_eq!(list.len(), count);
                assert!(list.iter().all(|id| (1..=parts).contains(id)));
            }
            let references = database.reference_numbers(iteration);
            assert_eq!(references.len(), 1_000);
            assert!(references.iter().all(|number| *number < 3 * parts));
            starts.insert((
                database.build_range(iteration),
                database.lookup_ids(iteration),
                database.new_parts(iteration)[0].to.map(|each| each.length),
            ));
        }
        assert_eq!(starts.len(), 10);
    }
}

/// Section 4's expectation: about 55 parts of 20,000 were built in ten days.
#[test]
fn ranges_of_ten_days_hold_their_share() {
    let database = database(20_000, true);
    let builds: Vec<i64> = database.part_range(1..20_001).map(|part| part.build_s).collect();
    let found = (0..100).map(|iteration| {
        let (first_s, end_s) = database.build_range(iteration);
        builds.iter().filter(|build| (first_s..end_s).contains(build)).count()
    });
    let mean = found.sum::<usize>() / 100;
    assert!((53..=57).contains(&mean), "{mean}");
    // All iterations there are: some would overrun the end if they could.
    for (first_s, end_s) in (0..4_096).map(|iteration| database.build_range(iteration)) {
        assert_eq!(end_s - first_s, 864_000);
        assert!(first_s >= BUILD_FIRST_S);
        assert!(end_s <= BUILD_FIRST_S + i64::from(BUILD_SPAN_S));
    }
}

/// The branch that is not near leads to any part before the new one, new ones included.
#[test]
fn new_parts_may_lead_to_new_parts_far_away() {
    let database = database(20_000, false);
    let new = database.new_parts_after(30_000, 0);
    let targets: Vec<u32> = new.iter().flat_map(|each| each.to).map(|each| each.to).collect();
    let to_new = targets.iter().filter(|to| **to > 20_000).count();
    assert!((70..130).contains(&to_new), "{to_new} of 300, a third expected");
}

/// Nine tenths lead to the 200 parts before the new one, the rest to any part that exists.
#[test]
fn new_parts_connect_to_parts_that_exist() {
    let database = database(20_000, true);
    let (mut near, mut to_new) = (0, 0);
    for iteration in 0..100 {
        let existing = 20_000 + 100 * (iteration % 10);
        let new = database.new_parts_after(existing, iteration);
        assert!(new.iter().map(|each| each.part.id).eq(existing + 1..=existing + 100));
        for each in &new {
            for connection in each.to {
                assert_eq!(connection.from, each.part.id);
                assert!((1..each.part.id).contains(&connection.to));
                near += u32::from(connection.to >= each.part.id - 200);
                to_new += u32::from(connection.to > existing);
            }
        }
        if existing == 20_000 {
            assert_eq!(new, database.new_parts(iteration));
        }
    }
    assert!((26_700..27_700).contains(&near), "{near}");
    // Half of the window is new on average for the last of the hundred, none of it for the first.
    assert!((6_000..7_500).contains(&to_new), "{to_new}");
}

#[test]
fn sizes_and_seeds_beyond_the_limits_are_explained() {
    for parts in [0, 199, 100_000_001, u64::from(u32::MAX) + 201] {
        let error = open("oo1", "1992", "part", parts, 0).err().unwrap();
        assert!(matches!(error, DatasetError::RowsOutOfRange { .. }), "{error}");
    }
    for seed in [2_147_483_647, u64::from(u32::MAX) + 2] {
        let error = open("oo1", "1992-no-locality", "part", 200, seed).err().unwrap();
        let expected = format!("oo1 1992-no-locality has seeds up to 2147483646, not {seed}");
        assert_eq!(error.to_string(), expected);
    }
    let error = open("oo1", "1992", "parts", 200, 0).err().unwrap();
    assert_eq!(error.to_string(), "oo1 1992 has no relation 'parts'; it has: part, connection");
    assert_eq!(database(200, true), Database::new(200, 1, true).unwrap());
}

fn type_column(kinds: impl Iterator<Item = u8>) -> Column {
    let texts: Vec<String> = kinds.map(|kind| format!("part-type{kind}")).collect();
    Column::Text { width: 10, bytes: texts.concat().into_bytes() }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..Default::default()
    })]

    /// One by one, in a range from anywhere, or with others before: the same rows.
    #[test]
    fn access_by_place_and_in_sequence_agree(
        parts in 200_u64..100_000_000,
        seed in 1_u64..=2_147_483_646,
        locality: bool,
        place in 0.0..1.0,
    ) {
        let database = Database::new(parts, seed, locality).unwrap();
        let first = 1 + (place * (parts - 4) as f64) as u32;
        let by_place: Vec<Part> = (first..first + 5).map(|id| database.part(id)).collect();
        prop_assert_eq!(database.part_range(first..first + 5).collect::<Vec<_>>(), by_place);
        let by_part: Vec<Connection> =
            (first..first + 5).flat_map(|id| database.connections(id)).collect();
        let numbers = 3 * (first - 1)..3 * (first + 4);
        let in_sequence: Vec<_> = database.connection_range(numbers.clone()).collect();
        let by_number: Vec<_> = numbers.map(|number| database.connection(number)).collect();
        prop_assert_eq!(&in_sequence, &by_part);
        prop_assert_eq!(&in_sequence, &by_number);
        for connection in in_sequence {
            prop_assert!((1..=database.parts).contains(&connection.to));
        }
    }

    /// Parts laid end to end are the whole, read fresh or by one cursor in pieces.
    #[test]
    fn any_split_gives_the_same_rows(
        parts in 200_u64..5_000,
        seed in 0_u64..5,
        cuts in prop::collection::vec(0.0..1.0, 0..5),
        locality: bool,
        connections: bool,
    ) {
        let edition = if locality { "1992" } else { "1992-no-locality" };
        let relation = if connections { "connection" } else { "part" };
        let source = open("oo1", edition, relation, parts, seed).unwrap();
        prop_assert_eq!(source.rows(), if connections { 3 * parts } else { parts });
        assert_same_rows(&source, &cuts);
    }

    /// The columns are the database's own values.
    #[test]
    fn columns_hold_the_database(parts in 200_u64..2_000, locality: bool) {
        let edition = if locality { "1992" } else { "1992-no-locality" };
        let database = database(parts, locality);
        let relation = read_all(&open("oo1", edition, "part", parts, 0).unwrap());
        let all: Vec<Part> = database.part_range(1..database.parts + 1).collect();
        let types = type_column(all.iter().map(|part| part.kind));
        let columns: Vec<Column> = relation.columns.into_iter().map(|(_, column)| column).collect();
        prop_assert_eq!(columns, vec![
            Column::Int32(all.iter().map(|part| part.id as i32).collect()),
            types,
            Column::Int32(all.iter().map(|part| part.x).collect()),
            Column::Int32(all.iter().map(|part| part.y).collect()),
            Column::Timestamp(all.iter().map(|part| part.build_s).collect()),
        ]);
        let relation = read_all(&open("oo1", edition, "connection", parts, 0).unwrap());
        let all: Vec<Connection> =
            database.connection_range(0..database.connection_count()).collect();
        let types = type_column(all.iter().map(|each| each.kind));
        let columns: Vec<Column> = relation.columns.into_iter().map(|(_, column)| column).collect();
        prop_assert_eq!(columns, vec![
            Column::Int32(all.iter().map(|each| each.from as i32).collect()),
            Column::Int32(all.iter().map(|each| each.to as i32).collect()),
            types,
            Column::Int32(all.iter().map(|each| each.length).collect()),
        ]);
    }
}
