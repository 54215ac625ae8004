"""The comparison of records of several benchmarks: benchmark by benchmark, and one outcome."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loadstone.analysis.chapters import title_of
from loadstone.analysis.compare.compare import (
    ANSWER_CHANGED,
    INVALID,
    NO_REGRESSION,
    NOTHING_COMPARED,
    REGRESSION,
    UNDECIDED_YET,
    Comparison,
    check_across,
    compared,
)
from loadstone.analysis.compare.threshold import DEFAULT
from loadstone.errors import InputError
from loadstone.record.model import Run

WORST_FIRST = (ANSWER_CHANGED, REGRESSION, INVALID, UNDECIDED_YET, NO_REGRESSION)


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparisons by benchmark. `left_out`: (benchmark, why nothing of it was compared)."""

    comparisons: tuple[tuple[str, Comparison], ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def outcome(self) -> str:
        """The worst. A benchmark that both sides have and of which nothing could be compared makes
        the rest invalid, unless it is so of all."""
        found = {comparison.outcome for _, comparison in self.comparisons}
        if found == {NOTHING_COMPARED}:
            return NOTHING_COMPARED
        said = {INVALID if outcome == NOTHING_COMPARED else outcome for outcome in found}
        return min(said, key=WORST_FIRST.index)


def compare_chapters(
    a: Sequence[Run],
    b: Sequence[Run] | None,
    *,
    variants: tuple[str, str] | None = None,
    threshold: float = DEFAULT,
    across: Iterable[str] = (),
) -> Compared:
    """Compare each benchmark that both records have, or two variants of A in each benchmark that
    has both; otherwise as `compare`."""
    allowed = frozenset(across)
    alone = len(a) == 1 and (b is None or len(b) == 1)
    found: list[tuple[str, Comparison]] = []
    left_out: list[tuple[str, str]] = []
    known: dict[str, None] = {}
    errors: list[InputError] = []
    for one, other in _pairs(a, b, alone=alone):
        name = title_of(one)
        if b is not None and other is None:
            left_out.append((name, "only one record has it"))
            continue
        try:
            comparison, terms = compared(one, other, variants, threshold, allowed)
        except InputError as error:
            if alone:
                raise
            errors.append(error)
            left_out.append((name, error.message))
            continue
        found.append((name, comparison))
        known |= dict.fromkeys(terms)
    if not found:
        raise errors[0] if errors else InputError("the records have no benchmark in common")
    check_across(allowed, tuple(known))
    return Compared(tuple(found), tuple(left_out))


def _pairs(
    a: Sequence[Run], b: Sequence[Run] | None, *, alone: bool
) -> Iterator[tuple[Run, Run | None]]:
    """A's benchmarks beside B's, and those that only B has. A record of one benchmark beside
    another is compared whatever it is: what differs is reported."""
    if alone:
        yield a[0], b[0] if b else None
        return
    others = {run.plan.benchmark: run for run in b or ()}
    for run in a:
        yield run, others.pop(run.plan.benchmark, None)
    for run in others.values():
        yield run, None
