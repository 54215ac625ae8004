"""A logarithmic axis in pixels, with round numbers for its labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from loadstone.text.numbers import NS_PER_MS, TIMES, duration

LABEL_PX = 44
"""Between the places of two labels, at least."""
LANES = 3
LEAST_PX = 0.5
"""A narrower part of a bar is not drawn."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, over so many pixels."""

    low: float
    high: float
    px: int

    @staticmethod
    def over(values: Sequence[float], px: int) -> "Axis":
        """With some margin, and over a factor of 1.2 at least."""
        known = values or [1.0]
        low, high = min(known), max(known)
        room = max(1.04, math.sqrt(1.2 * low / high)) if high / low < 1.2 else (high / low) ** 0.05
        return Axis(low / room, high * room, px)

    @staticmethod
    def of_samples(times_ns: Sequence[float], px: int) -> "Axis":
        """With a margin in which the outermost dots are whole; a time of zero counts as 1 ns."""
        low, high = (min(times_ns), max(times_ns)) if times_ns else (1, 10)
        return Axis(max(low, 1) / 1.15, max(high, 1) * 1.15, px)

    def place(self, value: float) -> float:
        """The pixel of a value."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(share * self.px, 1)

    def place_ns(self, value_ns: float) -> float:
        """The pixel of a time, of which zero counts as 1 ns."""
        return self.place(max(value_ns, 1))

    def ratios(self) -> tuple[tuple[float, str], ...]:
        """The labels of an axis of ratios, with their places."""
        return tuple((self.place(x), f"{x:g}{TIMES}") for x in self._round())

    def times(self) -> tuple[tuple[float, str], ...]:
        """The labels of an axis in milliseconds, with their places."""
        return tuple((self.place(x), duration(x * NS_PER_MS)) for x in self._round())

    def decades(self) -> tuple[tuple[float, str], ...]:
        """The labels of an axis in nanoseconds, with their places: powers of ten, and steps between
        where there are few."""
        unit_labels = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))
        ticks = []
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for step in (1, 2, 5) if self.high / self.low < 30 else (1,):
                value = step * 10.0**power
                if self.low <= value <= self.high:
                    ns, symbol = max(u for u in unit_labels if u[0] <= value or u[0] == 1.0)
                    ticks.append((self.place_ns(value), f"{value / ns:g} {symbol}"))
        return tuple(ticks)

    def _round(self) -> list[float]:
        """Round numbers, as many as have room for their labels."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in ((1, 1.1, 1.2, 1.5, 2, 3, 5, 7, 9), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
            found = [step * 10.0**power for power in powers for step in steps]
            found = [x for x in found if self.low <= x <= self.high]
            places = [self.place(x) for x in found]
            near = pairwise(places)
            if all(right - left >= LABEL_PX for left, right in near):
                return found
        return found[:: max(1, len(found) * LABEL_PX // self.px + 1)]


def lane(number: int, top_px: float, apart_px: int) -> float:
    """The height of a dot in one of three lanes, so that equal samples can still be
    distinguished."""
    return top_px + number % LANES * apart_px


def stacked(shares: Sequence[float], px: int) -> list[tuple[float, float] | None]:
    """(place, width) of the parts of a bar that they fill together; None for one that is too narrow
    to be drawn by itself."""
    whole, at = sum(shares), 0.0
    placed: list[tuple[float, float] | None] = []
    for share in shares:
        width = share / whole * px
        placed.append((round(at, 1), round(width, 1)) if width >= LEAST_PX else None)
        at += width
    return placed
