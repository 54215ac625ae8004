"""The evidence behind a cell of the sensitivity map: the contrast of each block, the plans at both
values, and the work at base, with the switch alone, and at the other end. Of a switch that was only
flipped with its group, what stands behind the group's."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp, inf
from statistics import median

from loadstone.plan.plan import Plan
from loadstone.plan.study import Study
from loadstone.record.model import BELIEVED, WORK, CellResult, Run, StatementText
from loadstone.studies import contrasts
from loadstone.studies.design import (
    BASE,
    Combination,
    Design,
    all_combinations,
    design_after,
    every,
)
from loadstone.studies.plan_shape import PlanLine, beside, shape
from loadstone.studies.view import StudiedOperation, StudyMap, SwitchEffect, blocks

COUNTS = (
    "client_cpu_ns",
    "server_cpu_ns",
    "read_bytes",
    "written_bytes",
    "round_trips",
    "statements",
    *WORK,
)
"""The fields of a sample that say what it did in its time."""

CHANGED = 1.5
"""The least factor by which a count must differ to be reported."""


@dataclass(frozen=True, slots=True)
class Count:
    """The median of a field over the samples; None where it was not counted."""

    name: str
    base: float | None
    alone: float | None
    """With this switch at its other value and all others at base."""
    end: float | None
    """With all of them at their other value."""


@dataclass(frozen=True, slots=True)
class SwitchDetail:
    """One switch on one operation."""

    operation: StudiedOperation
    effect: SwitchEffect
    alone: tuple[float, ...]
    """The ratio of each block that has both combinations, in time order."""
    last: tuple[float, ...]
    counts: tuple[Count, ...]
    """Of those fields that some combination counted, and that are not zero in all."""
    statement: str
    """At base."""
    plan: tuple[PlanLine, ...]
    """At base, and beside it with this switch alone; of the first variation that has another plan,
    else of the first. Empty where the engine shows none."""


def switch_details(run: Run, found: StudyMap) -> tuple[SwitchDetail, ...]:
    """Of every operation, in the map's order, and of every switch, in the map's order."""
    results: dict[tuple[int, str], dict[str, CellResult]] = {}
    for result in run.results:
        cell = result.cell
        results.setdefault((cell.rows, cell.operation), {})[cell.variant] = result
    place = {switch.key: number for number, switch in enumerate(found.order)}
    return tuple(
        _detail(run.plan, found.study, operation, effect, results[operation.rows, operation.name])
        for operation in found.operations
        for effect in sorted(operation.switches, key=lambda one: place[one.switch.key])
    )


def _detail(
    plan: Plan,
    study: Study,
    operation: StudiedOperation,
    effect: SwitchEffect,
    results: Mapping[str, CellResult],
) -> SwitchDetail:
    ran = {name: one for name, one in results.items() if one.status in BELIEVED and one.samples}
    design = design_after(plan, study, operation.decisions)
    variants = _variants(study, operation)
    name, part = _part(design, effect.switch.key)
    base, alone = results[study.base], results.get(variants.get(part, ""))
    observed = blocks(all_combinations(study, operation.decisions), ran)
    last = contrasts.last(design.parts, name) if name in design.parts else None
    ends = (BASE, part, every(design.parts))
    at = [ran.get(variants.get(one, "")) for one in ends]
    return SwitchDetail(
        operation=operation,
        effect=effect,
        alone=_ratios(contrasts.marginal(part, BASE), observed),
        last=_ratios(last, observed) if last else (),
        counts=tuple(_counts(at[0], at[1], at[2])),
        statement=base.statements[0].text if base.statements else "",
        plan=_plans(base, alone),
    )


def _variants(study: Study, operation: StudiedOperation) -> Mapping[Combination, str]:
    """The measured combinations of an operation: the plan's, and those of decisions."""
    combinations = all_combinations(study, operation.decisions)
    return {frozenset(each.flipped): each.variant for each in combinations}


def _part(design: Design, key: str) -> tuple[str, Combination]:
    """The part that a switch is: itself, or its group. A further value is none of the design's."""
    known = {**design.parts, **design.pruned, **design.held}
    own = ((name, part) for name, part in known.items() if key in part)
    return next(own, (key, frozenset({key})))


def work_changed(run: Run, found: StudyMap, operation: StudiedOperation, key: str) -> list[Count]:
    """The counters that differ with a switch alone from those at base, by a factor of `CHANGED` at
    least, the most changed first; without the processor time, which follows the elapsed one."""
    study = found.study
    cells = {
        result.cell.variant: result
        for result in run.results
        if (result.cell.rows, result.cell.operation) == (operation.rows, operation.name)
        and result.status in BELIEVED
    }
    own = _variants(study, operation).get(frozenset({key}), "")
    base, alone = cells.get(study.base), cells.get(own)
    if base is None or alone is None:
        return []
    counts = [one for one in _counts(base, alone, None) if not one.name.endswith("_cpu_ns")]
    return sorted((one for one in counts if _factor(one) >= CHANGED), key=lambda one: -_factor(one))


def _factor(one: Count) -> float:
    if one.base is None or one.alone is None:
        return 1.0
    low, high = sorted((one.base, one.alone))
    return high / low if low else (inf if high else 1.0)


def _ratios(
    contrast: contrasts.Contrast, observed: list[dict[frozenset[str], float]]
) -> tuple[float, ...]:
    whole = [block for block in observed if block.keys() >= contrast.keys()]
    return tuple(exp(contrasts.value(contrast, block)) for block in whole)


def _counts(
    base: CellResult | None, alone: CellResult | None, end: CellResult | None
) -> Iterator[Count]:
    for name in COUNTS:
        found = [_median(result, name) for result in (base, alone, end)]
        if any(found):
            yield Count(name, *found)


def _median(result: CellResult | None, name: str) -> float | None:
    values = [getattr(sample, name) for sample in result.samples] if result else []
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _plans(base: CellResult, other: CellResult | None) -> tuple[PlanLine, ...]:
    plans = {text.variation: text.plan for text in other.statements} if other else {}
    pairs = [
        (text.plan, plans[text.variation])
        for text in base.statements
        if text.plan and plans.get(text.variation)
    ]
    if not pairs:
        return _only(base.statements)
    first = next((pair for pair in pairs if shape(pair[0]) != shape(pair[1])), pairs[0])
    return beside(*first)


def _only(texts: tuple[StatementText, ...]) -> tuple[PlanLine, ...]:
    """The plan at base, where there is no other: nothing differs from it."""
    plan = next((text.plan for text in texts if text.plan), "")
    return tuple(PlanLine(line, "", differs=False) for line in plan.splitlines())
