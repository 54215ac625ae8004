//! `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): a seed names the same run for ever.

pub use loadstone_datasets::splitmix::SplitMix64 as Random;

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
