//! The clocks of this program's threads and of its servers' processes, read before and after each
//! stretch.
//!
//! Files stay open from one reading to the next, and what exists is listed again only where a count
//! says that it changed: to open files and to list folders takes longer than many a stretch, and
//! empties the caches that the stretch would have found filled.

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
    /// The lists of the servers' children, as last read.
    children: Vec<u8>,
}

#[derive(Debug)]
struct Process {
    number: u32,
    server: bool,
    /// Of its threads; its count of links is theirs.
    folder: Option<File>,
    links: u64,
    threads: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    number: u32,
    name: String,
    schedstat: Option<File>,
    /// Of a server.
    children: Option<File>,
}

impl Clocks {
    /// Of this program, and of the servers with their children.
    pub fn of(servers: &[u32]) -> Self {
        let servers = servers.to_vec();
        let mut clocks = Self { servers, processes: Vec::new(), children: Vec::new() };
        clocks.list();
        clocks
    }

    /// At the beginning of a stretch. The calling thread is read last, so that the time spent here
    /// stays out of its own.
    pub fn before(&mut self) -> Snapshot {
        self.refresh();
        let mut found = self.read();
        found.extend(self.caller().map(|time| (time.thread, time)));
        found
    }

    /// At the end of a stretch. The calling thread is read first, and of it its CPU time: to read
    /// the rest takes longer than many a stretch.
    pub fn after(&mut self) -> Snapshot {
        let cpu_ns = thread_cpu_ns(threads::own_thread());
        let caller = self.caller();
        self.refresh();
        let mut found = self.read();
        let caller = caller.zip(cpu_ns).map(|(time, cpu_ns)| ThreadTime { cpu_ns, ..time });
        found.extend(caller.map(|time| (time.thread, time)));
        found
    }

    /// At any moment.
    pub fn now(&mut self) -> Snapshot {
        self.refresh();
        self.read()
    }

    fn read(&self) -> Snapshot {
        let times = self.processes.iter().flat_map(|process| {
            let whole = process.server.then(|| process.time()).flatten();
            let each = process.threads.iter().filter_map(Thread::time);
            whole.into_iter().chain(each.filter(|_| !process.server))
        });
        times.map(|time| (time.thread, time)).collect()
    }

    fn caller(&self) -> Option<ThreadTime> {
        let number = threads::own_thread();
        let mut own = self.processes.iter().filter(|process| !process.server);
        own.find_map(|process| process.threads.iter().find(|it| it.number == number))?.time()
    }

    /// List again what a count says has changed.
    fn refresh(&mut self) {
        let children = self.children_now();
        let gone = self.processes.iter().any(|process| process.server && process.ended());
        if gone || children.len() > CHILDREN_BYTES || children != self.children {
            self.list();
            return;
        }
        self.processes.iter_mut().filter(|process| process.changed()).for_each(Process::list);
    }

    fn list(&mut self) {
        let family =
            self.servers.iter().flat_map(|&server| counters::family(server).unwrap_or_default());
        let servers = family.map(|number| Process::of(number, true));
        self.processes = servers.chain([Process::of(std::process::id(), false)]).collect();
        self.children = self.children_now();
    }

    fn children_now(&self) -> Vec<u8> {
        let mut found = Vec::new();
        let mut bytes = [0; CHILDREN_BYTES];
        for file in self.processes.iter().flat_map(|process| &process.threads) {
            let Some(file) = &file.children else { continue };
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
}

impl Process {
    fn of(number: u32, server: bool) -> Self {
        let folder = File::open(format!("/proc/{number}/task")).ok();
        let mut process = Self { number, server, folder, links: 0, threads: Vec::new() };
        process.list();
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

    /// A thread that another one took the place of has no clock any more.
    fn changed(&self) -> bool {
        let ended = |thread: &Thread| thread_cpu_ns(thread.number).is_none();
        self.links_now() != self.links || (!self.server && self.threads.iter().any(ended))
    }

    fn ended(&self) -> bool {
        process_cpu_ns(self.number).is_none()
    }

    /// Of a server.
    fn time(&self) -> Option<ThreadTime> {
        let waited_ns = self.threads.iter().map(Thread::waited_ns).sum();
        let name = self.threads.iter().find(|thread| thread.number == self.number);
        Some(ThreadTime {
            server: true,
            thread: self.number,
            name: name.map_or_else(String::new, |thread| thread.name.clone()),
            cpu_ns: process_cpu_ns(self.number)?,
            waited_ns,
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
        }
    }

    /// Of this program.
    fn time(&self) -> Option<ThreadTime> {
        let waited_ns = self.waited_ns();
        let cpu_ns = thread_cpu_ns(self.number)?;
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

    use super::Clocks;
    use crate::sampling::threads::{between, own_thread};
    use crate::spin;

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
