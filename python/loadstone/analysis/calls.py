"""A client's counts while a step of the cost ladder was measured: its calls, its statements,
its waits for a server; and the price of these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.summary import Summary
from loadstone.plan.presentation import CALLS, STATEMENTS, Step
from loadstone.statistics.arithmetic import less, scaled
from loadstone.statistics.estimate import Estimate

ROUND_TRIP = "round_trip_ns"
"""Term: bytes there and back on a server's way, without it."""


@dataclass(frozen=True, slots=True)
class Counts:
    """For each thing that a measure does: calls of the program into the client, statements of the
    client to the engine (None: it has none), waits for a server (None: there is none)."""

    calls: float
    statements: float | None
    round_trips: float | None

    def less_commit(self, share: float) -> "Counts":
        """Without a share of the statement that commits, and of its way."""
        return Counts(
            self.calls,
            None if self.statements is None else max(self.statements - share, 0),
            None if self.round_trips is None else max(self.round_trips - share, 0),
        )


def counts_of(figure: CellSummary | None, things: int) -> Counts | None:
    """The client's counts, median of the samples; None in a record without counts."""
    if figure is None or not figure.samples:
        return None
    calls = _median([sample.calls for sample in figure.samples], things)
    statements = _median([sample.statements for sample in figure.samples], things)
    trips = _median([sample.round_trips for sample in figure.samples], things)
    return None if calls is None else Counts(calls, statements, trips)


def _median(counted: Sequence[int | None], things: int) -> float | None:
    known = [count for count in counted if count is not None]
    return median(known) / things if known and len(known) == len(counted) else None


@dataclass(frozen=True, slots=True)
class Way:
    """`round_trip_ns` of bytes alone where that was measured, `apart` for a server whose way is
    unknown."""

    round_trip_ns: float | None
    apart: bool


def round_trips_ns(summary: Summary) -> Mapping[str, float]:
    """Competitor -> the time of a byte to its server's place and back, if measured; a later
    session's figure replaces an earlier one's."""
    reported = {
        term.variant: term.read_back or ""
        for term in summary.run.terms
        if term.key == ROUND_TRIP and term.variant in summary.columns
    }
    return {variant: float(text) for variant, text in reported.items() if text.isdigit()}


def longest_round_trips_ns(summary: Summary) -> list[tuple[str, float]]:
    """The same, the longest first."""
    return sorted(round_trips_ns(summary).items(), key=lambda each: -each[1])


def way_of(summary: Summary, variant: str) -> Way:
    """To a variant's server."""
    return Way(round_trips_ns(summary).get(variant), "://" in variant)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a whole; `of` says how it was measured."""

    name: str
    of: str
    elapsed_ns: Estimate


def priced(
    priced_steps: Sequence[Step], each: Mapping[str, Estimate], counts: Counts, way: Way
) -> list[Part]:
    """The cost of a thing's calls and statements, each at the price of its rung. `each`: the
    measured ones' time."""
    parts: list[Part] = []
    below: Step | None = None
    for step in priced_steps:
        count = counts.calls if step.prices == CALLS else counts.statements
        if step.operation not in each or count is None:
            continue
        own = each[step.operation]
        beyond = less(own, each[below.operation]) if below else own
        of = f"{count:.3g} times {step.name}{f', less {below.name}' if below else ''}"
        if step.prices == STATEMENTS:
            parts += _statement(step, of, scaled(beyond, count), counts.round_trips, way)
        else:
            parts.append(Part(step.attributed, of, scaled(beyond, count)))
        below = step
    return parts


def _statement(step: Step, of: str, beyond: Estimate, trips: float | None, way: Way) -> list[Part]:
    """The empty statements, apart from their way where that is known, or where there is none."""
    if way.round_trip_ns is None or trips is None:
        return [Part(step.attributed if way.apart else "statement", of, beyond)]
    wire = scaled(Estimate(way.round_trip_ns), trips)
    rest = less(beyond, wire)
    if rest.value < 0:
        return [Part(step.attributed, of, beyond)]
    reported = f"{trips:.3g} times bytes there and back, without the server"
    return [Part("wire", reported, wire), Part("statement", f"{of}, less the wire", rest)]
