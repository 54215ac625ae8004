//! The median and its distribution-free interval, by order statistics.
//!
//! With n independent samples the number that fall below the true median is binomial (n, 1/2),
//! whatever the distribution, so the k-th smallest and the k-th largest enclose it with probability
//! 1 - 2 P(B < k) or more (David and Nagaraja, *Order Statistics*, section 7.1).
//!
//! Samples that resemble their neighbours in time are worth fewer: the two ranks move away from the
//! median by the square root of what they are worth less.

use super::independence::plainly_effective;
use super::{Interval, StatisticsError, check_confidence, sorted};

/// Median of `samples` in time order, with an interval that covers the true one at least as often
/// as `confidence` if they are independent, and about as often if their correlation can be seen.
///
/// The bounds are absent where the samples are worth fewer than 6 independent ones at 95 %, 8 at
/// 99 %. Correlation is only looked for in 20 samples and more.
pub fn interval_of_median(samples: &[f64], confidence: f64) -> Result<Interval, StatisticsError> {
    check_confidence(confidence)?;
    let ascending = sorted(samples)?;
    let bounds = depth_of_worth(samples.len(), plainly_effective(samples), confidence)
        .map(|depth| (ascending[depth - 1], ascending[ascending.len() - depth]));
    Ok(Interval { estimate: median_of_sorted(&ascending), bounds })
}

/// The median of ascending numbers.
fn median_of_sorted(ascending: &[f64]) -> f64 {
    let upper = ascending.len() / 2;
    if ascending.len() % 2 == 1 {
        ascending[upper]
    } else {
        f64::midpoint(ascending[upper - 1], ascending[upper])
    }
}

/// The greatest k for which the k-th smallest and k-th largest of `count` samples enclose the
/// median with the confidence asked; `None` where not even the extremes do.
fn depth(count: usize, confidence: f64) -> Option<usize> {
    // Rounding must not turn an interval that covers exactly as often as asked into none.
    let tail_max = (1.0 - confidence) / 2.0 * (1.0 + 1e-12);
    let total = count as f64;
    // In logarithms, because (1/2)^n leaves the range of f64 above a thousand samples.
    let mut log_probability = -total * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for below in 0..count.div_ceil(2) {
        tail += log_probability.exp();
        if tail > tail_max {
            return (below > 0).then_some(below);
        }
        let step = below as f64;
        log_probability += ((total - step) / (step + 1.0)).ln();
    }
    (count > 0).then_some(count.div_ceil(2))
}

/// The same for `count` samples that are worth `effective` independent ones.
fn depth_of_worth(count: usize, effective: f64, confidence: f64) -> Option<usize> {
    depth(effective as usize, confidence)?;
    let depth = depth(count, confidence)?;
    let midpoint = (count + 1) as f64 / 2.0;
    let distance = (midpoint - depth as f64) * (count as f64 / effective).sqrt();
    // A position outside is the extreme itself: `effective` samples alone would have had bounds.
    Some((midpoint - distance).floor().max(1.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::{depth, depth_of_worth};

    #[test]
    fn depths_are_those_of_the_published_tables() {
        // n, depth at 95 %: Conover, Practical Nonparametric Statistics, via binomial(n, 1/2).
        let known = [(5, None), (6, Some(1)), (9, Some(2)), (12, Some(3)), (20, Some(6))];
        for (count, expected) in known {
            assert_eq!(depth(count, 0.95), expected, "{count} samples");
        }
        assert_eq!(depth(100, 0.95), Some(40));
        assert_eq!((depth(7, 0.99), depth(8, 0.99)), (None, Some(1)));
        assert_eq!(depth(0, 0.95), None);
    }

    #[test]
    fn a_hundred_thousand_samples_stay_in_range() {
        // Normal approximation: n/2 - 1.96 sqrt(n)/2 = 49,690.1.
        let found = depth(100_000, 0.95).expect("plenty of samples");
        assert!((49_689..=49_691).contains(&found), "{found}");
    }

    #[test]
    fn a_confidence_met_exactly_is_met() {
        // The extremes of 2 samples enclose the median with probability exactly 1/2.
        assert_eq!((depth(1, 0.5), depth(2, 0.5)), (None, Some(1)));
    }

    #[test]
    fn samples_worth_a_quarter_stand_twice_as_far_from_the_middle() {
        assert_eq!(depth_of_worth(100, 100.0, 0.95), Some(40));
        // 50.5 - 40 = 10.5 ranks from the median, so 21.
        assert_eq!(depth_of_worth(100, 25.0, 0.95), Some(29));
        assert_eq!(depth_of_worth(100, 6.0, 0.95), Some(7));
        assert_eq!(depth_of_worth(100, 5.9, 0.95), None);
    }
}
