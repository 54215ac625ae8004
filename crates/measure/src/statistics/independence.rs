//! The number of independent samples that a sequence is worth, when neighbours in time resemble
//! each other.
//!
//! The integrated autocorrelation time by Geyer's initial positive sequence (*Practical Markov
//! Chain Monte Carlo*, 1992, section 3.3): correlations of neighbouring lags are added in pairs,
//! up to the first pair whose sum is not positive.
//!
//! The correlations are those of ranks, not of values: one sample a thousand times longer than all
//! others would otherwise be the whole variance, and every correlation would vanish beside it.
//! Ranks count in integers, so the result is the same to the last bit for a sequence read
//! backwards and for one of reciprocals.

use std::cmp::Ordering::Equal;

use super::{StatisticsError, check_finite};

/// Shorter sequences report too little about their own correlation for an interval to act on it.
pub const BELIEVED_FROM: usize = 20;

/// Independent sequences seem to have an integrated autocorrelation time above 1 + this / sqrt(n)
/// once or twice in ten. Simulated: 20,000 normal sequences of each length, from 20 (7 %) over 100
/// (17 %) to 5,000 (23 %). It costs independent ones a twentieth of width and keeps the coverage of
/// first-order sequences of 50 and more within 5 points of 95 % up to a correlation of 0.5.
const CHANCE: f64 = 4.0;

/// Correlations that reach further are looked at again in every 16th sample, which then report as
/// much as all: the work stays linear in the number of samples.
const LAGS_MAX: usize = 1_024;
const THINNING: usize = 16;

/// The number of independent samples that determine a mean rank as well as these in time order do:
/// between 1 and their number.
///
/// Short sequences (below some 50) give a rough number, more often too high than too low. Samples
/// that are all equal show no correlation and count in full.
pub fn effective_samples(samples: &[f64]) -> Result<f64, StatisticsError> {
    check_finite(samples)?;
    if samples.is_empty() {
        return Err(StatisticsError::Empty);
    }
    Ok(effective(samples))
}

/// The same for use in an interval: all samples count in full unless correlation is plain, because
/// chance alone shows some in every second sequence.
pub(super) fn plainly_effective(samples: &[f64]) -> f64 {
    let count = samples.len() as f64;
    if samples.len() < BELIEVED_FROM {
        return count;
    }
    let effective = effective(samples);
    if count / effective > 1.0 + CHANCE / count.sqrt() { effective } else { count }
}

fn effective(samples: &[f64]) -> f64 {
    let count = samples.len();
    let ranks = centred_ranks(samples);
    let variance = covariance(&ranks, 0);
    if variance == 0 {
        return count as f64;
    }
    let mut time = -1.0;
    for lag in (0..count).step_by(2) {
        if lag == LAGS_MAX {
            let thinned: Vec<f64> = samples.iter().step_by(THINNING).copied().collect();
            return effective(&thinned);
        }
        let pair = covariance(&ranks, lag) + covariance(&ranks, lag + 1);
        if pair <= 0 {
            break;
        }
        time += 2.0 * pair as f64 / variance as f64;
    }
    (count as f64 / time.max(1.0)).max(1.0)
}

/// Twice the rank of each sample less the mean of that; equal samples share their mean rank.
fn centred_ranks(samples: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|&left, &right| samples[left].total_cmp(&samples[right]));
    let mut ranks = vec![0; samples.len()];
    let mut below = 0;
    // Not `total_cmp`, which distinguishes the two zeros.
    let equal =
        |&left: &usize, &right: &usize| samples[left].partial_cmp(&samples[right]) == Some(Equal);
    for ties in order.chunk_by(equal) {
        let rank = (2 * below + ties.len()) as i64 - samples.len() as i64;
        for &position in ties {
            ranks[position] = rank;
        }
        below += ties.len();
    }
    ranks
}

/// Sum over all neighbours at this distance; none are so far apart as their number.
fn covariance(ranks: &[i64], lag: usize) -> i128 {
    let later = ranks.get(lag..).unwrap_or_default();
    ranks.iter().zip(later).map(|(&left, &right)| i128::from(left * right)).sum()
}

#[cfg(test)]
mod tests {
    use super::{centred_ranks, covariance};

    #[test]
    fn ranks_are_centred_and_ties_share() {
        assert_eq!(centred_ranks(&[30.0, 10.0, 20.0]), [2, -2, 0]);
        assert_eq!(centred_ranks(&[5.0, 5.0, 1.0, 9.0]), [0, 0, -3, 3]);
        assert_eq!(centred_ranks(&[0.0, -0.0]), [0, 0]);
    }

    #[test]
    fn covariances_end_with_the_sequence() {
        let lags: Vec<i128> = (0..4).map(|lag| covariance(&[2, -2, 0], lag)).collect();
        assert_eq!(lags, [8, -4, 0, 0]);
    }
}
