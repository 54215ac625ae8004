"""Making files cold, and the proof of it: no page of them is left in the page cache.

Cold means cold for this machine's memory: caches of a disk's controller or of a hypervisor cannot
be seen from here. Nothing is assumed: a file system whose caches the kernel does not show (ZFS,
network and user-space ones) gives no proof, nor does one that is memory itself (tmpfs).
"""

import contextlib
import math
import os
import re
import select
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone import _core
from loadstone._core import clock_ns, evict, resident_pages
from loadstone.machine import facts

# Pages under write-back survive an eviction; the fsync of the next attempt has waited for them.
ATTEMPTS = 4
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
# File systems that keep the contents of files in the page cache and nowhere else in memory.
PAGE_CACHED = frozenset(
    {"bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2", "ntfs3"}
    | {"overlay", "vfat", "xfs"}
)

MEMORY = frozenset({"ramfs", "tmpfs"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Observations while files were made cold, once. `proved` alone permits the label `cold`. The
    record's `ColdEvidence` is of a sample, and has what was seen at the clock, too."""

    files: int
    """Files that existed."""
    bytes: int
    """Their length in all."""
    resident_before: int | None
    """Pages in the page cache before; None if unknown."""
    resident_after: int | None
    """Pages in the page cache afterwards; None if unknown."""
    method: str
    """The counter: `cachestat`, `mincore`, both joined by `+`, or `none`."""
    engine_dead: bool
    """Whether the caller saw the engine's processes end first."""
    proved: bool
    """The engine was dead, and no page of any file was in memory."""
    reason: str
    """Why it is not proved; else empty."""


@dataclass(frozen=True, slots=True)
class _Census:
    bytes: int
    resident: int | None
    method: str
    problem: str
    lingering: tuple[str, ...]
    """Files with a page in memory, or with an unknown number."""


def evict_files(paths: Iterable[str | Path], *, engine_dead: bool = False) -> Evidence:
    """Evict files, and all files below folders, from memory, and check that no page is left.

    Files that no longer exist are left out: engines remove logs when they stop. Does not raise for
    refusals of the operating system: they become the reason.
    """
    problems: list[str] = []
    seen: set[tuple[int, int]] = set()
    files = [file for path in paths for file in _files(os.fspath(path), seen, problems)]
    if not files:
        problems.append("there was no file to evict")
    hidden = _hidden_caches(files)
    before = _census(files)
    after = _evict(files, before.lingering, problems, may_drop_all=not hidden)
    problems += [*hidden, *filter(None, [after.problem])]
    if after.resident and not hidden:
        pages = "page is" if after.resident == 1 else "pages are"
        problems.append(
            f"{after.resident} {pages} still in memory: another process may have them mapped, "
            "locked, or be writing"
        )
    if not engine_dead:
        problems.append("the engine's end was not seen")
    return Evidence(
        files=len(files),
        bytes=after.bytes,
        resident_before=before.resident,
        resident_after=after.resident,
        method=after.method,
        engine_dead=engine_dead,
        proved=not problems,
        reason="; ".join(dict.fromkeys(problems)),
    )


def resident(files: Sequence[str | Path]) -> int | None:
    """Pages of files in the page cache now; None if unknown."""
    return _census([os.fspath(file) for file in files]).resident if files else 0


def wait_until_dead(pids: Sequence[int], limit_s: float) -> bool:
    """Wait until none of the processes runs; False if one still does after `limit_s` seconds.

    A process that ended but was not waited for counts as dead: its memory and files are released.
    One that the kernel will not let us watch counts as alive.
    """
    with contextlib.ExitStack() as stack:
        poll = select.poll()
        alive = set()
        for pid in pids:
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            except OSError:
                return False
            stack.callback(os.close, handle)
            poll.register(handle, select.POLLIN)
            alive.add(handle)
        deadline_ns = clock_ns() + round(limit_s * 1e9)
        while alive:
            left_ns = deadline_ns - clock_ns()
            ended = poll.poll(max(0, math.ceil(left_ns / 1e6)))
            for handle, _ in ended:
                poll.unregister(handle)
                alive.discard(handle)
            if not ended and left_ns <= 0:
                return False
    return True


def _files(path: str, seen: set[tuple[int, int]], problems: list[str]) -> Iterator[str]:
    """The regular files that a path means, each once, links followed. Texts, not `Path`s: a server
    has a thousand files, looked at seven times for a cold sample."""
    try:
        found = os.stat(path)  # noqa: PTH116
        below = sorted(os.listdir(path)) if stat.S_ISDIR(found.st_mode) else []  # noqa: PTH208
    except FileNotFoundError:
        return
    except OSError as error:
        problems.append(_reported(path, error))
        return
    identity = (found.st_dev, found.st_ino)
    if identity in seen:
        return
    seen.add(identity)
    if stat.S_ISREG(found.st_mode):
        yield path
    elif stat.S_ISBLK(found.st_mode) or stat.S_ISCHR(found.st_mode):
        problems.append(f"{Path(path).name} is a device, whose pages cannot be counted")
    for child in below:
        yield from _files(f"{path}/{child}", seen, problems)


def _evict(
    files: Sequence[str], lingering: Sequence[str], problems: list[str], *, may_drop_all: bool
) -> _Census:
    """Evict the lingering files and count all: most files of a server are never read, and to sync a
    thousand of them takes longer than to start it."""
    refusals: list[str] = []
    after = _Census(0, None, "none", "", tuple(lingering))
    for _ in range(ATTEMPTS):
        refusals = [reported for file in after.lingering if (reported := _refusal(file))]
        _unmap(after.lingering)
        after = _census(files)
        if not after.resident:
            break
    if after.resident and may_drop_all and os.geteuid() == 0:
        try:
            # 1: page cache only. Slows the whole machine for a moment, so it comes last.
            DROP_CACHES.write_text("1\n")
        except OSError as error:
            refusals.append(_reported(DROP_CACHES, error))
        after = _census(files)
    problems += refusals
    return after


def _refusal(file: str) -> str:
    try:
        evict(file)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return _reported(file, error)
    return ""


def _unmap(files: Sequence[str]) -> None:
    """Release the pages that this process itself has mapped: an eviction passes over such pages.
    The count afterwards shows whether it helped."""
    if files:
        with contextlib.suppress(OSError):
            _core.page_out(files)


def _census(files: Sequence[str]) -> _Census:
    size_bytes = resident = 0
    methods = set()
    lingering = []
    problem = ""
    for file in files:
        try:
            pages, _, method = resident_pages(file)
            size_bytes += os.stat(file).st_size  # noqa: PTH116
        except FileNotFoundError:
            continue
        except OSError as error:
            problem = _reported(file, error)
            lingering.append(file)
            continue
        resident += pages
        methods.add(method)
        if pages:
            lingering.append(file)
    counted = None if problem or not methods else resident
    reported = "+".join(sorted(methods)) or "none"
    return _Census(size_bytes, counted, reported, problem, tuple(lingering))


def _hidden_caches(files: Sequence[str]) -> list[str]:
    """Why zero pages in the page cache would not mean zero in memory, for each place of files."""
    places = {}
    for file in files:
        with contextlib.suppress(OSError):
            places[os.stat(file).st_dev] = file  # noqa: PTH116
    found = (facts.mount_of(Path(file)) for file in places.values())
    return [reported for mount in found if (reported := _hidden_cache(mount))]


def _hidden_cache(mount: facts.Mount | None) -> str:
    if mount is None:
        return "the file system is unknown, and so are its caches"
    if mount.type in MEMORY:
        return f"files lie on {mount.type}, which is memory itself: nothing there is ever cold"
    if mount.type not in PAGE_CACHED:
        return f"files lie on {mount.type}, whose caches the kernel does not show"
    # Each disk of a file system that has several: a mirror reads either.
    reported = (_cache_of(device) for device in facts.devices_of(mount))
    return next(filter(None, reported), "")


def _cache_of(device: str) -> str:
    """Why a disk, `loop0` or `vda1`, is memory, or has a cache of its own in memory."""
    special = re.match(r"(loop|z?ram)\d", device)
    if special is None:
        return ""
    if special[1] != "loop":
        return f"files lie on {device}, a disk that is itself memory"
    if not facts.loop_is_direct(device):
        return f"files lie on {device}, whose backing file is cached: losetup --direct-io=on"
    return ""


def _reported(path: str | Path, error: OSError) -> str:
    """The error without the folder: evidence is kept, and folders may name people."""
    return f"{Path(path).name}: {error.strerror or type(error).__name__}"
