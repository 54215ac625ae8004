//! The ratio of pairs against known truth.

use loadstone_measure::statistics::{Interval, StatisticsError, interval_of_paired_ratio};
use proptest::prelude::*;

use crate::simulation::{SEED, Uniform, covered, share};

const TRIALS: u32 = 300;

/// `count` pairs: numerators are `ratio` times longer but for noise of their own.
fn pairs(uniform: &mut Uniform, count: usize, correlation: f64, ratio: f64) -> [Vec<f64>; 2] {
    let below = uniform.sequence(count, 0.9);
    let noise = uniform.sequence(count, correlation);
    let above = below.iter().zip(noise).map(|(divisor, noise)| ratio * divisor * noise).collect();
    [above, below]
}

fn bounds(above: &[f64], below: &[f64]) -> Option<(f64, f64)> {
    interval_of_paired_ratio(above, below, 0.95).expect("good pairs").bounds
}

#[test]
fn the_interval_covers_as_often_as_it_promises() {
    for count in [6, 15, 30, 100] {
        let mut uniform = Uniform(SEED);
        let found = share(2 * TRIALS, || {
            let [above, below] = pairs(&mut uniform, count, 0.0, 3.0);
            covered(bounds(&above, &below), 3.0)
        });
        assert!(found >= 0.93, "{count} pairs: {found}; seed {SEED}");
    }
}

#[test]
fn correlation_widens_the_interval_until_it_covers() {
    let mut uniform = Uniform(SEED);
    let found = share(TRIALS, || {
        let [above, below] = pairs(&mut uniform, 200, 0.5, 3.0);
        covered(bounds(&above, &below), 3.0)
    });
    assert!(found >= 0.88, "{found}; seed {SEED}");
    // The same pairs in an order that hides their correlation.
    let mut uniform = Uniform(SEED);
    let found = share(TRIALS, || {
        let [above, below] = pairs(&mut uniform, 200, 0.5, 3.0);
        let ratios = above.iter().zip(below).map(|(above, below)| above / below).collect();
        covered(bounds(&uniform.shuffled(ratios), &[1.0; 200]), 3.0)
    });
    assert!(found < 0.83, "the correction is not needed: {found}; seed {SEED}");
}

#[test]
fn a_drifting_ratio_is_worth_too_few_pairs_for_bounds() {
    let drift: Vec<f64> = (1..=40).map(f64::from).collect();
    assert_eq!(bounds(&drift, &[1.0; 40]), None);
    assert!(bounds(&drift[..19], &[1.0; 19]).is_some(), "too few to see it");
}

#[test]
fn pairing_takes_out_what_both_of_a_pair_suffer() {
    // Both sides drift by a factor of e, and differ by 1 %.
    let below: Vec<f64> = (0..40).map(|at| (f64::from(at) / 40.0).exp()).collect();
    let mut uniform = Uniform(SEED);
    let above: Vec<f64> =
        below.iter().map(|divisor| divisor * 1.01 * (1.0 + 0.004 * uniform.normal())).collect();
    let (low, high) = bounds(&above, &below).expect("enough pairs");
    assert!(1.0 < low && high < 1.02, "{low} to {high}; seed {SEED}");
    let (above, below) = (uniform.shuffled(above), uniform.shuffled(below));
    let (low, high) = bounds(&above, &below).expect("enough pairs");
    assert!(low < 1.0 && 1.0 < high, "unpaired: {low} to {high}; seed {SEED}");
}

#[test]
fn few_pairs_give_an_estimate_without_bounds() {
    let bare = |estimate| Ok(Interval { estimate, bounds: None });
    assert_eq!(interval_of_paired_ratio(&[], &[], 0.95), Err(StatisticsError::Empty));
    assert_eq!(interval_of_paired_ratio(&[8.0], &[8.0], 0.95), bare(1.0));
    assert_eq!(interval_of_paired_ratio(&[8.0; 5], &[8.0; 5], 0.95), bare(1.0));
    assert!(bounds(&[8.0; 6], &[8.0; 6]).is_some());
    let at_99 = |count| interval_of_paired_ratio(&vec![8.0; count], &vec![8.0; count], 0.99);
    assert_eq!(at_99(7), bare(1.0));
    assert_eq!(at_99(8).unwrap().bounds, Some((1.0, 1.0)));
}

#[test]
fn constant_pairs_give_a_point() {
    for count in [6, 49, 50, 51, 300] {
        let constant = vec![5.0; count];
        let found = interval_of_paired_ratio(&constant, &constant, 0.95).unwrap();
        assert_eq!(found, Interval { estimate: 1.0, bounds: Some((1.0, 1.0)) }, "{count} pairs");
    }
}

#[test]
fn two_modes_are_enclosed() {
    let above: Vec<f64> = (0..20).map(|at| if at % 2 == 0 { 1.0 } else { 9.0 }).collect();
    let found = interval_of_paired_ratio(&above, &[1.0; 20], 0.95).unwrap();
    assert!((found.estimate - 3.0).abs() < 1e-12, "in logarithms 3 is between 1 and 9: {found:?}");
    let (low, high) = found.bounds.expect("enough pairs");
    assert!((0.999..2.0).contains(&low) && (4.5..9.001).contains(&high), "{found:?}");
}

#[test]
fn one_outlier_moves_little() {
    let mut uniform = Uniform(SEED);
    let [mut above, below] = pairs(&mut uniform, 30, 0.0, 2.0);
    let calm = interval_of_paired_ratio(&above, &below, 0.95).unwrap();
    above[17] *= 1e6;
    let struck = interval_of_paired_ratio(&above, &below, 0.95).unwrap();
    assert!((struck.estimate / calm.estimate - 1.0).abs() < 0.15, "{calm:?}, {struck:?}");
    assert!(struck.bounds.unwrap().1 < 1.5 * calm.bounds.unwrap().1, "{calm:?}, {struck:?}");
}

#[test]
fn many_pairs_need_no_room_for_every_two() {
    let mut uniform = Uniform(SEED);
    let [above, below] = pairs(&mut uniform, 20_000, 0.0, 1.05);
    let (low, high) = bounds(&above, &below).expect("enough pairs");
    assert!(low < 1.05 && 1.05 < high && high / low < 1.06, "{low} to {high}; seed {SEED}");
}

#[test]
fn bad_pairs_are_refused_by_name() {
    let reported = |above: &[f64], below: &[f64]| {
        interval_of_paired_ratio(above, below, 0.95).unwrap_err().to_string()
    };
    assert!(reported(&[1.0], &[1.0, 2.0]).contains("1 numerators but 2 denominators"));
    assert!(reported(&[1.0, 0.0], &[1.0, 2.0]).contains("a numerator is 0"));
    assert!(reported(&[1.0, 1.0], &[1.0, -2.0]).contains("a denominator is -2"));
    assert!(reported(&[1.0, f64::NAN], &[1.0, 2.0]).contains("sample 1"));
    assert!(reported(&[1.0, 1.0], &[f64::INFINITY, 2.0]).contains("sample 0"));
    assert!(interval_of_paired_ratio(&[1.0], &[1.0], 95.0).is_err());
}

fn positive_pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((1e-3_f64..1e9, 1e-3_f64..1e9), 1..60)
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * left.abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn swapped_sides_give_the_reciprocal(pairs in positive_pairs(), confidence in 0.5_f64..0.999) {
        let (above, below): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let there = interval_of_paired_ratio(&above, &below, confidence).unwrap();
        let back = interval_of_paired_ratio(&below, &above, confidence).unwrap();
        prop_assert!(near(there.estimate, back.estimate.recip()));
        match (there.bounds, back.bounds) {
            (None, None) => {}
            (Some((low, high)), Some((back_low, back_high))) => {
                prop_assert!(near(low, back_high.recip()) && near(high, back_low.recip()));
                prop_assert!(low <= there.estimate && there.estimate <= high);
            }
            bounds => prop_assert!(false, "{bounds:?}"),
        }
    }

    #[test]
    fn the_unit_of_time_does_not_matter(pairs in positive_pairs(), factor in 1e-3_f64..1e3) {
        let (above, below): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let scale = |side: &[f64]| side.iter().map(|time| time * factor).collect::<Vec<f64>>();
        let plain = interval_of_paired_ratio(&above, &below, 0.9).unwrap();
        let scaled = interval_of_paired_ratio(&scale(&above), &scale(&below), 0.9).unwrap();
        prop_assert!(near(plain.estimate, scaled.estimate));
    }
}
