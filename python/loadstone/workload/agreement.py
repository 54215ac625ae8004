"""The expected answers of a workload: what the engines agree on.

Before anything is measured, every variant answers each statement once. The labels, and when each
would be false:

    stored        the answer is one that the user stored of this text and these data. False if text
                  or data have changed since: such answers are refused (`expected.py`).
    agreed        two engines or more give this answer, and no as large a number gives another.
                  False if variants of one engine counted as several, or if the answers agreed only
                  because both were cut, or compared in part. An engine whose variants give several
                  answers is no witness to any: beside it, two others have to agree.
    odd           the variant's answer differs from the agreed one. False if they agree value by
                  value and only their checksums differ, if most engines do not give the other, or
                  if the engine was asked something else (`readings.py`): then it has a label.
    of its        the engine of the text's dialect gives this answer; translations give others,
      dialect     with a label, or there is none. False if another engine gives it, too.
    divided       no answer has most engines. False if one has.
    not compared  one engine alone answered, or several whose answers are too large to be compared
                  where their checksums differ. False if a second one's was compared.
    volatile      the engine's own two answers differ: `run/poll.py` asks twice, and a sample is
                  held to the answer before. False if another engine's answer, or the stored one,
                  is what it differs from: then it is wrong.

An engine may be wrong with the others: agreement is no oracle, and no report says "right" of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from loadstone.benchmarks.expected import Answer, NamedAnswer
from loadstone.plan.workload import (
    AGREED,
    ALONE,
    BASES,
    COPY_SUFFIX,
    DIVIDED,
    OPEN_ANSWER,
    OTHER_TYPE,
    REFERENCE,
    STORED,
    UNRANKED,
    Accepted,
    Workload,
    WorkloadStatement,
)
from loadstone.record.model import AnswerCheck, kind_of_label
from loadstone.text.numbers import listing, plural
from loadstone.workload import comparison
from loadstone.workload.answers import contents_of
from loadstone.workload.open_answers import regrouped
from loadstone.workload.opening import Opening
from loadstone.workload.readings import is_translation, label_of
from loadstone.workload.votes import Group, Vote, grouped_votes

if TYPE_CHECKING:
    from loadstone.benchmarks.base import Operation

VOLATILE = (
    "volatile: executed twice, it returns two answers, so none can be compared. Leave out random"
    " numbers, the time, and LIMIT without a complete ORDER BY"
)
REFEREES = 2
"""Engines that have to agree where the variants of another one do not."""


@dataclass(frozen=True, slots=True)
class Given:
    """A vote among those to its variation. `kind` numbers the different answers, as
    `record.model.GivenAnswer` has it."""

    variation: int
    vote: Vote
    kind: int | None


@dataclass(frozen=True, slots=True)
class Odd:
    """An answer that differs from the agreed one: in which variation, the answers, and how."""

    variation: int
    expected: Answer
    found: Answer
    words: str


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of the expected answers of a statement; `engines` are those that agree, or that
    answered; `words` say how others differ."""

    basis: str
    engines: tuple[str, ...]
    words: str = ""


class AgreedAnswers:
    """The expected answers, once the engines have been requested them."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._expected: dict[tuple[str, int, str], Answer] = {}
        """By statement, variation and variant; of the variant "": any that agrees."""
        self._odd: dict[tuple[str, str], Odd] = {}
        self._bases: dict[str, Basis] = {}
        self._failed: dict[tuple[str, str], tuple[str, str]] = {}
        self._labels: dict[tuple[str, str], str] = {}
        self._contents: dict[str, Answer] = {}
        self._given: dict[tuple[str, int], tuple[Given, ...]] = {}
        self._openings: dict[str, Opening | None] = {}
        self._determined: dict[tuple[str, int, str], Answer] = {}

    def of(self, operation: "Operation", variation: int) -> Answer:
        """The answer expected of every variant."""
        return self.of_variant(operation.name, variation, "")

    def of_variant(self, statement: str, variation: int, variant: str) -> Answer:
        """(rows, checksum) expected of a variant: its own way to give the agreed answer."""
        any_agreed = self._expected.get((statement, variation, ""), (0, ""))
        return self._expected.get((statement, variation, variant), any_agreed)

    def determined(self, statement: str, variation: int, variant: str) -> Answer | None:
        """(rows, checksum) of what the statement determines of a variant's answer; None: all."""
        return self._determined.get((statement, variation, variant))

    def opening(self, statement: str) -> Opening | None:
        """What a statement may leave open; None: nothing."""
        if statement not in self._openings:
            from loadstone.workload.sql_opening import opening_of_statement

            keys = {table.name: table.primary_key for table in self._workload.tables}
            self._openings[statement] = opening_of_statement(self._stated(statement), keys)
        return self._openings[statement]

    def _stated(self, statement: str) -> WorkloadStatement:
        return next(one for one in self._workload.statements if one.name == statement)

    def named(self, operation: "Operation", variation: int) -> NamedAnswer | None:
        """None: what a change of a table left is compared whole."""
        del operation, variation
        return None

    def contents(self, relation: str) -> Answer:
        """(rows, checksum) of a table's files."""
        if relation not in self._contents:
            from loadstone.workload import data

            table = self._workload.table(relation.removesuffix(COPY_SUFFIX))
            rows = data.stream(table, self._workload.folder)
            self._contents[relation] = contents_of(rows)
        return self._contents[relation]

    def accepted(self, statement: str) -> tuple[tuple[Accepted, ...], ...]:
        """The expected answers to each variation: the ways in which engines give them."""
        found: dict[int, dict[Answer, None]] = {}
        for (name, variation, variant), answer in (
            *self._expected.items(), *self._determined.items()
        ):  # fmt: skip
            if name == statement and not self.is_apart(statement, variant):
                found.setdefault(variation, {})[answer] = None
        return tuple(tuple(found[variation]) for variation in sorted(found))

    @property
    def bases(self) -> Mapping[str, Basis]:
        """By statement, those that engines were requested."""
        return self._bases

    def odd(self, statement: str, variant: str) -> Odd | None:
        """The way in which a variant's answer differs from the agreed one, if it does."""
        return self._odd.get((statement, variant))

    def failed(self, statement: str, variant: str) -> tuple[str, str] | None:
        """(status, reason) where a variant gave no answer."""
        return self._failed.get((statement, variant))

    def fail(self, statement: str, variant: str, status: str, reason: str) -> None:
        """A variant gives no answer."""
        self._failed[statement, variant] = (status, reason)

    def label(self, statement: str, variant: str, checks: Sequence[AnswerCheck] = ()) -> str:
        """The label of a variant's answer, as `record.model.CellResult` has it; empty for most.
        `checks`: those of its samples, which may differ where the query leaves the answer open."""
        found = self._labels.get((statement, variant), "")
        if found or (opening := self.opening(statement)) is None:
            return found
        whole = {
            self.of_variant(statement, check.variation, variant)
            == (check.expected_rows, check.expected_checksum)
            for check in checks
        }
        return _open(opening) if False in whole else ""

    def is_apart(self, statement: str, variant: str) -> bool:
        """Whether a variant was asked something else than the others, as its label says."""
        return kind_of_label(self._labels.get((statement, variant), "")) in UNRANKED

    def holds_to_itself(self, statement: str, variant: str) -> bool:
        """Whether nothing but a variant's own answer is expected of it: then another one
        contradicts no other engine and no stored answer."""
        basis = self._bases.get(statement)
        alone = basis is not None and basis.basis in (ALONE, DIVIDED, REFERENCE)
        return alone or self.is_apart(statement, variant)

    def divided(self, statement: str, variant: str = "") -> str:
        """Why no answer to a statement is known to be right; empty if one is, or none other, and
        where a variant's label says why."""
        basis = self._bases.get(statement)
        if basis is None or basis.basis != DIVIDED or self.is_apart(statement, variant):
            return ""
        return basis.words

    def given(self, statement: str) -> Iterator[Given]:
        """The variants' answers to each variation of a statement."""
        for (name, _), answers in self._given.items():
            if name == statement:
                yield from answers

    def settle(self, statement: str, variation: int, votes: Sequence[Vote]) -> None:
        """Take the variants' answers to a variation."""
        if not votes:
            return
        stated = self._stated(statement)
        grouped = partial(grouped_votes, digits=stated.digits, order=stated.order)
        groups, opening = grouped(votes), self.opening(statement)
        if len(groups) == 1 or any(vote.determined is None for vote in votes):
            opening = None
        looked_up = False
        if opening is not None:
            groups, looked_up = regrouped(votes, opening, stated.digits, grouped)
        self._given[statement, variation] = tuple(
            Given(variation, vote, None if group.unsure else kind)
            for kind, group in enumerate(groups)
            for vote in group.votes
        )
        for vote in votes:
            self._expected[statement, variation, vote.variant] = vote.answer
            if vote.determined is not None:
                self._determined[statement, variation, vote.variant] = vote.determined
        if variation < len(stated.expected):
            self._hold_to_stored(statement, variation, groups, stated.expected[variation])
        else:
            self._hold_to_most(stated, variation, groups)
        for variant, words in (each for group in groups for each in group.other_types()):
            self._labels.setdefault((statement, variant), f"{OTHER_TYPE}: {words}")
        if opening is not None and not self.divided(statement):
            for vote in votes:
                words = _open(opening, looked_up=looked_up)
                self._labels.setdefault((statement, vote.variant), words)

    def join(self, statement: str, variation: int, vote: Vote) -> None:
        """Take the answer of one more variant, beside those that were taken before."""
        before = self._given.get((statement, variation), ())
        self.settle(statement, variation, [*(one.vote for one in before), vote])

    def _hold_to_most(self, stated: WorkloadStatement, variation: int, groups: list[Group]) -> None:
        """The answer of most engines counts; of answers to a text in its own dialect, where there
        are any."""
        statement = stated.name
        split = _of_several_answers(groups)
        witnesses = {id(one): len({*one.engines} - split) for one in groups}
        grounded = [one for one in groups if not is_translation(one)] or groups
        groups.sort(key=lambda one: (one not in grounded, -witnesses[id(one)]))
        first, *others = groups
        unsure = [other for other in others if not first.differs(other)]
        others = [other for other in others if first.differs(other)]
        rivals = [other for other in others if other in grounded]
        least = REFEREES if split else 1
        wins = witnesses[id(first)] >= least and all(
            witnesses[id(first)] > witnesses[id(rival)] for rival in rivals
        )
        self._expected[statement, variation, ""] = first.votes[0].answer
        words = [_differ(vote, first, stated.digits, stated.order)
                 for other in others for vote in other.votes]  # fmt: skip
        if rivals and not wins:
            reporting = "the engines give different answers, and no answer has most of them"
            if split:
                reporting = (
                    f"the variants of {listing(sorted(split))} give different answers, and no two"
                    " other engines say which is right"
                )
            self._worsen(statement, Basis(DIVIDED, first.engines, f"{reporting}: {words[0]}"))
            for group in (first, *others):
                for vote in group.votes:
                    beside = [one for one in (first, *others) if one is not group]
                    self._labelled(stated, vote, beside, words[0])
            return
        engines = tuple(one for one in first.engines if one not in split)
        several = len(engines) > 1
        for vote, reported_how in zip((v for o in others for v in o.votes), words, strict=True):
            if self._labelled(stated, vote, [first], reported_how):
                continue
            expected = self._expected[statement, variation, vote.variant] = first.votes[0].answer
            self._odd.setdefault(
                (statement, vote.variant), Odd(variation, expected, vote.answer, reported_how)
            )
        words += [_not_compared(vote, first.votes[0]) for o in unsure for vote in o.votes]
        if not several:
            engines = tuple(dict.fromkeys(e for group in (first, *unsure) for e in group.engines))
        basis = AGREED if several else REFERENCE if others else ALONE
        self._worsen(statement, Basis(basis, engines, "; ".join(words)))

    def _labelled(
        self, stated: WorkloadStatement, vote: Vote, others: Sequence[Group], words: str
    ) -> bool:
        """Label a variant that was asked something else than those with another answer."""
        columns = self._workload.columns_named(stated.texts)
        label = label_of(vote, others, stated, columns, words)
        if label:
            self._labels[stated.name, vote.variant] = label
        return bool(label)

    def _hold_to_stored(
        self, statement: str, variation: int, groups: Sequence[Group], stored: Sequence[Accepted]
    ) -> None:
        """The stored answer counts, whatever most engines say."""
        agree: dict[str, None] = {}
        words = []
        self._expected[statement, variation, ""] = stored[0]
        right_ones = [each for each in groups if any(_is_in(stored, v) for v in each.votes)]
        for group in groups:
            right = group in right_ones
            unsure = [each for each in right_ones if not each.differs(group)]
            for vote in group.votes:
                if unsure and not right:
                    words.append(_not_compared(vote, unsure[0].votes[0]))
                    continue
                if right:
                    agree[vote.engine] = None
                    if vote.answer not in stored and (opening := self.opening(statement)):
                        self._labels[statement, vote.variant] = _open(opening)
                    continue
                rows, there = (plural(count, "row") for count in (vote.answer[0], stored[0][0]))
                shown = f": {', '.join(vote.first_rows)}" if vote.first_rows else ""
                words.append(f"{vote.variant} gives {rows}{shown}, the stored answer has {there}")
                if rows == there:
                    words[-1] += ", but others"
                if self._labelled(self._stated(statement), vote, right_ones, words[-1]):
                    continue
                # Where all give the same, it is the stored answer that is odd.
                if same := [engine for engine in group.engines if engine != vote.engine]:
                    gives = "gives" if len(same) == 1 else "give"
                    words[-1] += f"; {listing(same)} {gives} the same as {vote.variant}"
                self._expected[statement, variation, vote.variant] = stored[0]
                self._odd.setdefault(
                    (statement, vote.variant), Odd(variation, stored[0], vote.answer, words[-1])
                )
        self._worsen(statement, Basis(STORED, tuple(agree), "; ".join(words)))

    def _worsen(self, statement: str, found: Basis) -> None:
        """A statement is as well founded as the worst of its variations."""
        known = self._bases.get(statement)
        if known is None or _weakness(found) > _weakness(known):
            self._bases[statement] = found


def _of_several_answers(groups: Sequence[Group]) -> frozenset[str]:
    """The engines whose variants give answers that are known to differ."""
    return frozenset(
        engine
        for one, other in combinations(groups, 2)
        if one.differs(other)
        for engine in {*one.engines}.intersection(other.engines)
    )


def _not_compared(vote: Vote, other: Vote) -> str:
    return (
        f"{vote.variant} and {other.variant} give {plural(vote.answer[0], 'row')} each, which are"
        " not compared: their checksums differ, and they are too many to be compared one by one"
    )


def _open(opening: Opening, *, looked_up: bool = False) -> str:
    return f"{OPEN_ANSWER}: {opening.words(looked_up=looked_up)}"


def _is_in(stored: Sequence[Accepted], vote: Vote) -> bool:
    return vote.answer in stored or vote.determined in stored


def _weakness(basis: Basis) -> tuple[int, int, bool]:
    return BASES.index(basis.basis), -len(basis.engines), bool(basis.words)


def _differ(vote: Vote, group: Group, digits: int, order: Sequence[int]) -> str:
    """The way in which an answer differs from that of a group, for people."""
    other, engines = group.votes[0], group.beside(vote.variant)
    whose = listing(engines)
    rows, others = plural(vote.answer[0], "row"), plural(other.answer[0], "row")
    gives = "gives" if len(engines) == 1 else "give"
    words = f"{vote.variant} gives {rows}, {whose} {gives} {others}{vote.note or other.note}"
    ours, theirs = vote.rows(), other.rows()
    if ours is None or theirs is None:
        return words
    found = comparison.difference(ours, theirs, digits, order)
    if found is None:
        return words
    return f"{words}; {found.words(vote.variant, whose)}"
