//! How many times one median is another, with its interval by percentile bootstrap (Efron 1979).

use super::median::{depth, median_of_sorted};
use super::{Interval, StatisticsError, check_confidence, sorted};
use crate::random::Random;

/// Resamples drawn: enough that the 2.5 % quantile itself is steady to about 0.35 percent points.
pub const RESAMPLES: usize = 2_000;

/// Median of `numerator` over median of `denominator`, each side resampled on its own.
///
/// The bounds are absent where either side is too small for an interval of its own median (a
/// bootstrap of five samples cannot leave their range, so would promise more than it knows), and
/// where so many resampled denominators are zero that no finite bound exists.
pub fn interval_of_ratio(
    numerator: &[f64],
    denominator: &[f64],
    confidence: f64,
    seed: u64,
) -> Result<Interval, StatisticsError> {
    check_confidence(confidence)?;
    let above = sorted(numerator)?;
    let below = sorted(denominator)?;
    let divisor = median_of_sorted(&below);
    for (what, value) in [("the smallest numerator", above[0]), ("the smallest divisor", below[0])]
    {
        if value < 0.0 {
            return Err(StatisticsError::NotPositive { what, value });
        }
    }
    if divisor == 0.0 {
        let what = "the median of the denominator";
        return Err(StatisticsError::NotPositive { what, value: divisor });
    }
    let estimate = median_of_sorted(&above) / divisor;
    let enough = [&above, &below].iter().all(|side| depth(side.len(), confidence).is_some());
    let bounds = enough.then(|| bootstrap(&above, &below, confidence, seed)).flatten();
    Ok(Interval { estimate, bounds })
}

fn bootstrap(above: &[f64], below: &[f64], confidence: f64, seed: u64) -> Option<(f64, f64)> {
    let mut random = Random::new(seed);
    let mut picks = Vec::new();
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let numerator = resampled_median(above, &mut picks, &mut random);
            let divisor = resampled_median(below, &mut picks, &mut random);
            if divisor > 0.0 { numerator / divisor } else { f64::INFINITY }
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let tail = ((1.0 - confidence) / 2.0 * RESAMPLES as f64).floor() as usize;
    let (low, high) = (ratios[tail], ratios[RESAMPLES - 1 - tail]);
    high.is_finite().then_some((low, high))
}

/// Median of as many samples drawn with replacement. `picks` is room lent by the caller.
fn resampled_median(ascending: &[f64], picks: &mut Vec<u32>, random: &mut Random) -> f64 {
    let count = ascending.len();
    picks.clear();
    picks.extend((0..count).map(|_| random.below(count) as u32));
    // Positions stand for samples, because the samples are in order and integers compare faster.
    let (smaller, &mut upper, _) = picks.select_nth_unstable(count / 2);
    let upper = ascending[upper as usize];
    if count % 2 == 1 {
        return upper;
    }
    let lower = smaller.iter().max().expect("an even count is at least 2, so one pick is smaller");
    f64::midpoint(ascending[*lower as usize], upper)
}
