//! The time of all processors of the machine since it started, and the time that its hypervisor
//! took from them.

use std::fs;

/// Time of all processors together in ns, in the kernel's ticks (10 ms).
///
/// In 128 bits, because 64 hold 584 years of one processor, which 256 have used up in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorTimes {
    /// Spent in processes, guests, the kernel and interrupts.
    pub busy_ns: u128,
    /// Spent with nothing to run, waiting for storage or not.
    pub idle_ns: u128,
    /// Wanted, and given to others by the hypervisor.
    pub stolen_ns: u128,
}

/// The times now; `None` where the system does not report (`/proc/stat`).
pub fn processor_times() -> Option<ProcessorTimes> {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    parse(&fs::read_to_string("/proc/stat").ok()?, tick_ns.into())
}

/// The fields of `proc_stat(5)`. The last two, of guests, are contained in the first two.
fn parse(text: &str, tick_ns: u128) -> Option<ProcessorTimes> {
    let fields = text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let ticks: Vec<u128> = fields.map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen, ..] = ticks[..]
    else {
        return None;
    };
    Some(ProcessorTimes {
        busy_ns: (user + nice + system + interrupts + soft_interrupts) * tick_ns,
        idle_ns: (idle + waiting) * tick_ns,
        stolen_ns: stolen * tick_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::{ProcessorTimes, parse};

    #[test]
    fn guests_are_not_counted_twice() {
        let text = "cpu  1 2 4 100 200 8 16 7 1 2\ncpu0 9 9 9 9 9 9 9 9 9 9\n";
        let expected = ProcessorTimes { busy_ns: 310, idle_ns: 3_000, stolen_ns: 70 };
        assert_eq!(parse(text, 10), Some(expected));
    }

    #[test]
    fn a_time_not_reported_is_none_and_not_zero() {
        for text in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 5 6 7\n", "cpu  1 2 x 4 5 6 7 8"] {
            assert_eq!(parse(text, 10), None, "{text}");
        }
    }
}
