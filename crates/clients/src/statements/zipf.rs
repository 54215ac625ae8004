//! Zipf distributions, each with the sums of its shares.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::value::above_low;

/// Of a zipf distribution: each has a share in memory.
pub const RANKS_MAX: u64 = 1_000_000;
/// Distributions kept by the expressions of scripts, whose bounds may change with each value.
const ZIPF_KEPT_MAX: usize = 16;

/// A zipf distribution: the n-th number has a share of 1 / n to the power of an exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipf {
    low: i64,
    sums: Arc<[f64]>,
}

/// By the number of ranks and the bits of the exponent.
type Kept = HashMap<(u64, u64), Arc<[f64]>>;

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

impl Zipf {
    /// Of numbers from the first to the last, at most `RANKS_MAX`.
    pub fn new(low: i64, high: i64, exponent: f64) -> Self {
        let mut sum = 0.0;
        let ranks = 1..=(high.abs_diff(low) + 1).min(RANKS_MAX);
        let sums = ranks.map(|rank| {
            sum += 1.0 / (rank as f64).powf(exponent);
            sum
        });
        Self { low, sums: sums.collect() }
    }

    /// The same, of which the sums may be known already.
    pub fn cached(low: i64, high: i64, exponent: f64) -> Self {
        let key = (high.abs_diff(low), exponent.to_bits());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.get_or_insert_default();
        if let Some(sums) = kept.get(&key) {
            return Self { low, sums: Arc::clone(sums) };
        }
        if kept.len() == ZIPF_KEPT_MAX {
            kept.clear();
        }
        let made = Self::new(low, high, exponent);
        kept.insert(key, Arc::clone(&made.sums));
        made
    }

    /// The number at a share, from 0 to below 1.
    pub fn at(&self, share: f64) -> i64 {
        let last = self.sums.len() - 1;
        let sought = share * self.sums[last];
        let rank = self.sums.partition_point(|sum| *sum < sought).min(last);
        above_low(self.low, rank as u64)
    }
}
