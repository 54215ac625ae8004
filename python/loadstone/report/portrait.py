"""The record summarised once, for every format: what each cell says, beside the row's best.

Pure: a `Run` in, frozen values out. Rules kept here and nowhere else: a failed cell has no time;
the null engine is the harness's floor and never a competitor; an unproved cold cell is never
compared with a proved one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from loadstone._core import interval_of_median, interval_of_ratio
from loadstone.plan import TEMPERATURES, Cell
from loadstone.record.model import CellResult, OperationText, Run, Sample
from loadstone.report.figures import Estimate, Unit, unit_for

FLOOR_ENGINE = "null"
FLOOR_SHARE_MAX = 0.1
"""Above this share of a figure, the harness's own time is worth a mark beside it."""


def short_name(variant: str) -> str:
    """A variant's engine and tactics, without its server's address."""
    tactics = variant.partition("?")[2]
    return f"{engine_of(variant)}?{tactics}" if tactics else engine_of(variant)


def engine_of(variant: str) -> str:
    """The engine's name in a variant's."""
    return variant.partition("?")[0].partition("://")[0]


def is_floor(variant: str) -> bool:
    """Whether a variant is the null engine, which measures the harness."""
    return engine_of(variant) == FLOOR_ENGINE


@dataclass(frozen=True, slots=True)
class Figure:
    """What one planned cell came to. `status` is a record's status, or `pending`.

    `elapsed_ns` is None where there is no time to show (failed, gap, pending); `ratio` compares it
    with the fastest competitor of its row and is None where that would not be fair. `floor_share`
    is the null engine's median for the same cell as a share of this one.
    """

    cell: Cell
    status: str
    reason: str
    temperature: str
    samples: tuple[Sample, ...] = ()
    elapsed_ns: Estimate | None = None
    ratio: Estimate | None = None
    best: bool = False
    floor_share: float | None = None
    client_cpu_share: float | None = None
    server_cpu_share: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None
    answers_right: int = 0
    answers_checked: int = 0

    @property
    def tied(self) -> bool:
        """Whether its ratio to the row's best cannot be told from 1."""
        ratio = self.ratio
        return not self.best and ratio is not None and ratio.low is not None and ratio.low <= 1

    @property
    def near_floor(self) -> bool:
        """Whether the harness itself takes a share of the figure that a reader must know."""
        return self.floor_share is not None and self.floor_share > FLOOR_SHARE_MAX


@dataclass(frozen=True, slots=True)
class Row:
    """An operation at one scale and temperature, on every variant; `unit` fits its competitors."""

    operation: OperationText
    rows: int
    temperature: str
    figures: Mapping[str, Figure]
    unit: Unit

    @property
    def floor(self) -> Figure | None:
        """The null engine's figure, if it ran."""
        return next((f for v, f in self.figures.items() if is_floor(v)), None)


@dataclass(frozen=True, slots=True)
class View:
    """The portrait at one scale and temperature: rows grouped as in the paper."""

    rows: int
    temperature: str
    groups: tuple[tuple[str, tuple[Row, ...]], ...]

    @property
    def has_floor(self) -> bool:
        """Whether the null engine ran here."""
        return any(row.floor for row in self.all_rows)

    @property
    def all_rows(self) -> Iterable[Row]:
        """Every row, in the paper's order."""
        return (row for _, rows in self.groups for row in rows)


@dataclass(frozen=True)
class Portrait:
    """Every cell of a run, by scale and temperature. Competitors are all variants but the floor."""

    run: Run
    views: tuple[View, ...]

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Every variant that was planned, in the plan's order."""
        cells = (cell.variant for cell in self.run.plan.cells)
        return tuple(dict.fromkeys((*self.run.plan.variants, *cells)))

    @cached_property
    def competitors(self) -> tuple[str, ...]:
        """The variants that are compared."""
        return tuple(variant for variant in self.variants if not is_floor(variant))

    @cached_property
    def floors(self) -> tuple[str, ...]:
        """The variants that measure the harness."""
        return tuple(variant for variant in self.variants if is_floor(variant))

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Competitor -> what to call it where space is short: without its server's address, if
        that leaves it distinct. Tactics are never left out: they are what differs."""
        shorts = [short_name(variant) for variant in self.competitors]
        return {
            variant: short if shorts.count(short) == 1 else variant
            for variant, short in zip(self.competitors, shorts, strict=True)
        }

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """Every figure by the key of its cell."""
        return {
            figure.cell.key: figure
            for view in self.views
            for row in view.all_rows
            for figure in row.figures.values()
        }

    def view(self, rows: int, temperature: str) -> View | None:
        """The view at a scale and temperature, if anything was planned there."""
        wanted = (rows, temperature)
        return next((v for v in self.views if (v.rows, v.temperature) == wanted), None)


def portrait(run: Run) -> Portrait:
    """Summarise a run."""
    results = {result.cell.key: result for result in run.results}
    texts = {(text.name, text.rows): text for text in run.operations}
    shelves: dict[tuple[int, str], dict[str, list[Cell]]] = {}
    for cell in run.plan.cells:
        shelf = shelves.setdefault((cell.rows, cell.temperature), {})
        shelf.setdefault(cell.operation, []).append(cell)
    views = []
    for rows, temperature in sorted(shelves, key=_view_order):
        groups: dict[str, list[Row]] = {}
        named = shelves[rows, temperature]
        for name in sorted(named, key=lambda name: _ordinal(texts, name, rows)):
            text = texts.get((name, rows)) or _bare(name, rows)
            groups.setdefault(text.group, []).append(_row(text, temperature, named[name], results))
        views.append(View(rows, temperature, tuple((g, tuple(r)) for g, r in groups.items())))
    return Portrait(run, tuple(views))


def _view_order(key: tuple[int, str]) -> tuple[int, int]:
    rows, temperature = key
    known = TEMPERATURES.index(temperature) if temperature in TEMPERATURES else len(TEMPERATURES)
    return rows, known


def _ordinal(texts: Mapping[tuple[str, int], OperationText], name: str, rows: int) -> float:
    text = texts.get((name, rows))
    return text.ordinal if text else math.inf


def _bare(name: str, rows: int) -> OperationText:
    """A run killed before it described its operations still has a plan to show."""
    return OperationText(name, rows, 0, name, "operations", "", "", "", "", "")


def _row(
    text: OperationText, temperature: str, cells: Sequence[Cell], results: Mapping[str, CellResult]
) -> Row:
    plain = {cell.variant: figure_of(cell, results.get(cell.key)) for cell in cells}
    floor = next((f for v, f in plain.items() if is_floor(v) and f.elapsed_ns), None)
    fair = _fair([figure for variant, figure in plain.items() if not is_floor(variant)])
    best = min(fair, key=lambda figure: _median_ns(figure), default=None)
    figures = {}
    for variant, figure in plain.items():
        fairly = figure in fair
        figures[variant] = _beside(figure, best if fairly else None, floor)
    unit = unit_for(
        f.elapsed_ns.value for v, f in figures.items() if f.elapsed_ns and not is_floor(v)
    )
    return Row(text, text.rows, temperature, figures, unit)


def _median_ns(figure: Figure) -> float:
    return figure.elapsed_ns.value if figure.elapsed_ns else math.inf


def _fair(figures: Iterable[Figure]) -> list[Figure]:
    """Those that may be compared: ok, and, once one cold cell is proved, only the proved."""
    measured = [figure for figure in figures if figure.status == "ok" and figure.elapsed_ns]
    proved = [figure for figure in measured if figure.temperature != "unproved"]
    return proved or measured


def figure_of(cell: Cell, result: CellResult | None) -> Figure:
    """One cell by itself, not yet beside its row."""
    if result is None:
        return Figure(cell, "pending", "not run yet", cell.temperature)
    right = sum(answer.right for answer in result.answers)
    if result.status not in ("ok", "invalid") or not result.samples:
        return Figure(
            cell,
            result.status,
            result.reason,
            result.temperature_shown,
            answers_right=right,
            answers_checked=len(result.answers),
        )
    elapsed = [sample.elapsed_ns for sample in result.samples]
    return Figure(
        cell=cell,
        status=result.status,
        reason=result.reason,
        temperature=result.temperature_shown,
        samples=result.samples,
        elapsed_ns=Estimate(*interval_of_median(elapsed)),
        client_cpu_share=_share([sample.client_cpu_ns for sample in result.samples], elapsed),
        server_cpu_share=_share([sample.server_cpu_ns for sample in result.samples], elapsed),
        read_bytes=_middle([sample.read_bytes for sample in result.samples]),
        written_bytes=_middle([sample.written_bytes for sample in result.samples]),
        answers_right=right,
        answers_checked=len(result.answers),
    )


def _share(parts: Sequence[int | None], wholes: Sequence[int]) -> float | None:
    """Sum over sum, of the samples where both are known."""
    known = [(part, whole) for part, whole in zip(parts, wholes, strict=True) if part is not None]
    total = sum(whole for _, whole in known)
    return sum(part for part, _ in known) / total if total else None


def _middle(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None


def _beside(figure: Figure, best: Figure | None, floor: Figure | None) -> Figure:
    """The same figure, with its ratio to the row's best and the floor's share."""
    if figure.elapsed_ns is None or is_floor(figure.cell.variant):
        return figure
    share = _median_ns(floor) / figure.elapsed_ns.value if floor else None
    if best is None or figure.status != "ok":
        return replace(figure, floor_share=share)
    if figure is best:
        return replace(figure, floor_share=share, ratio=Estimate(1.0), best=True)
    ratio = Estimate(
        *interval_of_ratio(
            [sample.elapsed_ns for sample in figure.samples],
            [sample.elapsed_ns for sample in best.samples],
        )
    )
    return replace(figure, floor_share=share, ratio=ratio)
