"""Where engines keep their files during a run: one marked folder a run, swept when it is over.

The folder lies in the user's cache directory, on a real disk, because cold cells need a file
system whose pages can be evicted; root's lies in /var/tmp, where a server that drops to another
user can reach it. `LOADSTONE_SCRATCH` names another parent.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from loadstone.diagnostics import say
from loadstone.errors import InputError, RecordError
from loadstone.owner import checked_owner

MARK = "owner.json"


@dataclass(frozen=True, slots=True)
class Scratch:
    """A run's folder: `path`, whose it is, and whether that process still lives."""

    path: Path
    owner: str
    pid: int
    alive: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A run's folder while a runner has it to itself.

    `lock` is the descriptor that holds it. The workers inherit it, so that the folder stays taken
    until the last of them has removed what it made, however the runner came to its end.
    """

    path: Path
    lock: int
    resumed: bool = False
    """Whether sessions before this one may have left something of the run's."""


def parent() -> Path:
    """The folder that holds all scratch folders."""
    chosen = os.environ.get("LOADSTONE_SCRATCH")
    if chosen:
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/var/tmp/loadstone")  # noqa: S108 - each run's folder in it is its owner's
    return platformdirs.user_cache_path("loadstone") / "scratch"


def folder_of(owner: str) -> Path:
    """A run's folder. Raises `RecordError` where its name could lead elsewhere."""
    return parent() / checked_owner(owner)


def claim(owner: str) -> Path:
    """Make a folder and mark it as ours. Raises `InputError` where it cannot be made."""
    path = folder_of(owner)
    try:
        path.mkdir(parents=True, exist_ok=True)
        # A server that drops to another user must be able to pass through.
        path.chmod(0o711)
        mark = {"owner": owner, "pid": os.getpid(), "boot_id": _boot_id()}
        (path / MARK).write_text(json.dumps(mark), encoding="utf-8")
    except OSError as error:
        raise _cannot_make(path, error) from error
    return path


@contextlib.contextmanager
def claimed(owner: str, *, resumed: bool = False) -> Iterator[Claim]:
    """Have a run's folder alone; it is removed in the end.

    Waits for the workers of a killed runner, which are still tidying up. Raises `RecordError` where
    another runner has the run, `InputError` where the folder cannot be made.
    """
    path = folder_of(owner)
    lock = _locked(path, owner)
    try:
        claim(owner)
        yield Claim(path, lock, resumed)
    finally:
        release(path)
        os.close(lock)


def _locked(path: Path, owner: str) -> int:
    while True:
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise _cannot_make(path, error) from error
        try:
            _take(lock, owner)
            if path.is_dir() and os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # the holder before us removed the folder: what we have is no longer it


def _take(lock: int, owner: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        runner = next((mark for mark in found() if mark.owner == owner and mark.alive), None)
        if runner is not None:
            raise RecordError(
                f"run {owner} is being measured by process {runner.pid}",
                hint="a run has one runner at a time: wait until that one ends, or interrupt it",
            ) from None
        say(f"waiting for what a killed session of run {owner} left running")
        fcntl.flock(lock, fcntl.LOCK_EX)


def release(path: Path) -> None:
    """Remove a run's folder; only one that carries our mark."""
    if (path / MARK).is_file():
        shutil.rmtree(path, ignore_errors=True)


def found() -> Iterator[Scratch]:
    """All marked folders, those of running runs too."""
    if not parent().is_dir():
        return
    for path in sorted(parent().iterdir()):
        try:
            mark = json.loads((path / MARK).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        pid = int(mark["pid"])
        alive = mark["boot_id"] == _boot_id() and Path(f"/proc/{pid}").exists()
        yield Scratch(path, str(mark["owner"]), pid, alive)


def _cannot_make(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot make the scratch folder {path}: {error.strerror}",
        hint="name a writable folder on a real disk in LOADSTONE_SCRATCH",
    )


def _boot_id() -> str:
    """Tells this boot from an earlier one, whose process numbers mean nothing now."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
