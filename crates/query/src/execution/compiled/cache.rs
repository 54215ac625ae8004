//! Code that is kept for as long as a statement is.

use std::sync::{Arc, Mutex, PoisonError};

use super::code::Code;
use super::translate::compile;
use crate::error::Result;
use crate::plan::Pipeline;
use crate::tuple::Layout;

/// Pipelines of which code is kept; statements of the papers have four at most.
const KEPT_MAX: usize = 64;

/// The compiled pipelines of one statement. It is found again where the statement is planned anew
/// and the plan is the same; what parameters and aggregates come to is no part of it.
#[derive(Default)]
pub struct CodeCache(Mutex<Vec<Kept>>);

struct Kept {
    pipeline: Pipeline,
    by: Option<Layout>,
    code: Arc<Code>,
}

impl CodeCache {
    /// The code of a pipeline, and whether it was compiled just now.
    pub(super) fn code(
        &self,
        pipeline: &Pipeline,
        by: Option<&Layout>,
    ) -> Result<(Arc<Code>, bool)> {
        // What the planner expects is no part of the code.
        let wanted = Pipeline { rows_estimated: 0.0, ..pipeline.clone() };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |one: &&Kept| one.by.as_ref() == by && one.pipeline == wanted;
        if let Some(found) = kept.iter().find(is_same) {
            return Ok((Arc::clone(&found.code), false));
        }
        let code = Arc::new(compile(pipeline, by)?);
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push(Kept { pipeline: wanted, by: by.cloned(), code: Arc::clone(&code) });
        Ok((code, true))
    }
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CodeCache")
    }
}
