//! Every crash of a recorded run, or one of them by its seed.

use std::collections::HashSet;
use std::fmt;
use std::vec::IntoIter;

use crate::disk::simulated::choices;
use crate::disk::simulated::medium::{Event, Medium};
use crate::disk::simulated::{Image, Survival};
use crate::random::Random;

/// Which crashes to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashOptions {
    /// Names the random ones.
    pub seed: u64,
    /// Up to so many pending changes, every subset of them is tried; beyond, the reporting ones:
    /// each alone, each missing, each prefix, each file.
    pub subsets_of_max: usize,
    /// Random survivals tried at each point, besides.
    pub random_per_point: usize,
    /// Whether writes are torn between sectors.
    pub tears: bool,
    /// Whether the sector at the tear may hold random bytes ([`crate::disk::simulated::Tear`]).
    pub garbage: bool,
    /// At most so many images at each point, at least two.
    pub images_per_point_max: usize,
}

impl CrashOptions {
    /// All subsets of five changes, tears, no garbage, at most 64 images a point.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            subsets_of_max: 5,
            random_per_point: 4,
            tears: true,
            garbage: false,
            images_per_point_max: 64,
        }
    }
}

/// The changes that a program made to its files, in order.
#[derive(Clone)]
pub struct Trace {
    pub(super) names: Vec<&'static str>,
    pub(super) start: Medium,
    pub(super) events: Vec<Event>,
}

/// One way in which the machine may have stopped.
#[derive(Debug, Clone)]
pub struct Crash {
    /// The number of events of the trace that had happened.
    pub point: usize,
    /// The last mark that the program had made.
    pub mark: Option<u64>,
    /// The survival of each change that was not durable. With the point, this gives the same image
    /// again: [`Trace::image`].
    pub survivals: Vec<Survival>,
    /// The files after the crash.
    pub image: Image,
}

impl fmt::Display for Crash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, mark, survivals, .. } = self;
        write!(formatter, "crash after {point} events, mark {mark:?}, survivals {survivals:?}")
    }
}

impl Trace {
    /// The number of events: writes, changed lengths, syncs and marks. One can crash before
    /// the first and after each.
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// Every crash point in order, and at each the crashes that the options request. An image is
    /// given once for each mark, however many crashes lead to it.
    pub fn crashes(&self, options: CrashOptions) -> Crashes<'_> {
        let mut crashes = Crashes {
            trace: self,
            options,
            random: Random::new(options.seed),
            medium: self.start.clone(),
            point: 0,
            mark: None,
            here: Vec::new().into_iter(),
            seen: HashSet::new(),
        };
        crashes.explore();
        crashes
    }

    /// One crash, at a point and with survivals that the options' seed chooses.
    pub fn random_crash(&self, options: &CrashOptions) -> Crash {
        let mut random = Random::new(options.seed);
        let point = random.below(self.events.len() + 1);
        let (medium, mark) = self.at(point);
        let mut all = choices::chosen(&medium.pending, options, &mut random);
        let survivals = all.swap_remove(random.below(all.len()));
        let image = medium.image(&self.names, &survivals);
        Crash { point, mark, survivals, image }
    }

    /// The image of a crash that was seen before.
    pub fn image(&self, point: usize, survivals: &[Survival]) -> Image {
        self.at(point).0.image(&self.names, survivals)
    }

    fn at(&self, point: usize) -> (Medium, Option<u64>) {
        let mut medium = self.start.clone();
        let mut mark = None;
        for event in &self.events[..point] {
            medium.happen(event);
            mark = mark_of(event).or(mark);
        }
        (medium, mark)
    }
}

const fn mark_of(event: &Event) -> Option<u64> {
    match event {
        Event::Mark(mark) => Some(*mark),
        _ => None,
    }
}

/// The crashes of a [`Trace`], one after another.
pub struct Crashes<'a> {
    trace: &'a Trace,
    options: CrashOptions,
    random: Random,
    medium: Medium,
    point: usize,
    mark: Option<u64>,
    here: IntoIter<Vec<Survival>>,
    seen: HashSet<(u64, Option<u64>)>,
}

impl Crashes<'_> {
    fn explore(&mut self) {
        self.here =
            choices::chosen(&self.medium.pending, &self.options, &mut self.random).into_iter();
    }
}

impl Iterator for Crashes<'_> {
    type Item = Crash;

    fn next(&mut self) -> Option<Crash> {
        loop {
            for survivals in self.here.by_ref() {
                let image = self.medium.image(&self.trace.names, &survivals);
                if self.seen.insert((image.fingerprint(), self.mark)) {
                    return Some(Crash { point: self.point, mark: self.mark, survivals, image });
                }
            }
            let event = self.trace.events.get(self.point)?;
            self.point += 1;
            self.medium.happen(event);
            self.mark = mark_of(event).or(self.mark);
            self.explore();
        }
    }
}
