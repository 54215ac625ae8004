//! Files that a process has mapped into its memory: how much of them it has touched there, and
//! letting go of that. Pages that are mapped outlive an eviction of their file.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::kernel;

/// A mapping of a file, as `/proc/PID/smaps` shows it; `/proc/PID/maps` shows no resident bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
    shared: bool,
    path: PathBuf,
    resident_bytes: u64,
}

/// Bytes of these files that a process has mapped in now: what it touched, and the pages around
/// that the kernel mapped beside it. An upper bound of what it can have copied out of mappings that
/// it still has. Fails where the process is gone, or another user's.
pub fn mapped_bytes(pid: u32, files: &[PathBuf]) -> io::Result<u64> {
    let files = identities(files);
    // `smaps` takes ms, because the kernel walks all memory for it: for nothing, if none is mapped.
    let known = mappings(&fs::read_to_string(format!("/proc/{pid}/maps"))?);
    if !known.iter().any(|found| files.contains(&found.path)) {
        return Ok(0);
    }
    let found = mappings(&fs::read_to_string(format!("/proc/{pid}/smaps"))?);
    Ok(found.iter().filter(|found| files.contains(&found.path)).map(|m| m.resident_bytes).sum())
}

/// Unmap the pages of these files from this process, and drop those that are clean. The mappings
/// stay, and what is read through them next comes from the disk.
///
/// Only mappings that are shared: a private one may hold changes that no file has. The request is
/// one for reclaim, which loses nothing whatever lies at the address by then.
pub fn page_out(files: &[PathBuf]) -> io::Result<()> {
    let files = identities(files);
    for found in mappings(&fs::read_to_string("/proc/self/maps")?) {
        if found.shared && files.contains(&found.path) {
            kernel::page_out(found.start, found.end - found.start)?;
        }
    }
    Ok(())
}

/// By the names that the kernel has for them. Device numbers of mappings and of files differ on
/// file systems with made-up ones.
fn identities(files: &[PathBuf]) -> HashSet<PathBuf> {
    files.iter().filter_map(|file| file.canonicalize().ok()).collect()
}

fn mappings(text: &str) -> Vec<Mapping> {
    let mut found: Vec<Mapping> = Vec::new();
    let mut of_a_file = false;
    for line in text.lines() {
        if let Some(reported) = line.strip_prefix("Rss:") {
            let kib: u64 = reported.trim().trim_end_matches(" kB").parse().unwrap_or(0);
            if let Some(mapping) = found.last_mut().filter(|_| of_a_file) {
                mapping.resident_bytes = kib * 1024;
            }
        } else if let Some(range) = heading(line) {
            of_a_file = range.is_some();
            found.extend(range);
        }
    }
    found
}

/// `None`: not a heading; `Some(None)`: of memory that is no file's.
#[expect(clippy::option_option, reason = "two questions, and each is answered by yes or no")]
fn heading(line: &str) -> Option<Option<Mapping>> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let mut fields = rest.splitn(5, ' ');
    let flags = fields.next()?;
    let name = fields.nth(3).unwrap_or("").trim_start();
    let file = name.starts_with('/').then(|| Mapping {
        start,
        end,
        shared: flags.ends_with('s'),
        path: PathBuf::from(name.replace("\\012", "\n")),
        resident_bytes: 0,
    });
    Some(file)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Mapping, mappings};

    const TEXT: &str = "\
7f0000000000-7f0000003000 r--s 00001000 fe:00 1234                       /tmp/a b\\012c\n\
Size:                 12 kB\nKernelPageSize:        4 kB\nRss:                   8 kB\n\
Pss:                   8 kB\n\
7f0000003000-7f0000004000 rw-p 00000000 00:00 0 \nSize: 4 kB\nRss:                   4 kB\n\
7f0000004000-7f0000005000 rw-p 00000000 00:00 0                          [heap]\n\
Rss:                   4 kB\n\
7f0000005000-7f0000006000 r-xp 00000000 fe:00 7 /lib/x.so\nRss:                   0 kB\n";

    #[test]
    fn memory_without_a_file_is_passed_over_with_its_pages() {
        let mapping = |start, end, shared, path, resident_bytes| Mapping {
            start,
            end,
            shared,
            path: PathBuf::from(path),
            resident_bytes,
        };
        assert_eq!(
            mappings(TEXT),
            [
                mapping(0x7f00_0000_0000, 0x7f00_0000_3000, true, "/tmp/a b\nc", 8192),
                mapping(0x7f00_0000_5000, 0x7f00_0000_6000, false, "/lib/x.so", 0),
            ]
        );
    }
}
