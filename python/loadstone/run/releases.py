"""The releases of an engine that there are: of the package index or, without one, of the cache.

By pip's `index versions`, which lists those that have a package for this Python.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from loadstone.diagnostics import say
from loadstone.engines.system import System
from loadstone.errors import InputError, NotInstalledError
from loadstone.run.builds import installed, is_short

_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)*(\.post[0-9]+)?")
_LISTED = re.compile(r"^Available versions: (.*)$", re.MULTILINE)
RANGE = ".."


def order(release: str) -> tuple[int, ...]:
    """The key by which releases are sorted: the numbers in them."""
    return tuple(map(int, re.findall("[0-9]+", release)))


def releases_of(engine: type[System]) -> tuple[str, ...]:
    """The engine's releases, oldest first, without previews. Raises `InputError` for an engine that
    has none, `NotInstalledError` where none can be found out."""
    if not engine.capabilities.distribution:
        raise InputError(
            f"{engine.name} has no releases to choose from",
            hint="duckdb, sqlite and postgresql have",
        )
    reported = _of_index(engine.capabilities.distribution)
    if reported is None:
        reported = installed(engine)
        say(
            "loadstone: no package index can be reached; there are the releases of"
            f" {engine.name} that were installed before"
        )
    if not reported:
        raise NotInstalledError(
            f"no release of {engine.name} is known, and no package index can be reached",
            hint="connect, or run it where releases were installed before",
        )
    return plain(reported, short=is_short(engine.capabilities.distribution))


def plain(reported: Iterable[str], *, short: bool) -> tuple[str, ...]:
    """Final releases of these, each once, oldest first. `short`: the engine's number is what stands
    before the package's last one."""
    found = [text for text in reported if _PLAIN.fullmatch(text)]
    if short:
        found = [".".join(text.split(".")[:3]) for text in found if text.count(".") >= 2]
    return tuple(sorted(dict.fromkeys(found), key=order))


def _of_index(package: str) -> tuple[str, ...] | None:
    """The releases that the index lists; None where it cannot be asked."""
    if not find_spec("pip"):
        return None
    command = [sys.executable, "-m", "pip", "index", "versions", package,
               "--disable-pip-version-check", "--no-input", "--retries", "1",
               "--only-binary", ":all:"]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    found = _LISTED.search(done.stdout)
    return tuple(found[1].split(", ")) if found else None


def within(releases: Sequence[str], text: str) -> tuple[str, ...]:
    """Those of a range `A..B`, both included. Raises `InputError`."""
    first, dots, last = text.partition(RANGE)
    if not dots or not first or not last:
        raise InputError(f"{text!r} is no range of releases", hint="write 1.2.0..2.0.0")
    for end in (first, last):
        if end not in releases:
            known = ", ".join(releases[-12:])
            raise InputError(f"there is no release {end}", hint=f"the last ones: {known}")
    chosen = tuple(one for one in releases if order(first) <= order(one) <= order(last))
    if len(chosen) < 2:
        raise InputError(f"{text} is one release, or none", hint="write the earlier one first")
    return chosen


def spread(releases: Sequence[str], most: int) -> tuple[str, ...]:
    """At most so many of these, both ends among them, evenly apart."""
    if len(releases) <= most:
        return tuple(releases)
    last = len(releases) - 1
    return tuple(releases[round(place * last / (most - 1))] for place in range(most))
