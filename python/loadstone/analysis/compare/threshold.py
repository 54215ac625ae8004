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
    """Shares: 0.05 is 5 %. `noise` is what a record's A/A controls certainly differ by, in the
    median, None without A/A controls; `source` says whose."""

    asked: float
    noise: float | None = None
    source: str = ""

    @property
    def in_force(self) -> float:
        """Below what is certain between two processes of the same, nothing is called slower or
        faster. One noisy cell raises nothing: its own interval says how little it tells."""
        return max(self.asked, self.noise or 0.0)

    @property
    def raised(self) -> bool:
        """Whether noise, and not the user, decides."""
        return self.in_force > self.asked

    def words(self) -> str:
        """`threshold 3 %, raised to 3.1 % by the A/A noise of B`."""
        said = f"threshold {self.asked * 100:g} %"
        if self.raised:
            said += f", raised to {percent(self.in_force)} by the A/A noise of {self.source}"
        return said


def threshold(asked: float, a: Run, b: Run | None, matches: Iterable[Match]) -> Threshold:
    """The threshold in force. Where A/A controls are compared, their noise is what is looked for,
    and raises nothing."""
    if any(match.of_aa_control for match in matches):
        return Threshold(asked)
    sides = (("the record", a),) if b is None or b is a else (("A", a), ("B", b))
    noises = [(noise.certain, name) for name, run in sides if (noise := noise_of(run))]
    if not noises:
        return Threshold(asked)
    return Threshold(asked, *max(noises, key=lambda noise: noise[0]))
