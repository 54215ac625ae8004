"""One check: what was found, its consequence for a run, and the remedy."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from loadstone.errors import LoadstoneError
from loadstone.machine.facts import Fact


class Verdict(StrEnum):
    """The part of it that this machine offers."""

    OK = "ok"
    LIMITED = "limited"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Check:
    """A finding, in words that fit on one line of the screen."""

    name: str
    verdict: Verdict
    value: str
    """The value found, with its unit."""
    consequence: str
    """The consequence for a run."""
    remedy: str = ""
    """The remedy; empty if all is well, or there is none."""
    prevents: type[LoadstoneError] | None = None
    """The error with which every run would end; None where runs are possible."""


def quantity(facts: Mapping[str, Fact], name: str) -> float | None:
    """A fact about the machine that is a number; None where it could not be read."""
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else None
