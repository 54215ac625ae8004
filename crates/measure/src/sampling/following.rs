//! The kernel's side of a sampler: an event for each thread on each CPU, and a buffer for each CPU.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use super::event::{self, Open, Request};
use super::ring::{Drained, Ring};

/// The open events: closing it ends the samples.
#[derive(Debug)]
pub struct Following {
    events: Vec<OwnedFd>,
    /// One a CPU.
    rings: Vec<Ring>,
    /// Whether the kernel's functions are sampled.
    pub kernel: bool,
}

impl Following {
    /// Follow threads on all CPUs; without the kernel where that is refused.
    pub fn of(threads: &[u32], period_ns: u64, open: Open) -> io::Result<Self> {
        match Self::with(threads, period_ns, true, open) {
            Err(error) if event::refused(&error) => Self::with(threads, period_ns, false, open),
            followed => followed,
        }
    }

    fn with(threads: &[u32], period_ns: u64, kernel: bool, open: Open) -> io::Result<Self> {
        let (mut events, mut rings) = (Vec::<OwnedFd>::new(), Vec::new());
        for cpu in cpus()? {
            let mut first: Option<usize> = None;
            for &thread in threads {
                let file = match open(&Request { thread, cpu, period_ns, kernel }) {
                    Err(error) if event::gone(&error) => continue,
                    opened => opened?,
                };
                if let Some(place) = first {
                    event::write_to(&file, &events[place])?;
                } else {
                    rings.push(Ring::of(&file)?);
                    first = Some(events.len());
                }
                events.push(file);
            }
        }
        Ok(Self { events, rings, kernel })
    }

    /// Let the events run.
    pub fn run(&self) {
        self.events.iter().for_each(event::run);
    }

    /// Let the events rest.
    pub fn stop(&self) {
        self.events.iter().for_each(event::stop);
    }

    /// CPU time that each event has counted.
    pub fn counted_ns(&self) -> Vec<u64> {
        self.events.iter().map(event::counted_ns).collect()
    }

    /// Of each thread so many events count.
    pub fn cpus(&self) -> usize {
        self.rings.len()
    }

    /// Whether a buffer fills up.
    pub fn is_filling(&self) -> bool {
        self.rings.iter().any(Ring::is_half_full)
    }

    /// Empty the buffers.
    pub fn drain(&mut self) -> Vec<Drained> {
        self.rings.iter_mut().map(Ring::drain).collect()
    }
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
