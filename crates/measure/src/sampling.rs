//! The place where the CPU time of this program and of its servers went, by function.
//!
//! ```text
//! start | begin | the stretch | end | begin | the stretch | end | take | pause | resume | …
//! ```
//!
//! Each thread gets an event of the kernel's software CPU clock, which notes after every period of
//! its CPU time at which address it is. What the threads start later, threads and processes, is
//! followed as well (`inherit`); a thread that starts while the sampler does may be missed. Buffers
//! are read, and addresses looked up, outside the stretches: samples are distinguished by their
//! times.
//!
//! From one taking to the next each event has a sample for every period that it counted, but for
//! one that began before or ends after it: so the samples stand for a known CPU time, which the
//! threads' own clocks must report as well. That share of the time of the stretches, however short
//! they are, is divided between the samples within them.
//!
//! A thread has its first sample after a whole period of CPU time, so a sampler that lives for less
//! than some periods sees too little of it, and of one that works little nothing. One that pauses
//! keeps what each event has of its period.
//!
//! A sample in the kernel stands at the function that ran, or, where interrupts were off, at the
//! one that let them in again: so each carries the system call or the exception it belongs to.

mod clocks;
mod code;
mod event;
mod following;
mod kernel_symbols;
mod names;
mod places;
mod ring;
mod symbols;
mod threads;

use std::collections::{HashMap, HashSet};

pub use places::Place;
pub use threads::ThreadTime;

use crate::counters;
use clocks::Clocks;
use event::Open;
use following::Following;
use places::Places;
use ring::{Record, Sample};
use threads::Snapshot;

/// More samples a second would disturb what they observe: each costs some microseconds, on a
/// virtual machine some thirty.
pub const FREQUENCY_HZ_MAX: u32 = 10_000;

/// Samples of this program and its servers, from its start to its end. The thread that started it
/// calls it.
#[derive(Debug)]
pub struct Sampler {
    clocks: Clocks,
    period_ns: u64,
    following: Result<Following, String>,
    begun: Option<Snapshot>,
    /// When the samples were last taken.
    since: Snapshot,
    /// CPU time that each event had counted then.
    counted_ns: Vec<u64>,
    seen: Seen,
    threads: HashMap<u32, ThreadTime>,
    places: Places,
    servers: Vec<u32>,
    server_processes: HashSet<u32>,
}

/// Of all stretches since the last samples were taken.
#[derive(Debug, Default)]
struct Seen {
    /// When each began and ended.
    stretches: Vec<(u64, u64)>,
    /// Those within one of them.
    kept: Vec<Sample>,
    /// Those beside them, too.
    all: u64,
    lost: u64,
    elapsed_ns: u64,
}

/// Samples of all stretches since the last one was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// CPU time between two samples of a thread.
    pub period_ns: u64,
    /// The share of the threads' CPU time that the samples stand for, since they were last taken:
    /// above 1 where the events counted more than the threads' clocks. A thread that started since
    /// then may add a period to it, or take one. `None` where the kernel is not sampled.
    pub shown: Option<f64>,
    /// Of the stretches together.
    pub elapsed_ns: u64,
    /// Samples that found no room in a buffer, at least.
    pub lost: u64,
    /// The most frequent first.
    pub counts: Vec<Count>,
    /// Those that spent CPU time in a stretch.
    pub threads: Vec<ThreadTime>,
}

/// The number of times that a thread was seen at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// Of a server, or of this program.
    pub server: bool,
    /// As `ThreadTime` has it.
    pub thread: u32,
    /// The place where it was.
    pub place: Place,
    /// That often.
    pub samples: u64,
}

impl Sampler {
    /// Follow all threads of this process, and those of the servers with their children. Never
    /// fails: where there are no samples, `reason` says why, and the threads' times are reported
    /// still.
    pub fn start(servers: &[u32], frequency_hz: u32) -> Self {
        Self::start_with(servers, frequency_hz, &event::open)
    }

    fn start_with(servers: &[u32], frequency_hz: u32, open: Open) -> Self {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.clamp(1, FREQUENCY_HZ_MAX));
        let server_processes = families(servers);
        let own = std::process::id();
        let processes = || server_processes.iter().copied().chain([own]);
        let mut places = Places::default();
        processes().for_each(|process| places.refresh(process));
        let threads: Vec<u32> = processes().flat_map(threads::tasks).collect();
        let following =
            Following::of(&threads, period_ns, open).map_err(|error| event::reason(&error));
        let mut clocks = Clocks::of(servers);
        let since = clocks.now();
        if let Ok(following) = &following {
            following.run();
        }
        Self {
            clocks,
            since,
            counted_ns: Vec::new(),
            period_ns,
            following,
            begun: None,
            seen: Seen::default(),
            threads: HashMap::new(),
            places,
            servers: servers.to_vec(),
            server_processes,
        }
    }

    /// The samples that are missing: all samples, or those of the kernel. Empty: nothing.
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

    /// No samples from here on: other work costs none.
    pub fn pause(&mut self) {
        if let Ok(following) = &self.following {
            following.stop();
        }
    }

    /// Go on as if there had been no pause, with nothing taken.
    pub fn resume(&mut self) {
        self.drain();
        self.seen = Seen::default();
        self.threads.clear();
        self.since = self.clocks.now();
        if let Ok(following) = &self.following {
            self.counted_ns = following.counted_ns();
            following.run();
        }
    }

    /// A stretch may begin when this returns.
    pub fn begin(&mut self) {
        self.begun = Some(self.clocks.before());
    }

    /// The stretch that began last was between these two times of the project's clock.
    pub fn end(&mut self, start_ns: u64, end_ns: u64) {
        let Some(before) = self.begun.take() else { return };
        let after = self.clocks.after();
        self.seen.stretches.push((start_ns, end_ns));
        self.seen.elapsed_ns += end_ns.saturating_sub(start_ns);
        for spent in threads::between(&before, &after) {
            self.threads
                .entry(spent.thread)
                .and_modify(|sum| {
                    sum.cpu_ns += spent.cpu_ns;
                    sum.waited_ns = sum.waited_ns.zip(spent.waited_ns).map(|(one, two)| one + two);
                })
                .or_insert(spent);
        }
        if self.following.as_ref().is_ok_and(Following::is_filling) {
            self.drain();
        }
    }

    /// The samples since the last call, by function. The following goes on.
    pub fn take(&mut self) -> Profile {
        self.drain();
        let shown = self.shown();
        let seen = std::mem::take(&mut self.seen);
        self.server_processes.extend(families(&self.servers));
        let processes: HashSet<u32> = seen.kept.iter().map(|sample| sample.process).collect();
        for process in processes {
            self.places.refresh(process);
        }
        let mut threads: Vec<ThreadTime> =
            self.threads.drain().map(|(_, time)| time.renamed()).collect();
        threads.sort_by_key(|time| (!time.server, std::cmp::Reverse(time.cpu_ns), time.thread));
        Profile {
            period_ns: self.period_ns,
            shown,
            elapsed_ns: seen.elapsed_ns,
            lost: seen.lost,
            counts: self.counts(seen.kept),
            threads,
        }
    }

    /// The most frequent first.
    fn counts(&mut self, kept: Vec<Sample>) -> Vec<Count> {
        let mut counts: HashMap<(bool, u32, Place), u64> = HashMap::new();
        for sample in kept {
            let place = match &sample.kernel {
                Some(chain) => Places::in_kernel(sample.address, chain),
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
        counts
    }

    /// The CPU time that the events counted over that of the threads' clocks; no more of it than
    /// the samples allow, to which each event may add a period that is not over.
    fn shown(&mut self) -> Option<f64> {
        let now = self.clocks.now();
        let since = std::mem::replace(&mut self.since, now);
        let following = self.following.as_ref().ok().filter(|following| following.kernel)?;
        let counted_ns = following.counted_ns();
        let before_ns = std::mem::replace(&mut self.counted_ns, counted_ns);
        let before_ns: u64 = before_ns.iter().sum();
        let grown_ns = self.counted_ns.iter().sum::<u64>().saturating_sub(before_ns);
        let spent = threads::between(&since, &self.since);
        let spent_ns: u64 = spent.iter().map(|spent| spent.cpu_ns).sum();
        let unfinished = (spent.len() * following.cpus()) as u64;
        let most_ns = (self.seen.all + unfinished) * self.period_ns;
        Some(grown_ns.min(most_ns) as f64 / spent_ns.max(1) as f64)
    }

    /// Empty the buffers, and keep the samples within the stretches.
    fn drain(&mut self) {
        let Ok(following) = &mut self.following else { return };
        for drained in following.drain() {
            self.seen.lost += drained.lost;
            for record in drained.records {
                match record {
                    Record::Fork(fork) => {
                        self.places.forked(fork.process, fork.parent);
                        if self.server_processes.contains(&fork.parent) {
                            self.server_processes.insert(fork.process);
                        }
                    }
                    Record::Sample(sample) => self.seen.add(sample),
                }
            }
        }
    }
}

impl Seen {
    fn add(&mut self, sample: Sample) {
        self.all += 1;
        let after = self.stretches.partition_point(|&(start_ns, _)| start_ns <= sample.time_ns);
        if self.stretches[..after].last().is_some_and(|&(_, end_ns)| sample.time_ns < end_ns) {
            self.kept.push(sample);
        }
    }
}

/// These processes with their children.
fn families(servers: &[u32]) -> HashSet<u32> {
    servers.iter().flat_map(|&server| counters::family(server).unwrap_or_default()).collect()
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

    #[test]
    fn a_thread_that_works_less_than_a_period_between_two_pauses_is_sampled_in_proportion() {
        let mut sampler = Sampler::start(&[], 100);
        if sampler.samples() != (true, true) {
            return;
        }
        let own = super::threads::own_thread();
        let (mut cpu_ns, mut seen) = (0, 0);
        // By CPU time: on a busy machine a stretch has less of it than it lasts.
        while cpu_ns < 200_000_000 {
            sampler.resume();
            sampler.begin();
            let start = clock::now_ns();
            spin::spin_ns(3_000_000);
            sampler.end(start, clock::now_ns());
            let profile = sampler.take();
            sampler.pause();
            spin::spin_ns(1_000_000);
            // Other tests' threads come and go.
            let mine = profile.threads.iter().filter(|time| time.thread == own);
            cpu_ns += mine.map(|time| time.cpu_ns).sum::<u64>();
            let mine = profile.counts.iter().filter(|count| count.thread == own);
            seen += mine.map(|count| count.samples).sum::<u64>();
        }
        // 20 in 200 ms. A fresh sampler each time would have none.
        assert!(seen * 20_000_000 >= cpu_ns, "{seen} samples of {cpu_ns} ns");
    }

    #[test]
    fn a_pause_has_no_samples() {
        let mut sampler = Sampler::start(&[], 4000);
        sampler.pause();
        assert_eq!(spun(&mut sampler).counts, []);
        sampler.resume();
        assert_eq!(spun(&mut sampler).counts.is_empty(), !sampler.samples().0);
    }

    #[test]
    fn time_that_no_sample_shows_is_not_reported_as_sampled() {
        let mut sampler = Sampler::start(&[], 997);
        spun(&mut sampler);
        sampler.begin();
        let start = clock::now_ns();
        spin::spin_ns(100_000_000);
        sampler.end(start, clock::now_ns());
        let Ok(following) = &mut sampler.following else { return };
        // As if the buffers had lost them.
        following.drain();
        let profile = sampler.take();
        assert!(profile.shown.is_none_or(|share| share < 0.5), "{profile:?}");
    }
}
