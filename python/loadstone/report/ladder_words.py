"""The cost ladder in words and numbers with units, the same for every format that people read."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.analysis.calls import longest_round_trips_ns
from loadstone.analysis.components import Account, part_names
from loadstone.analysis.ladder import Argument, Ladder, empty_calls_ns, ladders
from loadstone.analysis.summary import Summary
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import TIMES, digits, duration, listing, percent, signed

MINUS = "\N{MINUS SIGN}"
ABSENT = "\N{EN DASH}"
UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class LadderCell:
    """`text` is the figure or the reason for none; `beyond` the difference to the rung below."""

    text: str
    beyond: str = ""
    title: str = ""
    status: str = "ok"


@dataclass(frozen=True, slots=True)
class LadderTable:
    """A table of the ladder: the first heading is over the names of the rows."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[LadderCell, ...]], ...]


@dataclass(frozen=True, slots=True)
class LadderSection:
    """The ladder of one scale."""

    rows: int
    rungs: LadderTable
    accounts: tuple[LadderTable, ...]
    arguments: tuple[str, ...]


def ladder_sections(summary: Summary) -> tuple[LadderSection, ...]:
    """One section for each scale that has a ladder."""
    found = ladders(summary)
    sections = []
    for rows in dict.fromkeys(ladder.rows for ladder in found):
        own = [ladder for ladder in found if ladder.rows == rows]
        names = [summary.headings[ladder.variant] for ladder in own]
        sections.append(
            LadderSection(rows, _rungs(own, names), _accounts(own, names), tuple(_said(own, names)))
        )
    return tuple(sections)


def clients_line(summary: Summary) -> str:
    """The client of each figure, and the cost of an empty call there: its harness overhead; empty
    without client programs."""
    named: dict[str, list[str]] = {}
    overheads_ns = empty_calls_ns(ladders(summary))
    for variant in summary.columns:
        if variant in summary.clients:
            named.setdefault(summary.clients[variant], []).append(summary.names[variant])
    said = []
    for client, names in named.items():
        overhead = (
            f" (an empty call: {duration(overheads_ns[client])})" if client in overheads_ns else ""
        )
        said.append(f"{client.capitalize()} for {listing(names)}{overhead}")
    return f"Clients: {'; '.join(said)}." if said else ""


def round_trips_line(summary: Summary) -> str:
    """The cost of the way to each server by itself, the longest first; empty if unknown."""
    found = longest_round_trips_ns(summary)
    said = listing(f"{duration(each)} ({summary.names[variant]})" for variant, each in found)
    return (
        f"A round trip of one byte to the server's place, without the server: {said}."
        if said
        else ""
    )


def _rungs(own: Sequence[Ladder], names: Sequence[str]) -> LadderTable:
    rows = []
    for place, first in enumerate(own[0].rungs):
        cells = tuple(_rung(ladder, place) for ladder in own)
        rows.append((first.step.name, cells))
    return LadderTable("The cost of one call", ("each", *names), tuple(rows))


def _rung(ladder: Ladder, place: int) -> LadderCell:
    rung = ladder.rungs[place]
    if rung.each_ns is None:
        words = {"gap": "gap", "pending": "not run", "absent": ABSENT}.get(rung.status, rung.status)
        return LadderCell(words, title=rung.reason, status=rung.status)
    if not rung.below or rung.beyond_ns is None:
        return LadderCell(duration(rung.each_ns.value), title=_bounds(rung.each_ns))
    title = f"{rung.step.attributed}: {difference(rung.beyond_ns.value)} beyond {rung.below}"
    return LadderCell(
        duration(rung.each_ns.value),
        difference(rung.beyond_ns.value),
        f"{title}{_bounds(rung.beyond_ns, ', ')}",
    )


def _accounts(own: Sequence[Ladder], names: Sequence[str]) -> tuple[LadderTable, ...]:
    tables = []
    for kind in dict.fromkeys(account.name for ladder in own for account in ladder.accounts):
        found = {
            name: account
            for name, ladder in zip(names, own, strict=True)
            for account in ladder.accounts
            if account.name == kind
        }
        lines = part_names(found.values())
        rows = [(line, tuple(_part(found.get(name), line) for name in names)) for line in lines]
        why = {name: dict(ladder.unclosed) for name, ladder in zip(names, own, strict=True)}
        left = (_left(found.get(name), why[name].get(kind, "")) for name in names)
        rows.append((UNEXPLAINED, tuple(left)))
        rows.append(("whole", tuple(_whole(found.get(name)) for name in names)))
        tables.append(LadderTable(f"Components of {kind}", ("", *names), tuple(rows)))
    return tuple(tables)


NONE = LadderCell(ABSENT, title="not measured", status="gap")


def _part(account: Account | None, name: str) -> LadderCell:
    part = next((part for part in account.parts if part.name == name), None) if account else None
    if account is None or part is None:
        return NONE
    bounds = _bounds(part.elapsed_ns, ", ")
    return _shared(account, part.elapsed_ns, f"{part.of}{bounds}")


def _left(account: Account | None, unclosed: str) -> LadderCell:
    if account is None:
        return LadderCell("not taken apart", title=unclosed, status="gap") if unclosed else NONE
    if account.by_difference:
        last = account.parts[-1].name
        return LadderCell("not separated", title=f"it is in {last}, the rest", status="gap")
    bounds = _bounds(account.unexplained_ns, ", ")
    return _shared(account, account.unexplained_ns, f"the whole less its parts{bounds}")


def _whole(account: Account | None) -> LadderCell:
    if account is None:
        return NONE
    return LadderCell(duration(account.whole_ns.value), title=_bounds(account.whole_ns))


def _shared(account: Account, elapsed_ns: Estimate, title: str) -> LadderCell:
    share = signed(account.share(elapsed_ns)).removeprefix("+")
    return LadderCell(signed_duration(elapsed_ns.value), share, title)


def _said(own: Sequence[Ladder], names: Sequence[str]) -> list[str]:
    """A sentence for each variant: the calls of the first total, then those of the others."""
    said = []
    for name, ladder in zip(names, own, strict=True):
        if ladder.arguments:
            first, *others = ladder.arguments
            more = (f"; {other.calls:,} are {_of(other)}" for other in others)
            said.append(f"{name}: {sentence(first)}{''.join(more)}.")
    return said


def sentence(argument: Argument) -> str:
    """One argument: calls times cost, its share, and the grade that the interval allows."""
    each = f"{duration(argument.each_ns.value)} ({argument.rung.name})"
    return f"{argument.calls:,} {argument.unit} of {each} are {_of(argument)}"


def brief(argument: Argument) -> str:
    """The same in a line of a terminal."""
    each, share = duration(argument.each_ns.value), percent(argument.share.value)
    return f"{argument.calls:,} {TIMES} {each} is {share} of {argument.whole}: {argument.grade}"


def _of(argument: Argument) -> str:
    share = argument.share
    bounds = (
        f" ({percent(share.low)} to {percent(share.high)})"
        if share.low is not None and share.high is not None
        else ""
    )
    whole = f"{argument.whole}'s {duration(argument.whole_ns.value)}"
    return f"{percent(share.value)} of {whole}{bounds}: {argument.grade}"


def signed_duration(value_ns: float) -> str:
    """A duration that may be negative."""
    return f"{MINUS if value_ns < 0 else ''}{_small(abs(value_ns))}"


def difference(value_ns: float) -> str:
    """A difference, always with its sign."""
    return f"{MINUS if value_ns < 0 else '+'}{_small(abs(value_ns))}"


def _small(value_ns: float) -> str:
    """Below a nanosecond digits mean nothing more than that."""
    return (
        "0"
        if value_ns == 0
        else f"{digits(value_ns, 2)} ns"
        if value_ns < 1
        else duration(value_ns)
    )


def _bounds(estimate: Estimate, before: str = "") -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = signed_duration(estimate.low), signed_duration(estimate.high)
    return f"{before}95 % within {low} to {high}"
