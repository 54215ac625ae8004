//! The calls of the kernel that rustix does not have, or only as unsafe functions. The only unsafe
//! code of the crate.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

/// `cachestat` has this number on every architecture that Rust's Linux targets cover.
const SYS_CACHESTAT: libc::c_long = 451;

/// Bytes looked at by one mapping: 65,536 pages, so that memory stays flat for any file.
const WINDOW_BYTES: u64 = 256 << 20;

#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    under_writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of the file's first `length` bytes in its page cache, by `cachestat` (Linux 6.5).
pub fn cachestat(file: &File, length: u64) -> io::Result<u64> {
    let range = CachestatRange { offset: 0, length };
    let mut answer = Cachestat::default();
    #[expect(unsafe_code, reason = "rustix has no cachestat")]
    // SAFETY: both structures have the kernel's layout (include/uapi/linux/mman.h), live on this
    // stack for the whole call, and the kernel writes to nothing but `answer`.
    let status = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0_u32)
    };
    if status == 0 { Ok(answer.cached) } else { Err(io::Error::last_os_error()) }
}

/// Pages of the file's first `length` bytes in the page cache, by mapping it and asking `mincore`.
pub fn mincore(file: &File, length: u64) -> io::Result<u64> {
    let page = rustix::param::page_size();
    let mut flags = Vec::new();
    let mut resident = 0;
    let mut offset = 0;
    while offset < length {
        let window = (length - offset).min(WINDOW_BYTES) as usize;
        flags.resize(window.div_ceil(page), 0);
        mincore_window(file, offset, window, &mut flags)?;
        resident += flags.iter().filter(|&flag| flag & 1 == 1).count() as u64;
        offset += window as u64;
    }
    Ok(resident)
}

fn mincore_window(file: &File, offset: u64, bytes: usize, flags: &mut [u8]) -> io::Result<()> {
    debug_assert_eq!(flags.len(), bytes.div_ceil(rustix::param::page_size()), "a byte for each");
    #[expect(unsafe_code, reason = "rustix has no mincore, and a mapping is unsafe by nature")]
    // SAFETY: the kernel picks the address, so no live memory is replaced; nobody reads through the
    // mapping, so a file truncated meanwhile cannot fault us; `flags` has a byte for each page; and
    // the mapping is removed before anyone could learn its address.
    unsafe {
        let address =
            mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, offset)?;
        let status = libc::mincore(address, bytes, flags.as_mut_ptr());
        let answer = if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
        munmap(address, bytes)?;
        answer
    }
}

/// Request reclaim of a range of this process's memory (Linux 5.4).
pub fn page_out(start: usize, length: usize) -> io::Result<()> {
    let address = ptr::with_exposed_provenance_mut(start);
    #[expect(unsafe_code, reason = "advice on memory is unsafe by nature")]
    // SAFETY: this advice moves pages out of memory and changes nothing that a program reads: what
    // is touched next comes back as it was, also where the range holds something else by now.
    unsafe {
        madvise(address, length, Advice::LinuxPageOut)?;
    }
    Ok(())
}

/// CPU time in ns that a process itself has used, dead threads included; `None` once it is gone.
///
/// `/proc/PID/stat` has the same figure in ticks of 10 ms: too coarse for a statement.
pub fn process_cpu_ns(pid: u32) -> Option<u64> {
    const CPUCLOCK_SCHED: libc::clockid_t = 2;
    cpu_clock_ns(pid, CPUCLOCK_SCHED)
}

/// CPU time in ns of a thread of this process; `None` once it is gone.
pub fn thread_cpu_ns(thread: u32) -> Option<u64> {
    const CPUCLOCK_SCHED_OF_A_THREAD: libc::clockid_t = 2 | 4;
    cpu_clock_ns(thread, CPUCLOCK_SCHED_OF_A_THREAD)
}

fn cpu_clock_ns(pid: u32, kind: libc::clockid_t) -> Option<u64> {
    // Number 0 would mean the calling process.
    let pid = libc::clockid_t::try_from(pid).ok().filter(|&pid| pid > 0)?;
    let clock = (!pid << 3) | kind;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    #[expect(unsafe_code, reason = "rustix reads these clocks for the caller alone")]
    // SAFETY: the kernel checks the clock's number and writes to nothing but `time`.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if status != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::{WINDOW_BYTES, cachestat, mincore, process_cpu_ns};

    #[test]
    fn both_counts_agree_over_several_windows() {
        let path = std::env::temp_dir().join(format!("windows-{}", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .expect("the temporary folder is ours");
        std::fs::remove_file(&path).expect("just made");
        let length = 2 * WINDOW_BYTES + 1;
        file.set_len(length).expect("holes take no room");
        for offset in [0, WINDOW_BYTES - 1, WINDOW_BYTES, length - 1] {
            file.write_all_at(b"x", offset).expect("four pages");
        }
        let counted = mincore(&file, length).expect("ours to look at");
        // A file system may cache more than the page requested, but both must see the same.
        assert!(counted >= 4, "{counted}");
        if let Ok(reported) = cachestat(&file, length)
            && reported > 0
        {
            assert_eq!(reported, counted);
        }
    }

    #[test]
    fn number_zero_is_nobody_and_not_this_process() {
        assert_eq!(process_cpu_ns(0), None);
        assert_eq!(process_cpu_ns(u32::MAX), None);
        assert!(process_cpu_ns(std::process::id()).expect("we live") > 0);
    }
}
