"""The cost ladder: what one call costs, rung by rung, and what look-up and traversal are made of.

A rung is the median of a measure over how often it does its one thing. What a rung costs beyond
the one below is the difference of the two. They were measured in the same rounds, but how they vary
together is not made use of: the bounds are at their worst (`arithmetic`). A whole is explained by
parts that were measured in another way than the whole: what they do not sum up to is `unexplained`,
which is negative where they sum up to more. Where an engine lacks the measure that a last part
needs, that part is the difference, and nothing can be unexplained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone._core import interval_of_median
from loadstone.estimate import Estimate
from loadstone.report.arithmetic import less, over, scaled, total
from loadstone.report.portrait import Figure, Portrait, View

LOOKUPS = 1000
VISITS = 3280
EXPANDED = 1093
"""Of the visits of a traversal, those whose connections are followed: 1 + 3 + … + 3^6."""
INSERTS = 100
CALLS_INSERT = 4 * INSERTS
"""One for each part and each connection."""
ROUND_TRIP, HOP = "round_trip_ns", "hop"
"""Terms: bytes there and back on a server's way, without it; what a step of a traversal asks."""
JOIN = "join"
"""A hop that brings the parts it leads to: they are not looked up one by one."""
EXPLAINED_SHARE = 0.8
LARGER_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """A rung by definition: an operation, how often its measure does it, what it is called, and
    what it costs beyond the rung below."""

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
LADDERS: Mapping[str, Sequence[Step]] = {"oo1": STEPS}
"""Benchmark -> its rungs, the lowest first."""


BELOW_LOOKUP = frozenset(step.operation for step in STEPS[:3])
"""The rungs that touch no data, and so cannot grow with it."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step on one variant. `each_ns` is None where the cell has no time that counts; `beyond_ns`
    is over the nearest rung below that has one, called `below`."""

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
    """What a whole is made of: the parts and `unexplained_ns` sum up to it. `by_difference`: the
    last part is what was left, and nothing else can be."""

    name: str
    whole_ns: Estimate
    parts: tuple[Part, ...]
    unexplained_ns: Estimate
    by_difference: bool

    def share(self, part: Estimate) -> float:
        """What a part, or what is unexplained, is of the whole."""
        return part.value / (self.whole_ns.value or 1.0)


@dataclass(frozen=True, slots=True)
class Argument:
    """The paper's argument (section 8): calls, times the cost of a call, beside the whole. `rung`
    is the highest below the look-up that was measured."""

    whole: str
    calls: int
    rung: Step
    each_ns: Estimate
    whole_ns: Estimate
    share: Estimate

    @property
    def grade(self) -> str:
        """What the share, and its low bound, allow to say."""
        low = self.share.value if self.share.low is None else self.share.low
        if low >= EXPLAINED_SHARE:
            return "its calls explain it"
        return "mostly calls" if self.share.value >= LARGER_SHARE else "calls do not explain it"


@dataclass(frozen=True, slots=True)
class Ladder:
    """One variant's, at one scale and temperature."""

    variant: str
    host: str
    rows: int
    temperature: str
    rungs: tuple[Rung, ...]
    accounts: tuple[Account, ...]
    arguments: tuple[Argument, ...]


def ladders(portrait: Portrait) -> tuple[Ladder, ...]:
    """A ladder for every scale and competitor, warm; none where a benchmark has no rungs, or a run
    measured none."""
    steps = LADDERS.get(portrait.run.plan.benchmark, ())
    found = []
    for view in portrait.views:
        for variant in portrait.columns if view.temperature == "warm" else ():
            ladder = _ladder(portrait, view, variant, steps)
            if any(rung.each_ns for rung in ladder.rungs):
                found.append(ladder)
    return tuple(found)


def _ladder(portrait: Portrait, view: View, variant: str, steps: Sequence[Step]) -> Ladder:
    figures = {row.operation.name: row.figures.get(variant) for row in view.all_rows}
    way = _way(portrait, variant)
    rungs = _rungs(steps, figures)
    each = {rung.step.operation: rung.each_ns for rung in rungs if rung.each_ns}
    batch = _counted(figures.get("lookup-batch"), LOOKUPS)
    group = _counted(figures.get("group"), LOOKUPS)
    commit = _commit(figures.get("insert"))
    accounts = (
        _lookup(each, batch, way), _traversal(each, batch, group, way), _insert(each, commit, way)
    )  # fmt: skip
    return Ladder(
        variant,
        portrait.hosts.get(variant, ""),
        view.rows,
        view.temperature,
        rungs,
        tuple(account for account in accounts if account),
        _arguments(rungs, each, way),
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """How a variant's program asks: `round_trip_ns` of bytes alone where that was measured, `apart`
    for a server whose way is unknown; `joined` where a hop brings the parts."""

    round_trip_ns: float | None
    apart: bool
    joined: bool


def round_trips_ns(portrait: Portrait) -> Mapping[str, float]:
    """Competitor -> what bytes alone take to its server's place and back, where that was measured;
    a later session's figure replaces an earlier one's."""
    told = {
        term.variant: term.read_back or ""
        for term in portrait.run.terms
        if term.key == ROUND_TRIP and term.variant in portrait.columns
    }
    return {variant: float(text) for variant, text in told.items() if text.isdigit()}


def _way(portrait: Portrait, variant: str) -> _Way:
    hops = {
        term.variant: term.read_back if term.read_back is not None else term.asked
        for term in portrait.run.terms
        if term.key == HOP
    }
    hop = hops.get(variant) or ("join" if f"{HOP}={JOIN}" in variant else "")
    return _Way(round_trips_ns(portrait).get(variant), "://" in variant, hop.startswith(JOIN))


def _counted(figure: Figure | None, count: int) -> Estimate | None:
    """A measure's time for each of its things; None where it has none that counts."""
    if figure is None or figure.status != "ok" or figure.elapsed_ns is None:
        return None
    return scaled(figure.elapsed_ns, 1 / count)


def _rungs(steps: Sequence[Step], figures: Mapping[str, Figure | None]) -> tuple[Rung, ...]:
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


def _calls(each: Mapping[str, Estimate], count: float, way: _Way) -> tuple[list[Part], Step | None]:
    """What `count` calls cost, rung by rung below the look-up, and the highest of these rungs."""
    parts: list[Part] = []
    below: Step | None = None
    for step in STEPS[:3]:
        if step.operation in each:
            own = each[step.operation]
            beyond = less(own, each[below.operation]) if below else own
            of = f"{step.name}, less {below.name}" if below else step.name
            if step.operation == "empty":
                parts += _statement(of, beyond, count, way)
            else:
                parts.append(Part(step.attributed, of, scaled(beyond, count)))
            below = step
    return parts, below


def _statement(of: str, beyond: Estimate, count: float, way: _Way) -> list[Part]:
    """The empty statement, apart from its way where that is known, or where there is none."""
    if way.round_trip_ns is None:
        name = STEPS[1].attributed if way.apart else "statement"
        return [Part(name, of, scaled(beyond, count))]
    wire = Estimate(way.round_trip_ns)
    return [
        Part("wire", "bytes there and back, without the server", scaled(wire, count)),
        Part("statement", f"{of}, less the wire", scaled(less(beyond, wire), count)),
    ]


def _lookup(each: Mapping[str, Estimate], batch: Estimate | None, way: _Way) -> Account | None:
    """A look-up: the rungs below it, and the access, which the same look-ups in one call tell."""
    whole = each.get("lookup")
    if whole is None:
        return None
    parts, below = _calls(each, 1.0, way)
    parts.append(_access(whole, batch, each, below))
    return _account("a look-up", whole, parts, by_difference=batch is None)


def _traversal(
    each: Mapping[str, Estimate], batch: Estimate | None, group: Estimate | None, way: _Way
) -> Account | None:
    """A step: a call for the part and for a third of the parts one for the links; the access of a
    look-up; and the links, of which the group look-up tells what they cost beyond its call. Where
    a hop brings the parts, there are the calls of the hops, and the rest."""
    whole, lookup = each.get("traversal"), each.get("lookup")
    if whole is None or lookup is None:
        return None
    third = EXPANDED / VISITS
    if way.joined:
        parts, _ = _calls(each, third, way)
        left = less(whole, total(part.elapsed_ns for part in parts))
        rest = Part(STEPS[3].attributed, "the rest, beyond the calls of its hops", left)
        return _account("a step of a traversal", whole, [*parts, rest], by_difference=True)
    if group is None:
        parts, below = _calls(each, 1.0, way)
        # Not the batch: the parts below the links must be the look-up, no more and no less.
        parts.append(_access(lookup, None, each, below))
        rest = Part("links", "the rest, beyond a look-up", less(whole, lookup))
        return _account("a step of a traversal", whole, [*parts, rest], by_difference=True)
    parts, below = _calls(each, 1.0 + third, way)
    parts.append(_access(lookup, batch, each, below))
    beyond = less(group, each[below.operation]) if below else group
    of = f"{EXPANDED:,} of {VISITS:,} times the links of a part, beyond their call"
    parts.append(Part("links", of, scaled(beyond, third)))
    return _account("a step of a traversal", whole, parts, by_difference=False)


def _commit(figure: Figure | None) -> Estimate | None:
    """An inserted part's share of the commit; None where the program did not tell it apart."""
    if figure is None or figure.status != "ok":
        return None
    told = [float(sample.commit_ns) for sample in figure.samples if sample.commit_ns]
    if not told or len(told) < len(figure.samples):
        return None
    return scaled(Estimate(*interval_of_median(told)), 1 / INSERTS)


def _insert(each: Mapping[str, Estimate], commit: Estimate | None, way: _Way) -> Account | None:
    """A part inserted with its links: the commit, the calls, and the writing, which is the rest."""
    whole = each.get("insert")
    if whole is None or commit is None:
        return None
    parts, _ = _calls(each, CALLS_INSERT / INSERTS, way)
    parts.append(Part("commit", "its share of the commit of 100 parts", commit))
    left = less(whole, total(part.elapsed_ns for part in parts))
    rest = Part(STEPS[5].attributed, "the rest, beyond its calls and the commit", left)
    return _account("a part inserted", whole, [*parts, rest], by_difference=True)


def _access(
    lookup: Estimate, batch: Estimate | None, each: Mapping[str, Estimate], below: Step | None
) -> Part:
    name = STEPS[3].attributed
    if batch is not None:
        return Part(name, "one of the 1,000 fetched in one call", batch)
    if below is None:
        return Part(name, "a part looked up", lookup)
    return Part(name, f"the rest, beyond {below.name}", less(lookup, each[below.operation]))


def _account(name: str, whole: Estimate, parts: Sequence[Part], *, by_difference: bool) -> Account:
    left = less(whole, total(part.elapsed_ns for part in parts))
    return Account(name, whole, tuple(parts), left, by_difference)


def _arguments(
    rungs: Sequence[Rung], each: Mapping[str, Estimate], way: _Way
) -> tuple[Argument, ...]:
    """The look-up's, and that of look-up, traversal and insert together."""
    below = [rung for rung in rungs[:3] if rung.each_ns]
    if not below or below[-1].each_ns is None or "lookup" not in each:
        return ()
    rung, cost = below[-1].step, below[-1].each_ns
    lookup = scaled(each["lookup"], LOOKUPS)
    wholes = [("a look-up", LOOKUPS, lookup)]
    if "traversal" in each and "insert" in each:
        others = (scaled(each["traversal"], VISITS), scaled(each["insert"], INSERTS))
        steps = EXPANDED + (1 if way.joined else VISITS)
        wholes.append(("the total", LOOKUPS + steps + CALLS_INSERT, total((lookup, *others))))
    return tuple(
        Argument(name, calls, rung, cost, whole, over(scaled(cost, calls), whole))
        for name, calls, whole in wholes
    )
