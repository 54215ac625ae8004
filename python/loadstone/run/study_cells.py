"""One operation of a study while it is measured: its cells by combination, its design, and what was
decided. It measures nothing itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from loadstone.plan.choices import FACTORIAL
from loadstone.plan.plan import Plan
from loadstone.plan.role import Role
from loadstone.plan.study import (
    HELD,
    OPENED,
    PRUNED,
    TAKEN_APART,
    Combination,
    Decision,
    Study,
)
from loadstone.record.model import CellResult
from loadstone.run.group import OpenCell
from loadstone.studies.design import BASE, Design, design_after, every, to_hold
from loadstone.studies.design import Combination as Flipped
from loadstone.studies.steering import (
    TOGETHER_BLOCKS,
    Escalation,
    blocks_least,
    prunable,
    to_open,
    too_wide,
    too_wide_together,
)
from loadstone.studies.view import StudiedOperation, operation_effects

Admit = Callable[[OpenCell, tuple[str, ...]], OpenCell | None]
"""Make a cell, as the one given, of a combination that the plan does not list."""


class StudyCells:
    """The cells of one operation, and the decisions about it."""

    def __init__(self, plan: Plan, study: Study, opened: Sequence[OpenCell], admit: Admit) -> None:
        self._plan, self._study, self._admit = plan, study, admit
        by_variant = {item.cell.variant: item for item in opened}
        self._cells: dict[Flipped, OpenCell] = {
            frozenset(each.flipped): by_variant[each.variant]
            for each in study.combinations
            if each.variant in by_variant
        }
        known = {item.cell.variant for item in self._cells.values()}
        self._beside = [item for item in opened if item.cell.variant not in known]
        self._listed = frozenset(self._cells)
        self._narrowed: tuple[Flipped, ...] = ()
        """The combinations of the present step, where these are not all of the design."""
        self.decisions: list[Decision] = []
        self._found: tuple[object, StudiedOperation] | None = None
        """The effects, and what they were computed from."""

    @property
    def design(self) -> Design:
        """After all decisions so far."""
        return design_after(self._plan, self._study, self.decisions)

    @property
    def least(self) -> int:
        """The fewest blocks that its figures need: the more there are, the less each may err."""
        design = self.design
        least = blocks_least(len(design.parts) + len(design.pruned) + len(design.held))
        return max(least, TOGETHER_BLOCKS) if design.name == FACTORIAL else least

    @property
    def is_loose(self) -> bool:
        """Whether every pair is asked about, and some interaction of 10 % may still be missed."""
        return self.design.name == FACTORIAL and too_wide_together(self.effects().effects)

    @property
    def base(self) -> OpenCell:
        """The cell with every switch at base."""
        return self._cells[BASE]

    @property
    def steered(self) -> bool:
        """Whether its blocks decide anything."""
        return self._study.steered

    def cell(self, flipped: Flipped) -> OpenCell | None:
        """The cell of a combination; None where no worker has the data for it."""
        if flipped not in self._cells:
            made = self._admit(self.base, self._in_order(flipped))
            if made is None:
                return None
            self._cells[flipped] = made
        return self._cells[flipped]

    @property
    def step(self) -> tuple[Flipped, ...]:
        """The combinations of the present step. What is held, and came to its end alone, stays in
        the blocks alone: a single sample would leave it without an interval."""
        design = self.design
        return self._narrowed or (*design.combinations, *design.held.values())

    def able(self) -> Iterator[OpenCell]:
        """The cells of a block: the present step's combinations, the A/A control and the harness
        overhead."""
        own = (self._cells[one] for one in self.step if one in self._cells)
        yield from (item for item in (*own, *self._beside) if item.status == "ok")

    def controls(self) -> Iterator[OpenCell]:
        """The A/A control, without the harness overhead."""
        for item in self._beside:
            if self._plan.role_of(item.cell.variant) is not Role.OVERHEAD:
                yield item

    def spare(self) -> None:
        """Mark the plan's cells that a decision made superfluous."""
        for item in self._cells.values():
            if item.status == "ok" and not item.samples:
                about = ", ".join(dict.fromkeys(t for one in self.decisions for t in one.tactics))
                item.status = "spared"
                item.reason = f"decisions on {about} made it superfluous"

    def effects(self) -> StudiedOperation:
        """The effects known so far. Kept until a sample or a decision more: of fifty switches it
        takes half a second, and is requested several times after each block."""
        # Only the last decision names the combinations measured since it.
        self.settle()
        items = (*self._cells.values(), *self._beside)
        seen = (tuple((len(item.samples), item.status) for item in items), tuple(self.decisions))
        if self._found is None or self._found[0] != seen:
            found = operation_effects(self._plan, self._study, self.results(), self.decisions)
            self._found = seen, found
        return self._found[1]

    def is_open(self) -> bool:
        """Whether some figure of the present step is known less closely than a study wants. Only
        the widths of intervals count: to stop at the first effect would find some that are none."""
        if self.base.status != "ok":
            return False
        found = self.effects()
        if found.further is not None:
            return bool(too_wide(found.further))
        return bool(self._watched.intersection(too_wide(found.effects)))

    @property
    def _watched(self) -> frozenset[str]:
        """The parts that the present step measures."""
        both = {**self.design.parts, **self.design.pruned}
        chosen = set(self._narrowed or both.values())
        return frozenset(name for name, part in both.items() if part in chosen)

    def results(self) -> Mapping[str, CellResult]:
        """The results of its cells so far, by variant."""
        items = (*self._cells.values(), *self._beside)
        return {item.cell.variant: item.result() for item in items}

    # The decisions, in the order in which they can be made.

    def hold(self) -> bool:
        """Leave one part at base at the other end, or open a group of which one may be to blame,
        if scouting calls for it."""
        design = self.design
        name = to_hold(design, self._times_ns(), self._ended())
        if name is None:
            return False
        item = self._cells.get(design.parts[name])
        alone = item is not None and item.status == "censored"
        reason = f"alone {item.reason}" if item and alone else "with all flipped, too long"
        kind = OPENED if design.is_group(name) else HELD
        self._decide(kind, (name,), 0, reason)
        return True

    def prune(self) -> None:
        """Leave at base what has no work to change at either end, unless every combination was
        requested."""
        design = self.design
        if design.name == FACTORIAL:
            return
        counters = {
            switch.key: switch.counters
            for switch in self._study.switches
            if switch.key in design.parts
        }
        ends = [self._cells.get(one) for one in (BASE, every(design.parts))]
        counts = [
            {name: _most(item, name) for own in counters.values() for name in own}
            for item in ends
            if item is not None and item.samples
        ]
        if pruned := prunable(counters, counts):
            reported = sorted({name for one in pruned for name in counters[one]})
            self._decide(PRUNED, pruned, 0, f"no {', '.join(reported)} at either end")

    def open(self, blocks: int) -> bool:
        """Open the groups that do something."""
        design = self.design
        groups = [name for name in design.parts if design.is_group(name)]
        chosen = to_open(groups, self.effects().effects) if groups else ()
        if not chosen:
            return False
        self._decide(OPENED, chosen, blocks, "an interval reaches beyond 5 %")
        loose = [
            name
            for name, part in self.design.parts.items()
            if any(part <= design.parts[group] for group in chosen) and self.cell(part) is None
        ]
        if loose:
            self._decide(HELD, tuple(loose), blocks, "its relations would have to be loaded anew")
        # All of the opened design in the same blocks, so that it has a closure.
        for flipped in self.design.combinations:
            self.cell(flipped)
        return True

    def take_apart(self, further: Escalation, blocks: int, *, undone: bool) -> None:
        """Measure all combinations of three, or note that there was no time for it."""
        reason = _because(further)
        names = tuple(further.parts)
        if not undone:
            # All or none: a contrast needs them together.
            undone = any(self.cell(one) is None for one in further.combinations)
        self._decide(TAKEN_APART, names, blocks, reason, undone=undone)
        if not undone:
            self._narrowed = further.combinations

    def _decide(
        self, kind: str, tactics: tuple[str, ...], blocks: int, reason: str, *, undone: bool = False
    ) -> None:
        self.settle()
        cell = self.base.cell
        self.decisions.append(
            Decision(cell.operation, cell.rows, kind, tactics, blocks, reason, undone=undone)
        )

    def settle(self) -> None:
        """Write into the last decision what was measured since that the plan does not list."""
        if not self.decisions:
            return
        reported = {each.variant for one in self.decisions[:-1] for each in one.combinations}
        added = tuple(
            Combination(item.cell.variant, self._in_order(flipped))
            for flipped, item in self._cells.items()
            if flipped not in self._listed and item.cell.variant not in reported and _tried(item)
        )
        self.decisions[-1] = replace(self.decisions[-1], combinations=added)

    def _in_order(self, flipped: Flipped) -> tuple[str, ...]:
        return tuple(one.key for one in self._study.switches if one.key in flipped)

    def _ended(self) -> set[Flipped]:
        return {one for one, item in self._cells.items() if item.status == "censored"}

    def _times_ns(self) -> dict[Flipped, float]:
        return {
            one: float(item.samples[0].elapsed_ns)
            for one, item in self._cells.items()
            if item.samples
        }


def _most(item: OpenCell, name: str) -> float | None:
    """The largest count of a field over the samples; None where one was not counted."""
    counts = [getattr(sample, name) for sample in item.samples]
    return None if not counts or None in counts else max(counts)


def _tried(item: OpenCell) -> bool:
    return bool(item.samples) or item.status == "censored"


def _because(further: Escalation) -> str:
    if further.because:
        return f"the two means of {', '.join(further.because)} disagree"
    if further.hidden is None:
        return "the closure is beyond noise"
    return f"the closure may be {100 * further.hidden:.0f} % of the whole"
