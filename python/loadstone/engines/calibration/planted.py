"""The planted engine: answers after a time that follows from its tactics by a known rule. What a
study finds on it can be held against that rule."""

from collections.abc import Collection, Mapping
from typing import ClassVar

from loadstone._core import clock_ns
from loadstone.engines.calibration.artificial import capabilities
from loadstone.engines.calibration.fixed import FixedEngine
from loadstone.engines.capabilities import Capabilities

FACTORS: Mapping[str, float] = {"a": 1.25, "c": 1.2, "d": 1.3, "f": 1 / 1.25}
"""The factors of the time. `a` and `f` cancel."""
ADDED = 0.3
"""The share that `b` adds, of the time with all tactics off."""
TOGETHER = 1.1
"""The further factor of `c` and `d` where both are on. `e` does nothing at all."""
THREE, OF_THREE = frozenset("ghi"), 2.0
"""Tactics that act only all together, and their factor then."""
OTHERWISE = "d"
"""The tactic that shows another plan where it is on, as a planner's switch would: never called
explained."""
SPREAD_NS = 500
"""A statement ends when its loop sees that the time is up, which it looks for each 60 to 90 ns: so
far it may be late, always equally late at one time and otherwise at another, a fiftieth of a per
cent of 300 us. Each statement gets up to this much more, so that all times are late by the same in
the median."""
GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, are spread evenly however few there are (Weyl)."""
SWITCHES = ("a", "b", "c", "d", "e", "f", "g", "h", "i")


def planted(on: Collection[str]) -> float:
    """The time with these tactics on, over that with none."""
    time = 1.0
    for switch in on:
        time *= FACTORS.get(switch, 1.0)
    if "c" in on and "d" in on:
        time *= TOGETHER
    if set(on) >= THREE:
        time *= OF_THREE
    return time + (ADDED if "b" in on else 0.0)


class PlantedEngine(FixedEngine):
    """Every statement takes `time_us` microseconds times `planted` of its tactics, never less, and
    half of `SPREAD_NS` more in the median."""

    name: ClassVar[str] = "planted"
    capabilities: ClassVar[Capabilities] = capabilities(__file__)

    def start(self) -> None:
        """Set the time."""
        super().start()
        self._on = frozenset(one for one in SWITCHES if self._set[one] == "on")
        self._time_ns = round(self._time_ns * planted(self._on))
        self._spread = 0.0

    def spend(self) -> None:
        """Spin, each time until a little later."""
        self._spread = (self._spread + GOLDEN) % 1
        end_ns = clock_ns() + self._time_ns + round(SPREAD_NS * self._spread)
        while clock_ns() < end_ns:
            pass

    def explain(self, statement: str) -> str:
        """The plan to do nothing, or to do nothing otherwise."""
        plan = super().explain(statement)
        return f"{plan}, otherwise" if OTHERWISE in self._on else plan
