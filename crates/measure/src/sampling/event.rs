//! Opening the events of a sampler, and the reason where there are none.
//!
//! An event belongs to one thread on one CPU, because the kernel maps no buffer for one that is
//! inherited and on all CPUs. What a thread starts later, threads and processes, inherits its
//! events; all events of a CPU write to one buffer.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use perf_event_open_sys::bindings;
use rustix::io::Errno;

/// Frames of the kernel that are kept of a sample in it. The outermost report why it was entered;
/// file systems go some forty deep.
const FRAMES_MAX: u16 = 96;

/// The samples asked of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub thread: u32,
    pub cpu: u32,
    /// CPU time between two samples.
    pub period_ns: u64,
    /// Whether the kernel's own functions are sampled.
    pub kernel: bool,
}

/// The system call: a test puts another in its place.
pub type Open<'a> = &'a dyn Fn(&Request) -> io::Result<OwnedFd>;

/// Open one event of the software CPU clock, stopped.
pub fn open(request: &Request) -> io::Result<OwnedFd> {
    let mut attributes = bindings::perf_event_attr {
        type_: bindings::PERF_TYPE_SOFTWARE,
        size: size_of::<bindings::perf_event_attr>() as u32,
        config: u64::from(bindings::PERF_COUNT_SW_CPU_CLOCK),
        sample_type: u64::from(
            bindings::PERF_SAMPLE_IP
                | bindings::PERF_SAMPLE_TID
                | bindings::PERF_SAMPLE_TIME
                | bindings::PERF_SAMPLE_CALLCHAIN,
        ),
        clockid: libc::CLOCK_MONOTONIC,
        sample_max_stack: FRAMES_MAX,
        ..Default::default()
    };
    attributes.sample_period = request.period_ns;
    attributes.set_disabled(1);
    attributes.set_inherit(1);
    // Record whose child a process is: one that ended had its parent's mappings.
    attributes.set_task(1);
    attributes.set_use_clockid(1);
    attributes.set_exclude_callchain_user(1);
    attributes.set_exclude_kernel(u64::from(!request.kernel));
    attributes.set_exclude_hv(1);
    let (thread, cpu) = (request.thread.cast_signed(), request.cpu.cast_signed());
    let flags = libc::c_ulong::from(bindings::PERF_FLAG_FD_CLOEXEC);
    #[expect(unsafe_code, reason = "no crate opens an event and leaves its buffer to us")]
    // SAFETY: the attributes are whole, and live on this stack for the whole call; the descriptor
    // is new and nobody else's.
    unsafe {
        let made =
            perf_event_open_sys::perf_event_open(&raw mut attributes, thread, cpu, -1, flags);
        if made < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(made)) }
    }
}

/// Let an event run, with those that inherited it.
pub fn run(event: &OwnedFd) {
    #[expect(unsafe_code, reason = "no crate starts an event that it did not open")]
    // SAFETY: the descriptor is open for the whole call, which touches no memory of ours.
    let status = unsafe { perf_event_open_sys::ioctls::ENABLE(event.as_raw_fd(), 0) };
    debug_assert_eq!(status, 0, "an open event can be started");
}

/// Let an event rest, with those that inherited it. It keeps what it has of a period.
pub fn stop(event: &OwnedFd) {
    #[expect(unsafe_code, reason = "no crate stops an event that it did not open")]
    // SAFETY: the descriptor is open for the whole call, which touches no memory of ours.
    let status = unsafe { perf_event_open_sys::ioctls::DISABLE(event.as_raw_fd(), 0) };
    debug_assert_eq!(status, 0, "an open event can be stopped");
}

/// CPU time of its thread, and of what inherited it, on its CPU since it runs.
pub fn counted_ns(event: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    match rustix::io::read(event, &mut bytes) {
        Ok(8) => u64::from_ne_bytes(bytes),
        _ => 0,
    }
}

/// Let an event write to the buffer of another one of its CPU.
pub fn write_to(event: &OwnedFd, other: &OwnedFd) -> io::Result<()> {
    #[expect(unsafe_code, reason = "no crate redirects an event's output")]
    // SAFETY: both descriptors are open for the whole call, which touches no memory of ours.
    let status =
        unsafe { perf_event_open_sys::ioctls::SET_OUTPUT(event.as_raw_fd(), other.as_raw_fd()) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether an error says that the caller may not, and not that there is nothing.
pub fn refused(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::PERM))
}

/// Whether the thread ended before it could be followed.
pub fn gone(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::SRCH)
}

/// Why there are no samples, and what to do about it.
pub fn reason(error: &io::Error) -> String {
    if refused(error) {
        return format!(
            "the kernel refuses perf events{}; a container must allow perf_event_open, and a user \
             who is not root needs kernel.perf_event_paranoid at 2 or less, or CAP_PERFMON",
            paranoid()
                .map_or(String::new(), |level| format!(" (kernel.perf_event_paranoid is {level})"))
        );
    }
    match Errno::from_io_error(error) {
        Some(Errno::NOSYS | Errno::NOENT | Errno::OPNOTSUPP) => {
            "this kernel has no perf events, or none of its software clock".to_owned()
        }
        Some(Errno::MFILE | Errno::NFILE) => "a sampler opens a file for each thread on each CPU, \
             and that is more than may be open: raise `ulimit -n`"
            .to_owned(),
        _ => format!("perf events cannot be opened: {error}"),
    }
}

/// Why the kernel's own functions are left out.
pub fn reason_no_kernel() -> String {
    let level = paranoid().unwrap_or_else(|| "unknown".to_owned());
    format!(
        "the kernel's functions are not sampled: that takes root, or kernel.perf_event_paranoid \
         at 1 or less, and it is {level}"
    )
}

fn paranoid() -> Option<String> {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    Some(level.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustix::io::Errno;

    use super::reason;

    #[test]
    fn each_refusal_says_what_is_missing() {
        let reported = |error: Errno| reason(&io::Error::from(error));
        assert!(
            reported(Errno::ACCESS).contains("perf_event_paranoid"),
            "{}",
            reported(Errno::ACCESS)
        );
        assert!(reported(Errno::PERM).contains("container"), "{}", reported(Errno::PERM));
        assert!(reported(Errno::NOSYS).contains("no perf events"), "{}", reported(Errno::NOSYS));
        assert!(reported(Errno::MFILE).contains("ulimit -n"), "{}", reported(Errno::MFILE));
        assert!(reported(Errno::NOMEM).contains("cannot be opened"), "{}", reported(Errno::NOMEM));
    }
}
