//! The clocks of this program's threads and of its servers' processes, read before and after each
//! stretch.
//!
//! To open files, to list folders and to read a file of `/proc` takes longer than many a stretch,
//! and empties the caches that the stretch would have found filled. So files stay open from one
//! reading to the next; and a process or a thread whose CPU time has not changed since the last
//! reading did nothing meanwhile: it has waited no longer than then, and started nothing.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use super::threads::{self, Snapshot, ThreadTime};
use crate::counters;
use crate::kernel::{process_cpu_ns, thread_cpu_ns};

/// A list of children longer than this is taken as changed each time.
const CHILDREN_BYTES: usize = 512;

/// Of this program and its servers.
#[derive(Debug)]
pub struct Clocks {
    servers: Vec<u32>,
    processes: Vec<Process>,
}

#[derive(Debug)]
struct Process {
    number: u32,
    server: bool,
    /// Of its threads; its count of links is theirs.
    folder: Option<File>,
    links: u64,
    threads: Vec<Thread>,
    /// The lists of its threads' children, of a server.
    children: Vec<u8>,
    /// CPU time when threads and children were last compared with the lists.
    compared_ns: Option<u64>,
    last: Option<Reading>,
}

#[derive(Debug)]
struct Thread {
    number: u32,
    name: String,
    schedstat: Option<File>,
    /// Of a server.
    children: Option<File>,
    last: Option<Reading>,
}

/// The last reading of a thread or of a process.
#[derive(Debug, Clone, Copy)]
struct Reading {
    cpu_ns: u64,
    waited_ns: Option<u64>,
}

impl Reading {
    /// As before, where no CPU time was spent since then.
    fn at(cpu_ns: u64, before: Option<Self>, waited_ns: impl FnOnce() -> Option<u64>) -> Self {
        match before {
            Some(before) if before.cpu_ns == cpu_ns => before,
            _ => Self { cpu_ns, waited_ns: waited_ns() },
        }
    }
}

impl Clocks {
    /// Of this program, and of the servers with their children.
    pub fn of(servers: &[u32]) -> Self {
        let mut clocks = Self { servers: servers.to_vec(), processes: Vec::new() };
        clocks.list();
        clocks
    }

    /// At the beginning of a stretch. The calling thread is read last, so that the time spent here
    /// stays out of its own.
    pub fn before(&mut self) -> Snapshot {
        let mut found = self.now();
        found.extend(self.caller().map(|time| (time.thread, time)));
        found
    }

    /// At the end of a stretch. The calling thread is read first, and of it its CPU time: to read
    /// the rest takes longer than many a stretch.
    pub fn after(&mut self) -> Snapshot {
        let cpu_ns = thread_cpu_ns(threads::own_thread());
        let caller = self.caller();
        let mut found = self.now();
        let caller = caller.zip(cpu_ns).map(|(time, cpu_ns)| ThreadTime { cpu_ns, ..time });
        found.extend(caller.map(|time| (time.thread, time)));
        found
    }

    /// At any moment.
    pub fn now(&mut self) -> Snapshot {
        if self.processes.iter_mut().any(Process::family_changed) {
            self.list();
        }
        self.processes.iter_mut().flat_map(Process::times).map(|time| (time.thread, time)).collect()
    }

    fn caller(&mut self) -> Option<ThreadTime> {
        let number = threads::own_thread();
        let mut own = self.processes.iter_mut().filter(|process| !process.server);
        own.find_map(|process| process.threads.iter_mut().find(|it| it.number == number))?.time()
    }

    fn list(&mut self) {
        let family =
            self.servers.iter().flat_map(|&server| counters::family(server).unwrap_or_default());
        let servers = family.map(|number| Process::of(number, true));
        self.processes = servers.chain([Process::of(std::process::id(), false)]).collect();
    }
}

impl Process {
    fn of(number: u32, server: bool) -> Self {
        let folder = File::open(format!("/proc/{number}/task")).ok();
        let mut process = Self {
            number,
            server,
            folder,
            links: 0,
            threads: Vec::new(),
            children: Vec::new(),
            compared_ns: None,
            last: None,
        };
        process.list();
        process.children = process.children_now();
        process
    }

    fn list(&mut self) {
        // Counted first: a thread that starts meanwhile changes the count once more.
        self.links = self.links_now();
        let listed = threads::tasks(self.number);
        self.threads.retain(|thread| listed.contains(&thread.number));
        for number in listed {
            if self.threads.iter().all(|thread| thread.number != number) {
                self.threads.push(Thread::of(self.number, number, self.server));
            }
        }
    }

    fn links_now(&self) -> u64 {
        let folder = self.folder.as_ref().and_then(|folder| folder.metadata().ok());
        folder.map_or(0, |folder| folder.nlink())
    }

    fn children_now(&self) -> Vec<u8> {
        let mut found = Vec::new();
        let mut bytes = [0; CHILDREN_BYTES];
        for file in self.threads.iter().filter_map(|thread| thread.children.as_ref()) {
            let length = file.read_at(&mut bytes, 0).unwrap_or(0);
            found.extend_from_slice(&bytes[..length]);
            found.push(b'\n');
            if length == CHILDREN_BYTES {
                found.resize(CHILDREN_BYTES + 1, 0);
                break;
            }
        }
        found
    }

    /// Whether it has ended, or its children are others. Its threads are listed again where their
    /// number has changed. Neither is looked at where it has spent no CPU time since the last time.
    fn family_changed(&mut self) -> bool {
        let Some(cpu_ns) = process_cpu_ns(self.number) else { return self.server };
        if self.compared_ns == Some(cpu_ns) {
            return false;
        }
        self.compared_ns = Some(cpu_ns);
        if self.links_now() != self.links {
            self.list();
        }
        let children = self.children_now();
        children.len() > CHILDREN_BYTES || children != self.children
    }

    /// Of a server as one, of this program by thread.
    fn times(&mut self) -> Vec<ThreadTime> {
        if self.server {
            return self.time().into_iter().collect();
        }
        let mut found: Vec<_> = self.threads.iter_mut().filter_map(Thread::time).collect();
        if found.len() < self.threads.len() {
            // One has no clock any more: another may have taken its place, and the count is alike.
            self.list();
            found = self.threads.iter_mut().filter_map(Thread::time).collect();
        }
        found
    }

    /// Of a server.
    fn time(&mut self) -> Option<ThreadTime> {
        let cpu_ns = process_cpu_ns(self.number)?;
        let waited_ns = || self.threads.iter().map(Thread::waited_ns).sum();
        let reading = Reading::at(cpu_ns, self.last, waited_ns);
        self.last = Some(reading);
        let name = self.threads.iter().find(|thread| thread.number == self.number);
        Some(ThreadTime {
            server: true,
            thread: self.number,
            name: name.map_or_else(String::new, |thread| thread.name.clone()),
            cpu_ns: reading.cpu_ns,
            waited_ns: reading.waited_ns,
        })
    }
}

impl Thread {
    fn of(process: u32, number: u32, server: bool) -> Self {
        let open = |name: &str| File::open(format!("/proc/{process}/task/{number}/{name}")).ok();
        Self {
            number,
            name: threads::name(process, number),
            schedstat: open("schedstat"),
            children: server.then(|| open("children")).flatten(),
            last: None,
        }
    }

    /// Of this program.
    fn time(&mut self) -> Option<ThreadTime> {
        let cpu_ns = thread_cpu_ns(self.number)?;
        let reading = Reading::at(cpu_ns, self.last, || self.waited_ns());
        self.last = Some(reading);
        let Reading { cpu_ns, waited_ns } = reading;
        let name = self.name.clone();
        Some(ThreadTime { server: false, thread: self.number, name, cpu_ns, waited_ns })
    }

    /// The second of three figures in `schedstat`: the time on a queue. The first, the time on a
    /// CPU, is as old as the last tick for a thread that runs.
    fn waited_ns(&self) -> Option<u64> {
        let mut bytes = [0; 64];
        let length = self.schedstat.as_ref()?.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::sync::mpsc::channel;

    use super::{Clocks, Reading};
    use crate::sampling::threads::{between, own_thread};
    use crate::spin;

    #[test]
    fn only_what_spent_time_is_read_again() {
        let before = Reading { cpu_ns: 5, waited_ns: Some(3) };
        let unread = || -> Option<u64> { panic!("it did nothing since then") };
        assert_eq!(Reading::at(5, Some(before), unread).waited_ns, Some(3));
        for last in [None, Some(before)] {
            assert_eq!(Reading::at(6, last, || Some(9)).waited_ns, Some(9));
        }
    }

    #[test]
    fn a_thread_that_works_is_seen_to() {
        let mut clocks = Clocks::of(&[]);
        let then = clocks.before();
        let ns = spin::spin_ns(3_000_000);
        let here = own_thread();
        let spent = between(&then, &clocks.after());
        let own = spent.iter().find(|spent| spent.thread == here).expect("it works now");
        assert!(own.cpu_ns > 0 && !own.server && !own.name.is_empty(), "{own:?}");
        // A thread that is kept from its CPU spends less there than the clock shows, never more
        // than that and what the readings themselves took.
        assert!(own.cpu_ns + own.waited_ns.unwrap_or(0) > ns / 2, "{own:?} in {ns} ns");
    }

    #[test]
    fn a_thread_that_takes_the_place_of_another_is_listed() {
        let mut clocks = Clocks::of(&[]);
        for _ in 0..3 {
            let (reported, number) = channel();
            let (end, ended) = channel::<()>();
            let thread = std::thread::spawn(move || {
                spin::spin_ns(1_000_000);
                reported.send(own_thread()).expect("awaited");
                ended.recv().expect("reported to end");
            });
            let number = number.recv().expect("it shows");
            let found = clocks.before();
            assert!(found.get(&number).is_some_and(|time| time.cpu_ns > 0), "{number}: {found:?}");
            end.send(()).expect("it waits");
            thread.join().expect("it ends");
        }
    }

    #[test]
    fn a_process_that_a_server_starts_later_is_listed() {
        let mut shell = Command::new("sh");
        // A shell gives the processes that it starts in the background no input unless reported:
        // `cat` would end at once.
        shell.args(["-c", "echo; read go; exec 3<&0; cat <&3 & echo $!; wait"]);
        let mut shell =
            shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("every Linux has sh");
        let mut input = shell.stdin.take().expect("piped");
        let mut output = BufReader::new(shell.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says that it runs");
        let mut clocks = Clocks::of(&[shell.id()]);
        assert!(clocks.before().contains_key(&shell.id()));
        input.write_all(b"\n").expect("it reads");
        line.clear();
        output.read_line(&mut line).expect("it names its child");
        let child: u32 = line.trim().parse().expect("a number");
        let found = clocks.before();
        assert!(found.get(&child).is_some_and(|time| time.server), "{child}: {found:?}");
        drop(input);
        shell.wait().expect("it is ours");
    }
}
