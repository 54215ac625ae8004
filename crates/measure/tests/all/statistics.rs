//! Statistics against known truth: degenerate samples by hand, coverage by simulation.

use loadstone_measure::statistics::{
    Interval, StatisticsError, growth_exponent, interval_of_median, interval_of_paired_ratio,
    outliers,
};
use proptest::prelude::*;

use crate::simulation::{Quantile, SEED, Uniform, covered, margin, share};

const DISTRIBUTIONS: [(&str, Quantile); 4] = [
    ("uniform", |u| 1.0 + u),
    ("exponential tail", |u| 1.0 - (1.0 - u).ln()),
    ("bimodal", |u| if u < 0.7 { 1.0 + u } else { 10.0 + u }),
    ("heavy tail", |u| (1.0 - u).recip()),
];

#[test]
fn the_median_s_interval_covers_at_least_as_often_as_it_promises() {
    let trials = 2_000;
    for (name, quantile) in DISTRIBUTIONS {
        for (count, confidence) in [(6, 0.95), (11, 0.95), (30, 0.95), (30, 0.8), (101, 0.99)] {
            let mut uniform = Uniform(SEED);
            let found = share(trials, || {
                let samples = uniform.samples(count, quantile);
                let interval = interval_of_median(&samples, confidence).unwrap();
                covered(interval.bounds, quantile(0.5))
            });
            let wanted = confidence - margin(confidence, trials);
            assert!(found >= wanted, "{name}, {count} at {confidence}: {found}; seed {SEED}");
        }
    }
}

#[test]
fn the_median_s_interval_is_not_wider_than_order_statistics_must_be() {
    // 15 samples at 95 %, too few to look for correlation: the 4th and 12th, which cover with
    // probability 0.9648.
    let mut uniform = Uniform(SEED);
    let found = share(4_000, || {
        let samples = uniform.samples(15, |u| u);
        covered(interval_of_median(&samples, 0.95).unwrap().bounds, 0.5)
    });
    assert!((found - 0.9648).abs() < margin(0.9648, 4_000), "{found}; seed {SEED}");
}

#[test]
fn the_ratio_s_interval_covers_whatever_the_distribution_of_both_sides() {
    let trials = 400;
    for (name, quantile) in DISTRIBUTIONS {
        for (count, confidence) in [(10, 0.95), (15, 0.8)] {
            let mut uniform = Uniform(SEED);
            let found = share(trials, || {
                let above: Vec<f64> =
                    uniform.samples(count, quantile).iter().map(|sample| 3.0 * sample).collect();
                let below = uniform.samples(count, quantile);
                let interval = interval_of_paired_ratio(&above, &below, confidence).unwrap();
                covered(interval.bounds, 3.0)
            });
            let wanted = confidence - margin(confidence, trials);
            assert!(found >= wanted, "{name}, {count} at {confidence}: {found}; seed {SEED}");
        }
    }
}

#[test]
fn few_samples_give_an_estimate_without_bounds() {
    let bare = |estimate| Ok(Interval { estimate, bounds: None });
    assert_eq!(interval_of_median(&[], 0.95), Err(StatisticsError::Empty));
    assert_eq!(interval_of_median(&[7.0], 0.95), bare(7.0));
    assert_eq!(interval_of_median(&[9.0, 7.0], 0.95), bare(8.0));
    assert_eq!(interval_of_median(&[1.0; 5], 0.95), bare(1.0));
}

#[test]
fn constant_samples_give_a_point() {
    let point = |at: f64| Ok(Interval { estimate: at, bounds: Some((at, at)) });
    assert_eq!(interval_of_median(&[3.0; 6], 0.95), point(3.0));
}

#[test]
fn one_outlier_moves_neither_estimate_nor_bounds() {
    let calm: Vec<f64> = (0..12).map(|step| 10.0 + f64::from(step)).collect();
    let mut struck = calm.clone();
    struck[11] = 1e9;
    assert_eq!(interval_of_median(&struck, 0.95), interval_of_median(&calm, 0.95));
}

#[test]
fn far_samples_are_reported_and_near_ones_are_not() {
    // Quartiles 12.75 and 18.25: the far fences stand at -3.75 and 34.75.
    let mut samples: Vec<f64> = (10..22).map(f64::from).collect();
    assert_eq!(outliers(&samples), Ok(vec![]));
    samples[11] = 34.7;
    assert_eq!(outliers(&samples), Ok(vec![]));
    (samples[11], samples[0]) = (34.8, -3.8);
    // The lower quartile is the same still, and they are found wherever they stand.
    samples.swap(11, 3);
    assert_eq!(outliers(&samples), Ok(vec![0, 3]));
}

#[test]
fn nothing_is_far_out_among_equals_modes_or_few() {
    assert_eq!(outliers(&[7.0; 9]), Ok(vec![]));
    let modes: Vec<f64> = (0..20).map(|step| if step % 2 == 0 { 1.0 } else { 9e9 }).collect();
    assert_eq!(outliers(&modes), Ok(vec![]));
    for few in [&[][..], &[1.0], &[1.0, 1.0, 1e9]] {
        assert_eq!(outliers(few), Ok(vec![]));
    }
    assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0, 1.5]), Ok(vec![4]), "more than half are equal");
    assert!(outliers(&[1.0, f64::NAN]).is_err());
}

#[test]
fn two_modes_are_enclosed_and_not_hidden() {
    let samples: Vec<f64> = (0..20).map(|step| if step % 2 == 0 { 1.0 } else { 9.0 }).collect();
    let interval = interval_of_median(&samples, 0.95).unwrap();
    assert_eq!(interval, Interval { estimate: 5.0, bounds: Some((1.0, 9.0)) });
}

#[test]
fn bad_numbers_are_refused_by_name() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let reported = interval_of_median(&[1.0, bad], 0.95).unwrap_err().to_string();
        assert!(reported.contains("sample 1"), "{reported}");
        assert!(growth_exponent(&[1.0, 2.0], &[1.0, bad]).is_err());
    }
    for bad in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
        assert!(interval_of_median(&[1.0], bad).is_err(), "{bad}");
    }
    assert!(growth_exponent(&[1.0, 2.0], &[1.0, 0.0]).is_err());
    assert!(growth_exponent(&[0.0, 2.0], &[1.0, 1.0]).is_err());
    assert!(growth_exponent(&[1.0, 2.0], &[1.0]).is_err());
}

#[test]
fn a_power_law_is_found_exactly() {
    for exponent in [0.0, 1.0, 1.5, 2.0] {
        let sizes = [1e3, 1e4, 1e5, 1e6];
        let times = sizes.map(|size| 7.0 * f64::powf(size, exponent));
        let growth = growth_exponent(&sizes, &times).unwrap().expect("four sizes");
        assert!((growth.exponent - exponent).abs() < 1e-12, "{growth:?}");
        assert!(growth.error.expect("four sizes") < 1e-9, "{growth:?}");
    }
}

#[test]
fn the_exponent_s_error_is_the_textbook_s() {
    // ln x = 0, 1, 2, 3 and ln y = 0, 2, 1, 3: slope 0.8; residuals -0.3, 0.9, -0.9, 0.3.
    let sizes = [0.0, 1.0, 2.0, 3.0].map(f64::exp);
    let times = [0.0, 2.0, 1.0, 3.0].map(f64::exp);
    let growth = growth_exponent(&sizes, &times).unwrap().expect("four sizes");
    assert!((growth.exponent - 0.8).abs() < 1e-12, "{growth:?}");
    assert!((growth.error.expect("four sizes") - 0.18_f64.sqrt()).abs() < 1e-12, "{growth:?}");
}

#[test]
fn an_exponent_needs_two_sizes_and_its_error_three() {
    assert_eq!(growth_exponent(&[], &[]), Ok(None));
    assert_eq!(growth_exponent(&[10.0], &[1.0]), Ok(None));
    assert_eq!(growth_exponent(&[10.0, 10.0], &[1.0, 2.0]), Ok(None));
    let growth = growth_exponent(&[10.0, 100.0, 100.0], &[1.0, 10.0, 10.0]).unwrap().unwrap();
    assert!((growth.exponent - 1.0).abs() < 1e-12 && growth.error.is_none(), "{growth:?}");
}

fn positive() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1e-3_f64..1e9, 1..60)
}

proptest! {
    #[test]
    fn bounds_are_samples_around_the_estimate(samples in positive(), confidence in 0.5_f64..0.999) {
        let interval = interval_of_median(&samples, confidence).unwrap();
        if let Some((low, high)) = interval.bounds {
            prop_assert!(low <= interval.estimate && interval.estimate <= high);
            prop_assert!(samples.contains(&low) && samples.contains(&high));
        }
    }

    #[test]
    fn order_of_samples_does_not_matter(samples in positive(), confidence in 0.5_f64..0.999) {
        let reversed: Vec<f64> = samples.iter().rev().copied().collect();
        prop_assert_eq!(
            interval_of_median(&samples, confidence),
            interval_of_median(&reversed, confidence)
        );
    }

    #[test]
    fn more_confidence_never_narrows(samples in positive(), confidence in 0.5_f64..0.98) {
        let wide = |confidence| {
            interval_of_median(&samples, confidence).unwrap().bounds
                .map_or(f64::INFINITY, |(low, high)| high - low)
        };
        prop_assert!(wide(confidence) <= wide(confidence + 0.019));
    }
}
