"""The summary of a record, computed once for every format: each cell's figures, beside the row's
best.

Pure: a `Run` in, frozen values out. Rules kept only here: a failed cell has no time; only
competitors are ranked, and no other (a limit, the harness overhead, a control) is a ratio's
denominator; a disturbed or invalid cell has a time and no ratio; an unproved cold cell is never
compared with a proved one; if the number of visits varies, times are scaled to a fixed one.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from loadstone._core import effective_samples, interval_of_median, outliers
from loadstone.analysis.consistency import believable, consistent, processors, threads
from loadstone.analysis.standing import comparable, standing
from loadstone.analysis.unequal import Told, Unequal, planned_otherwise, told_terms, unequal
from loadstone.analysis.vocabulary import VISITS_FEW, Words, words_of
from loadstone.plan.choices import TEMPERATURES
from loadstone.plan.plan import Cell
from loadstone.plan.role import Role
from loadstone.plan.variant import AA_SUFFIX, engine_of, is_aa_control
from loadstone.record.model import (
    MEASURED,
    CellResult,
    Condition,
    Disturbance,
    OperationText,
    Run,
    Sample,
)
from loadstone.statistics.disturbance import interval as disturbed_interval
from loadstone.statistics.drift import Speeds
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import paired_ratio
from loadstone.text.numbers import Unit, unit_for

CLIENT = "client"
"""The term that names the language of the client."""
WRITES = frozenset({"relation", "update"})
"""Destinations of statements that commit a write."""
OVERHEAD_SHARE_MARKED = 0.1
"""Above this share of a figure, the harness overhead is marked beside it."""


def short_name(variant: str) -> str:
    """A variant's engine and tactics, without its server's address."""
    tactics = variant.partition("?")[2]
    return f"{engine_of(variant)}?{tactics}" if tactics else engine_of(variant)


@dataclass(frozen=True, slots=True)
class CellSummary:
    """One planned cell's figures.

    `status` is a record's status, or `pending`. `elapsed_ns` is None without a time to show
    (failed, gap, pending); `ratio` compares it with the fastest competitor of its row, repetition
    by repetition, and is None if that would not be fair, and for other roles than competitor. The
    overhead share is the harness overhead's median for the same cell over this one's. `outliers`
    are positions in `samples`, of which none is dropped; `samples_effective` is the number of
    independent ones they are worth. `shown_ns` is each sample's elapsed time, or, if the number of
    visits varies, scaled to the nominal number; `visits_least` is then the fewest.
    """

    cell: Cell
    status: str
    reason: str
    temperature: str
    samples: tuple[Sample, ...] = ()
    elapsed_ns: Estimate | None = None
    ratio: Estimate | None = None
    best: bool = False
    overhead_share: float | None = None
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
    role: Role = Role.COMPETITOR
    unequal: tuple[Unequal, ...] = ()
    """Its terms that differ from its row's; only with a figure."""

    @property
    def unproved(self) -> bool:
        """Whether it was planned as cold, and is not proved: shown wherever its time is."""
        return self.temperature == "unproved" and self.elapsed_ns is not None

    @property
    def few_visits(self) -> bool:
        """Whether some sample visited so few parts that its normalised time is meaningless."""
        return self.visits_least is not None and self.visits_least < VISITS_FEW

    @property
    def tied(self) -> bool:
        """Whether its ratio to the row's best may be 1."""
        ratio = self.ratio
        return not self.best and ratio is not None and ratio.low is not None and ratio.low <= 1

    @property
    def standing(self) -> str:
        """Its printed ratio to the row's best, or the sign for none."""
        return standing(self.ratio, best=self.best)

    @property
    def near_overhead(self) -> bool:
        """Whether the harness overhead is a notable share of the figure."""
        return self.overhead_share is not None and self.overhead_share > OVERHEAD_SHARE_MARKED


@dataclass(frozen=True, slots=True)
class Row:
    """An operation at one scale and temperature, on every variant; `unit` fits its competitors."""

    operation: OperationText
    rows: int
    temperature: str
    figures: Mapping[str, CellSummary]
    unit: Unit

    @property
    def overheads(self) -> Mapping[str, CellSummary]:
        """The harness overhead's figures, by variant."""
        return {v: f for v, f in self.figures.items() if f.role is Role.OVERHEAD}


@dataclass(frozen=True, slots=True)
class View:
    """The summary at one scale and temperature: rows grouped as in the paper."""

    rows: int
    temperature: str
    groups: tuple[tuple[str, tuple[Row, ...]], ...]

    @property
    def overheads(self) -> tuple[str, ...]:
        """The variants that measured the harness overhead here."""
        return tuple(dict.fromkeys(variant for row in self.all_rows for variant in row.overheads))

    @property
    def all_rows(self) -> Iterable[Row]:
        """Every row, in the paper's order."""
        return (row for _, rows in self.groups for row in rows)


@dataclass(frozen=True)
class Summary:
    """Every cell of a run, by scale and temperature."""

    run: Run
    views: tuple[View, ...]

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Every variant that was planned, in the plan's order."""
        cells = (cell.variant for cell in self.run.plan.cells)
        return tuple(dict.fromkeys((*self.run.plan.variants, *cells)))

    @cached_property
    def competitors(self) -> tuple[str, ...]:
        """The variants that are ranked."""
        return self._of(Role.COMPETITOR)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The variants with a column each: the competitors, then limits and controls. The harness
        overhead has its own column, and an A/A control appears in the details of its first."""
        controls = [v for v in self._of(Role.CONTROL) if not is_aa_control(v)]
        return (*self.competitors, *self._of(Role.LIMIT), *controls)

    def role_of(self, variant: str) -> Role:
        """The role of a variant."""
        return self.run.plan.role_of(variant)

    def _of(self, role: Role) -> tuple[str, ...]:
        return tuple(variant for variant in self.variants if self.role_of(variant) is role)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Column -> its short name: without its server's address, if that leaves it distinct.
        Tactics are never left out: they distinguish variants."""
        shorts = [short_name(variant) for variant in self.columns]
        return {
            variant: short if shorts.count(short) == 1 else variant
            for variant, short in zip(self.columns, shorts, strict=True)
        }

    @cached_property
    def words(self) -> Words:
        """The benchmark's vocabulary."""
        return words_of(self.run.plan.benchmark)

    @cached_property
    def clients(self) -> Mapping[str, str]:
        """Variant -> the language of its client; empty without client programs."""
        return clients_of(self.run)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """As `labels`, with the client of each if a run has clients, and with its role if it is not
        ranked."""
        return {variant: self._heading(variant, label) for variant, label in self.labels.items()}

    def _heading(self, variant: str, label: str) -> str:
        role = self.role_of(variant)
        told = [self.clients[variant]] if variant in self.clients else []
        told += [role.value] if role is not Role.COMPETITOR else []
        return f"{label} ({', '.join(told)})" if told else label

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """As `names`, of every variant; an A/A control is called after its first."""
        firsts = {variant: variant.removesuffix(AA_SUFFIX) for variant in self.variants}
        return {
            variant: self.names.get(first, first) + variant.removeprefix(first)
            for variant, first in firsts.items()
        }

    @cached_property
    def figures(self) -> Mapping[str, CellSummary]:
        """Every figure by the key of its cell."""
        return {
            figure.cell.key: figure
            for view in self.views
            for row in view.all_rows
            for figure in row.figures.values()
        }

    def largest_with(self, temperature: str) -> View | None:
        """The view of the largest scale that has cells at a temperature."""
        views = [view for view in self.views if view.temperature == temperature]
        return max(views, key=lambda view: view.rows, default=None)

    def view(self, rows: int, temperature: str) -> View | None:
        """The view at a scale and temperature, if anything was planned there."""
        wanted = (rows, temperature)
        return next((v for v in self.views if (v.rows, v.temperature) == wanted), None)


def summarise(run: Run) -> Summary:
    """Summarise a run."""
    run, most = consistent(run), processors(run)
    results = {result.cell.key: result for result in run.results}
    texts = {(text.name, text.rows): text for text in run.operations}
    clients, words, told = clients_of(run), words_of(run.plan.benchmark), told_terms(run)
    visits = words.visits
    speeds = Speeds(run)
    by_view: dict[tuple[int, str], dict[str, list[Cell]]] = {}
    for cell in run.plan.cells:
        by_operation = by_view.setdefault((cell.rows, cell.temperature), {})
        by_operation.setdefault(cell.operation, []).append(cell)
    views = []
    for rows, temperature in sorted(by_view, key=_view_order):
        groups: dict[str, list[Row]] = {}
        named = by_view[rows, temperature]
        for name in sorted(named, key=lambda name: _ordinal(texts, name, rows)):
            text = texts.get((name, rows)) or _bare(name, rows)
            figures = [
                _placed(
                    cell_summary(cell, results.get(cell.key), visits.get(name), speeds),
                    run.plan.role_of(cell.variant),
                    text,
                    results.get(cell.key),
                    most,
                )
                for cell in named[name]
            ]
            row = _row(text, temperature, figures, clients, ranks=text.storage not in words.harness)
            writes = text.destination in WRITES or text.storage in words.writes
            groups.setdefault(text.group, []).append(_on_terms(row, told, writes=writes))
        views.append(View(rows, temperature, tuple((g, tuple(r)) for g, r in groups.items())))
    return Summary(run, tuple(views))


def clients_of(run: Run) -> Mapping[str, str]:
    """Variant -> client, as recorded; a later session's value replaces an earlier one's."""
    return {term.variant: term.read_back or "" for term in run.terms if term.key == CLIENT}


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
    text: OperationText,
    temperature: str,
    found: Iterable[CellSummary],
    clients: Mapping[str, str],
    *,
    ranks: bool,
) -> Row:
    plain = {figure.cell.variant: figure for figure in found}
    # A program in another language has another overhead.
    overheads = {
        clients.get(v): f for v, f in plain.items() if f.role is Role.OVERHEAD and f.elapsed_ns
    }
    ranked = [figure for figure in plain.values() if figure.role is Role.COMPETITOR]
    fair = comparable(f for f in ranked if f.elapsed_ns) if ranks else []
    best = _fastest(fair)
    figures = {}
    for variant, figure in plain.items():
        fairly = figure in fair
        overhead = overheads.get(clients.get(variant))
        figures[variant] = _beside(figure, best if fairly else None, overhead)
    told = [figure.elapsed_ns.value for figure in ranked if figure.elapsed_ns]
    others = [figure.elapsed_ns.value for figure in plain.values() if figure.elapsed_ns]
    unit = unit_for(told or others)
    return Row(text, text.rows, temperature, figures, unit)


def _placed(
    figure: CellSummary, role: Role, text: OperationText, result: CellResult | None, most: float
) -> CellSummary:
    """A figure with what its variant is for, and whether its plan uses what its row names; without
    shares of more than `most` processors, or than the client's threads."""
    statements = result.statements if result and figure.elapsed_ns else ()
    return replace(
        figure,
        role=role,
        unequal=planned_otherwise(statements, text.storage),
        client_cpu_share=believable(figure.client_cpu_share, threads(figure.samples, most)),
        server_cpu_share=believable(figure.server_cpu_share, most),
    )


def _on_terms(row: Row, told: Told, *, writes: bool) -> Row:
    """The same row, each figure with what of its terms is not the row's, besides what of its plan
    was not as asked."""
    timed = {v: f for v, f in row.figures.items() if f.elapsed_ns and f.role is not Role.OVERHEAD}
    ranked = [variant for variant, f in timed.items() if f.role is Role.COMPETITOR]
    found = unequal(told, ranked, timed, writes=writes)
    figures = {
        v: replace(f, unequal=(*found.get(v, ()), *f.unequal)) for v, f in row.figures.items()
    }
    return replace(row, figures=figures)


def _fastest(fair: Sequence[CellSummary]) -> CellSummary | None:
    """By the medians, unless pairs contradict them: a variant that is certainly faster, repetition
    by repetition, takes its place."""
    best = min(fair, key=_median_ns, default=None)
    for _ in fair:
        ratios = {
            place: ratio
            for place, other in enumerate(fair)
            if best is not None and other is not best
            if (ratio := paired_ratio(other.samples, best.samples)) and (ratio.high or 1.0) < 1
        }
        if not ratios:
            break
        best = fair[min(ratios, key=lambda place: ratios[place].value)]
    return best


def _median_ns(figure: CellSummary) -> float:
    return figure.elapsed_ns.value if figure.elapsed_ns else math.inf


def cell_summary(
    cell: Cell,
    result: CellResult | None,
    visits: int | None = None,
    speeds: Speeds | None = None,
) -> CellSummary:
    """One cell by itself, without its row. `visits`: the number its times are scaled to, if it
    varies; `speeds`: those of the whole run, if known."""
    if result is None:
        return CellSummary(cell, "pending", "not run yet", cell.temperature)
    right = sum(answer.right for answer in result.answers)
    if result.status not in MEASURED or not result.samples:
        return CellSummary(
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
    median_ns = Estimate(*interval_of_median(shown))
    if result.disturbance is not None:
        median_ns = disturbed_interval(median_ns, shown, result.disturbance)
    return CellSummary(
        cell=cell,
        status=result.status,
        reason=result.reason,
        temperature=result.temperature_shown,
        samples=result.samples,
        elapsed_ns=speeds.interval(median_ns, result.condition) if speeds else median_ns,
        client_cpu_share=share_of_elapsed(result.samples, lambda s: s.client_cpu_ns),
        server_cpu_share=share_of_elapsed(result.samples, lambda s: s.server_cpu_ns),
        read_bytes=_median([sample.read_bytes for sample in result.samples]),
        written_bytes=_median([sample.written_bytes for sample in result.samples]),
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
    """Each sample's time, times the nominal number of visits over its own, which its answer gives.
    A sample without an answer (the harness overhead) has the nominal number."""
    own = {answer.variation: max(answer.rows, 1) for answer in result.answers}
    return [
        sample.elapsed_ns * visits / own.get(sample.variation, visits) for sample in result.samples
    ]


def share_of_elapsed(
    samples: Iterable[Sample], part_ns: Callable[[Sample], int | None]
) -> float | None:
    """The sum of a part of the elapsed times over their sum, of the samples that tell the part."""
    known = [(part, s.elapsed_ns) for s in samples if (part := part_ns(s)) is not None]
    elapsed_ns = sum(whole for _, whole in known)
    return sum(part for part, _ in known) / elapsed_ns if elapsed_ns else None


def _median(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None


def _beside(
    figure: CellSummary, best: CellSummary | None, overhead: CellSummary | None
) -> CellSummary:
    """The same figure, with its ratio to the row's best and its overhead share."""
    if figure.elapsed_ns is None or figure.role is Role.OVERHEAD:
        return figure
    share = _median_ns(overhead) / figure.elapsed_ns.value if overhead else None
    if best is None or figure.status != "ok":
        return replace(figure, overhead_share=share)
    if figure is best:
        return replace(figure, overhead_share=share, ratio=Estimate(1.0), best=True)
    ratio = paired_ratio(figure.samples, best.samples)
    if ratio is None or ratio.low is None or ratio.high is None:
        # Too few pairs, or none: their median may contradict the medians, which are printed.
        ratio = Estimate(_median_ns(figure) / max(_median_ns(best), 1.0))
    return replace(figure, overhead_share=share, ratio=ratio)
