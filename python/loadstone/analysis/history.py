"""Records in the order of their time: what each found, and how a cell's time went over them.

A **trend** follows one cell (benchmark, operation, scale, temperature, variant) from record to
record. Each figure is compared with a *reference*, the first one since the last change, by the
rules of `compare/`: like cells, on equal terms, with the machine's drift in the interval. It is a
**change** where the verdict is slower or faster; it is then the next reference, so that a slow
creep is found, too, once it is large enough. A change would be false where two records of an equal
machine by its fingerprint were none; what cannot be compared (another machine, another text, other
terms) is a **break**, reported with its reason, and no change: a new line begins there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.compare.cells import ENDED, FASTER, SLOWER, Pair
from loadstone.analysis.compare.compare import compare
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import Summary, summarise
from loadstone.analysis.verdict import Verdict, headline, verdict
from loadstone.errors import InputError
from loadstone.plan.role import Role
from loadstone.plan.variant import is_aa_control
from loadstone.record.model import Run
from loadstone.statistics.estimate import Estimate

FINDINGS_MAX = 3
"""Sentences about a record."""

UNLIKE = "the two are no like cells"

Place = tuple[str, int, str]
Key = tuple[str, str, int, str, str]
"""(benchmark and edition, operation, rows, temperature, variant)."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One benchmark of one record: when, what, how it went, and what it found."""

    path: Path
    run: Run
    headline: str
    verdict: Verdict
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A cell in one record. `change` is the comparison with its line's reference where it is slower
    or faster; `broken` the reason for which it could not be compared with it. Without a figure it
    failed, or its statement was ended."""

    path: Path
    created_at: str
    elapsed_ns: Estimate | None
    status: str
    change: Pair | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """A cell over records, oldest first."""

    benchmark: str
    operation: str
    rows: int
    temperature: str
    variant: str
    points: tuple[Point, ...]

    @property
    def changes(self) -> tuple[Point, ...]:
        """The points at which its time changed."""
        return tuple(point for point in self.points if point.change is not None)

    @property
    def lost(self) -> tuple[Point, ...]:
        """The points without a figure."""
        return tuple(point for point in self.points if point.elapsed_ns is None)


@dataclass(frozen=True, slots=True)
class History:
    """Records, oldest first, and the trends of cells that two of them have. `left_out` are files
    that could not be read, each with the reason."""

    reported: tuple[Reported, ...]
    trends: tuple[Trend, ...]
    left_out: tuple[tuple[Path, str], ...] = ()


def history(
    records: Sequence[tuple[Path, Sequence[Run]]],
    threshold: float,
    left_out: Sequence[tuple[Path, str]] = (),
) -> History:
    """The history of these records; `threshold`: the share from which on a change is one."""
    runs = sorted(
        ((path, run) for path, chapters in records for run in chapters),
        key=lambda one: (one[1].created_at, str(one[0])),
    )
    wholes = [(path, summarise(run)) for path, run in runs]
    reported = tuple(_reported(path, whole) for path, whole in wholes)
    return History(reported, tuple(_trends(wholes, threshold)), tuple(left_out))


def _reported(path: Path, whole: Summary) -> Reported:
    found = learned(whole).findings
    sentences = tuple(f"{one.grade.value}: {one.sentence}" for one in found[:FINDINGS_MAX])
    return Reported(path, whole.run, headline(whole), verdict(whole), sentences)


def _trends(wholes: Sequence[tuple[Path, Summary]], threshold: float) -> Iterator[Trend]:
    cells: dict[Key, list[tuple[Path, Run, CellSummary]]] = {}
    for path, whole in wholes:
        for key, cell in _figures(whole):
            cells.setdefault(key, []).append((path, whole.run, cell))
    known: dict[tuple[int, int, str], Mapping[Place, Pair | str]] = {}

    def beside(a: Run, b: Run, variant: str) -> Mapping[Place, Pair | str]:
        place = (id(a), id(b), variant)
        if place not in known:
            known[place] = _compared(a, b, variant, threshold)
        return known[place]

    for key, taken in cells.items():
        if len(taken) > 1 and any(cell.elapsed_ns for _, _, cell in taken):
            yield Trend(*key, tuple(_points(key, taken, beside)))


def _points(
    key: Key,
    taken: Sequence[tuple[Path, Run, CellSummary]],
    beside: Callable[[Run, Run, str], Mapping[Place, Pair | str]],
) -> Iterator[Point]:
    """The figures of a cell, each held against its line's reference; one that was lost changes
    nothing for those after it."""
    _, operation, rows, temperature, variant = key
    reference = next(run for _, run, cell in taken if cell.elapsed_ns is not None)
    for path, run, cell in taken:
        if cell.elapsed_ns is None:
            yield Point(path, run.created_at, None, cell.status, broken=_lost(cell))
            continue
        change, broken = None, ""
        if run is not reference:
            place = (operation, rows, temperature)
            found = beside(reference, run, variant).get(place, UNLIKE)
            if isinstance(found, str):
                broken, reference = found, run
            elif found.verdict in (SLOWER, FASTER):
                change, reference = found, run
        yield Point(path, run.created_at, cell.elapsed_ns, cell.status, change, broken)


def _lost(cell: CellSummary) -> str:
    return f"{cell.status}: {cell.reason}"


def _figures(whole: Summary) -> Iterator[tuple[Key, CellSummary]]:
    """The competitors' cells that have a figure, or should have one."""
    plan = whole.run.plan
    name = f"{plan.benchmark} {plan.edition}"
    for cell in whole.figures.values():
        own = cell.role in (Role.COMPETITOR, Role.LIMIT) and not is_aa_control(cell.cell.variant)
        if own and (cell.elapsed_ns is not None or cell.status in ENDED):
            one = cell.cell
            yield (name, one.operation, one.rows, cell.temperature, one.variant), cell


def _compared(a: Run, b: Run, variant: str, threshold: float) -> Mapping[Place, Pair | str]:
    """By cell: its pair, or why there is none."""
    try:
        found = compare(a, b, variants=(variant, variant), threshold=threshold)
    except InputError as error:
        return {(o.operation, o.rows, t): error.message
                for o in b.plan.cells for t in (o.temperature, "unproved")}  # fmt: skip
    pairs: dict[Place, Pair | str] = {
        (pair.operation, pair.rows, pair.temperature): pair for pair in found.pairs
    }
    unlike = {(one.operation, one.rows, one.temperature): one.reason for one in found.unlike}
    return {**unlike, **pairs}
