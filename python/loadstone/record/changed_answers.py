"""Answers that a release or a switch of one engine changes.

Two variants of an engine answered one statement differently, over the same data: so the release or
the switch between them changes more than a time. This would be false if the two answers agreed
within the tolerance, or if the variants had read different data. So within a run only answers count
that were compared with each other (`record.model.GivenAnswer.kind`) or with an oracle's, and a
user's own databases never count. Between two runs, answers differ if their numbers of rows do, or
if a value does where both records hold all rows; values that the query leaves open do not count.
An answer that the other run expects agrees with it.

Which of the two was expected is known where the user stored it, where an oracle gives it, where two
other engines agree on it, or where the engine of the text's dialect gives it and the engine got a
translation. Otherwise nobody can tell which is right.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, repeat

from loadstone.plan.variant import (
    AA_SUFFIX,
    asked_in,
    differ_in_one_tactic,
    engine_of,
    is_aa_control,
)
from loadstone.plan.workload import (
    AGREED,
    FIRST_ROWS,
    REFERENCE,
    STORED,
    Accepted,
    WorkloadStatement,
)
from loadstone.record.model import CellResult, GivenAnswer, Run
from loadstone.text.numbers import listing, plural

UNTOLD = (
    "nobody can tell which is right: measure both beside two other engines, or look at the rows"
    " and store the right answer (loadstone bless)"
)
_KNOWN = frozenset({STORED, AGREED, REFERENCE})
ONE, OTHER, NEITHER = "one", "other", "neither"
"""The answer of the two that was expected."""


@dataclass(frozen=True, slots=True)
class Side:
    """One variant in one record. Of a comparison: the baseline (A) or the other side (B)."""

    run: Run
    variant: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and its first rows for people. A benchmark's answer is checked by its oracle, and a
    record keeps none of its rows."""

    variant: str
    tuples: int
    first_rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """Two answers to one statement, by two variants of one engine. `expected` is ONE, OTHER or
    NEITHER; `by` says who expects it: the engines that agree, the user who stored it, or an oracle.
    Both are empty where nobody can tell which is right."""

    operation: str
    rows: int
    variation: int
    one: Answer
    other: Answer
    expected: str = ""
    by: str = ""

    @property
    def tactics(self) -> tuple[str, ...]:
        """The tactics in which the variants differ; empty where they are other releases."""
        first, second = (asked_in(each.variant) for each in (self.one, self.other))
        keys = dict.fromkeys((*first, *second))
        return tuple(key for key in keys if first.get(key) != second.get(key))


def changed_between(a: Side, b: Side, operation: str, rows: int) -> ChangedAnswer | None:
    """The first variation that the two sides answer differently."""
    if not _same_data(a, b):
        return None
    first, second = _answers(a, operation, rows), _answers(b, operation, rows)
    for variation in sorted(first.keys() & second.keys()):
        one, other = first[variation], second[variation]
        if one.differs(other, same_run=a.run is b.run):
            expected = _expected(one, other)
            by = _expected_by(a.run, operation, engine_of(a.variant)) if expected else ""
            return ChangedAnswer(operation, rows, variation, one.answer, other.answer, expected, by)
    return None


def changed_in(run: Run) -> tuple[ChangedAnswer, ...]:
    """The changed answers of a run. Variants of one engine are compared in pairs that differ in one
    switch, and each switch is named once; without such a difference, neighbours in the plan are."""
    return tuple(_changed_in(run))


def sentence(found: ChangedAnswer, where: str = "") -> str:
    """The change and both answers. `where`: its cause, if the caller knows it more precisely."""
    first, second = found.one, found.other
    names = first.variant, second.variant
    if names[0] == names[1]:
        names = f"{names[0]} of A", f"{names[1]} of B"
    cause = where or (
        f"with {listing(found.tactics)}" if found.tactics else f"from {names[0]} to {names[1]}"
    )
    which = {
        ONE: f"the answer of {names[0]} is {found.by}",
        OTHER: f"the answer of {names[1]} is {found.by}",
        NEITHER: f"neither is {found.by}",
    }.get(found.expected, UNTOLD)
    return (
        f"{found.operation}: the answer changes {cause}: {names[0]} gives {answer_words(first)},"
        f" {names[1]} gives {answer_words(second)}; {which}"
    )


def given_answers(run: Run, operation: str, rows: int) -> tuple[tuple[str, str], ...]:
    """(variants, first rows) of each different answer to a user's statement: to the first variation
    whose answers differ, or else to the first variation."""
    by_variation: dict[int, dict[tuple[int | None, str], list[GivenAnswer]]] = {}
    for one in run.given:
        if (one.operation, one.rows) == (operation, rows) and not is_aa_control(one.variant):
            kinds = by_variation.setdefault(one.variation, {})
            kinds.setdefault((one.kind, one.variant if one.kind is None else ""), []).append(one)
    apart = (kinds for kinds in by_variation.values() if len(kinds) > 1)
    chosen = next(apart, next(iter(by_variation.values()), {}))
    return tuple(
        (listing(one.variant for one in alike), answer_words(alike[0])) for alike in chosen.values()
    )


def answer_words(answer: Answer | GivenAnswer) -> str:
    """The number of rows, and the first of them."""
    more = ", …" if answer.first_rows and answer.tuples > len(answer.first_rows) else ""
    rows = f": {', '.join(answer.first_rows)}{more}" if answer.first_rows else ""
    return plural(answer.tuples, "row") + rows


def _changed_in(run: Run) -> Iterator[ChangedAnswer]:
    engines: dict[str, dict[str, None]] = {}
    for name in (*run.plan.variants, *(result.cell.variant for result in run.results)):
        if not is_aa_control(name):
            engines.setdefault(engine_of(name), {})[name] = None
    several = [tuple(names) for names in engines.values() if len(names) > 1]
    for operation, rows in _of_several_answers(run) if several else ():
        for names in several:
            yield from _of_engine(run, names, operation, rows)


def _of_several_answers(run: Run) -> Iterable[tuple[str, int]]:
    """The statements with different answers, each at its scale, in the plan's order."""
    kinds: dict[tuple[str, int, int], set[int | None]] = {}
    for one in run.given:
        kinds.setdefault((one.operation, one.rows, one.variation), set()).add(one.kind)
    apart = {(place[0], place[1]) for place, found in kinds.items() if len(found - {None}) > 1}
    apart |= {
        (result.cell.operation, result.cell.rows)
        for result in run.results
        if run.plan.workload is None and not all(answer.right for answer in result.answers)
    }
    planned = dict.fromkeys((cell.operation, cell.rows) for cell in run.plan.cells)
    return [place for place in planned if place in apart]


def _of_engine(
    run: Run, names: Sequence[str], operation: str, rows: int
) -> Iterator[ChangedAnswer]:
    def changes(pairs: Iterable[tuple[str, str]]) -> Iterator[ChangedAnswer]:
        for one, other in pairs:
            found = changed_between(Side(run, one), Side(run, other), operation, rows)
            if found is not None:
                yield found

    switched = changes(pair for pair in combinations(names, 2) if differ_in_one_tactic(*pair))
    by_switch: dict[tuple[str, ...], ChangedAnswer] = {}
    for each in switched:
        by_switch.setdefault(each.tactics, each)
    yield from by_switch.values() or changes(pairwise(names))


@dataclass(frozen=True, slots=True)
class _RecordedAnswer:
    """An answer as a record keeps it. `kind` numbers the different answers of a run; None: it was
    compared with no other. `right`: whether it was the expected one; None: nobody knows."""

    answer: Answer
    kind: int | None
    right: bool | None
    checksum: str = ""
    accepted: frozenset[Accepted] = frozenset()
    """The answers that its run expects, in each form in which an engine gave them."""
    determined: frozenset[Accepted] = frozenset()
    """The determined parts of the expected answers, where the query leaves the rest open. No engine
    gave one of these."""
    statement: WorkloadStatement | None = None
    """None for an operation of a benchmark, whose answer is compared with the oracle's checksum."""

    def differs(self, other: "_RecordedAnswer", *, same_run: bool) -> bool:
        if self.statement is None or other.statement is None:
            return (self.answer.tuples, self.checksum) != (other.answer.tuples, other.checksum)
        if self.kind is None or other.kind is None:
            return False
        if same_run:
            return self.kind != other.kind
        for one, another in ((self, other), (other, self)):
            if another.form in one.accepted and (one.form in one.accepted or one.right is False):
                return one.form not in one.accepted
        return not self.agrees(other, self.statement.digits)

    @property
    def form(self) -> Accepted:
        return self.answer.tuples, self.checksum

    def agrees(self, other: "_RecordedAnswer", digits: int) -> bool:
        """Whether it is not known to differ from an answer of another run."""
        if self.form == other.form:
            return True
        determined = self.determined | other.determined
        if self.determined & other.determined and False not in (self.right, other.right):
            return True
        if self.answer.tuples != other.answer.tuples:
            return any(tuples == 0 for tuples, _ in determined)
        if self.answer.tuples > FIRST_ROWS or not self.answer.first_rows:
            return True  # the record does not hold all rows
        left = [*other.answer.first_rows]
        for row in self.answer.first_rows:
            found = next((one for one in left if _alike(row, one, digits)), None)
            if found is None:
                return False
            left.remove(found)
        return True


_VALUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,()]+""")
"""A value in a printed row. `workload.comparison` prints the rows; a record keeps nothing else."""


def _alike(row: str, other: str, digits: int) -> bool:
    """Whether printed rows agree, numbers with a fraction to this many digits."""
    values, others = _VALUE.findall(row), _VALUE.findall(other)
    return len(values) == len(others) and all(map(_near, values, others, repeat(digits)))


def _near(value: str, other: str, digits: int) -> bool:
    if value == other or (value.lstrip("-").isdigit() and other.lstrip("-").isdigit()):
        return value == other
    try:
        return math.isclose(float(value), float(other), rel_tol=0.5 * 10.0 ** (1 - digits))
    except ValueError:
        return False


def _answers(side: Side, operation: str, rows: int) -> Mapping[int, _RecordedAnswer]:
    run, variant, workload = side.run, side.variant, side.run.plan.workload
    if workload is None:
        results = (r for r in run.results if r.cell.variant == variant)
        own = [r for r in results if (r.cell.operation, r.cell.rows) == (operation, rows)]
        return _checked(own, variant)
    odd = [
        answer.variation
        for result in run.results
        if (result.cell.operation, result.cell.variant) == (operation, variant)
        for answer in result.answers
        if not answer.right
    ]
    agreed = next((one for one in run.agreements if one.operation == operation), None)
    known = agreed is not None and agreed.basis in _KNOWN
    accepted = dict(enumerate(agreed.answers if agreed is not None else ()))
    forms: dict[int, set[Accepted]] = defaultdict(set)
    for each in run.given:
        if (each.operation, each.rows) == (operation, rows):
            forms[each.variation].add((each.tuples, each.checksum))
    statement = next((one for one in workload.statements if one.name == operation), None)
    if statement is None:
        return {}  # a mix of statements: each of them has its own answers
    first_odd = min(odd, default=None)
    return {
        one.variation: _RecordedAnswer(
            Answer(variant, one.tuples, one.first_rows),
            one.kind,
            _held(one.variation, first_odd) if known else None,
            one.checksum,
            statement=statement,
            accepted=(these := frozenset(accepted.get(one.variation, ()))),
            determined=these - forms[one.variation],
        )
        for one in run.given
        if (one.operation, one.rows, one.variant) == (operation, rows, variant)
    }


def _held(variation: int, first_odd: int | None) -> bool | None:
    """Whether an answer was the expected one; after the first that was not, nobody looked."""
    if first_odd is None or variation < first_odd:
        return True
    return False if variation == first_odd else None


def _checked(results: Iterable[CellResult], variant: str) -> Mapping[int, _RecordedAnswer]:
    """The answers to a benchmark's operation, each compared with its oracle's."""
    found: dict[int, _RecordedAnswer] = {}
    for answer in (answer for result in results for answer in result.answers):
        if answer.variation not in found or not answer.right:
            found[answer.variation] = _RecordedAnswer(
                Answer(variant, answer.rows), None, answer.right, answer.checksum
            )
    return found


def _expected(one: _RecordedAnswer, other: _RecordedAnswer) -> str:
    if one.right is None or other.right is None or (one.right and other.right):
        return ""
    return ONE if one.right else OTHER if other.right else NEITHER


def _expected_by(run: Run, operation: str, engine: str) -> str:
    """Who expects the answer, other than the engine itself."""
    found = next((one for one in run.agreements if one.operation == operation), None)
    if found is None:
        return "the right one"
    if found.basis == STORED:
        return "the stored one"
    return f"that of {listing(one for one in found.engines.split(', ') if one != engine)}"


def _same_data(a: Side, b: Side) -> bool:
    """Whether both are variants of one engine that read the same data. A user's own tables may
    differ from place to place, and from run to run."""
    one, other = a.run.plan, b.run.plan
    if engine_of(a.variant) != engine_of(b.variant) or one.edition != other.edition:
        return False
    stands = any(plan.workload is not None and plan.workload.as_it_stands for plan in (one, other))
    places = {side.variant.removesuffix(AA_SUFFIX).partition("?")[0] for side in (a, b)}
    return one.benchmark == other.benchmark and (
        not stands or (a.run is b.run and len(places) == 1)
    )
