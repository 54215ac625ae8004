//! The ratio of one of a pair to the other, over many pairs, each taken under like
//! conditions.
//!
//! In logarithms, where a ratio and its reciprocal lie as far from 1: the Hodges-Lehmann estimate
//! (the median of all means of two, Walsh averages) with the interval that Wilcoxon's signed ranks
//! give (Hollander, Wolfe and Chicken, *Nonparametric Statistical Methods*, sections 3.2 and 3.3).
//! It assumes that log ratios scatter evenly around their median, which pairing makes likely: both
//! of a pair have the same distribution of noise.

use super::independence::plainly_effective;
use super::{Interval, StatisticsError, check_confidence, check_finite};

/// Up to here the distribution of signed ranks is counted out, beyond it is normal to within one
/// rank of a thousand.
const EXACT_MAX: usize = 50;

/// The median of `numerator` / `denominator` over pairs in time order, and its interval.
///
/// The interval is wider by sqrt(n / effective samples) where the ratios plainly resemble their
/// neighbours in time; of fewer than 20 pairs that cannot be reported, and they count in full. The
/// bounds are absent where the pairs are worth fewer than 6 independent ones at 95 %, 8 at 99 %.
/// Equal ratios never narrow it.
pub fn interval_of_paired_ratio(
    numerator: &[f64],
    denominator: &[f64],
    confidence: f64,
) -> Result<Interval, StatisticsError> {
    check_confidence(confidence)?;
    if numerator.len() != denominator.len() {
        let (numerators, denominators) = (numerator.len(), denominator.len());
        return Err(StatisticsError::Unequal { numerators, denominators });
    }
    if numerator.is_empty() {
        return Err(StatisticsError::Empty);
    }
    check_positive(numerator, "a numerator")?;
    check_positive(denominator, "a denominator")?;
    // A difference of logarithms, because then swapped sides give the same number negated.
    let logarithms: Vec<f64> =
        numerator.iter().zip(denominator).map(|(above, below)| above.ln() - below.ln()).collect();
    let effective = plainly_effective(&logarithms);
    let walsh = WalshAverages::of(&logarithms);
    let median = walsh.median();
    let enough = depth(effective as usize, confidence).is_some();
    let bounds = depth(logarithms.len(), confidence).filter(|_| enough).map(|depth| {
        let widening = (logarithms.len() as f64 / effective).sqrt();
        let low = median - widening * (median - walsh.smallest(depth));
        let high = median + widening * (walsh.smallest(walsh.count() + 1 - depth) - median);
        (low.exp(), high.exp())
    });
    Ok(Interval { estimate: median.exp(), bounds })
}

fn check_positive(numbers: &[f64], what: &'static str) -> Result<(), StatisticsError> {
    check_finite(numbers)?;
    match numbers.iter().find(|&&number| number <= 0.0) {
        Some(&value) => Err(StatisticsError::NotPositive { what, value }),
        None => Ok(()),
    }
}

/// The means of any two of some numbers, each with itself too. They are counted and not made, so a
/// hundred thousand pairs need neither a sample nor 40 GB.
struct WalshAverages {
    ascending: Vec<f64>,
}

impl WalshAverages {
    fn of(numbers: &[f64]) -> Self {
        let mut ascending = numbers.to_vec();
        ascending.sort_by(f64::total_cmp);
        Self { ascending }
    }

    const fn count(&self) -> usize {
        self.ascending.len() * (self.ascending.len() + 1) / 2
    }

    fn median(&self) -> f64 {
        let upper = self.smallest(self.count() / 2 + 1);
        if self.count() % 2 == 1 {
            upper
        } else {
            f64::midpoint(self.smallest(self.count() / 2), upper)
        }
    }

    /// The one of this place in ascending order, from 1: by halving the numbers of f64 in order,
    /// so that the result is one of the averages to the last bit.
    fn smallest(&self, place: usize) -> f64 {
        let mut low = ordinal(self.ascending[0]);
        let mut high = ordinal(self.ascending[self.ascending.len() - 1]);
        while low < high {
            // Not the mean of the sum, which may leave the range of i64.
            let midpoint = (low & high) + ((low ^ high) >> 1);
            if self.up_to(from_ordinal(midpoint)) >= place {
                high = midpoint;
            } else {
                low = midpoint + 1;
            }
        }
        from_ordinal(low)
    }

    /// The number not above `limit`.
    fn up_to(&self, limit: f64) -> usize {
        let mut partners = self.ascending.len();
        let mut found = 0;
        for (position, &number) in self.ascending.iter().enumerate() {
            while partners > position && f64::midpoint(number, self.ascending[partners - 1]) > limit
            {
                partners -= 1;
            }
            if partners <= position {
                break;
            }
            found += partners - position;
        }
        found
    }
}

/// The place of a finite number among all numbers of its kind: neighbours differ by 1.
const fn ordinal(number: f64) -> i64 {
    let bits = number.to_bits().cast_signed();
    bits ^ (((bits >> 63).cast_unsigned()) >> 1).cast_signed()
}

const fn from_ordinal(ordinal: i64) -> f64 {
    f64::from_bits(
        (ordinal ^ (((ordinal >> 63).cast_unsigned()) >> 1).cast_signed()).cast_unsigned(),
    )
}

/// The greatest k for which the k-th smallest and k-th largest Walsh average of `count` numbers
/// enclose their median with the confidence asked; `None` where not even the extremes do.
fn depth(count: usize, confidence: f64) -> Option<usize> {
    // Rounding must not turn an interval that covers exactly as often as asked into none.
    let tail_max = (1.0 - confidence) / 2.0 * (1.0 + 1e-12);
    let depth = if count <= EXACT_MAX {
        exact_depth(count, tail_max)
    } else {
        // The variance without ties: with them it is smaller, so the interval errs to the wide.
        let total = count as f64;
        let deviation = (total * (total + 1.0) * (2.0 * total + 1.0) / 24.0).sqrt();
        let below = total * (total + 1.0) / 4.0 - upper_quantile(tail_max) * deviation;
        (below + 0.5).floor().max(0.0) as usize
    };
    (depth > 0).then_some(depth)
}

/// The number of sums of signed ranks, from 0 up, that are together no likelier than `tail_max`.
fn exact_depth(count: usize, tail_max: f64) -> usize {
    let sums = count * (count + 1) / 2;
    let mut probability = vec![0.0; sums + 1];
    probability[0] = 1.0;
    for rank in 1..=count {
        // From above, so that each sum is still that of the ranks before.
        for sum in (0..=rank * (rank + 1) / 2).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = f64::midpoint(probability[sum], with);
        }
    }
    let tails = probability.iter().scan(0.0, |tail, one| {
        *tail += one;
        Some(*tail)
    });
    // No deeper than the median, where lower and upper bound meet.
    tails.take_while(|&tail| tail <= tail_max).count().min(sums.div_ceil(2))
}

/// The number that a standard normal variable exceeds with this probability, below 1/2.
fn upper_quantile(tail: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let midpoint = f64::midpoint(low, high);
        if libm::erfc(midpoint / std::f64::consts::SQRT_2) / 2.0 > tail {
            low = midpoint;
        } else {
            high = midpoint;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::{EXACT_MAX, WalshAverages, depth, from_ordinal, ordinal, upper_quantile};

    #[test]
    fn depths_are_those_of_the_published_tables() {
        // One more than Wilcoxon's two-sided critical values at 5 %: 0, 2, 8, 52, 434.
        let known = [(5, None), (6, Some(1)), (7, Some(3)), (10, Some(9)), (20, Some(53))];
        for (count, expected) in known {
            assert_eq!(depth(count, 0.95), expected, "{count} pairs");
        }
        assert_eq!(depth(50, 0.95), Some(435));
        assert_eq!((depth(7, 0.99), depth(8, 0.99)), (None, Some(1)));
        assert_eq!((depth(0, 0.95), depth(1, 0.5)), (None, None));
    }

    #[test]
    fn the_approximation_takes_over_without_a_step() {
        let share = |count: usize| {
            let depth = depth(count, 0.95).expect("enough pairs") as f64;
            let total = count as f64;
            (total * (total + 1.0) / 4.0 - depth)
                / (total * (total + 1.0) * (2.0 * total + 1.0)).sqrt()
        };
        assert!((share(EXACT_MAX) - share(EXACT_MAX + 1)).abs() < 0.004, "{}", share(EXACT_MAX));
    }

    #[test]
    fn quantiles_are_the_textbook_s() {
        assert!((upper_quantile(0.025) - 1.959_963_985).abs() < 1e-9);
        assert!((upper_quantile(0.005) - 2.575_829_304).abs() < 1e-9);
    }

    #[test]
    fn counted_averages_are_those_made() {
        let numbers = [0.3, -1.5, 0.0, 7.0, 0.3, -0.1, 1e-300];
        let mut made = Vec::new();
        for (position, left) in numbers.iter().enumerate() {
            made.extend(numbers[position..].iter().map(|right| f64::midpoint(*left, *right)));
        }
        made.sort_by(f64::total_cmp);
        let counted = WalshAverages::of(&numbers);
        assert_eq!(counted.count(), made.len());
        let found: Vec<f64> = (1..=made.len()).map(|place| counted.smallest(place)).collect();
        assert_eq!(found, made);
    }

    #[test]
    fn ordinals_are_in_order_and_lead_back() {
        let ascending = [f64::MIN, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-310, 1.0, f64::MAX];
        assert!(ascending.map(ordinal).is_sorted());
        for number in ascending {
            assert_eq!(from_ordinal(ordinal(number)).to_bits(), number.to_bits());
        }
        assert_eq!(ordinal(1.0) + 1, ordinal(1.0_f64.next_up()));
    }
}
