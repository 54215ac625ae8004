//! Open loops: when requests are due, and what the tally of their times says.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use loadstone_measure::pace::{Pace, PaceError, STARTS_MAX, intended_starts};
use loadstone_measure::tally::{LATE_NS, Tally, TallyError};
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;
const MS_NS: u64 = 1_000_000;

fn poisson(seed: u64, rate_per_s: f64, duration_ns: u64) -> Vec<u64> {
    intended_starts(seed, rate_per_s, duration_ns, Pace::Poisson).expect("a good rate")
}

#[test]
fn random_starts_come_at_their_rate_and_know_nothing_of_each_other() {
    let starts = poisson(1_983, 10_000.0, 10 * SECOND_NS);
    assert!(starts.is_sorted() && starts.iter().all(|&start| start < 10 * SECOND_NS));
    // 100,000 expected, standard deviation 316: four of them either way.
    assert!((98_700..=101_300).contains(&starts.len()), "{}", starts.len());
    let gaps: Vec<f64> = starts.windows(2).map(|two| (two[1] - two[0]) as f64 / 1e5).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    // Exponential: mean 1, variance 1, a share of 1/e beyond 1.
    assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05, "{mean}, {variance}");
    let long = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / count;
    assert!((long - (-1.0_f64).exp()).abs() < 0.01, "{long}");
    let neighbours = gaps.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>();
    assert!((neighbours / count / variance).abs() < 0.015, "{neighbours}");
}

#[test]
fn a_seed_means_the_same_starts_for_ever() {
    assert_eq!(poisson(1_983, 1_000.0, 4 * MS_NS), GOLDEN_NS);
    assert_ne!(poisson(1_984, 1_000.0, 4 * MS_NS), GOLDEN_NS);
    let longer = poisson(1_983, 1_000.0, 40 * MS_NS);
    assert_eq!(longer[..GOLDEN_NS.len()], GOLDEN_NS, "a longer run goes on");
}

const GOLDEN_NS: [u64; 6] = [460_519, 478_354, 1_108_941, 1_512_291, 2_876_760, 2_901_158];

#[test]
fn equal_gaps_do_not_drift() {
    let starts = intended_starts(0, 3.0, SECOND_NS, Pace::Uniform).unwrap();
    assert_eq!(starts, [0, 333_333_333, 666_666_666]);
    let starts = intended_starts(9, 1_000.0, 3_000 * SECOND_NS, Pace::Uniform).unwrap();
    assert_eq!((starts.len(), starts.last()), (3_000_000, Some(&(2_999_999 * MS_NS))));
}

#[test]
fn an_impossible_pace_is_refused() {
    assert_eq!(Pace::of_name("poisson"), Ok(Pace::Poisson));
    assert_eq!(Pace::of_name("uniform"), Ok(Pace::Uniform));
    assert!(Pace::of_name("Poisson").unwrap_err().to_string().contains("`poisson` or `uniform`"));
    for pace in [Pace::Poisson, Pace::Uniform] {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = intended_starts(0, rate, SECOND_NS, pace);
            assert!(matches!(refused, Err(PaceError::Rate(_))), "{rate}: {refused:?}");
        }
        assert_eq!(intended_starts(0, 1.0, 0, pace), Err(PaceError::Duration));
        let rate = STARTS_MAX as f64 + 1.0;
        let reported = intended_starts(0, rate, SECOND_NS, pace).unwrap_err().to_string();
        assert!(reported.contains("lower the rate"), "{reported}");
        assert!(intended_starts(0, f64::MAX, u64::MAX, pace).is_err());
        assert!(intended_starts(0, f64::MIN_POSITIVE / 4.0, u64::MAX, pace).unwrap().len() < 2);
    }
}

/// A tally of requests that all began when they were due.
fn closed(latencies_ns: impl IntoIterator<Item = u64>) -> Tally {
    let mut tally = Tally::new();
    for latency_ns in latencies_ns {
        tally.add(7, 7, 7 + latency_ns).expect("time goes on");
    }
    tally
}

fn near(found_ns: Option<u64>, truth_ns: u64) -> bool {
    found_ns.is_some_and(|found_ns| found_ns.abs_diff(truth_ns) * 1_000 <= truth_ns)
}

#[test]
fn an_empty_tally_knows_nothing() {
    let tally = Tally::new();
    assert_eq!((tally.completed(), tally.late(), tally.skipped()), (0, 0, 0));
    assert_eq!(tally.latency_ns(50.0), Ok(None));
    assert_eq!((tally.lag_ns(50.0), tally.service_ns(50.0)), (Ok(None), Ok(None)));
}

#[test]
fn percentiles_are_within_a_thousandth_of_the_truth() {
    let tally = closed((1..=1_000_000).map(|rank| rank * 1_000));
    for (percentile, truth_ns) in
        [(50.0, 500_000_000), (99.0, 990_000_000), (99.9, 999_000_000), (99.99, 999_900_000)]
    {
        let found = tally.latency_ns(percentile).unwrap();
        assert!(near(found, truth_ns), "p{percentile}: {found:?}");
    }
    let rare = closed((0..100_000).map(|at| if at % 5_000 == 0 { SECOND_NS } else { MS_NS }));
    assert!(near(rare.latency_ns(99.9).unwrap(), MS_NS), "20 in 100,000 are beyond p99.9");
    assert!(near(rare.latency_ns(99.99).unwrap(), SECOND_NS), "and reach p99.99");
}

#[test]
fn the_range_grows_with_what_comes() {
    let decades: Vec<u64> = (0..10).map(|power| 3 * 10_u64.pow(power)).collect();
    let tally = closed(decades.iter().copied());
    for (place, &truth_ns) in decades.iter().enumerate() {
        let found = tally.latency_ns((place + 1) as f64 * 10.0).unwrap();
        assert!(near(found, truth_ns), "{truth_ns}: {found:?}");
    }
    let longest = closed([0, u64::MAX - 7]);
    assert_eq!(longest.latency_ns(0.0), Ok(Some(0)));
    assert!(near(longest.latency_ns(100.0).unwrap(), u64::MAX));
}

#[test]
fn a_stall_shows_in_latency_and_not_in_service() {
    // Due each ms, answered in 0.1 ms by one thread; one answer of 10,000 takes 300 ms.
    let (mut tally, mut free_ns) = (Tally::new(), 0);
    for at in 0..10_000 {
        let intended_ns = at * MS_NS;
        let started_ns = intended_ns.max(free_ns);
        free_ns = started_ns + if at == 5_000 { 300 * MS_NS } else { MS_NS / 10 };
        tally.add(intended_ns, started_ns, free_ns).unwrap();
    }
    assert!(near(tally.service_ns(99.0).unwrap(), MS_NS / 10), "service hides it");
    assert!(tally.latency_ns(99.0).unwrap() > Some(100 * MS_NS), "latency shows");
    assert!(tally.lag_ns(99.0).unwrap() > Some(100 * MS_NS), "and lag says why");
    assert_eq!(tally.lag_ns(50.0), Ok(Some(0)));
    // The queue shrinks by 0.9 ms a request: 332 requests found the engine busy for over a ms.
    assert!((325..=335).contains(&tally.late()), "{}", tally.late());
}

#[test]
fn late_is_later_than_its_limit_and_early_is_no_lag() {
    let mut tally = Tally::new();
    tally.add(100, 100 + LATE_NS, 101 + LATE_NS).unwrap();
    assert_eq!(tally.late(), 0);
    tally.add(100, 101 + LATE_NS, 101 + LATE_NS).unwrap();
    assert_eq!(tally.late(), 1);
    let mut early = Tally::new();
    early.add(100, 40, 90).unwrap();
    assert_eq!((early.lag_ns(100.0), early.latency_ns(100.0)), (Ok(Some(0)), Ok(Some(50))));
}

#[test]
fn what_cannot_be_is_refused_and_not_counted() {
    let mut tally = Tally::new();
    let refused = tally.add(0, 10, 9);
    assert_eq!(refused, Err(TallyError::Backwards { started_ns: 10, ended_ns: 9 }));
    assert_eq!(tally, Tally::new());
    for bad in [-0.1, 100.1, f64::NAN] {
        assert!(matches!(tally.latency_ns(bad), Err(TallyError::Percentile(_))), "{bad}");
    }
}

#[test]
fn other_readers_know_the_bytes() {
    let tally = closed((1..=1_000).map(|rank| rank * rank));
    let read: Histogram<u64> =
        Deserializer::new().deserialize(&mut &tally.to_bytes()[..]).expect("its own format");
    assert_eq!(read.len(), 1_000);
    assert_eq!(Some(read.value_at_percentile(99.0)), tally.latency_ns(99.0).unwrap());
    assert!(!Tally::new().to_bytes().is_empty());
}

fn tallies() -> impl Strategy<Value = Tally> {
    let request = (0..SECOND_NS, 0..3 * MS_NS, 0..1_u64 << 50);
    (prop::collection::vec(request, 0..20), 0_usize..5).prop_map(|(requests, skipped)| {
        let mut tally = Tally::new();
        for (intended_ns, lag_ns, service_ns) in requests {
            let started_ns = intended_ns + lag_ns;
            tally.add(intended_ns, started_ns, started_ns + service_ns).expect("time goes on");
        }
        (0..skipped).for_each(|_| tally.skip());
        tally
    })
}

fn merged(left: &Tally, right: &Tally) -> Tally {
    let mut both = left.clone();
    both.merge(right);
    both
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn users_can_be_added_up_in_any_order(a in tallies(), b in tallies(), c in tallies()) {
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &Tally::new()), a.clone());
        let both = merged(&a, &b);
        prop_assert_eq!(both.completed(), a.completed() + b.completed());
        prop_assert_eq!(both.late(), a.late() + b.late());
        prop_assert_eq!(both.skipped(), a.skipped() + b.skipped());
        let longest = |tally: &Tally| tally.latency_ns(100.0).unwrap();
        prop_assert_eq!(longest(&both), longest(&a).max(longest(&b)));
    }
}
