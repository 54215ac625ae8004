//! The place where a process has code in its memory, from `/proc/PID/maps`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The executable mappings of a process, by address.
#[derive(Debug, Clone, Default)]
pub struct Code(Vec<Mapping>);

/// A stretch of memory whose bytes are executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    pub holds: Held,
}

/// The content of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// A file from `offset` on. Its bytes are to be had at `bytes`: another path where its name has
    /// gone since, or is another file's.
    File { path: PathBuf, bytes: PathBuf, inode: u64, offset: u64 },
    /// Memory that a program filled by itself: compiled statements.
    Anonymous,
    /// The kernel's own page in a program: `[vdso]`.
    Special(String),
}

impl Code {
    /// The mappings that a process has now.
    pub fn of(process: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{process}/maps"))?;
        let links = PathBuf::from(format!("/proc/{process}/map_files"));
        Ok(Self(text.lines().filter_map(|line| mapping(line, &links)).collect()))
    }

    /// The mapping that an address lies in.
    pub fn at(&self, address: u64) -> Option<&Mapping> {
        let after = self.0.partition_point(|mapping| mapping.start <= address);
        self.0[..after].last().filter(|mapping| address < mapping.end)
    }

    /// An address in it.
    #[cfg(test)]
    pub fn first(&self) -> Option<u64> {
        self.0.first().map(|mapping| mapping.start)
    }
}

fn mapping(line: &str, links: &Path) -> Option<Mapping> {
    // Five fields, and a name that may hold spaces.
    let (range, rest) = line.split_once(' ')?;
    let (flags, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    let (inode, name) = rest.split_once(' ').unwrap_or((rest, ""));
    if !flags.contains('x') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let name = name.trim_start();
    let holds = if name.starts_with('/') && !name.starts_with("//anon") {
        let (name, deleted) =
            name.strip_suffix(" (deleted)").map_or((name, false), |name| (name, true));
        let path = PathBuf::from(name.replace("\\012", "\n"));
        Held::File {
            bytes: if deleted { links.join(range) } else { path.clone() },
            path,
            inode: inode.parse().ok()?,
            offset: u64::from_str_radix(offset, 16).ok()?,
        }
    } else if name.starts_with('[') && !name.starts_with("[anon") && name != "[heap]" {
        Held::Special(name.to_owned())
    } else {
        Held::Anonymous
    };
    let [start, end] = [start, end].map(|hex| u64::from_str_radix(hex, 16).ok());
    Some(Mapping { start: start?, end: end?, holds })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Held, mapping};

    fn held(line: &str) -> Option<Held> {
        mapping(line, Path::new("/proc/7/map_files")).map(|mapping| mapping.holds)
    }

    #[test]
    fn code_of_files_of_programs_and_of_the_kernel_is_distinguished() {
        let file = |path: &str, bytes: &str| {
            Some(Held::File {
                path: PathBuf::from(path),
                bytes: PathBuf::from(bytes),
                inode: 42,
                offset: 0x2000,
            })
        };
        let of = |flags: &str, name: &str| format!("1000-3000 {flags} 00002000 fe:00 42   {name}");
        assert_eq!(held(&of("r-xp", "/lib/a b.so")), file("/lib/a b.so", "/lib/a b.so"));
        let deleted = file("/lib/x.so", "/proc/7/map_files/1000-3000");
        assert_eq!(held(&of("r-xp", "/lib/x.so (deleted)")), deleted);
        assert_eq!(held(&of("rw-p", "/lib/x.so")), None);
        assert_eq!(held(&of("r-xp", "[vdso]")), Some(Held::Special("[vdso]".to_owned())));
        for anonymous in ["", "[heap]", "[anon:jit]", "//anon"] {
            assert_eq!(held(&of("rwxp", anonymous)), Some(Held::Anonymous), "{anonymous}");
        }
        assert_eq!(held("1000-3000 r-xp 00000000 00:00 0 "), Some(Held::Anonymous));
        assert_eq!(held("1000-3000 r-xp 00000000 00:00 0"), Some(Held::Anonymous));
        for broken in ["", "1000", "1000-3000 r-xp", "x-y r-xp 0 0 0 /a"] {
            assert_eq!(held(broken), None, "{broken:?}");
        }
    }
}
