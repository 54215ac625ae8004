"""The values that an operation saw, and the answer that they make: kept inside the clock, reckoned
outside."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from loadstone import _core
from loadstone.clients.oo7.driver import RELATIONS, Driver, Row

WORD = 2**64
DATES = ((999, 1_000), (1_990, 2_000))
"""Dates that are looked up in the index after an update, as in Rust: those that T3 makes beyond the
generated ones, and those of query 2."""


@dataclass(slots=True)
class Seen:
    """Rows, by what they are of."""

    parts: list[Row] = field(default_factory=list)
    bases: list[Row] = field(default_factory=list)
    complex: list[Row] = field(default_factory=list)
    pairs: list[Row] = field(default_factory=list)
    letters: list[Row] = field(default_factory=list)
    ends: list[Row] = field(default_factory=list)

    def answer(self) -> tuple[int, int]:
        """The count, and the checksum as a number."""
        return summed(
            (kind, rows)
            for kind, rows in (
                ("part", self.parts),
                ("base", self.bases),
                ("complex", self.complex),
                ("pair", self.pairs),
                ("letters", self.letters),
                ("ends", self.ends),
            )
            if rows
        )


def summed(seen: Iterable[tuple[str, Iterable[Row]]]) -> tuple[int, int]:
    """Counts and checksums of rows of several kinds, as one answer."""
    count = checksum = 0
    for kind, rows in seen:
        more, mixed = _core.oo7_checksum(kind, rows)
        count, checksum = count + more, (checksum + int(mixed, 16)) % WORD
    return count, checksum


def contents(driver: Driver) -> tuple[int, int]:
    """Everything that is stored; no clock runs."""
    driver.begin()
    try:
        return summed((relation, driver.contents(relation)) for relation in RELATIONS)
    finally:
        driver.end()


def left(driver: Driver) -> tuple[int, int]:
    """Everything that is stored, and what the index on dates leads to."""
    count, checksum = contents(driver)
    driver.begin()
    try:
        more, mixed = summed(("part", driver.dated(*dates)) for dates in DATES)
    finally:
        driver.end()
    return count + more, (checksum + mixed) % WORD
