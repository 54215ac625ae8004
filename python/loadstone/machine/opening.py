"""The bytes that opening an engine read, and a bound of the data in its own memory.

Pages of files are counted in the page cache. Copies in a process's memory cannot be seen, so they
are bounded from above: nothing of the files was in memory when the engine was dead, so any copy it
has when the clock starts was read by its opening. Those are at most

* the bytes that its read calls returned, and those it has mapped (`called_bytes` and
  `mapped_bytes`; not if it reads by `io_uring` or asynchronous calls, which are not counted), and
* the bytes that its processes fetched from the device (not if more than that is in the page cache:
  then another process read, too, and the engine may have found the bytes there),

less the bytes that every opening must read and that hold no tuple by the file's format
(`header_bytes`). If an engine keeps relations in files of their own and reads them through the page
cache, only their pages count, so that catalogs are not taken for data. If it reads past the page
cache, and counts the pages in its memory by their files itself, its count stands (`cached_bytes`).

The bound would be false for an engine that maps a file, copies from the mapping and unmaps it while
it opens, on a device that reads far ahead: no counter shows that.
"""

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone import _core
from loadstone.engines.abilities import CountsCached, ReadsHeaders, SeparateRelations
from loadstone.engines.system import System
from loadstone.machine import page_cache

KEPT_SHARE_MAX = 0.10
"""Share of the data. Catalogs and root pages of the engines here are 0.1 % to 3 % of the smallest
databases of the default presets (LMDB has 80 KiB of 2.8 MiB mapped), except Ladybug, which reads 30
% of 3.4 MiB when it opens. Below a tenth, a scan is at most that much too quick."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The effects of an engine's opening. None if the system does not report them."""

    read_bytes: int | None
    """Fetched from the device by the worker and its servers."""
    kept_bytes: int | None
    """Upper bound of the data in the engine's own memory."""


class Opening:
    """Created when the engine is dead and its files are evicted, before it starts."""

    def __init__(self) -> None:
        self._device = _device_bytes()
        self._called = _core.called_bytes(os.getpid())

    def ended(self, system: System, files: Sequence[Path], resident: int | None) -> Opened:
        """Read once the engine is open and before its files are evicted again; `resident` are their
        pages in the page cache now."""
        read = _difference(self._device, _device_bytes())
        called = _difference(self._called, _core.called_bytes(os.getpid()))
        if isinstance(system, SeparateRelations) and (apart := system.relation_files()):
            pages = page_cache.resident(apart)
            return Opened(read, None if pages is None else pages * mmap.PAGESIZE)
        counted = system.cached_bytes() if isinstance(system, CountsCached) else None
        if counted is not None:
            return Opened(read, counted)
        bounds = [_by_calls(called, system, files)]
        if read is not None and resident is not None and read >= resident * mmap.PAGESIZE:
            bounds.append(read)
        known = [bound for bound in bounds if bound is not None]
        headers = system.header_bytes() if isinstance(system, ReadsHeaders) else 0
        return Opened(read, max(min(known) - headers, 0) if known else None)


def complaint(kept_bytes: int | None, data_bytes: int) -> str:
    """Why data may be in the engine's own memory when the clock starts; else empty."""
    if kept_bytes is None:
        return "the amount of data in the engine's own memory is unknown"
    if kept_bytes > KEPT_SHARE_MAX * data_bytes:
        return (
            f"opening the engine may have left {kept_bytes:,} bytes of {data_bytes:,} in its own "
            f"memory, more than {KEPT_SHARE_MAX:.0%}"
        )
    return ""


def _by_calls(called: int | None, system: System, files: Sequence[Path]) -> int | None:
    if called is None or _core.reads_past_calls(os.getpid()) is not False:
        return None
    names = [str(file) for file in files]
    try:
        pids = (os.getpid(), *system.processes())
        return called + sum(_core.mapped_bytes(pid, names) for pid in pids)
    except OSError:
        return None


def _device_bytes() -> int | None:
    moved = _core.io_bytes(os.getpid())
    return None if moved is None else moved[0]


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before
