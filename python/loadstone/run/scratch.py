"""The scratch folder of a run: one marked folder for its engines' files, removed at the end.

The folder lies in the user's cache directory, on a real disk, because cold cells need a file
system whose pages can be evicted; root's lies in /var/tmp, where a server that drops to another
user can reach it. `LOADSTONE_SCRATCH` names another parent.

A folder is never without its mark: it gets its name after the mark, and the mark is removed last.
The runner holds the folder's lock, and so does every worker that outlives it.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from loadstone.diagnostics import say
from loadstone.errors import InputError, RecordError
from loadstone.machine import processor_share, volume
from loadstone.owner import OWNER, checked_owner

MARK = "owner.json"

_UNNAMED = re.compile(r"\.new-([0-9a-z]{1,32})-([0-9]{1,10})")
"""The name of a folder before it bears its mark, and after: run and process."""
_MARK_BYTES_MAX = 4096
_READ_ONLY = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""A pipe under the name of a mark is opened at once, and then seen to be none."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A run's folder: `path`, whose it is, and whether that run, or a worker of it, still lives."""

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
    """The folder that holds all scratch folders; absolute, since servers work elsewhere."""
    chosen = os.environ.get("LOADSTONE_SCRATCH")
    if chosen:
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/tmp/loadstone")  # noqa: S108 - refused where it is not root's
    return platformdirs.user_cache_path("loadstone") / "scratch"


def folder_of(owner: str) -> Path:
    """A run's folder. Raises `RecordError` where its name could lead elsewhere."""
    return parent() / checked_owner(owner)


@contextlib.contextmanager
def claimed(owner: str, *, resumed: bool = False) -> Iterator[Claim]:
    """Have a run's folder alone; it is removed in the end.

    Waits for the workers of a killed runner, which are still tidying up. Raises `RecordError` where
    another runner has the run, `InputError` where the folder cannot be made or is not ours.
    """
    path = folder_of(owner)
    lock = _locked(path, owner)
    try:
        yield Claim(path, lock, resumed)
    finally:
        os.close(lock)
        if not release(path):
            say(
                f"{path} is still used by processes of this run; when they have ended,"
                " `loadstone clean` removes it"
            )


def release(path: Path, first: Callable[[], None] | None = None) -> bool:
    """Remove a run's folder, one that carries our mark, once `first` was done; False where somebody
    still works in it, or something of it cannot be removed: then it keeps its mark."""
    with _alone(path) as lock:
        if lock is None:
            return not path.exists()
        if first is not None:
            first()
        processor_share.sweep()
        volume.sweep(path)
        for entry in path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != MARK:
                with contextlib.suppress(OSError):
                    entry.unlink()
        if {entry.name for entry in path.iterdir()} - {MARK}:
            return False
        mark = _read(path)
        owner = mark[0] if mark else path.name.split("-")[1]
        bare = path.with_name(f".new-{owner}-{os.getpid()}")
        try:
            # By this name it is known as ours without a mark, should we be killed now.
            path.rename(bare)
            (bare / MARK).unlink(missing_ok=True)
            bare.rmdir()
        except OSError:
            _mark(lock, owner)
            return False
        return True


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[int | None]:
    """The lock of a folder that bears our mark; None where it bears none, or somebody else has
    it."""
    try:
        lock = _opened(path)
    except OSError:
        yield None
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ours = _is_at(lock, path) and (_read(path) is not None or _is_unnamed(path))
    except BlockingIOError:
        ours = False
    try:
        yield lock if ours else None
    finally:
        os.close(lock)


def found() -> Iterator[Scratch]:
    """All marked folders, those of running runs too."""
    if not parent().is_dir():
        return
    for path in sorted(parent().iterdir()):
        mark = _read(path)
        if mark is not None:
            owner, pid, lives = mark
            yield Scratch(path, owner, pid, lives or _is_held(path))
        elif _is_unnamed(path) and (unnamed := _UNNAMED.fullmatch(path.name)):
            yield Scratch(path, unnamed[1], int(unnamed[2]), _is_held(path))


def _locked(path: Path, owner: str) -> int:
    _trust(path.parent)
    while True:
        try:
            with contextlib.suppress(FileNotFoundError):
                return _taken(path, owner)
            lock = _made(path, owner)
        except OSError as error:
            raise _cannot_make(path, error) from error
        if lock is not None:
            return lock


def _taken(path: Path, owner: str) -> int:
    """Take a folder that is there. Raises `FileNotFoundError` where it is gone meanwhile."""
    lock = _opened(path)
    try:
        status = os.fstat(lock)
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise InputError(
                f"the scratch folder {path} is accessible to other users",
                hint="remove it, or name another parent in LOADSTONE_SCRATCH",
            )
        _take(lock, owner)
        if not _is_at(lock, path):  # the holder before us removed it
            raise FileNotFoundError(path)
        _mark(lock, owner)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _made(path: Path, owner: str) -> int | None:
    """Make a folder that has its mark and its lock before it has its name; None where another had
    that first."""
    unnamed = path.with_name(f".new-{owner}-{os.getpid()}")
    # A server that drops to another user must be able to pass through.
    unnamed.mkdir(mode=0o711)
    unnamed.chmod(0o711)
    lock = _opened(unnamed)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _mark(lock, owner)
        unnamed.rename(path)
    except BaseException as error:
        os.close(lock)
        release(unnamed)
        if isinstance(error, OSError) and path.exists():
            return None
        raise
    return lock


def _trust(folder: Path) -> None:
    """Create the parent of all scratch folders, or check that no other user can have written to it.
    Raises `InputError`."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        link, status = folder.lstat(), folder.stat()
    except OSError as error:
        raise _cannot_make(folder, error) from error
    ours = {os.geteuid(), 0}
    shared = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
    if link.st_uid not in ours or status.st_uid not in ours or shared:
        reason = "others may write to it" if shared else f"it belongs to user {status.st_uid}"
        raise InputError(
            f"the folder for scratch files, {folder}, is not safe: {reason}",
            hint="remove it, or name a folder of yours on a real disk in LOADSTONE_SCRATCH",
        )


def _opened(path: Path) -> int:
    """Follows no link."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _is_at(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except OSError:
        return False


def _is_held(path: Path) -> bool:
    try:
        lock = _opened(path)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _take(lock: int, owner: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        mark = _read(folder_of(owner))
        if mark is not None and mark[2]:
            raise RecordError(
                f"run {owner} is being measured by process {mark[1]}",
                hint="a run has one runner at a time: wait until that one ends, or interrupt it",
            ) from None
        say(f"waiting for the processes of a killed session of run {owner}")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _mark(folder: int, owner: str) -> None:
    """Write the mark, whole or not at all, over whatever is there, but not over what that links
    to."""
    pid = os.getpid()
    mark = {"owner": owner, "pid": pid, "started": _started(pid), "boot_id": _boot_id()}
    temporary = f".{MARK}-{pid}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o644, dir_fd=folder), "w") as stream:
        json.dump(mark, stream)
    os.replace(temporary, MARK, src_dir_fd=folder, dst_dir_fd=folder)


def _read(path: Path) -> tuple[str, int, bool] | None:
    """The contents of a folder's mark: owner, process, and whether that process lives; None without
    a mark, or with a foreign one."""
    try:
        folder = _opened(path)
    except OSError:
        return None
    try:
        mark = os.open(MARK, _READ_ONLY, dir_fd=folder)
        with os.fdopen(mark, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                return None
            reported = json.loads(stream.read(_MARK_BYTES_MAX))
        owner, pid, boot_id = reported["owner"], reported["pid"], reported["boot_id"]
        if not (isinstance(owner, str) and OWNER.fullmatch(owner) and type(pid) is int):
            return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    finally:
        os.close(folder)
    lives = boot_id == _boot_id() and reported.get("started") in (None, _started(pid))
    return owner, pid, bool(lives and Path(f"/proc/{pid}").exists())


def _is_unnamed(path: Path) -> bool:
    """Whether a folder is what a killed runner had not named yet: nothing is in it but a part of a
    mark."""
    try:
        return (
            _UNNAMED.fullmatch(path.name) is not None
            and path.lstat().st_uid == os.geteuid()
            and all(entry.name.startswith(f".{MARK}-") for entry in path.iterdir())
        )
    except OSError:
        return False


def _cannot_make(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot make the scratch folder {path}: {error.strerror}",
        hint="name a writable folder on a real disk in LOADSTONE_SCRATCH",
    )


def _started(pid: int) -> str:
    """When a process began, in ticks since the boot: its number may be given to another. Empty
    where there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def _boot_id() -> str:
    """Shows this boot from an earlier one, whose process numbers mean nothing now."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
