"""The objects of runs in a user's file: found, removed, and marked as in use."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from loadstone.engines.ownership import Hold, Leftover, in_use
from loadstone.engines.sqlite import hold as sqlite_hold
from loadstone.engines.sqlite import user_file
from loadstone.engines.sqlite.user_file import OwnTables, errors


def found_in(path: Path) -> Sequence[Leftover]:
    """Spaces of a user's file that bear our mark. Raises `EngineError`."""
    connection = user_file.connect(path)
    try:
        with errors(f"cannot look for tables in {path}"):
            found = user_file.spaces(connection)
            left = [space.leftover(connection) for space in found]
    finally:
        connection.close()
    # Only now: see `sqlite_hold.is_held`.
    return [replace(item, alive=sqlite_hold.is_held(path, item.name)) for item in left]


def clear(path: Path, leftover: Leftover) -> None:
    """Drop a space if it still bears its run's mark, and no living run holds it. Raises
    `EngineError`."""
    alone = sqlite_hold.take(path, leftover.name)
    if alone is None:
        raise in_use(leftover)
    try:
        doing = f"cannot drop {leftover.name} from {path}"
        with closing(user_file.connect(path)) as connection, errors(doing):
            OwnTables(leftover.name, leftover.owner).drop_own(connection)
    finally:
        os.close(alone)


def held(path: Path, space: OwnTables) -> Hold:
    """A lock on the user's file, which the worker inherits. Raises `EngineError`."""
    user_file.look(path)
    descriptor = sqlite_hold.hold(path, space.name)
    return Hold(space.name, partial(os.close, descriptor), (descriptor,))
