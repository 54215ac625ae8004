//! The share of a file that is in the kernel's page cache: the proof that cold was cold.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::{kernel, open_regular};

/// The source of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The system call of that name (Linux 6.5).
    Cachestat,
    /// A mapping of the file, and `mincore`.
    Mincore,
}

impl Method {
    /// The name that records carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cachestat => "cachestat",
            Self::Mincore => "mincore",
        }
    }
}

/// Pages of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residency {
    /// Pages in the page cache.
    pub resident: u64,
    /// Pages that the file's length takes.
    pub total: u64,
    /// The source of the figures.
    pub method: Method,
}

/// Residency of a regular file. Fails where neither method can determine.
///
/// A zero from `cachestat` is believed only when `mincore` sees nothing either: on a stacked file
/// system (overlayfs, under every container) `cachestat` looks at the upper file, which has no
/// pages ever, and calls a fully cached file cold.
pub fn residency(path: &Path) -> io::Result<Residency> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    let total = length.div_ceil(rustix::param::page_size() as u64);
    let (resident, method) = ask(&file, length)?;
    Ok(Residency { resident, total, method })
}

fn ask(file: &File, length: u64) -> io::Result<(u64, Method)> {
    // A length of 0 means "to the end" to cachestat and is an error to mmap.
    if length == 0 {
        return Ok((0, Method::Mincore));
    }
    match kernel::cachestat(file, length) {
        Ok(0) => match kernel::mincore(file, length)? {
            0 => Ok((0, Method::Cachestat)),
            missed => Ok((missed, Method::Mincore)),
        },
        Ok(resident) => Ok((resident, Method::Cachestat)),
        // Unknown to the kernel, to the file system, or forbidden by a container's filter.
        Err(_) => Ok((kernel::mincore(file, length)?, Method::Mincore)),
    }
}
