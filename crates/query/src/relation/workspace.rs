//! The memory that storing relations may take beside the cache, and whether it is to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{QueryError, Result};
use crate::memory::Memory;
use crate::sort::Sorter;
use crate::spill::Spill;
use crate::tuple::Layout;

/// The memory, the spill file and the end of the statement that stores something.
#[derive(Debug, Clone)]
pub struct Workspace {
    memory: Memory,
    spill: Spill,
    cancel: Arc<AtomicBool>,
}

impl Workspace {
    /// From that budget; the rest goes to that file, until `cancel` is set.
    pub fn new(memory: &Memory, spill: &Spill, cancel: &Arc<AtomicBool>) -> Self {
        let (memory, spill, cancel) = (memory.clone(), spill.clone(), Arc::clone(cancel));
        Self { memory, spill, cancel }
    }

    /// Of so many bytes, with the system's folder for temporary files.
    #[cfg(test)]
    pub(crate) fn of(budget_bytes: u64) -> Self {
        let spill = Spill::new(&std::env::temp_dir(), budget_bytes);
        Self::new(&Memory::new(budget_bytes), &spill, &Arc::default())
    }

    /// The same of a statement that is to end.
    #[cfg(test)]
    pub(crate) fn of_cancelled(budget_bytes: u64) -> Self {
        Self { cancel: Arc::new(AtomicBool::new(true)), ..Self::of(budget_bytes) }
    }

    /// A sort of as many tuples as there are room for on the disk.
    pub(super) fn sorter(&self, layout: &Layout, key: &[usize]) -> Result<Sorter> {
        let sorter = Sorter::new(layout, key, false, &self.memory);
        Ok(sorter.spilling(&self.spill, &self.memory)?.cancelled_by(&self.cancel))
    }

    /// # Errors
    ///
    /// [`QueryError::Cancelled`] if the statement is to end.
    pub(super) fn check(&self) -> Result<()> {
        let is_set = self.cancel.load(Ordering::Relaxed);
        if is_set { Err(QueryError::Cancelled) } else { Ok(()) }
    }
}
