"""The way in which an operation's time went from release to release of one engine, in one run or
several.

A **step** is two releases that were measured in the same rounds, one after the other in their
order, and the verdict of a comparison of them (`compare/cells.py`), on equal terms. "Changed in B"
says: B's time differs from that of the release before, the whole interval on one side of 1, and by
more than the threshold. It would be false if a release between the two was not measured: then
both are named.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from loadstone.analysis.compare.cells import FASTER, SLOWER, UNDECIDED, Pair, Unlike
from loadstone.analysis.compare.compare import compare
from loadstone.analysis.plans.difference import PlanDifference
from loadstone.record.changed_answers import ChangedAnswer
from loadstone.record.model import Run

NOT_COMPARED = "not compared"

Place = tuple[str, int, str]
"""(operation, rows, temperature)."""


@dataclass(frozen=True, slots=True)
class Step:
    """From one release to the next that was measured. `pair` is None where they could not be
    compared, for `reason`."""

    operation: str
    rows: int
    temperature: str
    before: str
    after: str
    pair: Pair | None
    reason: str = ""
    answer: ChangedAnswer | None = None
    """The two answers, where they differ."""
    failed: bool = False
    """Whether the later one failed."""
    plans: PlanDifference | None = None
    """What differs between the engine's plans; None where the record lacks one."""

    @property
    def verdict(self) -> str:
        """Slower, faster, same, undecided, or not compared."""
        return NOT_COMPARED if self.pair is None else self.pair.verdict

    @property
    def changed(self) -> bool:
        """Whether the answer changed, or the time, for certain, by more than the threshold."""
        return self.answer is not None or self.verdict in (SLOWER, FASTER)


def steps(run: Run, variants: Sequence[str], threshold: float) -> tuple[Step, ...]:
    """The steps of every operation over these variants of a run, in their order."""
    found: list[Step] = []
    for before, after in pairwise(variants):
        compared = compare(run, None, variants=(before, after), threshold=threshold)
        answers = {(one.operation, one.rows): one for one in compared.changed}
        (matched,) = compared.matched
        both: tuple[Pair | Unlike, ...] = (*matched.pairs, *matched.unlike)
        for each in both:
            place = (each.operation, each.rows, each.temperature)
            step = Step(*place, before, after, each if isinstance(each, Pair) else None,
                        answer=answers.get(place[:2]), plans=matched.plans.get(place))  # fmt: skip
            if isinstance(each, Unlike):
                step = replace(step, reason=each.reason, failed=each.failed)
            found.append(step)
    return tuple(found)


def refined(coarse: Sequence[Step], fine: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with those replaced between whose releases more were measured."""
    lasts = {(each.operation, each.rows, each.temperature, each.after) for each in fine}
    firsts = {(each.operation, each.rows, each.temperature, each.before) for each in fine}
    kept = [
        each
        for each in coarse
        if (each.operation, each.rows, each.temperature, each.before) not in firsts
        or (each.operation, each.rows, each.temperature, each.after) not in lasts
    ]
    return (*kept, *fine)


def outcome(found: Sequence[Step]) -> str:
    """In a comparison's words: a changed answer before all else; a regression if any step is
    slower; invalid where one failed; nothing compared, or invalid, where steps could not be
    compared; undecided if some may be slower; else no regression."""
    reported = {each.verdict for each in found}
    if any(each.answer for each in found):
        return "answer changed"
    if SLOWER in reported:
        return "regression"
    if any(each.failed for each in found):
        return "invalid"
    pairs = [each.pair for each in found if each.pair is not None]
    if all(pair.ratio.low is None and pair.ratio.high is None for pair in pairs):
        return "nothing compared"
    if NOT_COMPARED in reported:
        return "invalid"
    return "undecided" if UNDECIDED in reported else "no regression"
