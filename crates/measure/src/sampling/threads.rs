//! The time that threads spent on a CPU, and waiting for one.

use std::collections::HashMap;
use std::fs;

/// A thread of this program, or a process of a server, over some stretches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadTime {
    /// Of a server, or of this program.
    pub server: bool,
    /// Its number; of a server that of the process.
    pub thread: u32,
    /// As the kernel has it: at most 15 characters.
    pub name: String,
    /// On a CPU.
    pub cpu_ns: u64,
    /// It could have run and no CPU was free; `None` where the kernel does not report.
    pub waited_ns: Option<u64>,
}

impl ThreadTime {
    /// With the name that it has now, if it lives: some take theirs after they began.
    #[must_use]
    pub fn renamed(self) -> Self {
        let process = if self.server { self.thread } else { std::process::id() };
        let now = name(process, self.thread);
        if now.is_empty() { self } else { Self { name: now, ..self } }
    }
}

/// All of them at one moment, by number.
pub type Snapshot = HashMap<u32, ThreadTime>;

/// The number of the calling thread.
pub fn own_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()
}

/// The time spent between two moments; those that spent nothing are left out.
pub fn between(before: &Snapshot, after: &Snapshot) -> Vec<ThreadTime> {
    let spent = after.values().filter_map(|now| {
        let then = before.get(&now.thread);
        let cpu_ns = now.cpu_ns.checked_sub(then.map_or(0, |then| then.cpu_ns))?;
        let waited = then.map_or(Some(0), |then| then.waited_ns);
        let waited_ns = now.waited_ns.zip(waited).and_then(|(now, then)| now.checked_sub(then));
        (cpu_ns > 0).then(|| ThreadTime { cpu_ns, waited_ns, ..now.clone() })
    });
    spent.collect()
}

/// Threads of a process; none when it is gone.
pub fn tasks(process: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// As the kernel has it now; empty when it is gone.
pub fn name(process: u32, thread: u32) -> String {
    let bytes = fs::read(format!("/proc/{process}/task/{thread}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Snapshot, ThreadTime, between};

    fn time(thread: u32, cpu_ns: u64, waited_ns: Option<u64>) -> (u32, ThreadTime) {
        (thread, ThreadTime { server: false, thread, name: String::new(), cpu_ns, waited_ns })
    }

    #[test]
    fn only_the_difference_counts_and_a_new_thread_began_at_nothing() {
        let before: Snapshot = [time(1, 10, Some(5)), time(2, 7, Some(1)), time(4, 9, None)].into();
        let after: Snapshot =
            [time(1, 30, Some(6)), time(2, 7, Some(1)), time(3, 4, Some(2)), time(4, 10, None)]
                .into();
        let mut spent = between(&before, &after);
        spent.sort_by_key(|spent| spent.thread);
        let expected = [time(1, 20, Some(1)), time(3, 4, Some(2)), time(4, 1, None)];
        assert_eq!(spent, expected.map(|(_, time)| time));
    }
}
