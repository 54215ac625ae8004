"""The time budgets in words and tables, the same for every format that people read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.analysis.budget import (
    COMPONENT,
    KERNEL,
    BudgetRow,
    CellBudget,
    OperationBudget,
    seen,
    share_of,
)
from loadstone.analysis.budget_overview import Overview, OverviewRow, budget_quality
from loadstone.analysis.statement_ladder import RungFigure
from loadstone.report.ladder_words import ABSENT, LadderCell, LadderTable, difference
from loadstone.text.numbers import duration, interval, listing, percent, plural, signed, unit_for

OTHER = "all others"
OWN = "its own timer:"
NOT_MEASURABLE = "not measurable"
OTHER_PLAN = "another plan"


@dataclass(frozen=True, slots=True)
class BudgetTables:
    """One operation's budgets, the engines side by side: where the time goes, and the ladder of
    its statement (None where no engine has one); `notes` say what does not hold."""

    operation: OperationBudget
    parts: LadderTable
    ladder: LadderTable | None
    notes: tuple[str, ...]


def budget_tables(found: OperationBudget, names: Mapping[str, str]) -> BudgetTables:
    """`names`: each variant's short name."""
    cells = [cell for cell in found.cells if cell.rows]
    headings = tuple(names.get(cell.cell.variant, cell.cell.variant) for cell in cells)
    return BudgetTables(
        found,
        LadderTable("Where the time goes", ("share of the time", *headings), _parts(found, cells)),
        _ladder(cells, headings),
        tuple(note for cell in found.cells for note in _notes(cell, names)),
    )


def _parts(
    found: OperationBudget, cells: Sequence[CellBudget]
) -> tuple[tuple[str, tuple[LadderCell, ...]], ...]:
    by_name = [{row.key: row for row in cell.rows} for cell in cells]
    large = found.names_shown
    reported = [
        (name, tuple(_cell(rows.get((kind, name))) for rows in by_name)) for kind, name in large
    ]
    small = [[row for key, row in rows.items() if key not in large] for rows in by_name]
    if any(small):
        reported.append((OTHER, tuple(_together(rows) for rows in small)))
    reported.append(("one statement", tuple(LadderCell(duration(c.elapsed_ns)) for c in cells)))
    return tuple(reported)


def _cell(row: BudgetRow | None) -> LadderCell:
    if row is None:
        return LadderCell(ABSENT, status="gap")
    title = duration(abs(row.elapsed_ns))
    if row.share_low is not None and row.share_high is not None:
        title += f", 95 % within {percent(row.share_low)} to {percent(row.share_high)}"
    functions = (f"{name} {percent(share)}" for name, share in row.functions)
    return LadderCell(share_words(row.share), title="; ".join((title, *functions)))


def _together(rows: Sequence[BudgetRow]) -> LadderCell:
    names = listing(row.name for row in rows)
    return LadderCell(share_words(share_of(rows)), title=names)


def share_words(share: float) -> str:
    """A share, with a sign where it is negative; what is less than can be seen is nothing."""
    shown = seen(share)
    return signed(shown) if shown < 0 else percent(shown)


def _notes(cell: CellBudget, names: Mapping[str, str]) -> Sequence[str]:
    """The parts of a cell's budget that do not hold, and those that were not seen."""
    name = names.get(cell.cell.variant, cell.cell.variant)
    reported = []
    if cell.closes is False:
        reported.append(f"{name} does not add up: {signed(cell.residual_share)} beyond the samples")
    if cell.reason:
        reported.append(f"{name}: {cell.reason}")
    if cell.lost:
        reported.append(f"{name}: at least {plural(cell.lost, 'sample')} lost")
    if cell.has_threads_together:
        reported.append(f"{name}: negative time off the CPU is that of threads at work together")
    return reported


def _ladder(cells: Sequence[CellBudget], headings: Sequence[str]) -> LadderTable | None:
    ladders = [cell.ladder for cell in cells]
    if not any(ladders):
        return None
    first = next(ladder for ladder in ladders if ladder)
    rows = [
        (rung.name, tuple(_rung(ladder[place] if ladder else None) for ladder in ladders))
        for place, rung in enumerate(first)
    ]
    names = dict.fromkeys(timer.name for cell in cells for timer in cell.timers)
    rows += [(f"{OWN} {name}", tuple(_timer(cell, name) for cell in cells)) for name in names]
    return LadderTable("The ladder of its statement", ("each", *headings), tuple(rows))


def _timer(cell: CellBudget, name: str) -> LadderCell:
    """A time that the engine took itself, beside the ladder and not of it."""
    found = next((timer for timer in cell.timers if timer.name == name), None)
    if found is None:
        return LadderCell(ABSENT, title="it has no such timer", status="gap")
    title = f"the engine's own timer, median of {plural(found.executions, 'execution')}"
    return LadderCell(duration(found.elapsed_ns), title=title)


def _rung(rung: RungFigure | None) -> LadderCell:
    if rung is None:
        return LadderCell(ABSENT, title="it runs without statements", status="gap")
    if rung.each_ns is None or rung.beyond_ns is None:
        return LadderCell(ABSENT, title=rung.reason, status="gap")
    unit = unit_for([abs(rung.beyond_ns.value)])
    within = interval(rung.beyond_ns, unit)
    title = f"{rung.attributed}: {difference(rung.beyond_ns.value)}"
    title += f" beyond {rung.below}" if rung.below else ""
    title += f", 95 % within {within} {unit.symbol}" if within else ""
    beyond = difference(rung.beyond_ns.value) if rung.is_measurable else NOT_MEASURABLE
    if rung.same_plan is False:
        beyond, title = f"{beyond}, {OTHER_PLAN}", f"{title}; the engine plans it otherwise"
    return LadderCell(duration(rung.each_ns.value), beyond if rung.below else "", title)


def quality_line(found: Sequence[OperationBudget]) -> str:
    """One sentence on how well the budgets of a run hold; empty without any."""
    quality = budget_quality(found)
    if not quality.cells:
        return ""
    said = [plural(quality.cells, "time budget")]
    if quality.judged:
        said.append(f"{quality.closed} of {quality.judged} add up within 5 %")
    if quality.unclassified_median is not None:
        said.append(f"unclassified {percent(quality.unclassified_median)} (median)")
    if quality.observer_median is not None:
        said.append(f"the sampler cost {signed(quality.observer_median)} (median)")
    return "; ".join((*said, *quality.reasons))


def overview_rows(overview: Overview, most: int | None = None) -> list[tuple[str, list[str]]]:
    """(row, each variant's share): the rows of at least 1 % for some variant, then the others; of
    `most` rows at most the largest, the largest first."""
    shown = overview.shown if most is None else overview.largest(most)
    reported = [
        (row.name, [_mean_words(row, row.shares[name]) for name in overview.variants])
        for row in shown
    ]
    if others := overview.beside(shown):
        reported.append((OTHER, [share_words(share) for share in others.values()]))
    return reported


def _mean_words(row: OverviewRow, share: float) -> str:
    """A mean of shares; of a component in which no sample of the engine was, there is none."""
    sampled = row.kind in (COMPONENT, KERNEL)
    return ABSENT if sampled and share == 0 else share_words(share)
