"""Answers that a release or a switch of one engine changes.

Two variants of an engine answered one statement, over the same data, in different ways: so the
release or the switch between them changes more than a time. It would be false if the two answers
agreed within what is compared, or if the variants read different data: so answers count only that
were compared with each other (`record.model.GivenAnswer.kind`), or with an oracle's, and databases
of the user's own never count. Of two records, other numbers of rows differ for certain, and so do
other values where both records have all rows; what a query leaves open does not. What one record
expects is known of the other's answer, too, where it is one of those.

Which of two answers was expected is known where it is stored, where an oracle gives it, where two
other engines agree on it, or where the engine of the text's dialect gives it and the engine got a
translation. Else nobody can tell which is right.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, repeat

from loadstone.analysis.compare.sides import Side
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
"""Of two answers: the one that is right, where it is known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its rows are `first_rows` and, where there are more, others. Benchmarks' answers
    are checked by an oracle, and their rows are not kept."""

    variant: str
    tuples: int
    first_rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """Two answers to one statement, by two variants of one engine. `expected`: the one that was
    expected, or neither, and `by` who expects it: the engines that agree, the user who stored it,
    or an oracle. Empty where nobody can tell which is right."""

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
    """The first variation whose answer one side gives in another way than the other."""
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
    """The changed answers of a run: of each statement those between variants of one engine that
    differ in one switch, each switch once; where no such two do, between neighbours in the plan."""
    return tuple(_changed_in(run))


def sentence(found: ChangedAnswer, where: str = "") -> str:
    """What changed the answer, `where` if a caller knows it more closely, and both answers."""
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
    """(variants, their answer's first rows) for each different answer to a user's statement: to the
    first variation of which answers differ, else to the first one."""
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
    """The number of an answer's rows, and the first of them."""
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
    """The statements of which answers differ, each at its scale, in the plan's order."""
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
class _Seen:
    """An answer as a record has it. `kind`: its number among those of its run, None where it is not
    compared with others; `right`: whether it is the expected one, None where nobody knows."""

    answer: Answer
    kind: int | None
    right: bool | None
    checksum: str = ""
    accepted: frozenset[Accepted] = frozenset()
    """The answers that its run expects, in every form in which an engine gives them."""
    determined: frozenset[Accepted] = frozenset()
    """The expected answers cut down to what the query determines, where it leaves the rest open. No
    engine gave one of these."""
    statement: WorkloadStatement | None = None
    """None for an operation of a benchmark, whose answer is compared with the oracle's checksum."""

    def differs(self, other: "_Seen", *, same_run: bool) -> bool:
        if self.statement is None or other.statement is None:
            return (self.answer.tuples, self.checksum) != (other.answer.tuples, other.checksum)
        if self.kind is None or other.kind is None:
            return False
        if same_run:
            return self.kind != other.kind
        for one, beside in ((self, other), (other, self)):
            if beside.way in one.accepted and (one.way in one.accepted or one.right is False):
                return one.way not in one.accepted
        return not self.agrees(other, self.statement.digits)

    @property
    def way(self) -> Accepted:
        return self.answer.tuples, self.checksum

    def agrees(self, other: "_Seen", digits: int) -> bool:
        """Whether an answer of another run is not known to differ."""
        if self.way == other.way:
            return True
        determined = self.determined | other.determined
        if self.determined & other.determined and False not in (self.right, other.right):
            return True
        if self.answer.tuples != other.answer.tuples:
            return any(tuples == 0 for tuples, _ in determined)
        if self.answer.tuples > FIRST_ROWS or not self.answer.first_rows:
            return True  # the record does not have them all
        left = [*other.answer.first_rows]
        for row in self.answer.first_rows:
            found = next((one for one in left if _alike(row, one, digits)), None)
            if found is None:
                return False
            left.remove(found)
        return True


_VALUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,()]+""")
"""A value in a row for people (`workload.comparison`)."""


def _alike(row: str, other: str, digits: int) -> bool:
    """Whether rows for people agree, numbers with a fraction to so many digits."""
    values, others = _VALUE.findall(row), _VALUE.findall(other)
    return len(values) == len(others) and all(map(_near, values, others, repeat(digits)))


def _near(value: str, other: str, digits: int) -> bool:
    if value == other or (value.lstrip("-").isdigit() and other.lstrip("-").isdigit()):
        return value == other
    try:
        return math.isclose(float(value), float(other), rel_tol=0.5 * 10.0 ** (1 - digits))
    except ValueError:
        return False


def _answers(side: Side, operation: str, rows: int) -> Mapping[int, _Seen]:
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
    ways: dict[int, set[Accepted]] = defaultdict(set)
    for each in run.given:
        if (each.operation, each.rows) == (operation, rows):
            ways[each.variation].add((each.tuples, each.checksum))
    statement = next((one for one in workload.statements if one.name == operation), None)
    if statement is None:
        return {}  # a mix of statements: each of them has its own answers
    first_odd = min(odd, default=None)
    return {
        one.variation: _Seen(
            Answer(variant, one.tuples, one.first_rows),
            one.kind,
            _held(one.variation, first_odd) if known else None,
            one.checksum,
            statement=statement,
            accepted=(these := frozenset(accepted.get(one.variation, ()))),
            determined=these - ways[one.variation],
        )
        for one in run.given
        if (one.operation, one.rows, one.variant) == (operation, rows, variant)
    }


def _held(variation: int, first_odd: int | None) -> bool | None:
    """Whether an answer was the expected one: after the first that was not, nobody looked."""
    if first_odd is None or variation < first_odd:
        return True
    return False if variation == first_odd else None


def _checked(results: Iterable[CellResult], variant: str) -> Mapping[int, _Seen]:
    """The answers to a benchmark's operation, each held against its oracle's."""
    found: dict[int, _Seen] = {}
    for answer in (answer for result in results for answer in result.answers):
        if answer.variation not in found or not answer.right:
            seen = Answer(variant, answer.rows)
            found[answer.variation] = _Seen(seen, None, answer.right, answer.checksum)
    return found


def _expected(one: _Seen, other: _Seen) -> str:
    if one.right is None or other.right is None or (one.right and other.right):
        return ""
    return ONE if one.right else OTHER if other.right else NEITHER


def _expected_by(run: Run, operation: str, engine: str) -> str:
    """Whose answer is expected, in words, beside the engine's own: agreement is no oracle."""
    found = next((one for one in run.agreements if one.operation == operation), None)
    if found is None:
        return "the right one"
    if found.basis == STORED:
        return "the stored one"
    return f"that of {listing(one for one in found.engines.split(', ') if one != engine)}"


def _same_data(a: Side, b: Side) -> bool:
    """Whether both are variants of one engine, and read the same data: tables of the user's own may
    be others in another place, or at another time."""
    one, other = a.run.plan, b.run.plan
    if engine_of(a.variant) != engine_of(b.variant) or one.edition != other.edition:
        return False
    stands = any(plan.workload is not None and plan.workload.as_it_stands for plan in (one, other))
    places = {side.variant.removesuffix(AA_SUFFIX).partition("?")[0] for side in (a, b)}
    return one.benchmark == other.benchmark and (
        not stands or (a.run is b.run and len(places) == 1)
    )
