//! Several threads as one: each runs until a moment at which another may be faster, and a seed says
//! whether it is.
//!
//! The threads are coroutines of the thread that calls [`run`], so that what they do is a pure
//! function of the seed, and a million switches take no second.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use generator::{Generator, Gn};

use super::report;
use crate::random::Random;

/// More than any history takes: a thread that takes more waits for what does not come.
const STEPS_MAX: u64 = 1_000_000;

/// So many looks in vain are enough to know that nothing will come.
const IN_VAIN_MAX: u32 = 1_000;

/// Words of a thread's stack: half a mebibyte, of which unoptimised code takes a part.
const STACK_WORDS: usize = 1 << 16;

/// A slow disk lets so many moments of others pass.
const DISK_STEPS_MAX: usize = 400;

/// The point that a thread has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Two of its steps.
    Between,
    /// The beginning or the end of a disk's work, which takes long.
    Disk,
    /// Nothing, until another has done something.
    Waiting,
}

/// The interleaving of the threads.
pub(super) struct Interleaving {
    pub(super) random: Random,
    /// At one of so many moments another thread goes on.
    pub(super) one_in: usize,
    /// The steps at which `seen` is called.
    pub(super) inspect_at: Vec<u64>,
    /// Called between two steps of the thread that runs then; it takes none itself.
    pub(super) inspect: Rc<dyn Fn()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// It has looked in vain since others did something.
    Waiting,
    Asleep {
        at: usize,
        timed: bool,
    },
    Done,
}

struct Thread {
    state: State,
    /// Its disk works until this step.
    busy_until: u64,
    timed_out: bool,
    /// Those who fell asleep first are woken first.
    asleep_since: u64,
}

struct Running {
    interleaving: Interleaving,
    threads: Vec<Thread>,
    current: usize,
    steps: u64,
    /// So many looks in vain there were since somebody did something.
    in_vain: u32,
    /// Every thread waits for another, and is asked where.
    stuck: bool,
}

/// The next step.
enum Next {
    Thread(usize),
    /// Nothing can.
    Stuck,
    End,
}

thread_local! {
    /// The simulated thread that runs, if one does.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    static JOBS: RefCell<Vec<Option<Job>>> = const { RefCell::new(Vec::new()) };
    /// Coroutines are used again: their stacks cost more than a short history.
    /// They are never dropped, because a coroutine is dropped by unwinding it.
    static POOL: RefCell<ManuallyDrop<Vec<Generator<'static, (), ()>>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// The work of a thread.
pub(super) type Job = Box<dyn FnOnce()>;

/// The simulated thread that runs.
pub(super) fn current() -> Option<usize> {
    CURRENT.get()
}

/// The running thread has come to a moment at which another may be faster.
pub(super) fn reach(moment: Moment) {
    if CURRENT.get().is_none() {
        return;
    }
    let (inspections, switches) = with_running(|running| running.step(moment));
    if let Some(inspect) = inspections {
        inspect();
    }
    if switches {
        switch();
    }
}

/// The running thread sleeps until it is woken at that place, or, if that is possible, until it
/// has had enough; then the answer is `true`.
pub(super) fn sleep(at: usize, timed: bool) -> bool {
    with_running(|running| {
        running.stir();
        let steps = running.steps;
        let thread = &mut running.threads[running.current];
        thread.state = State::Asleep { at, timed };
        thread.timed_out = false;
        thread.asleep_since = steps;
    });
    switch();
    with_running(|running| running.threads[running.current].timed_out)
}

/// Wake some of those who sleep at a place.
pub(super) fn wake(at: usize, count: usize) {
    if CURRENT.get().is_none() {
        return;
    }
    with_running(|running| {
        for _ in 0..count {
            let asleep = running.threads.iter_mut().filter(
                |thread| matches!(thread.state, State::Asleep { at: place, .. } if place == at),
            );
            let Some(first) = asleep.min_by_key(|thread| thread.asleep_since) else { return };
            first.state = State::Ready;
        }
    });
}

/// Run the jobs, each as a thread of its own, until all have ended. The steps that they took.
///
/// # Panics
///
/// The panic of a job; and if nobody can go on.
pub(super) fn run(interleaving: Interleaving, jobs: Vec<Job>) -> u64 {
    let thread =
        || Thread { state: State::Ready, busy_until: 0, timed_out: false, asleep_since: 0 };
    let threads = jobs.iter().map(|_| thread()).collect();
    let running = Running { interleaving, threads, current: 0, steps: 0, in_vain: 0, stuck: false };
    let count = jobs.len();
    RUNNING.set(Some(running));
    JOBS.set(jobs.into_iter().map(Some).collect());
    let mut pool = ManuallyDrop::into_inner(POOL.replace(ManuallyDrop::new(Vec::new())));
    while pool.len() < count {
        let number = pool.len();
        pool.push(coroutine(number));
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut resume = |thread: usize| {
            CURRENT.set(Some(thread));
            pool[thread].resume();
            CURRENT.set(None);
        };
        loop {
            match with_running(Running::next) {
                Next::Thread(thread) => resume(thread),
                Next::End => break,
                Next::Stuck => {
                    for thread in with_running(Running::be_stuck) {
                        resume(thread);
                    }
                    panic!("every thread waits for another");
                }
            }
        }
    }));
    CURRENT.set(None);
    let running = RUNNING.take().expect("it was put there");
    if let Err(panic) = outcome {
        // Threads that have not ended keep what they hold, and nobody waits for it any more.
        mem::forget(pool);
        resume_unwind(panic);
    }
    POOL.set(ManuallyDrop::new(pool));
    running.steps
}

/// One coroutine's life: job after job.
fn work(number: usize) {
    loop {
        let job = JOBS.with_borrow_mut(|jobs| jobs[number].take());
        if let Some(job) = job {
            job();
        }
        with_running(|running| {
            running.stir();
            running.threads[number].state = State::Done;
        });
        leave();
    }
}

/// A thread for jobs of that number.
fn coroutine(number: usize) -> Generator<'static, (), ()> {
    Gn::<()>::new_opt(STACK_WORDS, move || work(number))
}

/// Go back to [`run`], which returns when this thread is scheduled.
#[expect(deprecated, reason = "the other way hands a scope through every call of the engine")]
fn leave() {
    generator::yield_with(());
}

fn switch() {
    if std::thread::panicking() {
        // The history has failed, and who unwinds cannot be left for another.
        std::process::abort();
    }
    leave();
    while with_running(|running| running.stuck) {
        report(&format!("thread {:?} waits: {}\n", current(), Backtrace::force_capture()));
        leave();
    }
}

fn with_running<R>(work: impl FnOnce(&mut Running) -> R) -> R {
    RUNNING.with_borrow_mut(|running| work(running.as_mut().expect("a simulation runs")))
}

impl Running {
    /// Whether somebody looks now, and whether another goes on.
    fn step(&mut self, moment: Moment) -> (Option<Rc<dyn Fn()>>, bool) {
        self.steps += 1;
        assert!(self.steps < STEPS_MAX, "nobody gets on");
        let inspections = self
            .interleaving
            .inspect_at
            .contains(&self.steps)
            .then(|| Rc::clone(&self.interleaving.inspect));
        if moment == Moment::Waiting {
            self.threads[self.current].state = State::Waiting;
            return (inspections, true);
        }
        self.stir();
        let random = &mut self.interleaving.random;
        let switches = match moment {
            _ if std::thread::panicking() => false,
            Moment::Disk => random.below(2) == 0,
            _ => random.below(self.interleaving.one_in) == 0,
        };
        if switches && moment == Moment::Disk && random.below(3) == 0 {
            let steps = random.below(DISK_STEPS_MAX) as u64;
            self.threads[self.current].busy_until = self.steps + steps;
        }
        (inspections, switches)
    }

    /// Something was done: who has looked in vain may look again.
    fn stir(&mut self) {
        self.in_vain = 0;
        for thread in &mut self.threads {
            if thread.state == State::Waiting {
                thread.state = State::Ready;
            }
        }
    }

    /// Ask those who have not ended where they are.
    fn be_stuck(&mut self) -> Vec<usize> {
        self.stuck = true;
        self.those(|thread| thread.state != State::Done)
    }

    fn next(&mut self) -> Next {
        if self.threads.iter().all(|thread| thread.state == State::Done) {
            return Next::End;
        }
        let steps = self.steps;
        let mut can =
            self.those(|thread| thread.state == State::Ready && thread.busy_until <= steps);
        if can.is_empty() {
            can = self.those(|thread| thread.state == State::Ready);
        }
        let timed = self.those(|thread| matches!(thread.state, State::Asleep { timed: true, .. }));
        if !timed.is_empty() && (can.is_empty() || self.interleaving.random.below(8) == 0) {
            for &one in &timed {
                self.threads[one].state = State::Ready;
                self.threads[one].timed_out = true;
            }
            can = timed;
        }
        if can.is_empty() {
            // A thread that looks for room among drawn pages finds some at another draw.
            can = self.those(|thread| thread.state == State::Waiting);
            self.in_vain += 1;
        }
        if can.is_empty() || self.in_vain > IN_VAIN_MAX {
            return Next::Stuck;
        }
        self.current = can[self.interleaving.random.below(can.len())];
        Next::Thread(self.current)
    }

    fn those(&self, which: impl Fn(&Thread) -> bool) -> Vec<usize> {
        (0..self.threads.len()).filter(|&one| which(&self.threads[one])).collect()
    }
}
