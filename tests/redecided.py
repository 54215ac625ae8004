"""The decisions of a study, decided again from what its record holds: its samples and nothing
else."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loadstone.plan.choices import FACTORIAL
from loadstone.plan.study import HELD, OPENED, PRUNED, TAKEN_APART, Decision
from loadstone.record.model import CellResult, Run
from loadstone.studies.design import (
    BASE,
    Combination,
    Design,
    all_combinations,
    design_after,
    every,
    of_operation,
    to_hold,
)
from loadstone.studies.steering import escalation, prunable, to_open
from loadstone.studies.view import StudiedOperation, operation_effects

Reported = tuple[str, tuple[str, ...]]
"""A decision's kind, and what it is about."""


def reported_of(decisions: Sequence[Decision]) -> list[Reported]:
    return [(one.kind, one.tactics) for one in decisions]


def redecided(run: Run) -> dict[tuple[str, int], tuple[list[Reported], list[Reported]]]:
    """(operation, scale) -> what the record says was decided, and what follows from its samples."""
    study = run.plan.study
    assert study is not None
    groups = {(result.cell.operation, result.cell.rows) for result in run.results}
    found = {}
    for operation, rows in groups:
        own = {
            result.cell.variant: result
            for result in run.results
            if (result.cell.operation, result.cell.rows) == (operation, rows)
        }
        decisions = of_operation(run.decisions, operation, rows)
        again = list(_Again(run, own, decisions).decided())
        found[operation, rows] = (reported_of(decisions), again)
    return found


class _Again:
    """One operation."""

    def __init__(
        self, run: Run, results: dict[str, CellResult], decisions: Sequence[Decision]
    ) -> None:
        assert run.plan.study is not None
        self._plan, self._study = run.plan, run.plan.study
        self._results, self._decisions = results, decisions
        self._cells: dict[Combination, CellResult] = {
            frozenset(one.flipped): results[one.variant]
            for one in all_combinations(self._study, decisions)
            if one.variant in results
        }

    def decided(self) -> Iterator[Reported]:
        design = design_after(self._plan, self._study, ())
        for name in self._held(design):
            kind = OPENED if design.is_group(name) else HELD
            yield kind, (name,)
            one = (name,)
            design = design.opening(one) if kind == OPENED else design.holding(one)
        if design.name != FACTORIAL and (pruned := self._pruned(design)):
            yield PRUNED, pruned
            design = design.pruning(pruned)
        groups = [name for name in design.parts if design.is_group(name)]
        opened = to_open(groups, self._effects(OPENED).effects) if groups else ()
        if opened:
            yield OPENED, opened
            loose = {key for name in opened for key in design.parts[name]}
            design = design.opening(opened)
            held = tuple(
                name
                for name, part in design.parts.items()
                if part <= loose and part not in self._cells
            )
            if held:
                yield HELD, held
                design = design.holding(held)
        further = escalation(design.parts, self._effects(TAKEN_APART).effects)
        if further:
            yield TAKEN_APART, tuple(further.parts)

    def _held(self, design: Design) -> Iterator[str]:
        ended = {one for one, result in self._cells.items() if result.status == "censored"}
        times = {
            one: float(result.samples[0].elapsed_ns)
            for one, result in self._cells.items()
            if result.samples
        }
        while (name := to_hold(design, times, ended)) is not None:
            one = (name,)
            yield name
            design = design.opening(one) if design.is_group(name) else design.holding(one)

    def _pruned(self, design: Design) -> tuple[str, ...]:
        counters = {
            switch.key: switch.counters
            for switch in self._study.switches
            if switch.key in design.parts
        }
        ends = [self._cells.get(one) for one in (BASE, every(design.parts))]
        counts = [
            {name: getattr(end.samples[0], name) for own in counters.values() for name in own}
            for end in ends
            if end is not None and end.samples
        ]
        return prunable(counters, counts)

    def _effects(self, kind: str) -> StudiedOperation:
        """As they were known when such a decision was made, or, without one, are at the end."""
        late = [one for one in self._decisions if one.kind == kind and one.blocks]
        before = self._decisions[: self._decisions.index(late[0])] if late else self._decisions
        most = late[0].blocks if late else None
        results = {
            variant: replace(
                result,
                samples=tuple(one for one in result.samples if most is None or one.round < most),
            )
            for variant, result in self._results.items()
        }
        return operation_effects(self._plan, self._study, results, before)
