"""The columns of a planned cell: one table for the CSV, the Parquet file and the JSON report.

A field is a column, or some, of the flat formats, a member of a cell's object in JSON, or both. The
names are described in `docs/reference/report.md`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.analysis.budget import (
    ASLEEP,
    KERNEL,
    WAITING,
    CellBudget,
    budget_of,
    share_of_kind,
)
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.summary import Row, Summary
from loadstone.record.model import WORK, CellResult, Condition, Run, by_name
from loadstone.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True)
class CellContext:
    """A planned cell with what stands around it; `result` is None while it is pending, `budget`
    without one."""

    run: Run
    row: Row
    figure: CellSummary
    result: CellResult | None
    budget: CellBudget | None = None


Value = Callable[[CellContext], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """`kind` is the type of its values, of which None is one where it is `null`."""

    name: str
    kind: type
    value: Value
    null: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """`member` gives the value in JSON, under `name`; None where JSON shows it elsewhere."""

    name: str
    columns: tuple[Column, ...] = ()
    member: Value | None = None


def _of_run(name: str, kind: type, value: Value) -> Field:
    """A column whose value JSON shows once, of the run or of the operation."""
    return Field(name, (Column(name, kind, value),))


def _same(name: str, kind: type, value: Value, *, null: bool = False) -> Field:
    """The same in every format."""
    return Field(name, (Column(name, kind, value, null),), value)


def _estimate(name: str, median: str, value: Callable[[CellSummary], Estimate | None]) -> Field:
    def column(of: str, bound: Callable[[Estimate], float | None]) -> Column:
        def reported_of(reported: CellContext) -> float | None:
            estimate = value(reported.figure)
            return bound(estimate) if estimate else None

        return Column(of, float, reported_of, null=True)

    columns = (
        column(median, lambda estimate: estimate.value),
        column(f"{name}_low", lambda estimate: estimate.low),
        column(f"{name}_high", lambda estimate: estimate.high),
    )
    return Field(name, columns, lambda reported: plain(value(reported.figure)))


def _condition(name: str, value: Callable[[Condition], float | None]) -> Field:
    """A column: JSON has a cell's condition as a whole."""

    def column(reported: CellContext) -> float | None:
        return value(reported.figure.condition) if reported.figure.condition else None

    return Field(name, (Column(name, float, column, null=True),))


def _budget(name: str, value: Callable[[CellBudget], float | None]) -> Field:
    """A column: JSON has the time budgets as a whole. None where nothing was measured."""

    def column(reported: CellContext) -> float | None:
        return value(reported.budget) if reported.budget and reported.budget.rows else None

    return Field(name, (Column(name, float, column, null=True),))


def _work(name: str) -> Field:
    """A count of the engine's own, its median."""
    return _same(
        f"{name}_median", float, lambda reported: dict(reported.figure.work).get(name), null=True
    )


def _parts(name: str, parts: Callable[[CellResult], Sequence[Any]]) -> Field:
    """A member: what the record holds of a cell, in a list."""
    return Field(
        name,
        member=lambda reported: (
            [plain(one) for one in parts(reported.result)] if reported.result else []
        ),
    )


def _best_ratio(figure: CellSummary) -> Estimate | None:
    """None where no format prints one: a row without a proved figure is not ranked."""
    return None if figure.unproved else figure.ratio


FIELDS: tuple[Field, ...] = (
    _of_run("run_id", str, lambda reported: reported.run.run_id),
    _of_run("benchmark", str, lambda reported: reported.run.plan.benchmark),
    _of_run("edition", str, lambda reported: reported.run.plan.edition),
    _of_run("query_group", str, lambda reported: reported.row.operation.group),
    _same("operation", str, lambda reported: reported.figure.cell.operation),
    _of_run("title", str, lambda reported: reported.row.operation.title),
    _same("variant", str, lambda reported: reported.figure.cell.variant),
    _same("role", str, lambda reported: reported.figure.role.value),
    _same("rows", int, lambda reported: reported.figure.cell.rows),
    _same("temperature", str, lambda reported: reported.figure.temperature),
    _same("temperature_planned", str, lambda reported: reported.figure.cell.temperature),
    _same("status", str, lambda reported: reported.figure.status),
    _same("reason", str, lambda reported: reported.figure.reason),
    Field(
        "ended_at", member=lambda reported: reported.result.ended_at if reported.result else None
    ),
    _of_run("samples", int, lambda reported: len(reported.figure.samples)),
    _estimate("elapsed_ns", "elapsed_ns_median", lambda figure: figure.elapsed_ns),
    _same("longer_than_ns", int, lambda reported: reported.figure.longer_than_ns, null=True),
    _estimate("best_ratio", "best_ratio", _best_ratio),
    Field(
        "unequal_terms",
        (Column("unequal_terms", str, lambda t: "; ".join(one.words for one in t.figure.unequal)),),
        lambda reported: [plain(term) for term in reported.figure.unequal],
    ),
    _same("overhead_share", float, lambda reported: reported.figure.overhead_share, null=True),
    _same("client_cpu_share", float, lambda reported: reported.figure.client_cpu_share, null=True),
    _same("server_cpu_share", float, lambda reported: reported.figure.server_cpu_share, null=True),
    _same("read_bytes_median", float, lambda reported: reported.figure.read_bytes, null=True),
    _same("written_bytes_median", float, lambda reported: reported.figure.written_bytes, null=True),
    *(_work(name) for name in WORK),
    _same("answers_right", int, lambda reported: reported.figure.answers_right),
    _same("answers_checked", int, lambda reported: reported.figure.answers_checked),
    Field(
        "outliers",
        (Column("outliers", int, lambda reported: len(reported.figure.outliers)),),
        lambda reported: list(reported.figure.outliers),
    ),
    _same(
        "samples_effective", float, lambda reported: reported.figure.samples_effective, null=True
    ),
    Field("visits_least", member=lambda reported: reported.figure.visits_least),
    _condition("stolen_share", lambda condition: condition.stolen_share),
    _condition("foreign_share", lambda condition: condition.foreign_share),
    _condition("speed_drift", lambda condition: condition.speed_drift),
    _condition("speed_probe_ns", lambda condition: condition.speed_probe_ns),
    _budget("budget_kernel_share", lambda budget: share_of_kind(budget, KERNEL)),
    _budget("budget_waiting_share", lambda budget: share_of_kind(budget, WAITING)),
    _budget("budget_asleep_share", lambda budget: share_of_kind(budget, ASLEEP)),
    _budget("budget_unclassified_share", lambda budget: budget.unclassified_share),
    _budget("budget_residual_share", lambda budget: budget.residual_share),
    _budget("observer_ratio", lambda budget: budget.observer.value if budget.observer else None),
    Field("condition", member=lambda reported: plain(reported.figure.condition)),
    Field("disturbance", member=lambda reported: plain(reported.figure.disturbance)),
    Field("samples", member=lambda reported: [plain(sample) for sample in reported.figure.samples]),
    _parts("answers", lambda result: result.answers),
    _parts("evidence", lambda result: result.evidence),
    _parts("statements", lambda result: result.statements),
    _same("label", str, lambda reported: reported.figure.label),
    Field("judged", member=lambda reported: reported.run.plan.limits),
)

COLUMNS: tuple[Column, ...] = tuple(column for field in FIELDS for column in field.columns)


def cells(whole: Summary) -> Iterator[CellContext]:
    """Every planned cell, in the order of the summary."""
    results = {result.cell.key: result for result in whole.run.results}
    for view in whole.views:
        for row in view.all_rows:
            for key, figure in ((figure.cell.key, figure) for figure in row.figures.values()):
                result = results.get(key)
                budget = budget_of(result, row.operation.destination) if result else None
                yield CellContext(whole.run, row, figure, result, budget)


def flat(reported: CellContext) -> dict[str, Any]:
    """A cell's columns."""
    return {column.name: column.value(reported) for column in COLUMNS}


def members(reported: CellContext) -> dict[str, Any]:
    """A cell's object in JSON."""
    return {field.name: field.member(reported) for field in FIELDS if field.member}


def plain(value: Any) -> dict[str, Any] | None:
    """A frozen value as an object; None stays what it is."""
    return None if value is None else by_name(value)
