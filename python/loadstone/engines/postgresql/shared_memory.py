"""Shared memory that a killed PostgreSQL server leaves in the kernel: recognised as ours, and
freed.

A server that ends frees its own; so does the next one in its data folder. Without a next one, a
System V segment and files in /dev/shm would stay until the machine stops. The segment names the
folder of its server and the files that belong to it (PostgreSQL's `PGShmemHeader` in
storage/pg_shmem.h, `dsm_control_header` in storage/ipc/dsm.c; version 18).
"""

import contextlib
import ctypes
import struct
from collections.abc import Iterator
from pathlib import Path

_HEADER = struct.Struct("iiQQI4xQQQ")
_HEADER_MAGIC = 679834894
_CONTROL = struct.Struct("III4x")
_CONTROL_MAGIC = 0x9A503D32
_ITEM = struct.Struct("I36x")
_SHM_RDONLY = 0o10000
_IPC_RMID = 0
_FAILED = ctypes.c_void_p(-1).value
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.shmat.restype = ctypes.c_void_p


def free(data: Path) -> list[int]:
    """Free the memory that dead servers of a data folder left; the folder must still exist. Returns
    the identifiers of the segments freed. A segment that any process has attached is spared."""
    try:
        folder = data.stat()
    except OSError:
        return []
    freed = []
    for segment in _unattached():
        header = _header(segment)
        if header is None or header[6:] != (folder.st_dev, folder.st_ino):
            continue
        for handle in _handles(header[4]):
            with contextlib.suppress(OSError):
                _file(handle).unlink()
        if _LIBC.shmctl(segment, _IPC_RMID, None) == 0:
            freed.append(segment)
    return freed


def _unattached() -> Iterator[int]:
    """Identifiers of the segments of this machine that no process has attached."""
    try:
        lines = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()
    except OSError:
        return
    names = lines[0].split()
    for line in lines[1:]:
        found = dict(zip(names, line.split(), strict=False))
        if found["nattch"] == "0" and int(found["size"]) >= _HEADER.size:
            yield int(found["shmid"])


def _header(segment: int) -> tuple[int, ...] | None:
    """A segment's header; None where it is not a server's, or not ours to read."""
    place = _LIBC.shmat(segment, None, _SHM_RDONLY)
    if place is None or place == _FAILED:
        return None
    try:
        found = _HEADER.unpack(ctypes.string_at(place, _HEADER.size))
    finally:
        _LIBC.shmdt(ctypes.c_void_p(place))
    return found if found[0] == _HEADER_MAGIC else None


def _handles(control: int) -> list[int]:
    """The files of a server: that which lists them, last, and those that it lists."""
    try:
        listed = _file(control).read_bytes()
    except OSError:
        return []
    if len(listed) < _CONTROL.size:
        return []
    magic, items, _ = _CONTROL.unpack_from(listed)
    if magic != _CONTROL_MAGIC:
        return []
    room = (len(listed) - _CONTROL.size) // _ITEM.size
    places = (_CONTROL.size + item * _ITEM.size for item in range(min(items, room)))
    return [*(_ITEM.unpack_from(listed, place)[0] for place in places), control]


def _file(handle: int) -> Path:
    return Path("/dev/shm") / f"PostgreSQL.{handle}"  # noqa: S108 - where POSIX memory lies
