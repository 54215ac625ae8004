//! The code that a plan was compiled to, as text.

use std::fmt::Write;

use super::cache::CodeCache;
use super::code::Way;
use crate::aggregate::by_layout;
use crate::error::Result;
use crate::plan::{Plan, Sink};

/// A line for each pipeline, read from its code: how many functions it became, of how many bytes,
/// and what they call instead of doing it. How long it took differs from run to run, so it is no
/// part of a plan: it is in [`crate::counters::Work::compile_ns`].
///
/// # Errors
///
/// [`crate::QueryError::Tactic`] where there can be no machine code.
pub fn explain(plan: &Plan, cache: &CodeCache) -> Result<String> {
    let mut text = String::new();
    for (number, pipeline) in plan.pipelines.iter().enumerate() {
        let by = match &pipeline.sink {
            Sink::Aggregate { aggregation, .. } => {
                Some(by_layout(&plan.aggregations[*aggregation]))
            }
            _ => None,
        };
        let (code, _) = cache.code(pipeline, by.as_ref(), &Way::default())?;
        let functions = code.machine.len();
        let plural = if functions == 1 { "" } else { "s" };
        let bytes = code.machine.bytes;
        // Writing to a String cannot fail.
        _ = write!(
            text,
            "pipeline {} is compiled to {functions} function{plural} of {bytes} bytes",
            number + 1
        );
        if !code.report.called.is_empty() {
            _ = write!(text, ", which call: {}", code.report.called.join(", "));
        }
        text.push('\n');
    }
    Ok(text)
}
