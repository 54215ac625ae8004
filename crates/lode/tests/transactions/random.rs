//! Random numbers of tests: a seed names the same run for ever.

use std::ops::{Deref, DerefMut};

use loadstone_datasets::splitmix::SplitMix64;

pub struct Random(SplitMix64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub const fn one_in(&mut self, count: usize) -> bool {
        self.0.below(count) == 0
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len())]
    }
}

impl Deref for Random {
    type Target = SplitMix64;

    fn deref(&self) -> &SplitMix64 {
        &self.0
    }
}

impl DerefMut for Random {
    fn deref_mut(&mut self) -> &mut SplitMix64 {
        &mut self.0
    }
}

/// A number from the environment, for longer runs and for playing one again.
pub fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
}

/// Print the result of a test: the harness shows it with `--show-output`.
#[expect(clippy::print_stdout, reason = "what a test prints is kept unless it is requested")]
pub fn show(what: impl std::fmt::Display) {
    println!("{what}");
}
