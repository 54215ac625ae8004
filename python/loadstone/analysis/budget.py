"""The time budget of a cell: the rows that its time is made of, the ladder of its statement, the
sampler's own cost, and whether the rows add up.

A row is a component (functions that a database engineer knows by one name; the kernel's are called
`kernel: …`), or time off the CPU, or what is left. All times are of one statement, in the mean.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.analysis.plans.difference import finds_alike
from loadstone.analysis.statement_ladder import RungFigure, climbed, observations
from loadstone.plan.plan import Cell
from loadstone.plan.statement_ladder import KERNEL_PREFIX, UNCLASSIFIED, UNWATCHED, WATCHED
from loadstone.plan.variant import engine_of
from loadstone.record.budget import ALL, NOTHING, PROGRAMS, Budget, BudgetTimer
from loadstone.record.model import CellResult, OperationText, Run
from loadstone.statistics.estimate import CONFIDENCE, Estimate, centre
from loadstone.statistics.time_budget import TimeBudget, time_budget, wilson
from loadstone.text.numbers import listing

COMPONENT, KERNEL, WAITING, ASLEEP, RESIDUAL = (
    "component", "kernel", "waiting", "asleep", "residual",
)  # fmt: skip
"""The kinds of rows. Asleep: off the CPU, and not waiting for one: for a device, a lock, or another
program's answer. Residual: CPU time beyond the samples."""
NAMES = {
    WAITING: "waiting for a CPU",
    ASLEEP: "asleep: device, lock, wake-up",
    RESIDUAL: "beyond the samples",
}
UNSEEN = {PROGRAMS: "kernel, and what chance left", NOTHING: "on the CPU"}
"""The name of the residual where the sampler did not see all."""
SHOWN_SHARE_MIN = 0.01
"""Rows that are smaller for every engine are reported together."""
SEEN_SHARE_MIN = 0.0005
"""A tenth of a sample of a cell: less is a remainder of arithmetic."""
FUNCTIONS_SHOWN = 5
"""Of a row: the most frequent."""
CLOSE_SHARE_MAX = 0.05
"""Samples that miss the CPU time by more of the elapsed time leave too much untold, also where
chance allows it."""


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A part of a statement's time, of one statement. `share` is of the elapsed time, with the 95 %
    interval that the number of samples leaves; a row that was not sampled has none."""

    kind: str
    name: str
    elapsed_ns: float
    share: float
    share_low: float | None = None
    share_high: float | None = None
    functions: tuple[tuple[str, float], ...] = ()
    """Its most frequent functions, each with its share of the elapsed time."""

    @property
    def key(self) -> tuple[str, str]:
        """The same row of another engine has the same."""
        return self.kind, self.name


@dataclass(frozen=True, slots=True)
class CellBudget:
    """The place where the time of one cell's statement went. `rows` add up to `elapsed_ns`:
    components, the largest first, then time off the CPU, then the residual; none where nothing was
    measured. `closes`: whether the residual is within 5 % of the elapsed time, either way; None
    where the sampler did not see all of the CPU time, so that the residual has another meaning.
    Chance alone makes it `residual_share_max`."""

    cell: Cell
    sampled: str
    reason: str
    statements: int
    samples: int
    lost: int
    elapsed_ns: float
    rows: tuple[BudgetRow, ...]
    closes: bool | None
    residual_share: float
    residual_share_max: float
    observer: Estimate | None
    """The statement's time with the sampler over that without; None where it was not compared."""
    ladder: tuple[RungFigure, ...]
    timers: tuple[BudgetTimer, ...] = ()
    """The engine's own, beside it."""

    @property
    def has_threads_together(self) -> bool:
        """Whether threads at work together make its time off the CPU negative."""
        return any(row.elapsed_ns < 0 and row.kind == ASLEEP for row in self.rows)

    @property
    def observer_percent(self) -> float | None:
        """The cost of the sampler, in percent of the time without it; None if not compared."""
        return None if self.observer is None else round((self.observer.value - 1) * 100, 1)

    @property
    def unclassified_share(self) -> float:
        """Of the elapsed time: in functions that no component claims."""
        return sum(row.share for row in self.rows if row.name == UNCLASSIFIED)

    @property
    def kernel_share(self) -> float:
        """Of the elapsed time: in the kernel, as sampled."""
        return sum(row.share for row in self.rows if row.kind == KERNEL)


@dataclass(frozen=True, slots=True)
class OperationBudget:
    """The budgets of one operation at one scale and temperature, in the plan's order of variants.
    `names` are the rows' names with their kinds, those of the largest times first."""

    operation: OperationText
    rows: int
    temperature: str
    cells: tuple[CellBudget, ...]

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """(kind, name) of all rows of all cells: components and the kernel's by the time that they
        take together, then the others in their order."""
        total_ns: Counter[tuple[str, str]] = Counter()
        for cell in self.cells:
            for row in cell.rows:
                total_ns[row.kind, row.name] += round(row.elapsed_ns)
        parts = [key for key in total_ns if key[0] in (COMPONENT, KERNEL)]
        others = [key for key in total_ns if key[0] not in (COMPONENT, KERNEL)]
        return (*sorted(parts, key=lambda key: (-total_ns[key], key)), *others)

    @property
    def names_shown(self) -> tuple[tuple[str, str], ...]:
        """Those of rows with a notable share of some engine's time, which are reported one by
        one."""
        notable = {row.key for cell in self.cells for row in cell.rows if is_notable(row.share)}
        return tuple(key for key in self.names if key in notable)


def is_notable(share: float) -> bool:
    """Whether a share is reported by itself."""
    return abs(share) >= SHOWN_SHARE_MIN


def seen(share: float) -> float:
    """A share; 0 for one that is too small to be seen."""
    return 0.0 if abs(share) < SEEN_SHARE_MIN else share


def share_of(rows: Iterable[BudgetRow]) -> float:
    """Rows together."""
    return sum(row.share for row in rows)


def together(budget: CellBudget, names: Collection[str]) -> BudgetRow | None:
    """The sampled rows of these names as one; None where the budget has none of them."""
    sampled = [row for row in budget.rows if row.kind in (COMPONENT, KERNEL)]
    rows = [row for row in sampled if row.name in names]
    if not rows:
        return None
    seen_share = share_of(sampled)
    share = share_of(rows)
    low, high = wilson(round(budget.samples * share / seen_share), budget.samples)
    return BudgetRow(
        COMPONENT,
        listing([row.name for row in rows]),
        sum(row.elapsed_ns for row in rows),
        share,
        low * seen_share,
        high * seen_share,
    )


def share_of_kind(budget: CellBudget, kind: str) -> float | None:
    """The rows of a kind together; None where the budget has none."""
    found = [row for row in budget.rows if row.kind == kind]
    return share_of(found) if found else None


def budgets(run: Run) -> tuple[OperationBudget, ...]:
    """Of every operation that has any, in the plan's order."""
    texts = {(text.name, text.rows): text for text in run.operations}
    results = {result.cell.key: result for result in run.results}
    grouped: dict[tuple[int, str, str], list[CellBudget]] = defaultdict(list)
    for cell in run.plan.cells:
        text, result = texts.get((cell.operation, cell.rows)), results.get(cell.key)
        if text is None or result is None:
            continue
        found = budget_of(result, text.destination)
        if found is not None:
            grouped[cell.rows, cell.temperature, cell.operation].append(found)
    return tuple(
        OperationBudget(texts[operation, rows], rows, temperature, tuple(found))
        for (rows, temperature, operation), found in grouped.items()
    )


def budget_of(result: CellResult, destination: str) -> CellBudget | None:
    """The budget of one cell, whose operation's rows go to `destination`; None without one."""
    budget = result.budget
    if budget is None:
        return None
    taken = _time_budget(budget)
    statements = max(budget.statements, 1)
    rows = _rows(budget, taken, statements) if budget.statements else ()
    elapsed_ns = max(taken.elapsed_ns, 1.0)
    residual_share = taken.residual_ns / elapsed_ns
    is_whole = budget.sampled == ALL and budget.statements > 0
    return CellBudget(
        cell=result.cell,
        sampled=budget.sampled,
        reason=budget.reason,
        statements=budget.statements,
        samples=sum(part.samples for part in budget.parts),
        lost=budget.lost,
        elapsed_ns=taken.elapsed_ns / statements,
        rows=rows,
        closes=abs(residual_share) <= CLOSE_SHARE_MAX if is_whole else None,
        residual_share=residual_share,
        residual_share_max=taken.residual_ns_max / elapsed_ns,
        observer=_observer(budget),
        ladder=ladder_without(result, destination),
        timers=budget.timers,
    )


def ladder_without(
    result: CellResult, destination: str, rungs: Collection[str] = ()
) -> tuple[RungFigure, ...]:
    """The ladder of one cell's statement, with these rungs passed over; empty without one."""
    if result.budget is None:
        return ()
    plan = next((text.plan for text in result.statements), "")
    engine = engine_of(result.cell.variant)
    alike = {each.rung: finds_alike(engine, plan, each.plan) for each in result.budget.rungs}
    return climbed(result.budget, destination, result.cell.operation, alike, rungs)


def _time_budget(budget: Budget) -> TimeBudget:
    """All threads together; the executing one without what reading its clock took."""
    samples: Counter[str] = Counter()
    for part in budget.parts:
        samples[part.component] += part.samples
    threads_ns = [
        max(0.0, thread.cpu_ns - (budget.reading_ns if thread.executing else 0.0))
        for thread in budget.threads
    ]
    waited = [thread.waited_ns for thread in budget.threads]
    known = None if None in waited else sum(ns or 0 for ns in waited)
    return time_budget(
        samples, budget.period_ns, budget.elapsed_ns, threads_ns, known, budget.statements
    )


def _rows(budget: Budget, taken: TimeBudget, statements: int) -> tuple[BudgetRow, ...]:
    whole_ns = max(taken.elapsed_ns, 1.0)
    functions = _functions(budget, whole_ns)
    rows = [
        BudgetRow(
            KERNEL if part.component.startswith(KERNEL_PREFIX) else COMPONENT,
            part.component,
            part.ns / statements,
            part.ns / whole_ns,
            part.low_ns / whole_ns,
            part.high_ns / whole_ns,
            functions.get(part.component, ()),
        )
        for part in taken.parts
    ]
    others = [(ASLEEP, NAMES[ASLEEP], taken.slept_ns)]
    if taken.waited_ns is not None:
        others.insert(0, (WAITING, NAMES[WAITING], taken.waited_ns))
    others.append((RESIDUAL, UNSEEN.get(budget.sampled, NAMES[RESIDUAL]), taken.residual_ns))
    rows += [BudgetRow(kind, name, ns / statements, ns / whole_ns) for kind, name, ns in others]
    return tuple(rows)


def _functions(budget: Budget, whole_ns: float) -> Mapping[str, tuple[tuple[str, float], ...]]:
    """Component -> its most frequent functions with their shares of the elapsed time."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for part in budget.parts:
        if part.function:
            seen[part.component][part.function] += part.samples
    return {
        component: tuple(
            (function, samples * budget.period_ns / whole_ns)
            for function, samples in counted.most_common(FUNCTIONS_SHOWN)
        )
        for component, counted in seen.items()
    }


def _observer(budget: Budget) -> Estimate | None:
    """The paired ratio of blocks with the sampler and without."""
    both = observations(budget, (UNWATCHED, WATCHED))
    ratios: Sequence[float] = [block[WATCHED] / block[UNWATCHED] - 1 for block in both]
    if not ratios:
        return None
    found = centre(ratios, CONFIDENCE)
    bounds = (None if bound is None else bound + 1 for bound in (found.low, found.high))
    return Estimate(found.value + 1, *bounds)
