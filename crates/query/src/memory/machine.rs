//! The memory that a query takes where nobody says: a quarter of the machine's or its cgroup's.

use std::fs;

/// The budget where the files of the kernel say nothing.
const BUDGET_UNKNOWN_BYTES: u64 = 1 << 30;

/// A quarter, so that a page cache, a buffer and a peer beside us still fit.
const SHARE: u64 = 4;

/// The budget of a query without `memory=`, in bytes.
pub fn budget_default_bytes() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let cgroup = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| max(&text));
    machine.into_iter().chain(cgroup).min().map_or(BUDGET_UNKNOWN_BYTES, |bytes| bytes / SHARE)
}

/// Of `/proc/meminfo`: the memory of the machine.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Of `memory.max`: the limit of a cgroup, if it has one.
fn max(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_kernel_are_understood() {
        assert_eq!(total("Foo: 1 kB\nMemTotal:       24576 kB\n"), Some(24576 << 10));
        assert_eq!(
            (total("MemTotal: lots"), max("max\n"), max("4096\n")),
            (None, None, Some(4096))
        );
        assert!(budget_default_bytes() > 0);
    }
}
