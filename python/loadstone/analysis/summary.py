"""The summary of a record, computed once for every format: each cell's figures, in rows beside the
row's best, as in the paper.

Pure: a `Run` in, frozen values out.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from loadstone.analysis.cell_summary import CellSummary, cell_summary
from loadstone.analysis.consistency import believable, consistent, processors, threads
from loadstone.analysis.ranking import competitors, ranked
from loadstone.analysis.unequal import Reported, planned_otherwise, reported_terms, unequal
from loadstone.plan.choices import TEMPERATURES
from loadstone.plan.presentation import Presentation
from loadstone.plan.role import Role
from loadstone.plan.variant import AA_SUFFIX, RELEASE, engine_of, is_aa_control, release_of
from loadstone.record.model import CellResult, OperationText, Run
from loadstone.statistics.drift import Speeds
from loadstone.text.numbers import Unit, listing, unit_for

if TYPE_CHECKING:
    from loadstone.plan.plan import Cell

CLIENT = "client"
"""The term that names the language of the client."""
WRITES = frozenset({"relation", "update"})
"""Destinations of statements that commit a write."""


def short_name(variant: str) -> str:
    """A variant's engine, release and tactics, without its server's address."""
    tactics, release = variant.partition("?")[2], release_of(variant)
    engine = engine_of(variant) + (RELEASE + release if release else "")
    return f"{engine}?{tactics}" if tactics else engine


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
    def words(self) -> Presentation:
        """The benchmark's own declarations."""
        return self.run.presentation

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
        reported = [self.clients[variant]] if variant in self.clients else []
        reported += [role.value] if role is not Role.COMPETITOR else []
        return f"{label} ({', '.join(reported)})" if reported else label

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

    @cached_property
    def answer_labels(self) -> tuple[tuple[str, str], ...]:
        """Each label of an answer in words, and whose it is: an operation's, on which variants."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for figure in self.figures.values():
            if figure.label and not is_aa_control(figure.cell.variant):
                own = found.setdefault((figure.cell.operation, figure.label), {})
                own[self.labels[figure.cell.variant]] = None
        return tuple(
            (f"{operation} on {listing(variants)}", label)
            for (operation, label), variants in found.items()
        )

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
    clients, words, reported = clients_of(run), run.presentation, reported_terms(run)
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
                    cell_summary(cell, results.get(cell.key), words.varying, speeds),
                    run.plan.role_of(cell.variant),
                    text,
                    results.get(cell.key),
                    most,
                )
                for cell in named[name]
            ]
            row = _row(text, temperature, figures, clients, ranks=text.storage not in words.harness)
            writes = text.destination in WRITES or text.storage in words.writes
            groups.setdefault(text.group, []).append(_on_terms(row, reported, writes=writes))
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
    figures = ranked(found, clients, ranks=ranks)
    reported = [
        figure.elapsed_ns.value for figure in competitors(figures.values()) if figure.elapsed_ns
    ]
    others = [figure.elapsed_ns.value for figure in figures.values() if figure.elapsed_ns]
    unit = unit_for(reported or others)
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


def _on_terms(row: Row, reported: Reported, *, writes: bool) -> Row:
    """The same row, each figure with what of its terms is not the row's, besides what of its plan
    was not as asked."""
    timed = {
        v: f
        for v, f in row.figures.items()
        if (f.elapsed_ns or f.longer_than_ns is not None) and f.role is not Role.OVERHEAD
    }
    ranked = [variant for variant, f in timed.items() if f.role is Role.COMPETITOR]
    found = unequal(reported, ranked, timed, writes=writes)
    figures = {
        v: replace(f, unequal=(*found.get(v, ()), *f.unequal)) for v, f in row.figures.items()
    }
    return replace(row, figures=figures)
