"""A run's own folder in one that a user's cluster shares: made, marked, held and removed.

The mark is a file with the run's name; a running run holds a lock on it.
"""

import fcntl
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from loadstone.engines.ownership import Hold, Leftover, Space, owner_of
from loadstone.errors import EngineError

_MARK = "_loadstone"
_KIND = "folder"
_LETTERS_MAX = 200


def make(parent: Path, space: Space) -> Path:
    """Make and mark the folder, or find it marked. Raises `EngineError` where it cannot be made, or
    is not ours."""
    folder = parent / space.name
    try:
        folder.mkdir(exist_ok=True)
        if not any(folder.iterdir()):
            (folder / _MARK).write_text(space.mark, encoding="utf-8")
    except OSError as error:
        raise EngineError(
            f"spark: cannot make {folder}: {error.strerror}",
            hint="name a folder that exists and that this account may write to",
        ) from None
    if not is_ours(folder, space):
        raise EngineError(
            f"spark: {folder} is there, and is not this run's", hint="move it out of the way"
        )
    return folder


def is_ours(folder: Path, space: Space) -> bool:
    """Whether the folder bears the run's mark."""
    return _mark_in(folder) == space.mark


def remove(folder: Path, space: Space) -> None:
    """Delete the folder, if it bears the mark."""
    if is_ours(folder, space):
        shutil.rmtree(folder)


def hold(parent: Path, space: Space) -> Hold:
    """Lock the mark, from now until the hold is closed and every process that inherits it ended."""
    descriptor = os.open(make(parent, space) / _MARK, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except OSError as error:
        os.close(descriptor)
        raise EngineError(f"spark: cannot lock {parent / space.name}: {error.strerror}") from None
    return Hold(space.name, lambda: os.close(descriptor), (descriptor,))


def leftovers(parent: Path) -> Sequence[Leftover]:
    """The folders of runs."""
    found = []
    for folder in sorted(parent.glob("loadstone_*")):
        space = Space.named(folder.name)
        if space is not None and is_ours(folder, space):
            relations = sorted(path.name for path in (folder / "warehouse").glob("*"))
            found.append(
                Leftover(
                    kind=_KIND,
                    name=space.name,
                    owner=space.owner,
                    detail=", ".join(relations) or "no relation",
                    removal=str(folder),
                    alive=_is_held(folder),
                )
            )
    return found


def take(parent: Path, leftover: Leftover) -> bool:
    """Delete one that `leftovers` found, if nobody holds it and it still bears its mark."""
    folder = parent / leftover.name
    if _is_held(folder):
        return False
    remove(folder, Space(leftover.name, leftover.owner))
    return True


def _mark_in(folder: Path) -> str:
    try:
        with (folder / _MARK).open(encoding="utf-8", errors="replace") as file:
            mark = file.read(_LETTERS_MAX)
    except OSError:
        return ""
    return mark if owner_of(mark) else ""


def _is_held(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _MARK, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
