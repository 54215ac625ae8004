//! Which samples lie far out. They are for the reader to explain, and stay in every statistic.

use super::{StatisticsError, check_finite};

/// Tukey's far fences (*Exploratory Data Analysis*, section 2E): so many times the distance of the
/// quartiles beyond them. Of normal samples one in 430,000 lies there.
const FENCE: f64 = 3.0;

/// Fewer samples have no quartiles worth the name.
const SAMPLES_MIN: usize = 4;

/// Positions, ascending, of the samples beyond the far fences.
///
/// Quartiles are interpolated between their neighbours. Where more than half of the samples are
/// equal the fences meet there, and every other sample is beyond them.
pub fn outliers(samples: &[f64]) -> Result<Vec<usize>, StatisticsError> {
    check_finite(samples)?;
    if samples.len() < SAMPLES_MIN {
        return Ok(Vec::new());
    }
    let mut ascending = samples.to_vec();
    ascending.sort_by(f64::total_cmp);
    let (lower, upper) = (quantile(&ascending, 0.25), quantile(&ascending, 0.75));
    let reach = FENCE * (upper - lower);
    let beyond = |sample: f64| sample < lower - reach || sample > upper + reach;
    Ok((0..samples.len()).filter(|&position| beyond(samples[position])).collect())
}

fn quantile(ascending: &[f64], fraction: f64) -> f64 {
    let place = fraction * (ascending.len() - 1) as f64;
    let below = ascending[place.floor() as usize];
    let above = ascending[place.ceil() as usize];
    below + place.fract() * (above - below)
}
