"""How our objects are told from the user's, and a living run from a dead one, on any engine.

A mark is a text beside an object: a comment, a row, an alias. It names the run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from zlib import crc32

PREFIX = "loadstone run "


def mark_of(owner: str) -> str:
    """The text that marks an object as a run's."""
    return PREFIX + owner


def owner_of(mark: str) -> str | None:
    """The run that a mark names; None if the text is no mark of ours."""
    return mark.removeprefix(PREFIX) if mark.startswith(PREFIX) else None


def space_name(owner: str, variant: str) -> str:
    """The name of a variant's part of a user's database. Two variants of a run may share a
    database: each has its own part."""
    return f"loadstone_{owner}_{crc32(variant.encode()):08x}"


def lock_key(name: str) -> int:
    """The number by which a database's own locks know a space: 63 bits of a hash of its name."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) >> 1


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Hold:
    """Marks in a user's database that a run lives, until it is closed or its process has ended."""

    name: str = ""
    """As `Leftover.name`; empty without a database of the user's."""
    close: Callable[[], None] = _nothing
    descriptors: tuple[int, ...] = ()
    """A worker inherits them: a worker that outlives its runner keeps the hold."""
