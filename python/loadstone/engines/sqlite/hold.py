"""The way in which a living run holds its tables in a user's SQLite file: a lock on a byte beyond
SQLite's.

A lock of an open file description (fcntl(2), F_OFD_SETLK): every process that opens the file sees
it, in any container; it ends with the last process that has the descriptor, changes nothing in the
file, and delays no user of the database.
"""

import fcntl
import os
import struct
from pathlib import Path

from loadstone.engines.ownership import lock_key
from loadstone.errors import EngineError

_FLOCK = struct.Struct("hhqqi0q")
_FAR = 1 << 62
"""Far beyond SQLite's own bytes (1 GiB and 512 after it) and beyond the end of any file."""


def hold(path: Path, name: str) -> int:
    """A descriptor that holds a space until all processes that inherit it close it. Raises
    `EngineError`, also while a `clean` removes the space."""
    descriptor = _opened(path, os.O_RDONLY)
    if _locked(descriptor, fcntl.F_RDLCK, name):
        return descriptor
    os.close(descriptor)
    raise EngineError(
        f"sqlite: {name} in {path} is being removed",
        hint="let `loadstone clean` end, and try again",
    )


def is_held(path: Path, name: str) -> bool:
    """Whether a living run holds a space.

    Not while this process has the database open: closing any descriptor of a file ends SQLite's own
    locks on it.
    """
    descriptor = _opened(path, os.O_RDONLY)
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _place(name), 1, 0)
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, asked)
        return bool(_FLOCK.unpack(found)[0] != fcntl.F_UNLCK)
    finally:
        os.close(descriptor)


def take(path: Path, name: str) -> int | None:
    """A descriptor that holds a space exclusively; None if a living run holds it. To be closed
    after the database is."""
    descriptor = _opened(path, os.O_RDWR)
    if _locked(descriptor, fcntl.F_WRLCK, name):
        return descriptor
    os.close(descriptor)
    return None


def _opened(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_CLOEXEC)
    except OSError as error:
        raise EngineError(
            f"sqlite: cannot open {path}: {error.strerror}",
            hint="make the file and its folder readable and writable, or name a copy",
        ) from error


def _locked(descriptor: int, kind: int, name: str) -> bool:
    asked = _FLOCK.pack(kind, os.SEEK_SET, _place(name), 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, asked)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _place(name: str) -> int:
    return _FAR | lock_key(name) >> 2
