"""From which ratio on a difference is called one: what was asked, or the instrument's noise."""

from collections.abc import Iterable
from dataclasses import dataclass

from loadstone.analysis.compare.sides import Match
from loadstone.analysis.noise import noise_of
from loadstone.record.model import Run
from loadstone.text.numbers import percent

DEFAULT = 0.03
"""A slowdown of 5 % must be found, and two processes of the same engine that happen to lie 2 %
apart must not be called different: `make calibrate` counts both."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Shares: 0.05 is 5 %. `noise` is the certain part of a record's A/A difference, in the median,
    None without A/A controls; `source` names the record."""

    asked: float
    noise: float | None = None
    source: str = ""

    @property
    def in_force(self) -> float:
        """Nothing is called slower or faster below the certain difference between two processes of
        the same engine. One noisy cell raises nothing: its own interval states its uncertainty."""
        return max(self.asked, self.noise or 0.0)

    @property
    def raised(self) -> bool:
        """Whether the A/A noise, and not the user, decides."""
        return self.in_force > self.asked

    def words(self) -> str:
        """`threshold 3 %, raised to 3.1 % by the A/A noise of B`."""
        said = f"threshold {self.asked * 100:g} %"
        if self.raised:
            said += f", raised to {percent(self.in_force)} by the A/A noise of {self.source}"
        return said


def threshold(asked: float, a: Run, b: Run | None, matches: Iterable[Match]) -> Threshold:
    """The threshold in force. If A/A controls are compared, their noise is the object, and raises
    nothing."""
    if any(match.of_aa_control for match in matches):
        return Threshold(asked)
    sides = (("the record", a),) if b is None or b is a else (("A", a), ("B", b))
    noises = [(noise.certain, name) for name, run in sides if (noise := noise_of(run))]
    if not noises:
        return Threshold(asked)
    return Threshold(asked, *max(noises, key=lambda noise: noise[0]))
