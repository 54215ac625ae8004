//! When an open loop's requests are due. Decided before the first is sent, so that a slow engine
//! cannot slow its own load down.

use loadstone_datasets::splitmix::SplitMix64;

/// More starts than this are 400 MB of numbers before the first request.
pub const STARTS_MAX: u64 = 50_000_000;

/// The way in which the gaps between starts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Exponential gaps, as many users who do not know of each other make. The first is random too.
    Poisson,
    /// Equal gaps; the first start is at 0.
    Uniform,
}

impl Pace {
    /// The pace of that name.
    pub fn of_name(name: &str) -> Result<Self, PaceError> {
        match name {
            "poisson" => Ok(Self::Poisson),
            "uniform" => Ok(Self::Uniform),
            _ => Err(PaceError::Name(name.to_owned())),
        }
    }
}

/// Why no starts can be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PaceError {
    /// No pace is called so.
    #[error("no pace is called `{0}`: give `poisson` or `uniform`")]
    Name(String),
    /// The rate is no rate.
    #[error("the rate is {0} requests/s: give a finite number above zero")]
    Rate(f64),
    /// There is no time to start in.
    #[error("the duration is 0 ns: give at least 1")]
    Duration,
    /// The list would not fit a machine.
    #[error(
        "{rate_per_s} requests/s over {duration_ns} ns are more than {STARTS_MAX} starts: \
         lower the rate or shorten the run"
    )]
    TooMany {
        /// Requests a second.
        rate_per_s: f64,
        /// Length of the run in ns.
        duration_ns: u64,
    },
}

/// Offsets in ns, ascending and below `duration_ns`, at which requests are due.
///
/// They are a pure function of the arguments; a longer run goes on where a shorter one stopped.
pub fn intended_starts(
    seed: u64,
    rate_per_s: f64,
    duration_ns: u64,
    pace: Pace,
) -> Result<Vec<u64>, PaceError> {
    if !(rate_per_s.is_finite() && rate_per_s > 0.0) {
        return Err(PaceError::Rate(rate_per_s));
    }
    if duration_ns == 0 {
        return Err(PaceError::Duration);
    }
    // Finite, because no gap at all times an infinite one is not a number.
    let gap_ns = (1e9 / rate_per_s).min(f64::MAX);
    if duration_ns as f64 / gap_ns > STARTS_MAX as f64 {
        return Err(PaceError::TooMany { rate_per_s, duration_ns });
    }
    let within = |&start_ns: &u64| start_ns < duration_ns;
    Ok(match pace {
        Pace::Poisson => {
            let mut random = SplitMix64::new(seed);
            let mut due_ns = 0.0;
            let starts = std::iter::repeat_with(|| {
                // Not the system's logarithm, which differs between machines in its last bit.
                due_ns -= libm::log(random.unit()) * gap_ns;
                due_ns as u64
            });
            starts.take_while(within).collect()
        }
        Pace::Uniform => {
            let sends = (duration_ns as f64 / gap_ns).ceil() as u64 + 1;
            // Multiplied and not added up, so that the last is as exact as the first.
            (0..sends).map(|at| (at as f64 * gap_ns) as u64).take_while(within).collect()
        }
    })
}
