//! Statistics of samples: one file a question. None assumes a distribution; times have none.

mod growth;
mod independence;
mod median;
mod outliers;
mod paired;

pub use growth::{Growth, growth_exponent};
pub use independence::{BELIEVED_FROM, effective_samples};
pub use median::interval_of_median;
pub use outliers::outliers;
pub use paired::interval_of_paired_ratio;

/// An estimate and, where there are enough samples, the bounds of its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate itself, in the unit of the samples.
    pub estimate: f64,
    /// Lower and upper bound; `None` where so few samples cannot give the confidence asked.
    pub bounds: Option<(f64, f64)>,
}

/// Why no statistic can be given.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// There is nothing to summarise.
    #[error("no samples: give at least one")]
    Empty,
    /// A sample is infinite or not a number.
    #[error("sample {index} is {value}: every sample must be a finite number")]
    NotFinite {
        /// Its position, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A ratio to zero or less, or a logarithm of it.
    #[error("{what} is {value}: it must be above zero")]
    NotPositive {
        /// Which number was wrong.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The confidence is not a probability.
    #[error("confidence {0} is not between 0 and 1: give for example 0.95")]
    Confidence(f64),
    /// Sizes and times do not pair.
    #[error("{sizes} sizes but {times} times: give one time for each size")]
    Unpaired {
        /// Number of sizes.
        sizes: usize,
        /// Number of times.
        times: usize,
    },
    /// Numerators and denominators do not pair.
    #[error(
        "{numerators} numerators but {denominators} denominators: \
         give two of each pair, in one order"
    )]
    Unequal {
        /// Number of numerators.
        numerators: usize,
        /// Number of denominators.
        denominators: usize,
    },
}

/// The samples in ascending order, checked: at least one, all finite.
fn sorted(samples: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    check_finite(samples)?;
    if samples.is_empty() {
        return Err(StatisticsError::Empty);
    }
    let mut ascending = samples.to_vec();
    ascending.sort_by(f64::total_cmp);
    Ok(ascending)
}

fn check_finite(samples: &[f64]) -> Result<(), StatisticsError> {
    match samples.iter().position(|sample| !sample.is_finite()) {
        Some(index) => Err(StatisticsError::NotFinite { index, value: samples[index] }),
        None => Ok(()),
    }
}

fn check_confidence(confidence: f64) -> Result<(), StatisticsError> {
    if confidence > 0.0 && confidence < 1.0 {
        Ok(())
    } else {
        Err(StatisticsError::Confidence(confidence))
    }
}
