//! Code that is kept for as long as a statement is.

use std::sync::{Arc, Mutex, PoisonError};

use super::code::{Code, Way};
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
    way: Way,
    code: Arc<Code>,
}

impl CodeCache {
    /// The code of a pipeline for a way of its rows, and whether it was compiled just now.
    pub(super) fn code(
        &self,
        pipeline: &Pipeline,
        by: Option<&Layout>,
        way: &Way,
    ) -> Result<(Arc<Code>, bool)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |one: &&Kept| {
            one.way == *way && one.by.as_ref() == by && is_same_code(&one.pipeline, pipeline)
        };
        if let Some(found) = kept.iter().find(is_same) {
            return Ok((Arc::clone(&found.code), false));
        }
        let code = Arc::new(compile(pipeline, by, way)?);
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        let (pipeline, by, way) = (pipeline.clone(), by.cloned(), way.clone());
        kept.push(Kept { pipeline, by, way, code: Arc::clone(&code) });
        Ok((code, true))
    }
}

/// Whether pipelines have the same code: what the planner expects is no part of it.
fn is_same_code(one: &Pipeline, other: &Pipeline) -> bool {
    one.source == other.source
        && one.steps == other.steps
        && one.sink == other.sink
        && one.slots == other.slots
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CodeCache")
    }
}
