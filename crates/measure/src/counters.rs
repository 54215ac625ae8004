//! CPU time and storage traffic of a process and its live descendants, from `/proc`.
//!
//! A process may vanish between any two reads, and may have any name: the ones that vanish are
//! skipped (what they used then stands in their parent, if that waited for them), and the walk is
//! repeated while the family changes under it.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::kernel;

/// Walks before a family that never stands still is taken as it was last seen.
const WALKS_MAX: usize = 4;

/// Bytes moved to and from storage, as `/proc/PID/io` counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageBytes {
    /// Fetched from the storage layer: page cache hits do not count.
    pub read: u64,
    /// Sent, or made dirty to be sent later.
    pub written: u64,
    /// Returned by calls that read, whether from storage, from memory, from a pipe or a socket.
    pub called: u64,
}

/// The fields of `/proc/PID/stat` that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    parent: u32,
    own_ticks: u64,
    waited_ticks: u64,
}

/// The answer of one member of a family.
enum Reading<const N: usize> {
    Counted([u64; N]),
    Gone,
    Refused,
}

/// User + system CPU time in ns of `pid`, its live descendants, and the children each waited for;
/// `None` when `pid` is gone or cannot be read.
///
/// Live processes are counted to the ns, those waited for in the kernel's ticks (10 ms), so a
/// difference of two reads may be short by one tick for each process that ended between them.
pub fn cpu_ns(pid: u32) -> Option<u64> {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    let [own, waited] = sum_of_family(pid, |member| {
        let Some(stat) = stat(member) else { return Reading::Gone };
        let own = kernel::process_cpu_ns(member).unwrap_or(stat.own_ticks * tick_ns);
        Reading::Counted([own, stat.waited_ticks * tick_ns])
    })?;
    Some(own + waited)
}

/// Bytes that `pid`, its live descendants, and the children each waited for moved to or from
/// storage; `None` when `pid` is gone, or one of them belongs to a user whose traffic is hidden.
pub fn storage_bytes(pid: u32) -> Option<StorageBytes> {
    let [read, written, called] = sum_of_family(pid, |member| {
        match fs::read_to_string(format!("/proc/{member}/io")).ok().as_deref().and_then(parse_io) {
            Some(counted) => Reading::Counted(counted),
            // A sum that leaves out a living member would pass for the whole.
            None if stat(member).is_some() => Reading::Refused,
            None => Reading::Gone,
        }
    })?;
    Some(StorageBytes { read, written, called })
}

/// Whether `pid` or one of its live descendants holds a way to read whose bytes `called` leaves
/// out: an `io_uring`, or a context of asynchronous calls. `None` where that cannot be seen.
pub fn reads_past_calls(pid: u32) -> Option<bool> {
    let [found] = sum_of_family(pid, |member| match holds_queue(member) {
        Ok(holds) => Reading::Counted([u64::from(holds)]),
        Err(_) if stat(member).is_some() => Reading::Refused,
        Err(_) => Reading::Gone,
    })?;
    Some(found > 0)
}

fn holds_queue(pid: u32) -> std::io::Result<bool> {
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        // One that was closed since the folder was read.
        let Ok(target) = fs::read_link(entry?.path()) else { continue };
        if target.to_string_lossy().contains("[io_uring]") {
            return Ok(true);
        }
    }
    Ok(fs::read_to_string(format!("/proc/{pid}/maps"))?.contains("/[aio]"))
}

/// Threads of `pid` and of its live descendants; `None` when `pid` is gone.
pub fn threads(pid: u32) -> Option<u32> {
    let [threads] =
        sum_of_family(pid, |member| match fs::read_dir(format!("/proc/{member}/task")) {
            Ok(tasks) => Reading::Counted([tasks.count() as u64]),
            Err(_) => Reading::Gone,
        })?;
    u32::try_from(threads).ok()
}

fn sum_of_family<const N: usize>(pid: u32, read: impl Fn(u32) -> Reading<N>) -> Option<[u64; N]> {
    let mut members = family(pid)?;
    let mut walks = 1;
    loop {
        let sum = sum(&members, &read)?;
        let members_after = family(pid)?;
        if members_after == members || walks == WALKS_MAX {
            return Some(sum);
        }
        members = members_after;
        walks += 1;
    }
}

fn sum<const N: usize>(members: &[u32], read: impl Fn(u32) -> Reading<N>) -> Option<[u64; N]> {
    let mut total = [0; N];
    for (position, &member) in members.iter().enumerate() {
        match read(member) {
            Reading::Counted(counted) => {
                total.iter_mut().zip(counted).for_each(|(sum, more)| *sum += more);
            }
            Reading::Gone if position > 0 => {}
            Reading::Gone | Reading::Refused => return None,
        }
    }
    Some(total)
}

/// `pid` first, then its live descendants in order of number within each brood.
pub(crate) fn family(pid: u32) -> Option<Vec<u32>> {
    stat(pid)?;
    // 10 us for a small family, where a look at every process of the machine takes milliseconds.
    // While others end the short way may miss one, hence the second walk above.
    if Path::new("/proc/thread-self/children").exists() {
        return Some(descendants(pid, children));
    }
    let mut of_parent = parents();
    Some(descendants(pid, |parent| of_parent.remove(&parent).unwrap_or_default()))
}

fn descendants(pid: u32, mut children: impl FnMut(u32) -> Vec<u32>) -> Vec<u32> {
    let mut members = vec![pid];
    let mut next = 0;
    while let Some(&parent) = members.get(next) {
        let mut born = children(parent);
        born.sort_unstable();
        // A number handed on to a new process while we walk must not lead us in a circle.
        born.retain(|child| !members.contains(child));
        members.extend(born);
        next += 1;
    }
    members
}

/// The live children that any thread of a process started.
fn children(parent: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")));
    lists
        .flatten()
        .flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>())
        .collect()
}

/// All processes of the machine by parent, for kernels that keep no lists of children.
fn parents() -> HashMap<u32, Vec<u32>> {
    let mut of_parent: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((process, stat)) = process.and_then(|process| Some((process, stat(process)?))) {
            of_parent.entry(stat.parent).or_default().push(process);
        }
    }
    of_parent
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in parentheses may hold spaces, parentheses, line ends and bytes that are no text: the
/// fields begin after the last closing parenthesis.
fn parse_stat(line: &[u8]) -> Option<Stat> {
    let name_end = line.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&line[name_end + 1..]).ok()?;
    // proc_pid_stat(5) counts from 1 and calls the state, first here, number 3.
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        parent: u32::try_from(field(4)?).ok()?,
        own_ticks: field(14)? + field(15)?,
        waited_ticks: field(16)? + field(17)?,
    })
}

/// As `StorageBytes` has them.
fn parse_io(text: &str) -> Option<[u64; 3]> {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    Some([value("read_bytes")?, value("write_bytes")?, value("rchar")?])
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{Reading, Stat, children, descendants, parents, parse_io, parse_stat, sum};

    const TAIL: &[u8] = b" S 41 40 40 0 -1 4194304 98 0 0 0 11 22 33 44 20 0 1 0 116259\n";

    #[test]
    fn the_name_does_not_disturb_the_fields() {
        let names: [&[u8]; 5] = [b"cat", b"a b", b") R 9 9 (", b"x)\n1 (y", b"\xff\xfe"];
        for name in names {
            let line = [b"40 (", name, b")", TAIL].concat();
            let expected = Stat { parent: 41, own_ticks: 33, waited_ticks: 77 };
            assert_eq!(parse_stat(&line), Some(expected), "{name:?}");
        }
    }

    #[test]
    fn a_line_cut_short_is_nothing() {
        let line = [b"40 (cat)", TAIL].concat();
        let last_field_used = line.len() - b" 20 0 1 0 116259\n".len();
        for end in 0..last_field_used - 2 {
            assert_eq!(parse_stat(&line[..end]), None, "{end} bytes");
        }
    }

    #[test]
    fn traffic_of_storage_and_of_calls_are_distinguished() {
        let text = "rchar: 9\nwchar: 8\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 5\n";
        assert_eq!(parse_io(text), Some([4096, 8192, 9]));
        assert_eq!(parse_io("read_bytes: 4096\n"), None);
    }

    #[test]
    fn the_vanished_are_skipped_but_the_refused_spoil_the_sum() {
        let counted = |member| Reading::Counted([u64::from(member), 1]);
        let but = |odd: u32, make: fn() -> Reading<2>| {
            move |member| if member == odd { make() } else { counted(member) }
        };
        assert_eq!(sum(&[5, 6, 7], counted), Some([18, 3]));
        assert_eq!(sum(&[5, 6, 7], but(6, || Reading::Gone)), Some([12, 2]));
        assert_eq!(sum(&[5, 6, 7], but(6, || Reading::Refused)), None);
        assert_eq!(sum(&[5, 6, 7], but(5, || Reading::Gone)), None);
    }

    #[test]
    fn both_ways_to_find_children_agree() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat exists");
        let own = std::process::id();
        let short = children(own);
        let long = parents().remove(&own).unwrap_or_default();
        drop(child.stdin.take());
        child.wait().expect("it is ours");
        assert!(long.contains(&child.id()), "{long:?}");
        assert!(short.is_empty() || short.contains(&child.id()), "{short:?}");
    }

    #[test]
    fn a_family_is_walked_in_generations_and_never_in_circles() {
        let tree = |parent| match parent {
            1 => vec![3, 2],
            2 => vec![4],
            4 => vec![1, 3],
            _ => vec![],
        };
        assert_eq!(descendants(1, tree), [1, 2, 3, 4]);
    }
}
