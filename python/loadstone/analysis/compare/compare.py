"""A whole comparison of records, and its outcome. Pure: `Run` values in, frozen values out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loadstone.analysis.compare.cells import (
    SLOWER,
    VERDICTS,
    Pair,
    Place,
    Unlike,
    may_be_slower,
    pair_cells,
    plan_differences,
)
from loadstone.analysis.compare.sides import Match, matches
from loadstone.analysis.compare.terms import TermComparison, compare_terms, crossable
from loadstone.analysis.compare.threshold import DEFAULT, Threshold
from loadstone.analysis.compare.threshold import threshold as in_force
from loadstone.analysis.compare.unjudged import UNLIMITED, judged
from loadstone.analysis.plans.difference import PlanDifference
from loadstone.errors import InputError
from loadstone.record.changed_answers import ChangedAnswer, changed_between
from loadstone.record.model import Run
from loadstone.text.numbers import listing, number, plural

OUTCOMES = (
    "no regression",
    "regression",
    "undecided",
    "nothing compared",
    "invalid",
    "answer changed",
)
NO_REGRESSION, REGRESSION, UNDECIDED_YET, NOTHING_COMPARED, INVALID, ANSWER_CHANGED = OUTCOMES


@dataclass(frozen=True, slots=True)
class Matched:
    """One match with its terms, its pairs, and the cells that were left out."""

    match: Match
    terms: TermComparison
    pairs: tuple[Pair, ...]
    unlike: tuple[Unlike, ...]
    changed: tuple[ChangedAnswer, ...] = ()
    plans: Mapping[Place, PlanDifference] = field(default_factory=dict)
    """Of each cell of which both sides have the engine's plan."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides of records beside each other."""

    a: Run
    b: Run
    threshold: Threshold
    matched: tuple[Matched, ...]

    @property
    def pairs(self) -> Iterable[Pair]:
        """The pairs of all matches."""
        return (pair for one in self.matched for pair in one.pairs)

    @property
    def unlike(self) -> Iterable[Unlike]:
        """The cells of all matches that were not compared."""
        return (cell for one in self.matched for cell in one.unlike)

    @property
    def changed(self) -> tuple[ChangedAnswer, ...]:
        """The answers that one side gives in another way than the other."""
        return tuple(each for one in self.matched for each in one.changed)

    @property
    def counts(self) -> Counter[str]:
        """The number of pairs that got which verdict."""
        return Counter(pair.verdict for pair in self.pairs)

    @property
    def outcome(self) -> str:
        """The outcome. A changed answer is more than any time; one slower cell is a regression
        whatever else is missing; one that failed in B makes the rest invalid; without any interval
        nothing was compared; a missing cell that is owed makes the rest invalid. There is no
        regression only if no interval allows one."""
        if self.changed:
            return ANSWER_CHANGED
        if self.counts[SLOWER]:
            return REGRESSION
        if any(cell.failed for cell in self.unlike):
            return INVALID
        if all(pair.ratio.low is None and pair.ratio.high is None for pair in self.pairs):
            return NOTHING_COMPARED
        if any(cell.owed for cell in self.unlike):
            return INVALID
        return UNDECIDED_YET if self.open else NO_REGRESSION

    @property
    def open(self) -> tuple[Pair, ...]:
        """The pairs that may be slower by more than the threshold."""
        limit = self.threshold.in_force
        return tuple(pair for pair in self.pairs if may_be_slower(pair.ratio, limit))

    def sentence(self) -> str:
        """The outcome and the counts in one line."""
        counts = [f"{number(self.counts[verdict])} {verdict}" for verdict in VERDICTS]
        counts.append(f"{number(len(list(self.unlike)))} not compared")
        said = f"{self.outcome}: {', '.join(counts)}; {self.threshold.words()}"
        if self.loops:
            said += f"; not judged: {plural(self.loops, 'loop')} of users"
        return f"{said}; {self.unlimited}" if self.unlimited else said

    @property
    def loops(self) -> int:
        """The loops of users of both sides. One measurement a side has no interval: none is
        judged, and the outcome says nothing of them."""
        sides = {
            (id(side.run), side.variant): side
            for one in self.matched
            for side in (one.match.a, one.match.b)
        }
        return sum(
            point.variant == side.variant for side in sides.values() for point in side.run.users
        )

    @property
    def unlimited(self) -> str:
        """The runs whose cells were not judged when they were measured; empty if all were."""
        one = [("the record", self.a)]
        sides = one if self.a is self.b else [("A", self.a), ("B", self.b)]
        names = [name for name, run in sides if not run.plan.limits]
        if not names:
            return ""
        return f"measured with {UNLIMITED}, held against the limits only here: {listing(names)}"


def compare(
    a: Run,
    b: Run | None,
    *,
    variants: tuple[str, str] | None = None,
    threshold: float = DEFAULT,
    across: Iterable[str] = (),
) -> Comparison:
    """Compare record B with the baseline A, or two variants of A where there is no B.

    `threshold` is a share; the one in force may be higher (see the threshold module beside this
    one). `across` names the terms that may differ. Raises `InputError` for unknown variants and
    terms.
    """
    allowed = frozenset(across)
    found, known = compared(a, b, variants, threshold, allowed)
    check_across(allowed, known)
    return found


def check_across(allowed: frozenset[str], known: Sequence[str]) -> None:
    """Raise `InputError` where a term that may differ is none of those known."""
    for name in sorted(allowed.difference(known)):
        raise InputError(f"no term is called {name!r}", hint=f"--across takes: {', '.join(known)}")


def compared(
    a: Run,
    b: Run | None,
    variants: tuple[str, str] | None,
    threshold: float,
    allowed: frozenset[str],
) -> tuple[Comparison, Sequence[str]]:
    """As `compare`, with the terms that may be allowed to differ; unknown ones are not refused."""
    a, b = judged(a), None if b is None else judged(b)
    found = [(match, compare_terms(match, allowed)) for match in matches(a, b, variants)]
    known = crossable((terms for _, terms in found), (a, b or a))
    limit = in_force(threshold, a, b, (match for match, _ in found))
    matched = (
        Matched(
            match,
            terms,
            *pair_cells(match, terms, limit.in_force),
            _changed(match),
            plan_differences(match),
        )
        for match, terms in found
    )
    return Comparison(a, b or a, limit, tuple(matched)), known


def _changed(match: Match) -> tuple[ChangedAnswer, ...]:
    """The changed answers to the operations that both sides planned in the same text."""
    sides = match.a, match.b
    first, second = (
        {(text.name, text.rows): text.quel for text in side.run.operations} for side in sides
    )
    found = (changed_between(*sides, *place) for place, text in first.items()
             if second.get(place) == text)  # fmt: skip
    return tuple(filter(None, found))
