"""Numbers as people read them: three significant digits, and a unit that is named once."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

NS_PER_S, NS_PER_MS = 1e9, 1e6
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of time and how many nanoseconds it has."""

    symbol: str
    ns: float


UNITS = (Unit("ns", 1.0), Unit("µs", 1e3), Unit("ms", 1e6), Unit("s", 1e9))


def unit_for(values_ns: Iterable[float]) -> Unit:
    """The unit in which the geometric mean of some durations is at least 1."""
    logs = [math.log(value) for value in values_ns if value > 0]
    mean = math.exp(sum(logs) / len(logs)) if logs else 1e6
    return next((unit for unit in reversed(UNITS) if mean >= unit.ns * 0.9995), UNITS[0])


def digits(value: float, significant: int = 3) -> str:
    """A number with that many significant digits, never in exponent notation."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = float(f"{value:.{significant - 1}e}")
    places = significant - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, min(places, 6))}f}"


def duration(value_ns: float) -> str:
    """A duration in its own unit: `12.3 ms`; a difference may be below 0."""
    unit = unit_for([abs(value_ns)])
    return f"{digits(value_ns / unit.ns)} {unit.symbol}"


def lapse(value_ns: float) -> str:
    """A long duration as a clock shows it: `78.2 s`, `3 min 31 s`, `2 h 5 min`."""
    whole_s = round(value_ns / NS_PER_S)
    if whole_s < 120:
        return duration(value_ns)
    minutes, seconds = divmod(whole_s, 60)
    return (
        f"{minutes} min {seconds} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
    )


class Bounded(Protocol):
    """A figure with an interval; None for a bound that too few samples leave open."""

    @property
    def low(self) -> float | None:
        """The lower bound."""

    @property
    def high(self) -> float | None:
        """The upper bound."""


def interval(figure: Bounded, unit: Unit) -> str:
    """The bounds of a duration in a given unit, without the unit; empty where there are none."""
    if figure.low is None or figure.high is None:
        return ""
    return f"{digits(figure.low / unit.ns)} … {digits(figure.high / unit.ns)}"


def times(ratio: float) -> str:
    """A ratio, two significant digits, with the sign for times."""
    return digits(ratio, 2) + TIMES


def percent(share: float) -> str:
    """A share as a percentage, two significant digits from 1 % down, whole above 10 %."""
    value = share * 100
    return f"{value:.0f} %" if value >= 9.95 else f"{digits(value, 2)} %"


def signed(share: float) -> str:
    """A share that may be negative, as a percentage with its sign: `+2.3 %`."""
    return ("\N{MINUS SIGN}" if share < 0 else "+") + percent(abs(share))


def beyond_one(ratio: float) -> str:
    """A ratio above 1 by its distance from it, as a percentage: 1.05 is `5 %`."""
    return percent(ratio - 1)


def size(count_bytes: float) -> str:
    """Bytes in binary units: `1.5 MiB`."""
    for symbol in ("B", "KiB", "MiB", "GiB"):
        if count_bytes < 1024 or symbol == "GiB":
            break
        count_bytes /= 1024
    return f"{digits(count_bytes)} {symbol}"


def number(count: int) -> str:
    """A count with thousands separated."""
    return f"{count:,}"


def estimated(count: float) -> str:
    """A count read off a fitted line: less than half a thing is none."""
    return "0" if count < 0.5 else digits(count)


def plural(count: int, one: str, many: str = "") -> str:
    """`1 cell`, `2 cells`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


COUNTED = ("accounts", "parts", "rows", "tuples")
"""Units of scales with a singular: `1 tuple`, `2 tuples`."""


def scaled(count: int, unit: str) -> str:
    """`1 tuple`, `210 tuples`, `1 query without a table`: a count in the unit of a scale."""
    return f"{count:,} {unit[:-1] if count == 1 and unit.endswith(COUNTED) else unit}"


def listing(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    items = list(names)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
