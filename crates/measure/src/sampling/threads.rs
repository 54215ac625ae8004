//! The time that threads spent on a CPU, and waiting for one.

use std::collections::HashMap;
use std::fs;

use crate::counters;
use crate::kernel::{process_cpu_ns, thread_cpu_ns};

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
    /// It could have run and no CPU was free; `None` where the kernel does not tell.
    pub waited_ns: Option<u64>,
}

/// All of them at one moment, by number.
pub type Snapshot = HashMap<u32, ThreadTime>;

/// At the beginning of a stretch. The calling thread is read last, so that the time spent here
/// stays out of its own.
pub fn before(servers: &[u32]) -> Snapshot {
    let mut found = others(servers);
    found.extend(caller());
    found
}

/// At the end of a stretch. The calling thread is read first, and of it its CPU time: to read the
/// rest takes longer than many a stretch.
pub fn after(servers: &[u32]) -> Snapshot {
    let cpu_ns = thread_cpu_ns(own_thread());
    let caller = caller();
    let mut found = others(servers);
    found.extend(
        caller.zip(cpu_ns).map(|((thread, time), cpu_ns)| (thread, ThreadTime { cpu_ns, ..time })),
    );
    found
}

/// The threads of this process, and the processes of its servers with their children.
fn others(servers: &[u32]) -> Snapshot {
    let own = std::process::id();
    let family = servers.iter().flat_map(|&server| counters::family(server).unwrap_or_default());
    let threads = tasks(own).into_iter().filter_map(|thread| of_thread(own, thread));
    let found = family.filter_map(of_process).chain(threads);
    found.map(|time| (time.thread, time)).collect()
}

fn own_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()
}

fn caller() -> Option<(u32, ThreadTime)> {
    let thread = own_thread();
    of_thread(std::process::id(), thread).map(|time| (thread, time))
}

/// What was spent between two moments; those that spent nothing are left out.
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

fn of_process(process: u32) -> Option<ThreadTime> {
    let waited_ns = tasks(process).into_iter().map(|thread| waited_ns(process, thread)).sum();
    let cpu_ns = process_cpu_ns(process)?;
    Some(ThreadTime {
        server: true,
        thread: process,
        name: name(process, process),
        cpu_ns,
        waited_ns,
    })
}

fn of_thread(process: u32, thread: u32) -> Option<ThreadTime> {
    let waited_ns = waited_ns(process, thread);
    let name = name(process, thread);
    Some(ThreadTime { server: false, thread, name, cpu_ns: thread_cpu_ns(thread)?, waited_ns })
}

fn name(process: u32, thread: u32) -> String {
    let bytes = fs::read(format!("/proc/{process}/task/{thread}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

/// The second of three figures in `schedstat`: the time on a queue. The first, the time on a CPU,
/// is as old as the last tick for a thread that runs.
fn waited_ns(process: u32, thread: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Snapshot, ThreadTime, after, before, between, own_thread};
    use crate::spin;

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

    #[test]
    fn a_thread_that_works_is_seen_to() {
        let then = before(&[]);
        let ns = spin::spin_ns(3_000_000);
        let here = own_thread();
        let spent = between(&then, &after(&[]));
        let own = spent.iter().find(|spent| spent.thread == here).expect("it works now");
        assert!(own.cpu_ns > 0 && !own.server && !own.name.is_empty(), "{own:?}");
        // A thread that is kept from its CPU spends less there than the clock shows, never more
        // than that and what the readings themselves took.
        assert!(own.cpu_ns + own.waited_ns.unwrap_or(0) > ns / 2, "{own:?} in {ns} ns");
    }
}
