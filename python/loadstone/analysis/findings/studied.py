"""Which switch moves each operation of a study, as its map has it.

The strongest switch that is called an effect alone: its whole interval, at the study's confidence,
excludes 1 and it is beyond the study's threshold (the A/A control's reach included). `explained`
where, besides, both values read back as asked in all combinations, every other term that changes
follows from one switch or two, the plans are reported and the same, both cells are in order, it
holds in eight blocks of new processes or more, the operation has an A/A control with an interval,
and a switch of execution, which moves work and no device, does not save mostly waiting.

What follows it under another name (durability, of PostgreSQL's synchronous_commit) is what it gives
up, and what it sets together with another switch (synchronous, of SQLite's journal and durability)
is a part of both: the finding names it as an unequal term.

False where the state of one combination outlives its block.
"""

from collections.abc import Iterator, Mapping, Sequence

from loadstone.analysis.findings.distance import in_order
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import MOST, Finding, Grade, Number
from loadstone.analysis.findings.required import few_processes, reach_of
from loadstone.analysis.findings.said import said_ratio, said_share
from loadstone.analysis.findings.spent import waiting_ns
from loadstone.analysis.study_terms import OtherTerm, StudyTerms, study_terms
from loadstone.record.model import CellResult
from loadstone.statistics.paired_part import part_of_difference
from loadstone.studies.design import all_combinations
from loadstone.studies.view import StudiedOperation, StudyMap, SwitchEffect, study_map
from loadstone.text.numbers import times

RULE = "studied"
COMPUTING = "execution"
"""The group of switches that change what a processor does, and have no part in what it waits
for."""


def find(seen: Evidence) -> Iterator[Finding]:
    """At most one finding of each operation."""
    found = study_map(seen.whole.run)
    if found is None:
        return
    reported = study_terms(seen.whole.run)
    for operation in found.operations:
        acting = [each for each in operation.switches if each.alone and each.acts_alone]
        if acting:
            strongest = max(acting, key=lambda each: each.strength)
            made = _finding(seen.results, found, operation, strongest, reported)
            if made:
                yield made


def _finding(
    results: Mapping[str, CellResult],
    found: StudyMap,
    operation: StudiedOperation,
    effect: SwitchEffect,
    reported: StudyTerms,
) -> Finding | None:
    cells = _cells(found, operation, effect)
    pair = [results[key] for key in cells if key in results]
    if len(pair) < 2 or not all(map(in_order, pair)) or effect.alone is None:
        return None
    doubt = _doubt(effect, reported) or _weak(operation, effect, pair)
    switch = effect.switch
    faster = effect.alone.value < 1
    turned = f"{switch.tactic} from {switch.base} to {switch.other}"
    way = "faster" if faster else "slower"
    more = "" if faster else ": the value at base is the better one"
    last = (
        f"; with all other switches turned, too, {times(effect.last.value)}" if effect.last else ""
    )
    return Finding(
        rule=RULE,
        kind=switch.tactic,
        grade=Grade.CONSISTENT if doubt else Grade.EXPLAINED,
        operation=operation.name,
        rows=operation.rows,
        temperature=pair[0].cell.temperature,
        variant=found.study.base,
        against=pair[1].cell.variant,
        brief=f"with {turned} it takes {said_ratio(effect.alone)} its time",
        sentence=f"With {turned}, it alone, the operation takes {said_ratio(effect.alone)}"
        f" the time of the base: {way}{more}{last}."
        + (f" Not called explained: {doubt}." if doubt else ""),
        numbers=(Number(turned, effect.alone, "ratio"),),
        cells=cells,
        terms=_following(effect, reported),
        weight=effect.strength,
        answers=True,
    )


def _cells(found: StudyMap, operation: StudiedOperation, effect: SwitchEffect) -> tuple[str, str]:
    """The base, and the switch alone: of a group that was opened a combination that the plan does
    not list."""
    combinations = all_combinations(found.study, operation.decisions)
    alone = next(each.variant for each in combinations if each.flipped == (effect.switch.key,))
    place = f"{operation.rows}|{found.temperature}"
    keys = [f"{operation.name}|{name}|{place}" for name in (found.study.base, alone)]
    return keys[0], keys[1]


def _following(effect: SwitchEffect, reported: StudyTerms) -> tuple[str, ...]:
    """Terms that have another name than the switch and another value with it: properties that it
    decides, and settings that it decides together with another switch."""
    switch = effect.switch
    return tuple(
        f"{switch.tactic}={switch.other} {each.key}: {_or_none(each.alone[switch.key])},"
        f" not {_or_none(each.base)}{_together(switch.tactic, each)}"
        for each in reported.changing
        if each.alone.get(switch.key, each.base) != each.base
        if not each.is_setting or len(each.follows) > 1
    )


def _together(tactic: str, term: OtherTerm) -> str:
    others = [one for one in term.follows if one != tactic]
    return f" ({others[0]} sets it, too)" if others else ""


def _or_none(value: str | None) -> str:
    return value or "none"


def _doubt(effect: SwitchEffect, reported: StudyTerms) -> str:
    """Why it may not be called explained; empty if it may."""
    switch = effect.switch
    own = next((one for one in reported.switches if one.key == switch.key), None)
    if own is None or not own.of or own.read < own.of:
        return "it does not read back as requested in every combination"
    others = [each.key for each in reported.changing if not each.follows]
    if others:
        return f"{others[0]} changes, too, and no one switch or two decide it"
    if effect.same_plan is None:
        return "the engine shows no plan"
    return "" if effect.same_plan else "the plan changes with it"


def _weak(operation: StudiedOperation, effect: SwitchEffect, pair: Sequence[CellResult]) -> str:
    """Why what was measured does not suffice to call it explained; empty if it does."""
    if few := few_processes(operation.effects.blocks):
        return few
    if reach_of(operation.noise) is None:
        return "the base measured twice has no interval"
    return _waits(effect, pair)


def _waits(effect: SwitchEffect, pair: Sequence[CellResult]) -> str:
    if effect.switch.group != COMPUTING or effect.alone is None:
        return ""
    base, other = pair
    longer, shorter = (base, other) if effect.alone.value < 1 else (other, base)
    share = part_of_difference(longer.samples, shorter.samples, waiting_ns)
    if share is None or share.value <= MOST:
        return ""
    return f"{said_share(share)} of the difference is waiting, in which it has no part"
