//! The standard library's mutex and condition variable, at which a simulation decides who goes on.

use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::time::Duration;
use std::{hint, sync, thread};

use super::scheduler::{self, Moment};

/// A thread, or one of a simulation's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ThreadId {
    Real(thread::ThreadId),
    Simulated(usize),
}

/// The thread that asks.
pub(crate) fn thread_id() -> ThreadId {
    scheduler::current().map_or_else(|| ThreadId::Real(thread::current().id()), ThreadId::Simulated)
}

/// A moment at which another thread may be faster.
pub(crate) fn point() {
    scheduler::reach(Moment::Between);
}

/// Somebody waits in a loop for what another thread will do.
pub(crate) fn let_others_run(spins: bool) {
    if scheduler::current().is_some() {
        scheduler::reach(Moment::Waiting);
    } else if spins {
        hint::spin_loop();
    } else {
        thread::yield_now();
    }
}

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

pub(crate) struct MutexGuard<'a, T> {
    /// Always there, but while a condition variable takes it apart.
    guard: Option<sync::MutexGuard<'a, T>>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if scheduler::current().is_none() {
            return self.wrap(self.0.lock());
        }
        scheduler::reach(Moment::Between);
        loop {
            match self.0.try_lock() {
                Ok(guard) => return self.wrap(Ok(guard)),
                Err(TryLockError::Poisoned(poisoned)) => return self.wrap(Err(poisoned)),
                Err(TryLockError::WouldBlock) => scheduler::reach(Moment::Waiting),
            }
        }
    }

    pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        scheduler::reach(Moment::Between);
        match self.0.try_lock() {
            Ok(guard) => Ok(MutexGuard { guard: Some(guard), mutex: self }),
            Err(TryLockError::Poisoned(poisoned)) => {
                let guard = Some(poisoned.into_inner());
                let guard = MutexGuard { guard, mutex: self };
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    fn wrap<'a>(
        &'a self,
        locked: LockResult<sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let wrapped = |guard| MutexGuard { guard: Some(guard), mutex: self };
        locked.map(wrapped).map_err(|poisoned| PoisonError::new(wrapped(poisoned.into_inner())))
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("only a condition variable takes it")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("only a condition variable takes it")
    }
}

#[derive(Debug, Default)]
pub(crate) struct Condvar(sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let mutex = guard.mutex;
        let inner = guard.guard.take().expect("only a condition variable takes it");
        if scheduler::current().is_none() {
            return mutex.wrap(self.0.wait(inner));
        }
        drop(inner);
        scheduler::sleep(self.place(), false);
        mutex.lock()
    }

    /// A simulation has no clock: any time may be the right one to give up.
    #[expect(clippy::unnecessary_wraps, reason = "as in the standard library")]
    pub(crate) fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let mutex = guard.mutex;
        if scheduler::current().is_none() {
            let inner = guard.guard.take().expect("only a condition variable takes it");
            let (inner, timed_out) = self
                .0
                .wait_timeout_while(inner, time, condition)
                .unwrap_or_else(PoisonError::into_inner);
            let guard = MutexGuard { guard: Some(inner), mutex };
            return Ok((guard, timed_out.timed_out()));
        }
        while condition(&mut guard) {
            drop(guard);
            let timed_out = scheduler::sleep(self.place(), true);
            guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
            if timed_out {
                return Ok((guard, true));
            }
        }
        Ok((guard, false))
    }

    pub(crate) fn notify_one(&self) {
        scheduler::wake(self.place(), 1);
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        scheduler::wake(self.place(), usize::MAX);
        self.0.notify_all();
    }

    fn place(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
