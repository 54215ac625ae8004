//! Samples whose truth is known, and how often a statistic meets it.

/// Fixed, printed by every failure: change it and the simulations draw other samples.
pub const SEED: u64 = 1_983;

/// Uniform numbers in (0, 1), by another generator than the code under test has.
pub struct Uniform(pub u64);

impl Uniform {
    pub fn next(&mut self) -> f64 {
        // xorshift64* (Vigna 2016).
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn samples(&mut self, count: usize, quantile: Quantile) -> Vec<f64> {
        (0..count).map(|_| quantile(self.next())).collect()
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }

    /// Log-normal samples of median 1 whose logarithms resemble their neighbours: an autoregressive
    /// sequence of first order, independent at `correlation` 0.
    pub fn sequence(&mut self, count: usize, correlation: f64) -> Vec<f64> {
        let fresh = (1.0 - correlation * correlation).sqrt();
        let mut state = self.normal();
        let mut next = || {
            state = correlation * state + fresh * self.normal();
            state.exp()
        };
        (0..count).map(|_| next()).collect()
    }

    /// The same samples in random order.
    pub fn shuffled(&mut self, mut samples: Vec<f64>) -> Vec<f64> {
        for last in (1..samples.len()).rev() {
            samples.swap(last, (self.next() * (last + 1) as f64) as usize);
        }
        samples
    }
}

/// Turns a uniform number into a sample; its value at 1/2 is the median.
pub type Quantile = fn(f64) -> f64;

/// Whether there are bounds around the truth.
pub fn covered(bounds: Option<(f64, f64)>, truth: f64) -> bool {
    bounds.is_some_and(|(low, high)| low <= truth && truth <= high)
}

/// Share of `trials` in which `trial` is true.
pub fn share(trials: u32, mut trial: impl FnMut() -> bool) -> f64 {
    f64::from((0..trials).map(|_| u32::from(trial())).sum::<u32>()) / f64::from(trials)
}

/// Four standard deviations of a share that is truly `confidence`.
pub fn margin(confidence: f64, trials: u32) -> f64 {
    4.0 * (confidence * (1.0 - confidence) / f64::from(trials)).sqrt()
}
