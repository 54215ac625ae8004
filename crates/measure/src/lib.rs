//! Clock, schedules, statistics, proof of coldness and counters of the operating system.
//! Knows no engine, prints nothing, keeps no state between calls.
//!
//! Linux only where the kernel is asked something; the statistics and schedules run anywhere.

pub mod clock;
pub mod counters;
pub mod eviction;
pub mod idle_states;
mod kernel;
pub mod mappings;
pub mod memory;
pub mod pace;
pub mod processor;
pub mod residency;
pub mod sampling;
pub mod schedule;
pub mod speed_probe;
pub mod spin;
pub mod statistics;
pub mod tally;
pub mod timeline;
pub mod work;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Open a regular file for reading. Anything else is refused, and a FIFO does not block us.
fn open_regular(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::from(rustix::io::Errno::INVAL))
    }
}
