"""The files that hold a system's data: all that lies in its folders, or what a URL names.

An engine cannot forget a file, because it lists none: it says which folders are its own, and what
in them is left out, each with its reason.
"""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from loadstone.errors import InputError, UnknownTacticError


def below(folders: Iterable[Path], left_out: Collection[Path]) -> list[Path]:
    """The regular files in folders and those below, each once, links followed, sorted; without
    those files and folders in `left_out`. One that cannot be read is named itself: an eviction then
    says why nothing is proved."""
    skipped = {os.fspath(path) for path in left_out}
    seen: set[tuple[int, int]] = set()
    found = [name for folder in folders for name in _below(os.fspath(folder), skipped, seen)]
    return [Path(name) for name in sorted(found)]


def _below(path: str, skipped: set[str], seen: set[tuple[int, int]]) -> Iterator[str]:
    """Texts, not `Path`s: a server has hundreds of files, listed three times for a cold sample."""
    if path in skipped:
        return
    try:
        kind = os.stat(path)  # noqa: PTH116
        inside = os.listdir(path) if stat.S_ISDIR(kind.st_mode) else []  # noqa: PTH208
    except FileNotFoundError:
        return
    except OSError:
        yield path
        return
    identity = (kind.st_dev, kind.st_ino)
    if identity in seen:
        return
    seen.add(identity)
    if stat.S_ISREG(kind.st_mode):
        yield path
    for name in inside:
        yield from _below(f"{path}/{name}", skipped, seen)


def path_in(url: str) -> Path:
    """The file of a user's database that a URL names, links followed, because what belongs to it
    lies beside it. Raises `InputError`."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    odd = not path.startswith("/") or path.startswith("//") or path.endswith("/") or "\0" in path
    if odd or parts.netloc:
        raise InputError(
            f"cannot read the file's path in {url}",
            hint=f"write {parts.scheme}:///absolute/path.db, with % as %25, # as %23 and ? as %3F",
        )
    if parts.query:
        unknown = parts.query.partition("=")[0]
        raise UnknownTacticError(parts.scheme, unknown, "what `loadstone engines` lists")
    return Path(os.path.realpath(path))
