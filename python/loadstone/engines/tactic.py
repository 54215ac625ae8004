"""A tactic as an engine declares it: its values, the level at which it can be switched, and what a
reader must know before switching it.

Each engine has one file of them, `tactics.toml`, of the same shape: a table for each tactic, with
its level, its values (the default first) and six sentences. A number's place is held by `<bytes>`
or `<n>`.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from loadstone.errors import InputError

CACHE_BYTES_DEFAULT = 256 * 1024 * 1024
"""The cache of every engine unless the variant names another, so that caches are equal."""
THREADS_EACH = 4
"""Threads that a tactic may request for each processor: enough to see that more do not help."""
THREADS_MIN = 8
SERVER_THREADS_MAX = 1024
"""For a user's server, whose machine is unknown: PostgreSQL's own limit
(max_parallel_workers_per_gather)."""
NUMBER_MAX = 10**9
"""The bound of a tactic that is neither threads nor bytes."""

FILE = "tactics.toml"
"""An engine's file, beside its code."""
CLIENT_FILE = "client_tactics.toml"
"""Beside it, of the same shape: the tactics that only a calling program of the engine has."""
SENTENCES = ("does", "buys", "costs", "loses", "excludes", "source")
"""The parts of a tactic's text."""
GROUPS = ("storage", "execution", "log", "communication")
"""The groups that a tactic may belong to."""
SHOWN_LETTERS = 40
"""How much of a refused value a message shows."""

_CGROUPS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_OTHER_UNITS = re.compile(r"([0-9]+) ?([kmg])i?b?", re.ASCII | re.IGNORECASE)
"""A size in units that could mean a power of ten, or of two."""
_NUMBER = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)


class Level(StrEnum):
    """What it takes to change a value on a system that has data."""

    LOAD = "load"
    """The relations must be loaded anew: they look otherwise."""
    START = "start"
    """The system must be started anew, on the same files."""
    SESSION = "session"
    """The running system takes it."""


@dataclass(frozen=True, slots=True)
class Tactic:
    """One switchable mechanism of an engine."""

    name: str
    level: Level
    values: tuple[tuple[str, str], ...]
    """(value, its meaning), the default first; `<bytes>` and `<n>` stand for numbers."""
    does: str = ""
    buys: str = ""
    costs: str = ""
    loses: str = ""
    """In a crash."""
    excludes: str = ""
    source: str = ""
    least: int = 1
    """The engine's own minimum of a number."""
    most: int | None = None
    """The engine's own maximum of a number, where it has one."""
    studied: str = ""
    """The value to which a study switches it unless told what to vary; empty: none."""
    group: str = ""
    """The mechanisms that it belongs to, one of `GROUPS`: flipped together where a study has many
    switches."""
    counters: tuple[str, ...] = ()
    """The fields of a sample (`record.model.Sample`) that count its work: where all are 0, it had
    nothing to do. Empty: no counter shows it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The values, the default first."""
        return tuple(value for value, _ in self.values)

    @property
    def default(self) -> str:
        """The value that a variant has if it names none."""
        return self.values[0][0]

    def checked(self, value: str, engine: str, *, elsewhere: bool = False) -> str:
        """The value, if it is declared, or a number within bounds; `elsewhere`: of a server that is
        not on this machine. Raises `InputError`."""
        kinds = [shown for shown in self.names if shown.startswith("<")]
        if value in self.names and value not in kinds:
            return value
        if not kinds or not _NUMBER.fullmatch(value):
            raise InputError(
                f"{engine} cannot set {self.name} to {value[:SHOWN_LETTERS]!r}",
                hint=self._sizes_hint(value, kinds) or f"it takes: {', '.join(self.names)}",
            )
        if int(value) < self.least:
            raise InputError(
                f"{engine} cannot set {self.name} to {value}: its minimum is {self.least}",
                hint=f"request at least {self.name}={self.least}",
            )
        most, of_what = self._most(kinds[0], elsewhere=elsewhere)
        if int(value) > most:
            raise InputError(
                f"{engine} cannot set {self.name} to {value}: {of_what} {most}",
                hint=f"request at most {self.name}={most}",
            )
        return value

    def _sizes_hint(self, value: str, kinds: Sequence[str]) -> str:
        """The way to write a size that is given in units which are not taken: `1MB`, `64k`."""
        size = _OTHER_UNITS.fullmatch(value)
        if size is None or "<bytes>" not in kinds:
            return ""
        binary = f"{self.name}={size[1]}{size[2].upper()}iB"
        return f"write a size as a number of bytes, or in KiB, MiB or GiB: {binary}"

    def _most(self, kind: str, *, elsewhere: bool) -> tuple[int, str]:
        """The largest number, and the reason."""
        most, reason = NUMBER_MAX, "its maximum is"
        if kind == "<bytes>":
            most, reason = memory_bytes(), "the memory available here, in bytes, is"
        elif self.name == "parallelism" and elsewhere:
            most, reason = SERVER_THREADS_MAX, "a server's maximum is"
        elif self.name == "parallelism":
            most, reason = threads(), "the maximum for this machine's processors is"
        if self.most is not None and self.most < most:
            return self.most, "its maximum is"
        return most, reason


def declared(path: Path) -> dict[str, Tactic]:
    """The tactics of a file of them, in its order."""
    with path.open("rb") as file:
        found: dict[str, dict[str, Any]] = tomllib.load(file)
    return {name: from_table(name, table) for name, table in found.items()}


def beside(code: str) -> dict[str, Tactic]:
    """The tactics beside a module, whose `__file__` is `code`."""
    return declared(Path(code).with_name(FILE))


def of_client(engine: str) -> dict[str, Tactic]:
    """The tactics of an engine that only its client has."""
    return declared(Path(__file__).parent / engine / CLIENT_FILE)


def from_table(name: str, table: Mapping[str, Any]) -> Tactic:
    """The tactic of a table with its level, its values with their meanings, its `SENTENCES`, and
    whatever else a `Tactic` has. Texts are in lines there."""
    others = {key: part for key, part in table.items() if key not in {"level", "values"}}
    sentences: dict[str, Any] = {key: _one_line(others.pop(key)) for key in SENTENCES}
    others["counters"] = tuple(others.get("counters", ()))
    values = tuple((value, _one_line(about)) for value, about in table["values"].items())
    return Tactic(name, Level(table["level"]), values, **sentences, **others)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def threads() -> int:
    """Threads that one engine may be given."""
    return max(THREADS_MIN, THREADS_EACH * len(os.sched_getaffinity(0)))


def memory_bytes() -> int:
    """The memory of this machine, or the limit of our control group."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _CGROUPS:
        try:
            limit = path.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if limit.isdecimal():
            found.append(int(limit))
    return min(found)
