"""The record summarised once, for every format: what each cell says, beside the row's best.

Pure: a `Run` in, frozen values out. Rules kept here and nowhere else: a failed cell has no time;
the null engine is the harness's floor and a twin the instrument's noise, and neither is a
competitor; a disturbed or invalid cell has a time and no ratio; an unproved cold cell is never
compared with a proved one; where the number of visits varies, times are stated for a fixed one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from loadstone._core import effective_samples, interval_of_median, outliers
from loadstone.disturbance import interval as disturbed_interval
from loadstone.estimate import Estimate
from loadstone.pairs import paired_ratio
from loadstone.plan import TEMPERATURES, Cell
from loadstone.record.model import (
    MEASURED,
    CellResult,
    Condition,
    Disturbance,
    OperationText,
    Run,
    Sample,
)
from loadstone.report.figures import Unit, unit_for
from loadstone.report.words import VISITS_FEW, Words, words_of
from loadstone.speeds import Speeds
from loadstone.variant import TWIN, is_twin

FLOOR_ENGINE = "null"
HOST = "host"
"""The term that names the language of the calling program."""
FLOOR_SHARE_MAX = 0.1
"""Above this share of a figure, the harness's own time is worth a mark beside it."""


def short_name(variant: str) -> str:
    """A variant's engine and tactics, without its server's address."""
    tactics = variant.partition("?")[2]
    return f"{engine_of(variant)}?{tactics}" if tactics else engine_of(variant)


def engine_of(variant: str) -> str:
    """The engine's name in a variant's."""
    return variant.removesuffix(TWIN).partition("?")[0].partition("://")[0]


def is_floor(variant: str) -> bool:
    """Whether a variant is the null engine, which measures the harness."""
    return engine_of(variant) == FLOOR_ENGINE


def is_competitor(variant: str) -> bool:
    """Whether a variant is compared: neither the floor nor a twin, which measure the instrument."""
    return not is_floor(variant) and not is_twin(variant)


@dataclass(frozen=True, slots=True)
class Figure:
    """What one planned cell came to. `status` is a record's status, or `pending`.

    `elapsed_ns` is None where there is no time to show (failed, gap, pending); `ratio` compares it
    with the fastest competitor of its row, repetition by repetition, and is None where that would
    not be fair. `floor_share` is the null engine's median for the same cell as a share of this one.
    `outliers` are positions in `samples`, of which none is dropped; `samples_effective` is how many
    independent ones they are worth. `shown_ns` is what each sample counts as: its elapsed time, or,
    where the number of visits varies, that for the nominal number; `visits_least` is then the
    fewest.
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
    outliers: tuple[int, ...] = ()
    samples_effective: float | None = None
    condition: Condition | None = None
    shown_ns: tuple[float, ...] = ()
    visits_least: int | None = None
    disturbance: Disturbance | None = None

    @property
    def few_visits(self) -> bool:
        """Whether some sample visited so little that its normalised time says nothing."""
        return self.visits_least is not None and self.visits_least < VISITS_FEW

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
    """Every cell of a run, by scale and temperature. Competitors are all variants but the floor and
    the twins."""

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
        return tuple(variant for variant in self.variants if is_competitor(variant))

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
    def words(self) -> Words:
        """What this benchmark's things are called."""
        return words_of(self.run.plan.benchmark)

    @cached_property
    def hosts(self) -> Mapping[str, str]:
        """Variant -> the language of its calling program; empty where there is none."""
        return hosts_of(self.run)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """As `labels`, with the host of each where a run has hosts."""
        return {
            variant: f"{label} ({self.hosts[variant]})" if variant in self.hosts else label
            for variant, label in self.labels.items()
        }

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """As `names`, of every variant; a twin is called after its first."""
        firsts = {variant: variant.removesuffix(TWIN) for variant in self.variants}
        return {
            variant: self.names.get(first, first) + variant.removeprefix(first)
            for variant, first in firsts.items()
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
    hosts, visits = hosts_of(run), words_of(run.plan.benchmark).visits
    speeds = Speeds(run)
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
            figures = [
                figure_of(cell, results.get(cell.key), visits.get(name), speeds)
                for cell in named[name]
            ]
            groups.setdefault(text.group, []).append(_row(text, temperature, figures, hosts))
        views.append(View(rows, temperature, tuple((g, tuple(r)) for g, r in groups.items())))
    return Portrait(run, tuple(views))


def hosts_of(run: Run) -> Mapping[str, str]:
    """Variant -> host, as the engines told it; a later session's word replaces an earlier one's."""
    return {term.variant: term.read_back or "" for term in run.terms if term.key == HOST}


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
    text: OperationText, temperature: str, found: Iterable[Figure], hosts: Mapping[str, str]
) -> Row:
    plain = {figure.cell.variant: figure for figure in found}
    # A program in another language has another floor.
    floors = {hosts.get(v): f for v, f in plain.items() if is_floor(v) and f.elapsed_ns}
    fair = _fair([figure for variant, figure in plain.items() if is_competitor(variant)])
    best = min(fair, key=lambda figure: _median_ns(figure), default=None)
    figures = {}
    for variant, figure in plain.items():
        fairly = figure in fair
        floor = floors.get(hosts.get(variant))
        figures[variant] = _beside(figure, best if fairly else None, floor)
    unit = unit_for(
        f.elapsed_ns.value for v, f in figures.items() if f.elapsed_ns and is_competitor(v)
    )
    return Row(text, text.rows, temperature, figures, unit)


def _median_ns(figure: Figure) -> float:
    return figure.elapsed_ns.value if figure.elapsed_ns else math.inf


def _fair(figures: Iterable[Figure]) -> list[Figure]:
    """Those that may be compared: ok, and, once one cold cell is proved, only the proved."""
    measured = [figure for figure in figures if figure.status == "ok" and figure.elapsed_ns]
    proved = [figure for figure in measured if figure.temperature != "unproved"]
    return proved or measured


def figure_of(
    cell: Cell,
    result: CellResult | None,
    visits: int | None = None,
    speeds: Speeds | None = None,
) -> Figure:
    """One cell by itself, not yet beside its row. `visits`: what its times are stated for, where
    their number varies; `speeds`: those of the whole run, once it is there."""
    if result is None:
        return Figure(cell, "pending", "not run yet", cell.temperature)
    right = sum(answer.right for answer in result.answers)
    if result.status not in MEASURED or not result.samples:
        return Figure(
            cell,
            result.status,
            result.reason,
            result.temperature_shown,
            answers_right=right,
            answers_checked=len(result.answers),
            condition=result.condition,
        )
    elapsed = [sample.elapsed_ns for sample in result.samples]
    seen = [answer.rows for answer in result.answers] if visits else []
    shown = normalised_ns(result, visits) if visits else [float(one) for one in elapsed]
    middle_ns = Estimate(*interval_of_median(shown))
    if result.disturbance is not None:
        middle_ns = disturbed_interval(middle_ns, shown, result.disturbance)
    return Figure(
        cell=cell,
        status=result.status,
        reason=result.reason,
        temperature=result.temperature_shown,
        samples=result.samples,
        elapsed_ns=speeds.interval(middle_ns, result.condition) if speeds else middle_ns,
        client_cpu_share=_share([sample.client_cpu_ns for sample in result.samples], elapsed),
        server_cpu_share=_share([sample.server_cpu_ns for sample in result.samples], elapsed),
        read_bytes=_middle([sample.read_bytes for sample in result.samples]),
        written_bytes=_middle([sample.written_bytes for sample in result.samples]),
        answers_right=right,
        answers_checked=len(result.answers),
        outliers=tuple(outliers(shown)),
        samples_effective=effective_samples(shown),
        condition=result.condition,
        shown_ns=tuple(shown),
        visits_least=min(seen, default=None),
        disturbance=result.disturbance,
    )


def normalised_ns(result: CellResult, visits: int) -> list[float]:
    """Each sample's time, times the nominal number of visits over its own, which its answer
    tells. What answers nothing (the floor) visits the nominal number."""
    own = {answer.variation: max(answer.rows, 1) for answer in result.answers}
    return [
        sample.elapsed_ns * visits / own.get(sample.variation, visits) for sample in result.samples
    ]


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
    ratio = paired_ratio(figure.samples, best.samples)
    # Nothing in common but the operation: the medians still tell how far apart they are.
    plain = Estimate(_median_ns(figure) / max(_median_ns(best), 1.0))
    return replace(figure, floor_share=share, ratio=ratio or plain)
