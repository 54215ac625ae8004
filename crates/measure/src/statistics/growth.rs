//! The way in which time grows with size: the exponent of the power law that fits best.

use super::{StatisticsError, check_finite};

/// The slope of log time over log size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// 0 is constant, 1 linear, 2 quadratic.
    pub exponent: f64,
    /// Standard error of the exponent; `None` with only two sizes, which any line fits.
    pub error: Option<f64>,
}

/// Least squares on logarithms; `None` with fewer than two different sizes.
pub fn growth_exponent(sizes: &[f64], times: &[f64]) -> Result<Option<Growth>, StatisticsError> {
    if sizes.len() != times.len() {
        return Err(StatisticsError::Unpaired { sizes: sizes.len(), times: times.len() });
    }
    let abscissas = logarithms(sizes, "a size")?;
    let ordinates = logarithms(times, "a time")?;
    let different = different(sizes);
    if different < 2 {
        return Ok(None);
    }
    let count = sizes.len() as f64;
    let mean_x = abscissas.iter().sum::<f64>() / count;
    let mean_y = ordinates.iter().sum::<f64>() / count;
    let points = || abscissas.iter().zip(&ordinates).map(|(x, y)| (x - mean_x, y - mean_y));
    let spread: f64 = points().map(|(x, _)| x * x).sum();
    let exponent = points().map(|(x, y)| x * y).sum::<f64>() / spread;
    let residual: f64 = points().map(|(x, y)| (y - exponent * x).powi(2)).sum();
    let error = (different > 2).then(|| (residual / (count - 2.0) / spread).sqrt());
    Ok(Some(Growth { exponent, error }))
}

fn logarithms(numbers: &[f64], what: &'static str) -> Result<Vec<f64>, StatisticsError> {
    check_finite(numbers)?;
    match numbers.iter().find(|&&number| number <= 0.0) {
        Some(&value) => Err(StatisticsError::NotPositive { what, value }),
        None => Ok(numbers.iter().map(|number| number.ln()).collect()),
    }
}

fn different(numbers: &[f64]) -> usize {
    let mut ascending = numbers.to_vec();
    ascending.sort_by(f64::total_cmp);
    ascending.dedup();
    ascending.len()
}
