"""The kernel's reports about processes, and its newer interfaces that are open."""

import ctypes
import errno
import os
from pathlib import Path

from loadstone.doctor.check import Check, Verdict
from loadstone.text.numbers import duration, size

COUNTED_MIN = 0.9
"""The share of our own bytes that must be counted: file systems add bytes, few leave any out."""
# The same number on every architecture that has Python wheels (io_uring_setup(2)).
_IO_URING_SETUP = 425
_IO_URING_PARAMETERS_BYTES = 120


def cpu_time(used_ns: int | None) -> Check:
    """Whether the CPU time of an engine's processes can be read, as ours was."""
    if used_ns is None:
        return Check(
            "CPU time", Verdict.ABSENT, "cannot be read", "busy and waiting time look the same",
            "mount /proc, or run where the container shows it",
        )  # fmt: skip
    return Check(
        "CPU time", Verdict.OK, f"{duration(used_ns)} of this process",
        "work of servers is counted too",
    )  # fmt: skip


def storage_traffic(counted: tuple[int, int] | None, moved: tuple[int, int]) -> Check:
    """Whether the kernel counts bytes to and from storage: of the (read, written) we `moved`."""
    if counted is None:
        return Check(
            "storage I/O", Verdict.ABSENT, "cannot be read", "reads of a sample stay unknown",
            "run as the servers' user, on a kernel with task I/O accounting",
        )  # fmt: skip
    value = f"{size(counted[0])} read, {size(counted[1])} written"
    pairs = zip(counted, moved, strict=True)
    if all(seen >= COUNTED_MIN * real for seen, real in pairs):
        return Check("storage I/O", Verdict.OK, value, "every byte of the probe was counted")
    return Check(
        "storage I/O", Verdict.LIMITED, value, f"of {size(moved[0])} each way: too little",
        "keep scratch files on a local disk, whose traffic the kernel charges to processes",
    )  # fmt: skip


def io_uring(error: int | None) -> Check:
    """Whether asynchronous I/O is open to engines; `error` is the refusal's errno, None for yes."""
    if error is None:
        return Check("io_uring", Verdict.OK, "can be set up", "open to engines that use it")
    if error == errno.ENOSYS:
        return Check("io_uring", Verdict.ABSENT, "not in this kernel", "engines read in other ways")
    return Check(
        "io_uring", Verdict.LIMITED, os.strerror(error).lower(), "engines read in other ways",
        "set kernel.io_uring_disabled=0, and allow it in the container's seccomp profile",
    )  # fmt: skip


def io_uring_error() -> int | None:
    """Set up a ring and close it: None, or the errno with which the kernel refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(_IO_URING_PARAMETERS_BYTES)
    ring = libc.syscall(_IO_URING_SETUP, 1, parameters)
    if ring < 0:
        return ctypes.get_errno()
    os.close(ring)
    return None


def latency_device_exists(root: Path = Path("/")) -> bool:
    """Whether there is a device by which idle states can be disabled."""
    return (root / "dev/cpu_dma_latency").exists()
