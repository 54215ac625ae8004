//! Ending statements from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The flags of the statements that run.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Mutex<Vec<Arc<AtomicBool>>>>);

/// One statement's; it is taken off the list when the last holder lets go of it.
#[derive(Debug)]
pub(super) struct Cancel {
    flag: Arc<AtomicBool>,
    running: Running,
}

impl Running {
    pub fn begin(&self) -> Cancel {
        let flag = Arc::new(AtomicBool::new(false));
        self.flags(|flags| flags.push(Arc::clone(&flag)));
        Cancel { flag, running: self.clone() }
    }

    pub fn cancel_all(&self) {
        self.flags(|flags| flags.iter().for_each(|flag| flag.store(true, Ordering::Relaxed)));
    }

    fn flags<R>(&self, act: impl FnOnce(&mut Vec<Arc<AtomicBool>>) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Cancel {
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        self.running.flags(|flags| flags.retain(|flag| !Arc::ptr_eq(flag, &self.flag)));
    }
}
