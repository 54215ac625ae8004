"""The folder in which Turso keeps what does not fit into memory: it asks the process for it."""

import os
from pathlib import Path

_NAME = "TMPDIR"
_before: list[str | None] = []
_claimed: list[Path] = []


def claim(folder: Path) -> None:
    """Have it written to this folder from now on, which is made."""
    folder.mkdir(exist_ok=True)
    if not _claimed:
        _before[:] = [os.environ.get(_NAME)]
    _claimed.append(folder)
    os.environ[_NAME] = str(folder)


def release(folder: Path) -> None:
    """End that: another database that is open has its own again, and without one the process has
    what it had. Their order of closing does not matter."""
    if folder not in _claimed:
        return
    _claimed.remove(folder)
    last = str(_claimed[-1]) if _claimed else _before[0]
    if last is None:
        os.environ.pop(_NAME, None)
    else:
        os.environ[_NAME] = last
