"""One thing looked at: what was found, what follows from it, what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from loadstone.errors import LoadstoneError
from loadstone.machine.facts import Fact


class Verdict(StrEnum):
    """How much of it this machine gives."""

    OK = "ok"
    LIMITED = "limited"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Check:
    """A finding, in words that fit on one line of the screen."""

    name: str
    verdict: Verdict
    value: str
    """What was found, with its unit."""
    consequence: str
    """What it means for a run."""
    remedy: str = ""
    """What to do about it; empty where all is well, or nothing can be done."""
    prevents: type[LoadstoneError] | None = None
    """The error with which every run would end; None where runs are possible."""


def quantity(facts: Mapping[str, Fact], name: str) -> float | None:
    """A fact about the machine that is a number; None where it could not be read."""
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else None
