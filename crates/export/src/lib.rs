//! A relation to a CSV, Parquet or Arrow file: in parallel, flat in memory, renamed when complete.
//!
//! Workers turn ranges of rows into finished pieces of the file, the calling thread writes them in
//! order: the bytes depend on neither the number of threads nor the time.

pub mod arrow;
mod csv;
mod error;
mod format;
mod ipc;
mod parquet;
mod pieces;
mod request;
mod target;
mod timestamp;

pub use error::ExportError;
pub use format::{Compression, Format};
pub use request::{Request, Summary};

use std::ops::ControlFlow;

use target::Target;

/// Write a part of a relation. `observe` hears the number of rows written after every piece
/// (several times a second) and may break off, which removes the temporary file.
pub fn export(
    request: &Request,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Summary, ExportError> {
    request.check()?;
    let rows = request.range();
    let mut target = Target::create(&request.path)?;
    let mut job = pieces::Job { request, rows: rows.clone(), observe };
    let written = match request.format {
        Format::Csv => csv::write(&mut job, &mut target),
        Format::Parquet => parquet::write(&mut job, &mut target),
        Format::Arrow => ipc::write(&mut job, &mut target),
    };
    written.map_err(|error| target.explain(error))?;
    let bytes = target.finish()?;
    Ok(Summary { rows: rows.end - rows.start, bytes })
}
