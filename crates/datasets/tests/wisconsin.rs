//! Properties of the Wisconsin relations: published vectors, permutations, splits, threads.

use std::sync::Arc;

use loadstone_datasets::generator::{CLASSES, Permutation, power};
use loadstone_datasets::{DatasetError, Source, edition, open, read_all, read_range};
use proptest::prelude::*;

use relations::{assert_same_rows, integers, texts};

mod relations;

fn wisconsin(edition: &str, relation: &str, rows: u64, seed: u64) -> Arc<dyn Source> {
    open("wisconsin", edition, relation, rows, seed).expect("within the catalogue")
}

fn assert_permutation(mut values: Vec<i64>) {
    values.sort_unstable();
    let count = values.len() as i64;
    assert!(values.into_iter().eq(0..count));
}

/// First values of unique1 as published implementations give them.
#[test]
fn unique1_of_1993_starts_as_published() {
    for (rows, first) in [
        (10, &[9, 1, 2, 3, 5, 7, 8, 4, 6, 0][..]),
        (100, &[69, 9, 86, 56, 65, 51, 31, 35, 99, 58]),
        (1_000, &[147, 931, 714, 711, 883, 439, 670, 543, 425, 800]),
        (10_000, &[8800, 1891, 3420, 9850, 7164, 8009, 5057, 6701, 4321, 3043]),
        (100_000, &[32293, 9402, 71151, 51373, 13756, 22185, 55231, 53191, 8699, 30916]),
        (
            1_000_000,
            &[439_436, 890_983, 297_656, 161_417, 106_705, 828_869, 423_851, 53484, 692_558],
        ),
        (10_000_000, &[44520, 9_393_930, 2_115_678]),
        (100_000_000, &[440, 9260, 194_480]),
    ] {
        let source = wisconsin("1993", "tenktup1", rows, 0);
        let relation = read_range(&source, 0, first.len() as u64);
        assert_eq!(integers(&relation, "unique1"), first, "n = {rows}");
    }
}

#[test]
fn rows_of_1993_follow_from_unique1_and_unique2() {
    let relation = read_all(&wisconsin("1993", "tenktup1", 10_000, 0));
    let unique1 = integers(&relation, "unique1");
    assert_permutation(unique1.clone());
    assert!(integers(&relation, "unique2").into_iter().eq(0..10_000));
    let derived = |name: &str, rule: fn(i64) -> i64| {
        let expected: Vec<i64> = unique1.iter().map(|value| rule(*value)).collect();
        assert_eq!(integers(&relation, name), expected, "{name}");
    };
    derived("two", |value| value % 2);
    derived("four", |value| value % 4);
    derived("ten", |value| value % 10);
    derived("twenty", |value| value % 20);
    derived("onepercent", |value| value % 100);
    derived("tenpercent", |value| value % 10);
    derived("twentypercent", |value| value % 5);
    derived("fiftypercent", |value| value % 2);
    derived("unique3", |value| value);
    derived("evenonepercent", |value| value % 100 * 2);
    derived("oddonepercent", |value| value % 100 * 2 + 1);
    assert_eq!((unique1[2001], unique1[1491], unique1[4566]), (5513, 5783, 1491));
    let x = |letters: &str| format!("{letters:x<52}");
    assert_eq!(texts(&relation, "stringu1")[2001], x("AAAAIEB"));
    assert_eq!(texts(&relation, "stringu2")[2001], x("AAAACYZ"));
    assert_eq!(texts(&relation, "string4")[2001], x("HHHH"));
}

/// Value n of 100 has a share of 1 / (n + 1) of their sum, 5.187; the rest is that of 1993.
#[test]
fn repeated_values_of_a_skewed_relation_have_the_shares_of_zipf() {
    let relation = read_all(&wisconsin("1993-skewed", "tenktup1", 1_000_000, 0));
    let even = read_all(&wisconsin("1993", "tenktup1", 1_000_000, 0));
    for name in ["unique1", "unique2", "unique3"] {
        assert_eq!(integers(&relation, name), integers(&even, name), "{name}");
    }
    for name in ["stringu1", "stringu2", "string4"] {
        assert_eq!(texts(&relation, name), texts(&even, name), "{name}");
    }
    let of = |name: &str| integers(&relation, name);
    let all: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
    let mut found = [0.0; 100];
    for value in of("onepercent") {
        found[value as usize] += 1.0;
    }
    for (value, found) in found.into_iter().enumerate() {
        let expected = 1e6 / (value + 1) as f64 / all;
        let deviations = (found - expected).abs() / expected.sqrt();
        assert!(deviations < 4.0, "{value}: {found} of {expected}");
    }
    let counts = [("two", 2), ("four", 4), ("ten", 10), ("twenty", 20), ("tenpercent", 10)];
    for (name, count) in counts.into_iter().chain([("twentypercent", 5), ("fiftypercent", 2)]) {
        let expected = of("onepercent").into_iter().map(|value| value % count);
        assert!(expected.eq(of(name)), "{name}");
    }
    let doubled = of("onepercent").into_iter().map(|value| value * 2);
    assert!(doubled.clone().eq(of("evenonepercent")));
    assert!(doubled.map(|value| value + 1).eq(of("oddonepercent")));
}

#[test]
fn sizes_and_contents_of_the_relations_of_1993() {
    let large = read_all(&wisconsin("1993", "tenktup2", 10_000, 0));
    assert_eq!(large.columns, read_all(&wisconsin("1993", "tenktup1", 10_000, 0)).columns);
    let bprime = read_all(&wisconsin("1993", "bprime", 10_000, 0));
    let first = read_range(&wisconsin("1993", "tenktup2", 10_000, 0), 0, 1_000);
    assert_eq!(bprime.columns, first.columns);
    let small = read_all(&wisconsin("1993", "onektup", 10_000, 0));
    assert_eq!(small.columns, read_all(&wisconsin("1993", "tenktup1", 1_000, 0)).columns);
    assert_eq!(wisconsin("1993", "onektup", 10, 0).rows(), 1);
    assert_eq!(wisconsin("1993", "onektup", 19, 0).rows(), 1);
}

#[test]
fn sizes_and_types_of_the_relations_of_1983() {
    let old = edition("wisconsin", "1983").unwrap();
    let sizes = [1_000, 2_000, 5_000, 10_000, 10_000, 1_000];
    let first = ["oneunique1", "unique1", "unique1", "unique1", "twounique1", "twounique1"];
    for ((relation, rows), first) in old.relations().iter().zip(sizes).zip(first) {
        let attributes = old.attributes(relation).unwrap();
        assert_eq!(attributes[0].name, first);
        let width: usize = attributes.iter().map(|each| each.kind.width_bytes()).sum();
        assert_eq!(width, 182);
        assert_eq!(wisconsin("1983", relation, 77, 0).rows(), rows, "{relation}");
    }
    let width: usize = wisconsin("1993", "bprime", 100, 0)
        .attributes()
        .iter()
        .map(|each| each.kind.width_bytes())
        .sum();
    assert_eq!(width, 208);
}

/// The decisions on Figure 1: two … hundred and twothous … tenthous share one random number,
/// independent of unique1; thousand has its own.
#[test]
fn rows_of_1983_obey_figure_1() {
    let relation = read_all(&wisconsin("1983", "tenthoustup", 0, 0));
    let of = |name: &str| integers(&relation, name);
    assert_permutation(of("unique1"));
    assert!(of("unique2").into_iter().eq(0..10_000));
    let shared = of("tenthous");
    assert_permutation(shared.clone());
    let ranges = [("two", 2), ("four", 4), ("ten", 10), ("twenty", 20), ("hundred", 100)];
    for (name, range) in ranges.into_iter().chain([("twothous", 2_000), ("fivethous", 5_000)]) {
        let expected: Vec<i64> = shared.iter().map(|value| value % range).collect();
        assert_eq!(of(name), expected, "{name}");
    }
    let mut partitions = [0; 1_000];
    for value in of("thousand") {
        partitions[value as usize] += 1;
    }
    assert_eq!(partitions, [10; 1_000]);
    let same = |left: &[i64], right: &[i64]| left.iter().zip(right).filter(|(l, r)| l == r).count();
    assert!(same(&of("unique1"), &shared) < 100);
    let thousands: Vec<i64> = shared.iter().map(|value| value % 1_000).collect();
    assert!(same(&of("thousand"), &thousands) < 100);
    assert_eq!(&of("odd100")[48..52], [97, 99, 1, 3]);
    assert_eq!(&of("even100")[48..52], [98, 100, 2, 4]);
}

#[test]
fn the_pair_of_1983_differs_and_bprime_is_its_second_s_beginning() {
    let first = read_all(&wisconsin("1983", "tenthoustup", 0, 0));
    let second = read_all(&wisconsin("1983", "tenthoustup2", 0, 0));
    assert_ne!(integers(&first, "unique1"), integers(&second, "twounique1"));
    let bprime = read_all(&wisconsin("1983", "tempbprime", 0, 0));
    let beginning = read_range(&wisconsin("1983", "tenthoustup2", 0, 0), 0, 1_000);
    assert_eq!(bprime.columns, beginning.columns);
}

/// Section 3.1 names each attribute after its range, and takes for its example `fivethous` of a
/// relation of 2,000 tuples, with values between 0 and 4,999.
#[test]
fn ranges_of_1983_hold_for_relations_of_every_size() {
    let sizes = [("one", "thoustup"), ("", "twothoustup"), ("", "fivethoustup")];
    for (prefix, name) in sizes {
        let relation = read_all(&wisconsin("1983", name, 0, 0));
        let of = |name: &str| integers(&relation, &format!("{prefix}{name}"));
        let shared = of("tenthous");
        let rows = shared.len() as i64;
        assert_permutation(of("unique1"));
        let ranges = [("hundred", 100), ("twothous", 2_000), ("fivethous", 5_000)];
        for (attribute, range) in ranges.into_iter().chain([("tenthous", 10_000)]) {
            let values = of(attribute);
            let expected: Vec<i64> = shared.iter().map(|value| value % range).collect();
            assert_eq!(values, expected, "{name}.{attribute}");
            if range == rows {
                assert_permutation(values);
            } else {
                // Each tenth of the range is met about as often as any other; of an attribute that
                // kept to the relation's size, most would not be met at all.
                for tenth in 0..10 {
                    let within = values.iter().filter(|&&value| value * 10 / range == tenth);
                    let (count, expected) = (within.count() as i64, rows / 10);
                    assert!((count - expected).abs() <= expected * 2 / 5, "{name}.{attribute}");
                }
            }
        }
    }
}

fn prime_factors(mut number: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut divisor = 2;
    while divisor * divisor <= number {
        while number.is_multiple_of(divisor) {
            factors.push(divisor);
            number /= divisor;
        }
        divisor += 1;
    }
    factors.extend((number > 1).then_some(number));
    factors
}

/// Each prime is the smallest above its class, each generator a primitive root of it; beyond
/// 10^8, the smallest one above the prime's square root.
#[test]
fn classes_follow_the_rule() {
    let is_root = |generator: u32, prime: u32| {
        let order = u64::from(prime - 1);
        prime_factors(order).iter().all(|factor| power(generator, order / factor, prime) != 1)
    };
    for class in CLASSES {
        let prime = u64::from(class.prime);
        let next = (class.rows_max + 1..=prime).find(|each| prime_factors(*each) == [*each]);
        assert_eq!(next, Some(prime));
        assert!(is_root(class.generator, class.prime), "{class:?}");
    }
    let last = CLASSES[6];
    let root = (u64::from(last.prime).isqrt() as u32 + 1..=last.generator)
        .find(|generator| is_root(*generator, last.prime));
    assert_eq!(root, Some(last.generator));
}

/// Skipping by counted stretches lands on the value that walking there gives.
#[test]
fn a_walk_may_start_anywhere() {
    for (rows, seed) in [(100_001, 0), (300_000, 7), (1_000_000, 1)] {
        let permutation = Permutation::new(rows, seed).unwrap();
        let mut walk = permutation.walk(0);
        let values: Vec<u32> = (0..rows).map(|_| walk.next_value()).collect();
        for first in (0..rows).step_by(9_973).chain([1, rows - 1]) {
            assert_eq!(permutation.walk(first).next_value(), values[first as usize]);
        }
        let parallel = Permutation::new(rows, seed).unwrap();
        assert_eq!(parallel.prepare(5), permutation.prepare(1));
    }
}

/// The cycle's last value is the generator itself, since the first is its square.
#[test]
fn a_class_ends_where_its_cycle_does() {
    for class in &CLASSES[..5] {
        let source = wisconsin("1993", "tenktup1", class.rows_max, 0);
        source.prepare(2);
        let relation = read_range(&source, class.rows_max - 1, 1);
        assert_eq!(integers(&relation, "unique1"), [i64::from(class.generator) - 1]);
        assert_eq!(integers(&relation, "unique2"), [class.rows_max as i64 - 1]);
    }
}

#[test]
fn unknown_names_and_sizes_are_explained() {
    let error = open("wisconsin", "1984", "x", 10, 0).err().unwrap();
    assert!(error.to_string().contains("wisconsin 1983, wisconsin 1993"), "{error}");
    let error = open("wisconsin", "1993", "tenktup3", 10, 0).err().unwrap();
    assert!(error.to_string().contains("onektup, tenktup1, tenktup2, bprime"), "{error}");
    for rows in [0, 9, 1_000_000_001, u64::MAX] {
        let error = open("wisconsin", "1993", "bprime", rows, 0).err().unwrap();
        assert!(matches!(error, DatasetError::RowsOutOfRange { .. }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..Default::default()
    })]

    /// Whatever the size and seed, unique1 is a permutation and unique2 the row number.
    #[test]
    fn any_size_and_seed_give_a_permutation(rows in 10_u64..30_000, seed: u64) {
        let relation = read_all(&wisconsin("1993", "tenktup1", rows, seed));
        assert_permutation(integers(&relation, "unique1"));
        prop_assert!(integers(&relation, "unique2").into_iter().eq(0..rows as i64));
    }

    /// Parts laid end to end are the whole, read fresh or by one cursor in pieces.
    #[test]
    fn any_split_gives_the_same_rows(
        rows in 10_u64..30_000,
        seed in 0_u64..5,
        cuts in prop::collection::vec(0.0..1.0, 0..5),
        number in 0_usize..3,
    ) {
        let (edition, relation) = [
            ("1983", "tenthoustup2"), ("1993", "tenktup2"), ("1993-skewed", "tenktup2"),
        ][number];
        let source = wisconsin(edition, relation, rows, seed);
        assert_same_rows(&source, &cuts);
    }
}
