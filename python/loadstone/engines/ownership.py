"""How our objects in a user's database are distinguished from the user's, and those of a living run
from those of a dead one.

A mark is a text beside an object: a comment, a row, an alias. It names the run.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self
from zlib import crc32

from loadstone.errors import EngineError

PREFIX = "loadstone run "

_NAME = re.compile(r"loadstone_([a-z0-9]+)_[0-9a-f]{8}")


def mark_of(owner: str) -> str:
    """The text that marks an object as a run's."""
    return PREFIX + owner


def owner_of(mark: str) -> str | None:
    """The run that a mark names; None if the text is no mark of ours."""
    return mark.removeprefix(PREFIX) if mark.startswith(PREFIX) else None


def lock_key(name: str) -> int:
    """The number of a space in a database's own locks: 63 bits of a hash of its name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) >> 1


@dataclass(frozen=True, slots=True)
class Space:
    """A run's part of a user's database; each engine has its own way to make, mark and drop it."""

    name: str
    owner: str

    @classmethod
    def of(cls, owner: str, variant: str) -> Self:
        """The part of one variant. Two variants of a run may share a database: each has its own
        part."""
        return cls(f"loadstone_{owner}_{crc32(variant.encode()):08x}", owner)

    @classmethod
    def named(cls, name: str) -> Self | None:
        """The part that has this name; None if the name is not a run's. It is ours only if it bears
        the `mark`, too: a user may choose such a name."""
        found = _NAME.fullmatch(name)
        return cls(name, found[1]) if found else None

    @property
    def mark(self) -> str:
        """The text that marks it as the run's."""
        return mark_of(self.owner)


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Hold:
    """Marks in a user's database that a run lives, until it is closed or its process has ended."""

    name: str = ""
    """The name of the space; empty without a user's database."""
    close: Callable[[], None] = _nothing
    descriptors: tuple[int, ...] = ()
    """A worker inherits them: a worker that outlives its runner keeps the hold."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """An object with our mark, made by run `owner`: `clean` lists it, asks, and removes it."""

    kind: str
    name: str
    owner: str
    detail: str
    removal: str
    """The statement, or the path, whose execution or removal cleans it."""
    alive: bool = False
    """Whether a living run holds it, on any machine: then it stays."""


def in_use(leftover: Leftover) -> EngineError:
    """The error for a leftover that a living run holds."""
    return EngineError(
        f"{leftover.kind} {leftover.name} is in use: run {leftover.owner} is being measured",
        hint="let it end, or end it; it then removes this by itself",
    )
