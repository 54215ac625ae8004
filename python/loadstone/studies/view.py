"""A study as its record has it: of each operation and each switch the effect, its interval, and
whether the plan changed.

Observations are medians within blocks (`Sample.round`), of cells that were measured together; the
figures are those of `effects.py`. A combination that failed, or whose answers were wrong, has
no observations: what needs it is None.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from statistics import median

from loadstone import _core
from loadstone.plan.choices import WALK
from loadstone.plan.plan import Plan
from loadstone.plan.study import HELD, Combination, Decision, Study, Switch
from loadstone.record.model import BELIEVED, CellResult, Run
from loadstone.statistics.estimate import Estimate
from loadstone.studies.design import (
    BASE,
    Design,
    all_combinations,
    design_after,
    every,
    factorial,
    of_operation,
    taken_apart,
)
from loadstone.studies.effects import PartEffect, StudyEffects, as_ratio, is_beyond, study_effects
from loadstone.studies.plan_shape import same_plans
from loadstone.studies.steering import escalation, hidden_share
from loadstone.text.numbers import NS_PER_MS

NO_FIGURE = ("failed", "gap", "invalid", "unproved")
"""The statuses of a cell that shows nothing: one that was ended shows a bound, and one that was
spared was not needed."""
WORST_FIRST = ("failed", "invalid", "unproved", "gap", "disturbed")
"""The statuses of an operation that is not in order. Unproved: a cold cell of it was."""


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
    alone_beyond: float | None = None
    """The ratio that it is beyond alone, where its statement was ended: no figure."""
    last_beyond: float | None = None
    """As `alone_beyond`, of the other end."""
    last_below: float | None = None
    """The ratio that it is below last: the statement with this switch still at base was ended."""
    group: str = ""
    """The group with which it was flipped, which did nothing; empty where it was flipped alone."""
    pruned: bool = False
    """Whether it has no work to change at either end, by its counters."""
    held: bool = False
    """Whether it is at base at the other end, too: with it alone a statement took too long, or its
    relations would have to be loaded anew."""
    walked: Estimate | None = None
    """In a walk, which has hardly a switch alone: the mean ratio of its steps there and back."""
    acts_walked: bool = False
    acts_last: bool = False
    """Whether `last` is called an effect."""

    @property
    def acts(self) -> bool:
        """Whether it is called an effect, in whatever way; never where it has no figure."""
        return self.strength > 0

    @property
    def strength(self) -> float:
        """For sorting: how far its larger effect, alone or last, is from none, on ln; 0 unless it
        is called an effect, and where it or the base is not in order."""
        if self.failure:
            return 0.0
        bounded = (self.alone_beyond, self.last_beyond, self.last_below)
        bounds = [abs(log(one)) for one in bounded if one]
        known = [abs(log(one.value)) for one in (self.alone, self.last) if one]
        steps = [abs(log(self.walked.value))] if self.walked and self.acts_walked else []
        return max([*bounds, *steps, *(known if self.effect.acts else ())], default=0.0)


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
    are seen or may hide in the shares, and the study itself had no time for it; empty where none
    are."""
    decisions: tuple[Decision, ...] = ()
    """The decisions of its blocks, in order."""
    further: StudyEffects | None = None
    """Three of its switches taken apart, all others at base."""

    @property
    def strength(self) -> float:
        """That of its strongest switch."""
        return max((each.strength for each in self.switches), default=0.0)

    @property
    def has_figure(self) -> bool:
        """Whether anything is known of some switch, or of a group: a ratio, or a bound of one."""
        parts = (*self.effects.parts.values(), *self.effects.pruned.values())
        ratios = (one for part in parts for one in (part.alone, part.last, part.walked))
        bounds = (
            one
            for each in self.switches
            for one in (each.alone_beyond, each.last_beyond, each.last_below)
        )
        return any(one is not None for one in (*ratios, *bounds))

    @property
    def acting(self) -> list[SwitchEffect]:
        """The switches with an effect, the strongest first."""
        found = (each for each in self.switches if each.acts)
        return sorted(found, key=lambda each: -each.strength)

    @property
    def so_far(self) -> list[tuple[SwitchEffect, float]]:
        """Effects with their ratios alone while it is measured, without their intervals: those
        beyond the threshold, the largest first."""
        ratios = (
            (
                each,
                each.alone.value if each.alone_beyond is None and each.alone else each.alone_beyond,
            )
            for each in self.switches
        )
        seen = [(each, ratio) for each, ratio in ratios
                if ratio is not None and abs(log(ratio)) > self.effects.threshold]  # fmt: skip
        return sorted(seen, key=lambda pair: -abs(log(pair[1])))

    @property
    def hidden(self) -> float | None:
        """The share of the whole that the closure may have, where that alone leaves its shares
        undecided; None where they are known, there are none, or the closure is called one."""
        effects = self.effects
        return None if is_beyond(effects.closure, effects.threshold) else hidden_share(effects)

    @property
    def threshold_ratio(self) -> float:
        """The ratio that an effect must be beyond."""
        return exp(self.effects.threshold)

    @property
    def unseen_is_small(self) -> bool:
        """Whether an effect that may have been missed is within the threshold."""
        return self.unseen is not None and log(self.unseen) <= self.effects.threshold

    @property
    def noise(self) -> Estimate | None:
        """The time of the A/A control over that of the base; None without one."""
        return self.effects.noise and as_ratio(self.effects.noise)

    @property
    def unseen(self) -> float | None:
        """The largest ratio, up or down, that an effect may have without being seen: as far as the
        intervals reach. None where some effect has no interval."""
        ratios = [each.alone for each in self.switches if not each.group]
        ratios += [each.last for each in self.switches if each.last is not None]
        bounds = [bound for one in ratios for bound in ((one.low, one.high) if one else (None,))]
        known = [abs(log(bound)) for bound in bounds if bound]
        return exp(max(known)) if known and len(known) == len(bounds) else None


def noisiest(operations: Sequence[StudiedOperation]) -> list[StudiedOperation]:
    """Those with an A/A control, the noisiest first."""
    known = (one for one in operations if one.noise is not None)
    return sorted(known, key=lambda one: -one.effects.threshold)


@dataclass(frozen=True, slots=True)
class StudyMap:
    """Operations x switches, what matters first in both."""

    study: Study
    operations: tuple[StudiedOperation, ...]
    order: tuple[Switch, ...]
    """The switches by their strongest effect."""
    temperature: str = "warm"
    """That of every cell."""

    @property
    def strongest(self) -> list[tuple[StudiedOperation, SwitchEffect]]:
        """Every effect with its operation, the strongest first."""
        acting = ((one, each) for one in self.operations for each in one.switches if each.acts)
        return sorted(acting, key=lambda pair: -pair[1].strength)


def study_map(run: Run) -> StudyMap | None:
    """The sensitivity map of a record; None if its plan is no study."""
    study = run.plan.study
    if study is None:
        return None
    found = tuple(sorted(_operations(run, study), key=lambda one: (one.rows, -one.strength)))
    reach: dict[str, float] = defaultdict(float)
    for operation in found:
        for each in operation.switches:
            reach[each.switch.key] = max(reach[each.switch.key], each.strength)
    order = tuple(sorted(study.switches, key=lambda switch: -reach[switch.key]))
    return StudyMap(study, found, order, *run.plan.temperature[:1])


def has_undisturbed_effect(run: Run) -> bool:
    """Whether a study's record shows anything of a switch from cells that are in order: an effect
    takes two combinations, and a base alone shows nothing."""
    calm = tuple(one for one in run.results if one.status not in ("disturbed", "invalid"))
    found = study_map(replace(run, results=calm))
    return found is not None and any(each.has_figure for each in found.operations)


def _operations(run: Run, study: Study) -> Iterator[StudiedOperation]:
    cells: dict[tuple[int, str], dict[str, CellResult]] = defaultdict(dict)
    for result in run.results:
        cells[result.cell.rows, result.cell.operation][result.cell.variant] = result
    for text in run.operations:
        results = cells.get((text.rows, text.name), {})
        if study.base in results:
            decided = of_operation(run.decisions, text.name, text.rows)
            yield operation_effects(run.plan, study, results, decided)


def operation_effects(
    plan: Plan,
    study: Study,
    results: Mapping[str, CellResult],
    decisions: Sequence[Decision] = (),
) -> StudiedOperation:
    """One operation, from the results of its cells by variant, that of the base among them, and the
    decisions about it."""
    ran = {
        name: one
        for name, one in results.items()
        if one.status in BELIEVED and one.samples and not _shows_nothing(one)
    }
    design = design_after(plan, study, decisions)
    combinations = all_combinations(study, decisions)
    observed = blocks(combinations, ran)
    control = _control(study.base, plan.aa_control, ran)
    # Other combinations beside it leave a combination other caches and files: the blocks in which
    # three were taken apart are none of the design's.
    own_blocks = _blocks_of_design(decisions)
    effects = study_effects(
        design.parts,
        observed[:own_blocks],
        control[:own_blocks],
        {**design.pruned, **design.held},
    )
    own = [_state(results[c.variant]) for c in combinations if c.variant in results]
    status, reason = next((state for bad in WORST_FIRST for state in own if state[0] == bad),
                          ("ok", ""))  # fmt: skip
    return StudiedOperation(
        name=results[study.base].cell.operation,
        rows=results[study.base].cell.rows,
        effects=effects,
        switches=tuple(_switches(study, design, effects, results, decisions)),
        status=status,
        reason=reason,
        escalate=_called_for(study, design, effects, decisions),
        decisions=tuple(decisions),
        further=_taken_apart(design, observed, control, decisions),
    )


def _blocks_of_design(decisions: Sequence[Decision]) -> int | None:
    """The blocks before three of its switches were taken apart; None where they were not."""
    decided = taken_apart(decisions)
    return None if decided is None or decided.undone else decided.blocks


def _called_for(
    study: Study, design: Design, effects: StudyEffects, decisions: Sequence[Decision]
) -> tuple[str, ...]:
    """The parts that are left to take apart."""
    if study.steered:
        decided = taken_apart(decisions)
        return decided.tactics if decided and decided.undone else ()
    further = escalation(design.parts, effects)
    return tuple(further.parts) if further else ()


def _taken_apart(
    design: Design,
    observed: Sequence[Mapping[frozenset[str], float]],
    control: Sequence[float],
    decisions: Sequence[Decision],
) -> StudyEffects | None:
    decided = taken_apart(decisions)
    if decided is None or decided.undone:
        return None
    parts = {name: design.parts[name] for name in decided.tactics if name in design.parts}
    wanted = set(factorial(parts))
    whole = [block for block in observed if wanted <= block.keys()]
    return study_effects(parts, whole, control) if whole else None


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
    study: Study,
    design: Design,
    effects: StudyEffects,
    results: Mapping[str, CellResult],
    decisions: Sequence[Decision],
) -> Iterator[SwitchEffect]:
    combinations = all_combinations(study, decisions)
    held = {name: each.reason for each in decisions if each.kind == HELD for name in each.tactics}
    cells = {frozenset(c.flipped): results[c.variant] for c in combinations if c.variant in results}
    base, end = cells[BASE], every(design.parts)
    known = {**effects.parts, **effects.pruned}
    group_of = {tactic: name for name, own in design.parts.items() for tactic in own}
    for switch in study.switches:
        own = frozenset({switch.key})
        result = cells.get(own)
        bad = [why for one in (base, result) if one and (why := _shows_nothing(one))]
        group = "" if switch.key in known else group_of.get(switch.key, "")
        missing = f"not measured: {held[switch.key]}" if not result and switch.key in held else ""
        effect = known.get(switch.key) or PartEffect(switch.key, acts=False)
        yield SwitchEffect(
            switch=switch,
            effect=effect,
            alone=effect.alone and as_ratio(effect.alone),
            last=effect.last and as_ratio(effect.last),
            acts_alone=is_beyond(effect.alone, effects.threshold),
            same_plan=same_plans(base.statements, result.statements) if result else None,
            failure=next(iter(bad), missing),
            alone_beyond=_beyond(result, base),
            last_beyond=_beyond(cells.get(end), cells.get(end - own)),
            last_below=_inverse(_beyond(cells.get(end - own), cells.get(end))),
            group=group,
            pruned=switch.key in design.pruned and not switch.further,
            held=switch.key in design.held,
            walked=effect.walked and as_ratio(effect.walked) if design.name == WALK else None,
            acts_walked=is_beyond(effect.walked, effects.threshold),
            acts_last=is_beyond(effect.last, effects.threshold),
        )


def _state(result: CellResult) -> tuple[str, str]:
    """A cell's status and its reason. `unproved`: a cold one whose time may be that of a warm
    one."""
    if result.samples and result.temperature_shown != result.cell.temperature:
        return "unproved", "not every sample was shown to be cold"
    return result.status, result.reason


def _shows_nothing(result: CellResult) -> str:
    """Why a cell has no figure; empty where it has one, or was ended or spared."""
    status, reason = _state(result)
    return f"{status}: {reason}" if status in NO_FIGURE else ""


def _beyond(ended: CellResult | None, other: CellResult | None) -> float | None:
    """The ratio that the time of a combination whose statement was ended is beyond, over another's,
    by the slowest that this can be; None where that is not so, or no ratio above 1 follows."""
    if ended is None or other is None or ended.longer_than_ns is None or not other.samples:
        return None
    if other.status not in BELIEVED:
        return None
    times_ns = [float(sample.elapsed_ns) for sample in other.samples]
    _, _, high_ns = _core.interval_of_median(times_ns)
    ratio = ended.longer_than_ns / (max(times_ns) if high_ns is None else high_ns)
    return ratio if ratio > 1 else None


def _inverse(ratio: float | None) -> float | None:
    return None if ratio is None else 1 / ratio
