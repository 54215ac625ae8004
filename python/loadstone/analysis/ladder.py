"""The cost ladder: the cost of a call, rung by rung, and the components of look-up, step and
insert.

A rung is the median of a measure divided by the number of its repetitions of one thing. Its cost
beyond the rung below is the difference of the two. They were measured in the same rounds, but their
correlation is not used: the bounds are the widest possible (`arithmetic`).

A whole is taken apart in its own unit: the calls and statements that the client counted while it
was measured, each at the price of its rung; and the time of the same work in one call, if an engine
can be asked so. The remainder is `unexplained`, negative if the parts sum up to more; without such
a measure the last part is the difference, and nothing can be unexplained. Parts that exceed the
whole, or leave too much of it, are no explanation: such a whole is not taken apart, and the reason
is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from loadstone._core import interval_of_median
from loadstone.analysis.summary import CellSummary, Summary, View
from loadstone.statistics.arithmetic import less, over, scaled, total
from loadstone.statistics.estimate import Estimate

LOOKUPS = 1000
VISITS = 3280
INSERTS = 100
ROUND_TRIP = "round_trip_ns"
"""Term: bytes there and back on a server's way, without it."""
EXPLAINED_SHARE = 0.8
LARGER_SHARE = 0.5
WHOLE_SHARE_MAX = 1.2
"""Calls that would take longer than the whole were cheaper there than on the rung."""
LEFT_SHARE_MAX = 0.25
"""Share of a whole: parts that leave more, or exceed it by more, do not explain it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A rung by definition: an operation, how often its measure does it, its name, and the cost
    beyond the rung below."""

    operation: str
    count: int
    name: str
    attributed: str


STEPS = (
    Step("nothing", LOOKUPS, "a call that does nothing", "call"),
    Step("empty", LOOKUPS, "an empty statement", "wire and statement"),
    Step("constant", LOOKUPS, "a constant fetched", "transfer of a value"),
    Step("lookup", LOOKUPS, "a part looked up", "access and materialisation"),
    Step("traversal", VISITS, "a step of a traversal", "link"),
    Step("insert", INSERTS, "a part inserted, with 3 links and its share of the commit", "writing"),
)
THINGS: Mapping[str, int] = {step.operation: step.count for step in STEPS}
TOTAL = ("lookup", "traversal", "insert")
"""The paper's total is of these."""
LADDERS: Mapping[str, Sequence[Step]] = {"oo1": STEPS}
"""Benchmark -> its rungs, the lowest first."""


BELOW_LOOKUP = frozenset(step.operation for step in STEPS[:3])
"""The rungs that touch no data, and so cannot grow with it."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step on one variant. `each_ns` is None if the cell has no usable time; `beyond_ns` is over
    the nearest rung below that has one, called `below`."""

    step: Step
    status: str
    reason: str
    each_ns: Estimate | None = None
    beyond_ns: Estimate | None = None
    below: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a whole; `of` says how it was measured."""

    name: str
    of: str
    elapsed_ns: Estimate


@dataclass(frozen=True, slots=True)
class Account:
    """The components of a whole: the parts and `unexplained_ns` sum up to it. `by_difference`: the
    last part is the remainder, and nothing else can be."""

    name: str
    whole_ns: Estimate
    parts: tuple[Part, ...]
    unexplained_ns: Estimate
    by_difference: bool

    @property
    def closes(self) -> bool:
        """Whether these can be the components of this whole."""
        left = self.parts[-1].elapsed_ns if self.by_difference else self.unexplained_ns
        share = self.share(left)
        return share >= 0 if self.by_difference else abs(share) <= LEFT_SHARE_MAX

    def share(self, part: Estimate) -> float:
        """A part, or the unexplained rest, as a share of the whole."""
        return part.value / (self.whole_ns.value or 1.0)


@dataclass(frozen=True, slots=True)
class Argument:
    """The paper's argument (section 8): calls, times the cost of a call, beside the whole.

    `calls` were counted while the whole was measured: `unit` names statements sent to the engine
    or, without any, calls of the client. `rung` is the highest below the look-up that does the
    counted thing.
    """

    whole: str
    calls: int
    unit: str
    rung: Step
    each_ns: Estimate
    whole_ns: Estimate
    share: Estimate

    @property
    def grade(self) -> str:
        """The claim that the share, and its low bound, allow."""
        low = self.share.value if self.share.low is None else self.share.low
        if self.share.value > WHOLE_SHARE_MAX:
            return "so one of them cost less there than this rung, which explains nothing"
        if low >= EXPLAINED_SHARE:
            return "its calls explain it"
        return "mostly calls" if self.share.value >= LARGER_SHARE else "calls do not explain it"


@dataclass(frozen=True, slots=True)
class Ladder:
    """One variant's, at one scale and temperature."""

    variant: str
    client: str
    rows: int
    temperature: str
    rungs: tuple[Rung, ...]
    accounts: tuple[Account, ...]
    arguments: tuple[Argument, ...]
    unclosed: tuple[tuple[str, str], ...]
    """(whole, why it is not taken apart)."""


def ladders(summary: Summary) -> tuple[Ladder, ...]:
    """A ladder for every scale and competitor, warm; none if a benchmark has no rungs, or a run
    measured none."""
    steps = LADDERS.get(summary.run.plan.benchmark, ())
    found = []
    for view in summary.views:
        for variant in summary.columns if view.temperature == "warm" else ():
            ladder = _ladder(summary, view, variant, steps)
            if any(rung.each_ns for rung in ladder.rungs):
                found.append(ladder)
    return tuple(found)


def _ladder(summary: Summary, view: View, variant: str, steps: Sequence[Step]) -> Ladder:
    figures = {row.operation.name: row.figures.get(variant) for row in view.all_rows}
    rungs = _rungs(steps, figures)
    each = {rung.step.operation: rung.each_ns for rung in rungs if rung.each_ns}
    counts = {
        step.operation: counts
        for step in steps
        if (counts := _counts(figures.get(step.operation), step.count))
    }
    way = _way(summary, variant)
    tried = (
        _account("a look-up", "lookup", each, counts, way,
                 _counted(figures.get("lookup-batch"), LOOKUPS)),
        _account("a step of a traversal", "traversal", each, counts, way,
                 _counted(figures.get("traversal-batch"), VISITS)),
        _insert(each, counts, way, _commit(figures.get("insert"))),
    )  # fmt: skip
    return Ladder(
        variant,
        summary.clients.get(variant, ""),
        view.rows,
        view.temperature,
        rungs,
        tuple(found for found in tried if found and found.closes),
        _arguments(rungs, each, counts),
        tuple((found.name, _unclosed(found)) for found in tried if found and not found.closes),
    )


def _unclosed(account: Account) -> str:
    """Why a whole is not taken apart."""
    if account.by_difference:
        known = total(part.elapsed_ns for part in account.parts[:-1])
        return (
            f"its calls at the price of their rungs cost {account.share(known):.1f} times as much"
        )
    return f"its parts leave {account.share(account.unexplained_ns):.0%} of it"


@dataclass(frozen=True, slots=True)
class _Counts:
    """For each thing that a measure does: calls of the program into the client, statements of the
    client to the engine (None: it has none), waits for a server (None: there is none)."""

    calls: float
    statements: float | None
    round_trips: float | None


def _counts(figure: CellSummary | None, things: int) -> _Counts | None:
    """The client's counts, median of the samples; None in a record without counts."""
    if figure is None or not figure.samples:
        return None
    calls = _median([sample.calls for sample in figure.samples], things)
    statements = _median([sample.statements for sample in figure.samples], things)
    trips = _median([sample.round_trips for sample in figure.samples], things)
    return None if calls is None else _Counts(calls, statements, trips)


def _median(counted: Sequence[int | None], things: int) -> float | None:
    known = [count for count in counted if count is not None]
    return median(known) / things if known and len(known) == len(counted) else None


@dataclass(frozen=True, slots=True)
class _Way:
    """`round_trip_ns` of bytes alone where that was measured, `apart` for a server whose way is
    unknown."""

    round_trip_ns: float | None
    apart: bool


def round_trips_ns(summary: Summary) -> Mapping[str, float]:
    """Competitor -> the time of a byte to its server's place and back, if measured; a later
    session's figure replaces an earlier one's."""
    told = {
        term.variant: term.read_back or ""
        for term in summary.run.terms
        if term.key == ROUND_TRIP and term.variant in summary.columns
    }
    return {variant: float(text) for variant, text in told.items() if text.isdigit()}


def _way(summary: Summary, variant: str) -> _Way:
    return _Way(round_trips_ns(summary).get(variant), "://" in variant)


def _counted(figure: CellSummary | None, count: int) -> Estimate | None:
    """A measure's time for each of its things; None where it has none that counts."""
    if figure is None or figure.status != "ok" or figure.elapsed_ns is None:
        return None
    return scaled(figure.elapsed_ns, 1 / count)


def _rungs(steps: Sequence[Step], figures: Mapping[str, CellSummary | None]) -> tuple[Rung, ...]:
    rungs: list[Rung] = []
    below: Rung | None = None
    for step in steps:
        figure = figures.get(step.operation)
        each = _counted(figure, step.count)
        status, reason = (figure.status, figure.reason) if figure else ("absent", "not planned")
        if each is None:
            rungs.append(Rung(step, status, reason))
            continue
        if below is None or below.each_ns is None:
            rungs.append(Rung(step, status, reason, each, each))
        else:
            beyond = less(each, below.each_ns)
            rungs.append(Rung(step, status, reason, each, beyond, below.step.name))
        below = rungs[-1]
    return tuple(rungs)


def _calls(each: Mapping[str, Estimate], counts: _Counts, way: _Way) -> list[Part]:
    """The cost of a thing's calls and statements, each at the price of its rung."""
    parts: list[Part] = []
    below: Step | None = None
    for step in STEPS[:3]:
        count = counts.calls if step.operation == "nothing" else counts.statements
        if step.operation not in each or count is None:
            continue
        own = each[step.operation]
        beyond = less(own, each[below.operation]) if below else own
        of = f"{count:.3g} times {step.name}{f', less {below.name}' if below else ''}"
        if step.operation == "empty":
            parts += _statement(of, scaled(beyond, count), counts.round_trips, way)
        else:
            parts.append(Part(step.attributed, of, scaled(beyond, count)))
        below = step
    return parts


def _statement(of: str, beyond: Estimate, trips: float | None, way: _Way) -> list[Part]:
    """The empty statements, apart from their way where that is known, or where there is none."""
    if way.round_trip_ns is None or trips is None:
        name = STEPS[1].attributed if way.apart else "statement"
        return [Part(name, of, beyond)]
    wire = scaled(Estimate(way.round_trip_ns), trips)
    rest = less(beyond, wire)
    if rest.value < 0:
        return [Part(STEPS[1].attributed, of, beyond)]
    told = f"{trips:.3g} times bytes there and back, without the server"
    return [Part("wire", told, wire), Part("statement", f"{of}, less the wire", rest)]


def _account(
    name: str,
    operation: str,
    each: Mapping[str, Estimate],
    counts: Mapping[str, _Counts],
    way: _Way,
    batch: Estimate | None,
) -> Account | None:
    """A thing by its calls and by the time of the same work in one call; if that does not add up,
    or was not measured, the remainder is not separated."""
    whole = each.get(operation)
    if whole is None or operation not in counts:
        return None
    parts = _calls(each, counts[operation], way)
    if batch is not None:
        access = Part(STEPS[3].attributed, "one of them, all fetched in one call", batch)
        measured = _summed(name, whole, [*parts, access], by_difference=False)
        if measured.closes:
            return measured
    left = less(whole, total(part.elapsed_ns for part in parts))
    rest = Part(STEPS[3].attributed, "the rest, beyond its calls", left)
    return _summed(name, whole, [*parts, rest], by_difference=True)


def _commit(figure: CellSummary | None) -> Estimate | None:
    """An inserted part's share of the commit; None if the client did not measure it separately."""
    if figure is None or figure.status != "ok":
        return None
    told = [float(sample.commit_ns) for sample in figure.samples if sample.commit_ns]
    if not told or len(told) < len(figure.samples):
        return None
    return scaled(Estimate(*interval_of_median(told)), 1 / INSERTS)


def _insert(
    each: Mapping[str, Estimate],
    counts: Mapping[str, _Counts],
    way: _Way,
    commit: Estimate | None,
) -> Account | None:
    """A part inserted with its links: the commit, the calls, and the writing, which is the rest."""
    whole, counted = each.get("insert"), counts.get("insert")
    if whole is None or counted is None or commit is None:
        return None
    # The statement that commits, and its way, are in the commit's own time.
    once = 1 / INSERTS
    others = _Counts(
        counted.calls,
        None if counted.statements is None else max(counted.statements - once, 0),
        None if counted.round_trips is None else max(counted.round_trips - once, 0),
    )
    # They write: no value comes back.
    parts = _calls({name: own for name, own in each.items() if name != "constant"}, others, way)
    parts.append(Part("commit", "its share of the commit of 100 parts", commit))
    left = less(whole, total(part.elapsed_ns for part in parts))
    rest = Part(STEPS[5].attributed, "the rest, beyond its calls and the commit", left)
    return _summed("a part inserted", whole, [*parts, rest], by_difference=True)


def _summed(name: str, whole: Estimate, parts: Sequence[Part], *, by_difference: bool) -> Account:
    left = less(whole, total(part.elapsed_ns for part in parts))
    return Account(name, whole, tuple(parts), left, by_difference)


def _arguments(
    rungs: Sequence[Rung], each: Mapping[str, Estimate], counts: Mapping[str, _Counts]
) -> tuple[Argument, ...]:
    """The look-up's, and that of look-up, traversal and insert together; none in a record without
    counts."""
    if "lookup" not in each or "lookup" not in counts:
        return ()
    spoken = counts["lookup"].statements is not None
    # A stand-in for a statement is not what an engine without statements is asked.
    below = [rung for rung in rungs[: 3 if spoken else 1] if rung.each_ns]
    if not below or below[-1].each_ns is None:
        return ()
    rung, cost = below[-1].step, below[-1].each_ns
    unit = "statements" if spoken else "calls"
    wholes: list[tuple[str, tuple[str, ...]]] = [("a look-up", ("lookup",))]
    if all(name in each and name in counts for name in TOTAL):
        wholes.append(("the total", TOTAL))
    found = []
    for name, operations in wholes:
        whole = total(scaled(each[one], THINGS[one]) for one in operations)
        number = round(sum(_number(counts[one], unit) * THINGS[one] for one in operations))
        share = over(scaled(cost, number), whole)
        found.append(Argument(name, number, unit, rung, cost, whole, share))
    return tuple(found)


def _number(counts: _Counts, unit: str) -> float:
    return (counts.statements or 0.0) if unit == "statements" else counts.calls
