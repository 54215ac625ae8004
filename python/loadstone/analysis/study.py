"""What a study's record says: of each operation and each switch the effect, its interval, and
whether the plan changed.

Observations are medians within blocks (`Sample.round`), of cells that were measured together; the
figures are those of `statistics/study`. A combination that failed, or whose answers were wrong, has
no observations: what needs it is None.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

from loadstone.analysis.plan_shape import same_plans
from loadstone.plan.plan import Plan
from loadstone.plan.study import Combination, Study, Switch
from loadstone.record.model import BELIEVED, CellResult, Run
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.study import (
    PartEffect,
    StudyEffects,
    as_ratio,
    escalation,
    is_beyond,
    parts_of,
    study_effects,
)

NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class SwitchEffect:
    """One switch on one operation."""

    switch: Switch
    effect: PartEffect
    """On ln."""
    alone: Estimate | None
    """The time with this switch at its other value and all others at base, over that at base."""
    last: Estimate | None
    """The time of the other end over that with this switch still at base."""
    acts_alone: bool
    """Whether `alone` is called an effect."""
    same_plan: bool | None
    """Whether base and the switch alone have the same plan; None where the engine shows none."""
    failure: str
    """Why there is no figure for it alone; empty where there is one."""

    @property
    def strength(self) -> float:
        """For sorting: how far its larger effect, alone or last, is from none, on ln; 0 unless it
        is called an effect."""
        if not self.effect.acts:
            return 0.0
        return max(abs(log(one.value)) for one in (self.alone, self.last) if one)


@dataclass(frozen=True, slots=True)
class StudiedOperation:
    """One operation at one scale: its switches in the study's order."""

    name: str
    rows: int
    effects: StudyEffects
    switches: tuple[SwitchEffect, ...]
    status: str
    """`ok`, or the worst status of its combinations."""
    reason: str
    escalate: tuple[str, ...]
    """The tactics that a factorial study should take apart, because interactions of three and more
    are seen; empty where none are."""

    @property
    def strength(self) -> float:
        """That of its strongest switch."""
        return max((each.strength for each in self.switches), default=0.0)


@dataclass(frozen=True, slots=True)
class StudyMap:
    """Operations x switches, what matters first in both."""

    study: Study
    operations: tuple[StudiedOperation, ...]
    order: tuple[Switch, ...]
    """The switches by their strongest effect."""


def study_map(run: Run) -> StudyMap | None:
    """The sensitivity map of a record; None if its plan is no study."""
    study = run.plan.study
    if study is None:
        return None
    found = tuple(sorted(_operations(run, study), key=lambda one: (one.rows, -one.strength)))
    reach: dict[str, float] = defaultdict(float)
    for operation in found:
        for each in operation.switches:
            reach[each.switch.tactic] = max(reach[each.switch.tactic], each.strength)
    order = tuple(sorted(study.switches, key=lambda switch: -reach[switch.tactic]))
    return StudyMap(study, found, order)


def _operations(run: Run, study: Study) -> Iterator[StudiedOperation]:
    cells: dict[tuple[int, str], dict[str, CellResult]] = defaultdict(dict)
    for result in run.results:
        cells[result.cell.rows, result.cell.operation][result.cell.variant] = result
    for text in run.operations:
        results = cells.get((text.rows, text.name), {})
        if study.base in results:
            yield operation_effects(run.plan, study, results)


def operation_effects(
    plan: Plan, study: Study, results: Mapping[str, CellResult]
) -> StudiedOperation:
    """One operation, from the results of its cells by variant, that of the base among them."""
    ran = {name: one for name, one in results.items() if one.status in BELIEVED and one.samples}
    parts = parts_of(switch.tactic for switch in study.switches)
    effects = study_effects(
        parts,
        blocks(study.combinations, ran),
        _control(study.base, plan.aa_control, ran),
    )
    own = [results[c.variant] for c in study.combinations if c.variant in results]
    worst = next((r for status in ("failed", "invalid", "gap", "disturbed")
                  for r in own if r.status == status), None)  # fmt: skip
    return StudiedOperation(
        name=results[study.base].cell.operation,
        rows=results[study.base].cell.rows,
        effects=effects,
        switches=tuple(_switches(study, effects, results)),
        status=worst.status if worst else "ok",
        reason=worst.reason if worst else "",
        escalate=tuple(further.parts) if (further := escalation(parts, effects)) else (),
    )


def blocks(
    combinations: Sequence[Combination], results: Mapping[str, CellResult]
) -> list[dict[frozenset[str], float]]:
    """Combination -> ln of its median time in ms, block by block."""
    found: dict[int, dict[frozenset[str], float]] = defaultdict(dict)
    for combination in combinations:
        result = results.get(combination.variant)
        for number, logarithm in _by_round(result).items() if result else ():
            found[number][frozenset(combination.flipped)] = logarithm
    return [found[number] for number in sorted(found)]


def _by_round(result: CellResult) -> dict[int, float]:
    times: dict[int, list[int]] = defaultdict(list)
    for sample in result.samples:
        times[sample.round].append(sample.elapsed_ns)
    return {number: log(median(ns) / NS_PER_MS) for number, ns in times.items()}


def _control(base: str, control: str, results: Mapping[str, CellResult]) -> list[float]:
    """The ln of the A/A control's ratio in each block that has both."""
    if base not in results or control not in results:
        return []
    first, again = _by_round(results[base]), _by_round(results[control])
    return [again[number] - first[number] for number in sorted(first.keys() & again.keys())]


def _switches(
    study: Study, effects: StudyEffects, results: Mapping[str, CellResult]
) -> Iterator[SwitchEffect]:
    alone = {c.flipped: results.get(c.variant) for c in study.combinations}
    base = results[study.base]
    for switch in study.switches:
        result = alone.get((switch.tactic,))
        bad = [one for one in (base, result) if one and one.status not in BELIEVED]
        effect = effects.parts[switch.tactic]
        yield SwitchEffect(
            switch=switch,
            effect=effect,
            alone=effect.alone and as_ratio(effect.alone),
            last=effect.last and as_ratio(effect.last),
            acts_alone=is_beyond(effect.alone, effects.threshold),
            same_plan=same_plans(base.statements, result.statements) if result else None,
            failure=f"{bad[0].status}: {bad[0].reason}" if bad else "",
        )
