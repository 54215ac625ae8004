//! Statistics against known truth: degenerate samples by hand, coverage by simulation.

use loadstone_measure::statistics::{
    Interval, StatisticsError, growth_exponent, interval_of_median, interval_of_ratio,
};
use proptest::prelude::*;

/// Fixed, printed by every failure: change it and the simulations draw other samples.
const SEED: u64 = 1_983;

/// Uniform numbers in (0, 1), by another generator than the code under test has.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        // xorshift64* (Vigna 2016).
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn samples(&mut self, count: usize, quantile: Quantile) -> Vec<f64> {
        (0..count).map(|_| quantile(self.next())).collect()
    }
}

/// Turns a uniform number into a sample; its value at 1/2 is the median.
type Quantile = fn(f64) -> f64;

const DISTRIBUTIONS: [(&str, Quantile); 4] = [
    ("uniform", |u| 1.0 + u),
    ("exponential tail", |u| 1.0 - (1.0 - u).ln()),
    ("bimodal", |u| if u < 0.7 { 1.0 + u } else { 10.0 + u }),
    ("heavy tail", |u| (1.0 - u).recip()),
];

fn covered(bounds: Option<(f64, f64)>, truth: f64) -> bool {
    let (low, high) = bounds.expect("enough samples");
    low <= truth && truth <= high
}

/// Share of `trials` in which `trial` is true.
fn share(trials: u32, mut trial: impl FnMut() -> bool) -> f64 {
    f64::from((0..trials).map(|_| u32::from(trial())).sum::<u32>()) / f64::from(trials)
}

/// Four standard deviations of a share that is truly `confidence`.
fn margin(confidence: f64, trials: u32) -> f64 {
    4.0 * (confidence * (1.0 - confidence) / f64::from(trials)).sqrt()
}

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
    // 100 samples at 95 %: the 40th and 61st, which cover with probability 0.9648.
    let mut uniform = Uniform(SEED);
    let found = share(4_000, || {
        let samples = uniform.samples(100, |u| u);
        covered(interval_of_median(&samples, 0.95).unwrap().bounds, 0.5)
    });
    assert!((found - 0.9648).abs() < margin(0.9648, 4_000), "{found}; seed {SEED}");
}

#[test]
fn the_ratio_s_interval_covers_about_as_often_as_it_promises() {
    let trials = 200;
    for (name, quantile) in &DISTRIBUTIONS[2..] {
        for (count, confidence) in [(10, 0.95), (15, 0.8)] {
            let mut uniform = Uniform(SEED);
            let mut seed = SEED;
            let found = share(trials, || {
                let above: Vec<f64> =
                    uniform.samples(count, *quantile).iter().map(|sample| 3.0 * sample).collect();
                let below = uniform.samples(count, *quantile);
                seed += 1;
                let interval = interval_of_ratio(&above, &below, confidence, seed).unwrap();
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
    assert_eq!(interval_of_ratio(&[], &[1.0], 0.95, 0), Err(StatisticsError::Empty));
    assert_eq!(interval_of_ratio(&[6.0], &[3.0], 0.95, 0), bare(2.0));
    assert_eq!(interval_of_ratio(&[6.0, 8.0], &[3.0, 4.0], 0.95, 0), bare(2.0));
    assert_eq!(interval_of_ratio(&[6.0; 50], &[3.0; 5], 0.95, 0), bare(2.0));
}

#[test]
fn constant_samples_give_a_point() {
    let point = |at: f64| Ok(Interval { estimate: at, bounds: Some((at, at)) });
    assert_eq!(interval_of_median(&[3.0; 6], 0.95), point(3.0));
    assert_eq!(interval_of_ratio(&[3.0; 6], &[2.0; 7], 0.95, 0), point(1.5));
}

#[test]
fn one_outlier_moves_neither_estimate_nor_bounds() {
    let calm: Vec<f64> = (0..12).map(|step| 10.0 + f64::from(step)).collect();
    let mut struck = calm.clone();
    struck[11] = 1e9;
    assert_eq!(interval_of_median(&struck, 0.95), interval_of_median(&calm, 0.95));
    let (_, high) = interval_of_ratio(&struck, &[1.0; 12], 0.95, 0).unwrap().bounds.unwrap();
    assert!(high < 30.0, "{high}");
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
        let told = interval_of_median(&[1.0, bad], 0.95).unwrap_err().to_string();
        assert!(told.contains("sample 1"), "{told}");
        assert!(interval_of_ratio(&[1.0], &[bad], 0.95, 0).is_err());
        assert!(growth_exponent(&[1.0, 2.0], &[1.0, bad]).is_err());
    }
    for bad in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
        assert!(interval_of_median(&[1.0], bad).is_err(), "{bad}");
        assert!(interval_of_ratio(&[1.0], &[1.0], bad, 0).is_err(), "{bad}");
    }
    assert!(interval_of_ratio(&[1.0], &[0.0], 0.95, 0).is_err());
    assert!(interval_of_ratio(&[1.0], &[-1.0], 0.95, 0).is_err());
    assert!(growth_exponent(&[1.0, 2.0], &[1.0, 0.0]).is_err());
    assert!(growth_exponent(&[0.0, 2.0], &[1.0, 1.0]).is_err());
    assert!(growth_exponent(&[1.0, 2.0], &[1.0]).is_err());
}

#[test]
fn denominators_that_may_be_zero_have_no_upper_bound() {
    // CPU times come in ticks, so many of them are 0.
    let ticks = [0.0, 0.0, 0.0, 0.0, 10.0, 10.0, 10.0, 10.0, 10.0];
    let interval = interval_of_ratio(&[10.0; 9], &ticks, 0.95, 0).unwrap();
    assert_eq!(interval, Interval { estimate: 1.0, bounds: None });
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

proptest! {
    // Two thousand resamples a case: fewer cases.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn order_of_samples_does_not_matter_to_a_ratio(samples in positive()) {
        let reversed: Vec<f64> = samples.iter().rev().copied().collect();
        prop_assert_eq!(
            interval_of_ratio(&samples, &samples, 0.9, 3),
            interval_of_ratio(&reversed, &samples, 0.9, 3)
        );
    }

    #[test]
    fn a_ratio_scales_with_its_numerator(samples in positive(), factor in 0.01_f64..100.0) {
        let scaled: Vec<f64> = samples.iter().map(|sample| sample * factor).collect();
        let plain = interval_of_ratio(&samples, &samples, 0.9, 5).unwrap();
        let grown = interval_of_ratio(&scaled, &samples, 0.9, 5).unwrap();
        let near = |wide: f64, narrow: f64| (wide - narrow * factor).abs() <= 1e-9 * wide.abs();
        prop_assert!(near(grown.estimate, plain.estimate));
        if let (Some(grown), Some(plain)) = (grown.bounds, plain.bounds) {
            prop_assert!(near(grown.0, plain.0) && near(grown.1, plain.1));
        }
    }
}
