//! The cost of a stretch of a program: CPU time of the program and of its servers, and storage
//! traffic.
//!
//! ```text
//! storage -> servers -> own time | the stretch | own time -> servers -> storage
//! ```
//!
//! A walk over processes in `/proc` costs tens of microseconds of CPU time: more than many a
//! stretch. So the program's own time is read next to the stretch, from its own clock, and the walk
//! is in none of the figures.

use crate::counters::{self, StorageBytes};
use crate::kernel::process_cpu_ns;

/// Differences over a stretch; `None` where the system does not report.
///
/// The client is this process; the servers are those that the meter was given, with their children.
/// The bytes are those of the processes that hold the data: the servers, or this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// CPU time of this process, all its threads.
    pub client_cpu_ns: Option<u64>,
    /// Threads of this process, those that ended meanwhile left out.
    pub client_threads: Option<u32>,
    /// CPU time of the servers.
    pub server_cpu_ns: Option<u64>,
    /// Threads of the servers.
    pub server_threads: Option<u32>,
    /// Fetched from storage.
    pub read_bytes: Option<u64>,
    /// Sent to storage.
    pub written_bytes: Option<u64>,
}

/// Which processes are servers.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    servers: Vec<u32>,
}

/// The figures when the stretch began.
#[derive(Debug)]
pub struct Begun {
    meter: Meter,
    storage: Option<StorageBytes>,
    server_ns: Option<u64>,
    threads: Option<u32>,
    own_ns: Option<u64>,
}

impl Meter {
    /// Of a program with these servers; none where the engine is in this process.
    pub const fn new(servers: Vec<u32>) -> Self {
        Self { servers }
    }

    /// The stretch begins when this returns.
    pub fn begin(&self) -> Begun {
        let storage = self.storage();
        let server_ns = self.server_ns();
        let threads = counters::threads(std::process::id());
        Begun { meter: self.clone(), storage, server_ns, threads, own_ns: own_ns() }
    }

    fn server_ns(&self) -> Option<u64> {
        sum(&self.servers, counters::cpu_ns)
    }

    fn storage(&self) -> Option<StorageBytes> {
        let own = [std::process::id()];
        let holders = if self.servers.is_empty() { &own[..] } else { &self.servers };
        let mut total = StorageBytes::default();
        for &holder in holders {
            let bytes = counters::storage_bytes(holder)?;
            total.read += bytes.read;
            total.written += bytes.written;
        }
        Some(total)
    }
}

impl Begun {
    /// The stretch ended when this was called.
    pub fn end(self) -> Work {
        let client_cpu_ns = difference(self.own_ns, own_ns());
        let server_cpu_ns = difference(self.server_ns, self.meter.server_ns());
        let storage = self.meter.storage();
        let bytes = |of: fn(StorageBytes) -> u64| difference(self.storage.map(of), storage.map(of));
        let threads = counters::threads(std::process::id());
        Work {
            client_cpu_ns,
            // Those that began or ended meanwhile are in one of the two counts.
            client_threads: self.threads.zip(threads).map(|(before, after)| before.max(after)),
            server_cpu_ns,
            server_threads: sum(&self.meter.servers, counters::threads),
            read_bytes: bytes(|it| it.read),
            written_bytes: bytes(|it| it.written),
        }
    }
}

fn own_ns() -> Option<u64> {
    process_cpu_ns(std::process::id())
}

/// `None` for nobody, and where one of them does not report.
fn sum<T: std::iter::Sum>(pids: &[u32], read: fn(u32) -> Option<T>) -> Option<T> {
    if pids.is_empty() { None } else { pids.iter().map(|&pid| read(pid)).sum() }
}

fn difference(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    // Less than before: a process that ended took its count with it.
    before.zip(after).and_then(|(before, after)| after.checked_sub(before))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::Meter;
    use crate::clock::now_ns;
    use crate::spin;

    /// Iterations of the spinning loop: some hundred milliseconds.
    const ITERATIONS: u64 = 1 << 26;

    #[test]
    fn work_outside_the_stretch_is_in_none_of_the_figures() {
        let meter = Meter::default();
        spin::spin_ns(ITERATIONS);
        let begun = meter.begin();
        let work = begun.end();
        spin::spin_ns(ITERATIONS);
        let own_ns = work.client_cpu_ns.expect("we live");
        let start_ns = now_ns();
        let begun = meter.begin();
        spin::spin_ns(ITERATIONS);
        let spun_ns = begun.end().client_cpu_ns.expect("we live");
        assert!(own_ns < spun_ns / 10, "{own_ns} of {spun_ns}");
        // Other tests of this program run at the same time, as threads of it.
        let threads = u64::from(work.client_threads.expect("we live"));
        assert!(spun_ns <= (now_ns() - start_ns) * threads.max(1) * 2, "{spun_ns}");
    }

    #[test]
    fn without_a_server_nothing_is_reported_about_one() {
        let work = Meter::default().begin().end();
        assert_eq!((work.server_cpu_ns, work.server_threads), (None, None));
        assert!(work.client_threads.expect("we live") >= 1);
    }

    #[test]
    fn a_servers_work_is_the_servers() {
        let spun = "read line; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done";
        let mut child = Command::new("sh")
            .args(["-c", spun])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let meter = Meter::new(vec![child.id()]);
        let begun = meter.begin();
        child.stdin.as_mut().expect("piped").write_all(b"go\n").expect("it reads");
        let mut said = [0; 4];
        child.stdout.as_mut().expect("piped").read_exact(&mut said).expect("it answers");
        let work = begun.end();
        _ = child.wait();
        assert!(work.server_cpu_ns.is_none_or(|used_ns| used_ns > 0), "{work:?}");
        assert_eq!(work.server_threads.unwrap_or(1), 1);
    }

    #[test]
    fn bytes_are_those_of_the_stretch() {
        let path = std::env::temp_dir().join(format!("work-{}", std::process::id()));
        let mut file = File::create(&path).expect("the temporary folder is ours");
        std::fs::remove_file(&path).expect("just made");
        let begun = Meter::default().begin();
        file.write_all(&vec![1; 1 << 20]).expect("a megabyte");
        file.sync_all().expect("a megabyte");
        let inside = begun.end().written_bytes;
        // A file system in memory writes nothing to storage.
        assert!(inside.is_none_or(|bytes| bytes == 0 || bytes >= 1 << 20), "{inside:?}");
    }
}
