"""The scratch folder's disk: whether cold can be proved there, and how fast it is."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loadstone import _core
from loadstone.doctor.check import Check, Verdict, quantity
from loadstone.errors import InputError
from loadstone.machine.facts import Fact
from loadstone.machine.page_cache import Evidence, evict_files
from loadstone.text.numbers import NS_PER_S, duration, plural, size

PROBE_BYTES = 64 << 20
"""A second or less on a slow disk, and more than today's disks buffer at once."""
CHUNK_BYTES = 1 << 20
COMMITS = 100
COMMIT_BYTES = 8192
"""A page of many a server's log."""
COMMIT_NS_MIN = 10_000
"""No device over a bus has written and confirmed a page faster; memory has."""
FREE_BYTES_MIN = 2 << 30
"""The default preset's relations in all their physical designs on three engines, with logs."""
READ_AHEAD_BYTES_MAX = 1 << 20
"""Eight times the kernel's default, and less than the smallest database of a default preset."""
ELSEWHERE = "name a folder on a real disk in LOADSTONE_SCRATCH"


@dataclass(frozen=True, slots=True)
class DiskProbe:
    """The measurements on one file of `PROBE_BYTES` and one of `COMMITS` appended pages."""

    write_ns: int
    read_ns: int
    """After eviction; from the disk only if `evidence` is proved."""
    commit_ns: float
    """Median of one page appended and synced, with idle states disabled where permitted."""
    counted: tuple[int, int] | None
    """Bytes (read, written) that the kernel charged to us meanwhile; None where it hides them."""
    evidence: Evidence


def measure(folder: Path) -> DiskProbe:
    """Write, evict and read a file in `folder`; then append and sync pages. Raises `OSError`."""
    own = os.getpid()
    before = _core.io_bytes(own)
    path = folder / "probe"
    with _core.disable_idle_states():
        write_ns = _write_ns(path)
        # Ours is the only process that has the file, and it has closed it.
        evidence = evict_files([path], engine_dead=True)
        read_ns = _read_ns(path)
        after = _core.io_bytes(own)
        path.unlink()
        commits_ns = _commits_ns(folder / "commits")
    counted = (after[0] - before[0], after[1] - before[1]) if before and after else None
    commit_ns = _core.interval_of_median(commits_ns)[0]
    return DiskProbe(write_ns, read_ns, commit_ns, counted, evidence)


def scratch_folder(facts: Mapping[str, Fact], problem: str = "") -> Check:
    """Whether engines can work there; `problem` says why not."""
    kind, free_bytes = facts.get("filesystem.type"), quantity(facts, "filesystem.free_bytes")
    if problem:
        return Check(
            "scratch folder", Verdict.ABSENT, "not usable", "no run is possible",
            f"{problem}: {ELSEWHERE}", InputError,
        )  # fmt: skip
    value = f"{kind or 'unknown'}, {size(free_bytes or 0)} free"
    if free_bytes is not None and free_bytes < FREE_BYTES_MIN:
        return Check(
            "scratch folder", Verdict.LIMITED, value, "large scales will fill the disk",
            f"make room there, or {ELSEWHERE}",
        )  # fmt: skip
    return Check("scratch folder", Verdict.OK, value, "engines can work here")


def eviction(evidence: Evidence) -> Check:
    """Whether cold can be proved."""
    if evidence.proved:
        value = f"{plural(evidence.resident_before or 0, 'page')}, then 0 ({evidence.method})"
        return Check("eviction", Verdict.OK, value, "cold can be proved")
    # The others follow from the first.
    cause = evidence.reason.partition(";")[0]
    left = evidence.resident_after
    shown = "pages cannot be counted" if left is None else f"{plural(left, 'page')} left"
    verdict = Verdict.ABSENT if left is None else Verdict.LIMITED
    return Check(
        "eviction", verdict, f"{shown} ({evidence.method})", "cold cells will be unproved",
        f"{cause}: {ELSEWHERE}",
    )  # fmt: skip


def read_ahead(facts: Mapping[str, Fact]) -> Check:
    """The share of a file comes into memory with its first page: at that a small scale, all of
    it."""
    ahead_bytes = quantity(facts, "disk.read_ahead_bytes")
    if ahead_bytes is None:
        return Check(
            "read-ahead", Verdict.ABSENT, "cannot be read", "the extent of cold reads is unknown"
        )
    if ahead_bytes <= READ_AHEAD_BYTES_MAX:
        return Check("read-ahead", Verdict.OK, size(ahead_bytes), "cold reads stay local")
    return Check(
        "read-ahead", Verdict.LIMITED, size(ahead_bytes), "one cold read may load a whole file",
        "as root: echo 128 > /sys/block/DISK/queue/read_ahead_kb",
    )  # fmt: skip


def bandwidth(probe: DiskProbe) -> Check:
    """The rate at which a relation is written and read."""
    value = f"write {_rate(probe.write_ns)}, read {_rate(probe.read_ns)}"
    if probe.evidence.proved:
        return Check("disk bandwidth", Verdict.OK, value, "upper bound of a cold scan")
    return Check("disk bandwidth", Verdict.LIMITED, value, "read from memory, not from the disk")


def sync_latency(probe: DiskProbe) -> Check:
    """The minimum cost of a durable commit."""
    value = f"{duration(probe.commit_ns)} for 8 KiB"
    if probe.commit_ns >= COMMIT_NS_MIN:
        return Check("sync latency", Verdict.OK, value, "lower bound of a durable commit")
    return Check(
        "sync latency", Verdict.LIMITED, value, "too fast to be on a disk",
        f"memory, or an unsafe disk cache: {ELSEWHERE}",
    )  # fmt: skip


def _rate(elapsed_ns: int) -> str:
    return f"{size(PROBE_BYTES * NS_PER_S / max(1, elapsed_ns))}/s"


def _write_ns(path: Path) -> int:
    # Random, since some file systems compress; new for each file, since some deduplicate.
    chunk = os.urandom(CHUNK_BYTES)
    begin_ns = _core.clock_ns()
    with path.open("wb", buffering=0) as file:
        for _ in range(PROBE_BYTES // CHUNK_BYTES):
            file.write(chunk)
        os.fsync(file.fileno())
    return _core.clock_ns() - begin_ns


def _read_ns(path: Path) -> int:
    chunk = bytearray(CHUNK_BYTES)
    begin_ns = _core.clock_ns()
    with path.open("rb", buffering=0) as file:
        while file.readinto(chunk):
            pass
    return _core.clock_ns() - begin_ns


def _commits_ns(path: Path) -> list[float]:
    page = os.urandom(COMMIT_BYTES)
    elapsed_ns = []
    with path.open("wb", buffering=0) as file:
        for _ in range(COMMITS):
            begin_ns = _core.clock_ns()
            file.write(page)
            os.fsync(file.fileno())
            elapsed_ns.append(float(_core.clock_ns() - begin_ns))
    path.unlink()
    return elapsed_ns
