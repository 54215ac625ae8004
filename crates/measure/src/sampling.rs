//! Where the CPU time of this program and of its servers went, by function.
//!
//! ```text
//! start | begin | the stretch | end | begin | the stretch | end | take
//! ```
//!
//! Each thread gets an event of the kernel's software CPU clock, which notes after every period of
//! its CPU time at which address it is. What the threads start later, threads and processes, is
//! followed as well (`inherit`); a thread that starts while the sampler does may be missed. Buffers
//! are read, and addresses looked up, outside the stretches: samples are told apart by their times.
//!
//! A sample in the kernel stands at the function that ran, or, where interrupts were off, at the
//! one that let them in again: so each carries the system call or the exception it belongs to.

mod clocks;
mod code;
mod event;
mod kernel_symbols;
mod names;
mod places;
mod ring;
mod symbols;
mod threads;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;

pub use places::Place;
pub use threads::ThreadTime;

use crate::counters;
use clocks::Clocks;
use event::{Open, Request};
use places::Places;
use ring::{Record, Ring, Sample};
use threads::Snapshot;

/// More samples a second would disturb what they observe: each costs some microseconds.
pub const FREQUENCY_HZ_MAX: u32 = 10_000;

/// Samples of this program and its servers, from its start to its end.
#[derive(Debug)]
pub struct Sampler {
    clocks: Clocks,
    period_ns: u64,
    following: Result<Following, String>,
    begun: Option<Snapshot>,
    kept: Vec<Sample>,
    threads: HashMap<u32, ThreadTime>,
    lost: u64,
    elapsed_ns: u64,
    places: Places,
    server_processes: HashSet<u32>,
}

/// The kernel's side.
#[derive(Debug)]
struct Following {
    /// Closing one ends it.
    #[expect(dead_code, reason = "they sample for as long as they are open")]
    events: Vec<OwnedFd>,
    /// One a CPU.
    rings: Vec<Ring>,
    /// Whether the kernel's functions are sampled.
    kernel: bool,
}

/// Samples of all stretches since the last one was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// CPU time that a sample stands for.
    pub period_ns: u64,
    /// Of the stretches together.
    pub elapsed_ns: u64,
    /// Samples that found no room in a buffer, at least.
    pub lost: u64,
    /// The most frequent first.
    pub counts: Vec<Count>,
    /// Those that spent CPU time in a stretch.
    pub threads: Vec<ThreadTime>,
}

/// How often a thread was seen at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// Of a server, or of this program.
    pub server: bool,
    /// As `ThreadTime` has it.
    pub thread: u32,
    /// Where it was.
    pub place: Place,
    /// That often.
    pub samples: u64,
}

impl Sampler {
    /// Follow all threads of this process, and those of the servers with their children. Never
    /// fails: where there are no samples, `reason` says why, and the threads' times are told still.
    pub fn start(servers: &[u32], frequency_hz: u32) -> Self {
        Self::start_with(servers, frequency_hz, &event::open)
    }

    fn start_with(servers: &[u32], frequency_hz: u32, open: Open) -> Self {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.clamp(1, FREQUENCY_HZ_MAX));
        let family =
            servers.iter().flat_map(|&server| counters::family(server).unwrap_or_default());
        let server_processes: HashSet<u32> = family.collect();
        let own = std::process::id();
        let processes = || server_processes.iter().copied().chain([own]);
        let mut places = Places::default();
        processes().for_each(|process| places.refresh(process));
        let threads: Vec<u32> = processes().flat_map(threads::tasks).collect();
        let following = follow(&threads, period_ns, open).map_err(|error| event::reason(&error));
        Self {
            clocks: Clocks::of(servers),
            period_ns,
            following,
            begun: None,
            kept: Vec::new(),
            threads: HashMap::new(),
            lost: 0,
            elapsed_ns: 0,
            places,
            server_processes,
        }
    }

    /// What is missing: all samples, or those of the kernel. Empty: nothing.
    pub fn reason(&self) -> String {
        match &self.following {
            Ok(following) if following.kernel => String::new(),
            Ok(_) => event::reason_no_kernel(),
            Err(reason) => reason.clone(),
        }
    }

    /// Whether there are samples: of programs, of the kernel.
    pub fn samples(&self) -> (bool, bool) {
        self.following.as_ref().map_or((false, false), |following| (true, following.kernel))
    }

    /// A stretch may begin when this returns.
    pub fn begin(&mut self) {
        self.drain(None);
        self.begun = Some(self.clocks.before());
    }

    /// The stretch that began last was between these two times of the project's clock.
    pub fn end(&mut self, start_ns: u64, end_ns: u64) {
        let Some(before) = self.begun.take() else { return };
        let spent = threads::between(&before, &self.clocks.after());
        self.elapsed_ns += end_ns.saturating_sub(start_ns);
        for spent in spent {
            self.threads
                .entry(spent.thread)
                .and_modify(|sum| {
                    sum.cpu_ns += spent.cpu_ns;
                    sum.waited_ns = sum.waited_ns.zip(spent.waited_ns).map(|(one, two)| one + two);
                })
                .or_insert(spent);
        }
        self.drain(Some((start_ns, end_ns)));
    }

    /// The samples since the last call, by function. The following goes on.
    pub fn take(&mut self) -> Profile {
        let seen: HashSet<u32> = self.kept.iter().map(|sample| sample.process).collect();
        for process in seen {
            self.places.refresh(process);
        }
        let mut counts: HashMap<(bool, u32, Place), u64> = HashMap::new();
        for sample in std::mem::take(&mut self.kept) {
            let place = match &sample.kernel {
                Some(chain) => self.places.in_kernel(sample.address, chain),
                None => self.places.at(sample.process, sample.address),
            };
            let server = self.server_processes.contains(&sample.process);
            let thread = if server { sample.process } else { sample.thread };
            *counts.entry((server, thread, place)).or_default() += 1;
        }
        let counts = counts.into_iter().map(|((server, thread, place), samples)| Count {
            server,
            thread,
            place,
            samples,
        });
        let mut counts: Vec<Count> = counts.collect();
        counts.sort_by(|one, two| two.samples.cmp(&one.samples).then_with(|| one.cmp(two)));
        let mut threads: Vec<ThreadTime> =
            self.threads.drain().map(|(_, time)| time.renamed()).collect();
        threads.sort_by_key(|time| (!time.server, std::cmp::Reverse(time.cpu_ns), time.thread));
        Profile {
            period_ns: self.period_ns,
            elapsed_ns: std::mem::take(&mut self.elapsed_ns),
            lost: std::mem::take(&mut self.lost),
            counts,
            threads,
        }
    }

    /// Empty the buffers, and keep the samples between two times.
    fn drain(&mut self, stretch: Option<(u64, u64)>) {
        let Ok(following) = &mut self.following else { return };
        for drained in following.rings.iter_mut().map(Ring::drain) {
            // What was lost between stretches is none of ours.
            self.lost += if stretch.is_some() { drained.lost } else { 0 };
            for record in drained.records {
                match record {
                    Record::Fork(fork) => {
                        self.places.forked(fork.process, fork.parent);
                        if self.server_processes.contains(&fork.parent) {
                            self.server_processes.insert(fork.process);
                        }
                    }
                    Record::Sample(sample) => {
                        let within = |(start, end)| (start..end).contains(&sample.time_ns);
                        if stretch.is_some_and(within) {
                            self.kept.push(sample);
                        }
                    }
                }
            }
        }
    }
}

/// Follow threads on all CPUs; without the kernel where that is refused.
fn follow(threads: &[u32], period_ns: u64, open: Open) -> io::Result<Following> {
    match follow_in(threads, period_ns, true, open) {
        Err(error) if event::refused(&error) => follow_in(threads, period_ns, false, open),
        followed => followed,
    }
}

fn follow_in(threads: &[u32], period_ns: u64, kernel: bool, open: Open) -> io::Result<Following> {
    let (mut events, mut rings) = (Vec::new(), Vec::new());
    for cpu in cpus()? {
        let mut first: Option<usize> = None;
        for &thread in threads {
            let event = match open(&Request { thread, cpu, period_ns, kernel }) {
                Err(error) if event::gone(&error) => continue,
                opened => opened?,
            };
            if let Some(place) = first {
                event::write_to(&event, &events[place])?;
            } else {
                rings.push(Ring::of(&event)?);
                first = Some(events.len());
            }
            events.push(event);
        }
    }
    Ok(Following { events, rings, kernel })
}

/// The CPUs that can run something: `0-3,8`.
fn cpus() -> io::Result<Vec<u32>> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online")?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(io::Error::other);
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(number(first)?..=number(last)?);
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;

    use rustix::io::Errno;

    use super::Sampler;
    use super::event::{self, Request};
    use crate::{clock, spin};

    /// The samples of a second on a machine that does one thing at a time.
    fn spun(sampler: &mut Sampler) -> super::Profile {
        sampler.begin();
        let start = clock::now_ns();
        spin::spin_ns(20_000_000);
        sampler.end(start, clock::now_ns());
        sampler.take()
    }

    #[test]
    fn without_the_right_to_the_kernel_programs_are_sampled_alone() {
        let refusals = Cell::new(0);
        let open = |request: &Request| {
            if request.kernel {
                refusals.set(refusals.get() + 1);
                return Err(io::Error::from(Errno::ACCESS));
            }
            event::open(request)
        };
        let mut sampler = Sampler::start_with(&[], 4000, &open);
        assert_eq!(refusals.get(), 1, "asked once, and then without");
        if !sampler.samples().0 {
            return; // nothing at all is allowed here: the next test's matter
        }
        assert!(!sampler.samples().1 && sampler.reason().contains("kernel's functions"));
        let profile = spun(&mut sampler);
        assert!(profile.counts.iter().all(|count| count.place.object != "[kernel]"));
        assert!(!profile.counts.is_empty());
    }

    #[test]
    fn without_any_right_there_is_a_reason_and_the_threads_times() {
        for (error, word) in [(Errno::PERM, "paranoid"), (Errno::NOSYS, "no perf events")] {
            let mut sampler =
                Sampler::start_with(&[], 4000, &|_: &Request| Err(io::Error::from(error)));
            assert_eq!(sampler.samples(), (false, false));
            assert!(sampler.reason().contains(word), "{}", sampler.reason());
            let profile = spun(&mut sampler);
            assert!(profile.counts.is_empty() && !profile.threads.is_empty());
            assert!(profile.elapsed_ns > 0);
        }
    }

    #[test]
    fn a_thread_that_ended_is_passed_over() {
        let open = |_: &Request| Err(io::Error::from(Errno::SRCH));
        let sampler = Sampler::start_with(&[], 4000, &open);
        assert_eq!(sampler.samples(), (true, true));
    }

    #[test]
    fn samples_between_stretches_are_none_of_theirs() {
        let mut sampler = Sampler::start(&[], 4000);
        sampler.begin();
        spin::spin_ns(20_000_000);
        sampler.end(0, 1);
        spin::spin_ns(20_000_000);
        sampler.begin();
        let now = clock::now_ns();
        sampler.end(now, now);
        assert_eq!(sampler.take().counts, []);
    }
}
