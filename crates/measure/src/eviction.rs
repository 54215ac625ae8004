//! Asking the kernel to forget a file. Whether it did is for `residency` to say.

use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise, fdatasync};

use crate::open_regular;

/// Write a regular file back, then ask the kernel to drop its clean pages.
///
/// The order matters: dirty pages are passed over in silence. So are pages that a process has
/// mapped or locked, and all pages of a file system that has no other copy (tmpfs). Only data keep
/// pages in memory: `fsync` would commit the journal for a time stamp, which of a server's hundred
/// files took longer than to start it.
pub fn evict(path: &Path) -> io::Result<()> {
    let file = open_regular(path)?;
    fdatasync(&file)?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}
