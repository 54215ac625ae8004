"""The objects of runs in a user's SQLite file: held while their run lives, found, and removed.

A living run holds its space by a lock on a byte beyond SQLite's. It is a lock of an open file
description (fcntl(2), F_OFD_SETLK): every process that opens the file sees it, in any container; it
ends with the last process that has the descriptor, changes nothing in the file, and delays no user
of the database.
"""

import fcntl
import os
import struct
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from loadstone.engines.ownership import Hold, Leftover, in_use, lock_key
from loadstone.engines.sqlite import user_file
from loadstone.engines.sqlite.user_file import OwnTables, errors
from loadstone.errors import EngineError

_FLOCK = struct.Struct("hhqqi0q")
_FAR = 1 << 62
"""Far beyond SQLite's own bytes (1 GiB and 512 after it) and beyond the end of any file."""


def found_in(path: Path) -> Sequence[Leftover]:
    """Spaces of a user's file that bear our mark. Raises `EngineError`."""
    connection = user_file.connect(path)
    try:
        with errors(f"cannot look for tables in {path}"):
            found = user_file.spaces(connection)
            left = [space.leftover(connection) for space in found]
    finally:
        connection.close()
    # Only now: see `is_held`.
    return [replace(item, alive=is_held(path, item.name)) for item in left]


def clear(path: Path, leftover: Leftover) -> None:
    """Drop a space if it still bears its run's mark, and no living run holds it. Raises
    `EngineError`."""
    alone = take(path, leftover.name)
    if alone is None:
        raise in_use(leftover)
    try:
        doing = f"cannot drop {leftover.name} from {path}"
        with closing(user_file.connect(path)) as connection, errors(doing):
            OwnTables(leftover.name, leftover.owner).drop_own(connection)
    finally:
        os.close(alone)


def hold(path: Path, space: OwnTables) -> Hold:
    """A lock on a user's file, which the worker inherits. Raises `EngineError`, also while a
    `clean` removes the space."""
    user_file.look(path)
    descriptor = _opened(path, os.O_RDONLY)
    if not _locked(descriptor, fcntl.F_RDLCK, space.name):
        os.close(descriptor)
        raise EngineError(
            f"sqlite: {space.name} in {path} is being removed",
            hint="let `loadstone clean` end, and try again",
        )
    return Hold(space.name, partial(os.close, descriptor), (descriptor,))


def is_held(path: Path, name: str) -> bool:
    """Whether a living run holds a space.

    Not while this process has the database open: closing any descriptor of a file ends SQLite's own
    locks on it.
    """
    descriptor = _opened(path, os.O_RDONLY)
    try:
        lock = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _place(name), 1, 0)
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, lock)
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
    lock = _FLOCK.pack(kind, os.SEEK_SET, _place(name), 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _place(name: str) -> int:
    return _FAR | lock_key(name) >> 2
