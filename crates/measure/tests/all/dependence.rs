//! Samples that resemble their neighbours in time: what they are worth, and that the median's
//! interval knows.

use loadstone_measure::statistics::{
    BELIEVED_FROM, StatisticsError, effective_samples, interval_of_median,
};
use proptest::prelude::*;

use crate::simulation::{SEED, Uniform, covered, share};

fn mean(count: u32, mut value: impl FnMut() -> f64) -> f64 {
    (0..count).map(|_| value()).sum::<f64>() / f64::from(count)
}

#[test]
fn samples_are_worth_what_theory_says() {
    // Integrated autocorrelation time of a first-order sequence: (1 + r) / (1 - r). Ranks show a
    // little less of it than the normal variables behind them.
    let mut uniform = Uniform(SEED);
    for (correlation, time) in [(0.0, 1.0), (0.5, 3.0), (0.8, 9.0)] {
        let found = mean(40, || {
            effective_samples(&uniform.sequence(2_000, correlation)).unwrap() / 2_000.0
        });
        let truth = 1.0 / time;
        assert!((found / truth - 1.0).abs() < 0.15, "{correlation}: {found}; seed {SEED}");
    }
}

#[test]
fn one_outlier_does_not_hide_correlation() {
    let calm = Uniform(SEED).sequence(500, 0.8);
    let mut struck = calm.clone();
    struck[250] = 1e12;
    let (calm, struck) = (effective_samples(&calm).unwrap(), effective_samples(&struck).unwrap());
    assert!((struck / calm - 1.0).abs() < 0.05, "{calm} without, {struck} with");
}

#[test]
fn degenerate_sequences_have_a_worth() {
    assert_eq!(effective_samples(&[]), Err(StatisticsError::Empty));
    assert!(effective_samples(&[1.0, f64::NAN]).is_err());
    assert_eq!(effective_samples(&[4.0]), Ok(1.0));
    assert_eq!(effective_samples(&[4.0; 100]), Ok(100.0), "equal samples show no correlation");
    let alternating: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
    assert_eq!(effective_samples(&alternating), Ok(100.0), "never more than there are");
    let drift: Vec<f64> = (0..100).map(f64::from).collect();
    assert!(effective_samples(&drift).unwrap() < 6.0, "a drift is hardly a sample");
}

#[test]
fn a_drift_longer_than_any_lag_followed_is_seen() {
    // Correlated over a third of its length: lags are followed for a while, then in a thinner one.
    let drift: Vec<f64> = (0..30_000).map(f64::from).collect();
    let worth = effective_samples(&drift).unwrap();
    assert!((1.0..6.0).contains(&worth), "{worth}");
}

#[test]
fn correlation_widens_the_median_s_interval_until_it_covers() {
    let trials = 1_000;
    for (correlation, wanted) in [(0.0, 0.93), (0.5, 0.88)] {
        let mut uniform = Uniform(SEED);
        let found = share(trials, || {
            let samples = uniform.sequence(200, correlation);
            covered(interval_of_median(&samples, 0.95).unwrap().bounds, 1.0)
        });
        assert!(found >= wanted, "{correlation}: {found}; seed {SEED}");
    }
    // The same samples in an order that hides their correlation.
    let mut uniform = Uniform(SEED);
    let found = share(trials, || {
        let samples = uniform.sequence(200, 0.5);
        covered(interval_of_median(&uniform.shuffled(samples), 0.95).unwrap().bounds, 1.0)
    });
    assert!(found < 0.86, "the correction is not needed: {found}; seed {SEED}");
}

#[test]
fn independent_samples_pay_little_for_the_search() {
    let mut uniform = Uniform(SEED);
    let (mut wide, mut narrow) = (0.0, 0.0);
    for _ in 0..1_000 {
        let mut samples = uniform.samples(100, |u| u);
        let (low, high) = interval_of_median(&samples, 0.95).unwrap().bounds.unwrap();
        samples.sort_by(f64::total_cmp);
        wide += high - low;
        narrow += samples[60] - samples[39];
    }
    assert!((1.0..1.1).contains(&(wide / narrow)), "{}; seed {SEED}", wide / narrow);
}

#[test]
fn correlation_is_only_looked_for_where_it_can_be_seen() {
    let drift: Vec<f64> = (0..BELIEVED_FROM).map(|at| at as f64).collect();
    assert!(interval_of_median(&drift[1..], 0.95).unwrap().bounds.is_some());
    assert!(interval_of_median(&drift, 0.95).unwrap().bounds.is_none(), "worth under 6 samples");
}

proptest! {
    #[test]
    fn worth_is_between_one_and_all_and_knows_no_direction(
        samples in prop::collection::vec(-1e9_f64..1e9, 1..80),
    ) {
        let worth = effective_samples(&samples).unwrap();
        prop_assert!((1.0..=samples.len() as f64).contains(&worth));
        let reversed: Vec<f64> = samples.iter().rev().copied().collect();
        prop_assert_eq!(effective_samples(&reversed), Ok(worth));
        let negated: Vec<f64> = samples.iter().map(|sample| -sample).collect();
        prop_assert_eq!(effective_samples(&negated), Ok(worth));
    }
}
