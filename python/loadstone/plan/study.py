"""The design of a study: a plan whose variants differ in the switches of one engine.

A **switch** is a tactic with two values, its base and its other one. A **combination** is the set
of the switches that are at their other value: a variant of the plan. The base has none there, the
other end all of them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Switch:
    """A tactic, its value at the base, and its other value."""

    tactic: str
    base: str
    other: str

    @property
    def name(self) -> str:
        """As a study is asked for it: `join=hash,merge`."""
        return f"{self.tactic}={self.base},{self.other}"


@dataclass(frozen=True, slots=True)
class Combination:
    """A variant of the plan, and the tactics that it has at their other value, in the order of the
    study's switches."""

    variant: str
    flipped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """What a plan switches, and its combinations, the base first. An A/A control of the base is
    not among them."""

    switches: tuple[Switch, ...]
    combinations: tuple[Combination, ...]

    @property
    def base(self) -> str:
        """The variant that has every switch at its base value."""
        return self.combinations[0].variant
