"""The variants' answers to a variation of a statement, grouped by whether they agree."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadstone.benchmarks.expected import Answer
from loadstone.plan.variant import engine_of, release_of
from loadstone.text.numbers import listing
from loadstone.workload import comparison

Types = tuple[frozenset[str], ...]
Rows = Sequence[Sequence[Any]] | None
"""The rows of an answer; None where they are too many to be compared."""


@dataclass(frozen=True, slots=True)
class Vote:
    """A variant's answer to a variation; `rows` requests it again, row by row."""

    variant: str
    engine: str
    answer: Answer
    rows: Callable[[], Rows]
    first_rows: Sequence[str] = ()
    """For people."""
    determined: Answer | None = None
    """Of a query that leaves its answer open: (rows, checksum) of what it determines."""
    uncut: Callable[[], Rows] = lambda: None
    """The rows of the answer without LIMIT and OFFSET."""
    dialect: str = ""
    reading: str = "own"
    """What its engine was asked, as `readings.py` has it."""
    note: str = ""
    """How it differs where its rows do not show it."""


@dataclass(slots=True, eq=False)
class Group:
    """Votes that agree."""

    votes: list[Vote] = field(default_factory=list)
    unsure: "list[Group]" = field(default_factory=list)
    """Earlier groups with which it could not be compared."""
    types: "dict[str, Types]" = field(default_factory=dict)
    """By variant, the types of the dates in its answer, where rows were compared."""

    @property
    def engines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(vote.engine for vote in self.votes))

    def beside(self, other: str) -> tuple[str, ...]:
        """Its engines' names beside that of another variant: where that is of the same engine, or a
        release is requested, the variants' own."""
        own = {engine_of(other)} | {v.engine for v in self.votes if release_of(v.variant)}
        names = (v.variant if v.engine in own else v.engine for v in self.votes)
        return tuple(dict.fromkeys(names))

    def differs(self, other: "Group") -> bool:
        """Whether it is known to differ from another group."""
        return other not in self.unsure and self not in other.unsure

    def takes(self, vote: Vote, digits: int, order: Sequence[int]) -> bool | None:
        """Whether a vote agrees with this group's; None: their rows cannot be compared."""
        same = next((own for own in self.votes if vote.answer == own.answer), None)
        if same is not None:
            if same.variant in self.types:
                self.types[vote.variant] = self.types[same.variant]
            return True
        first = self.votes[0]
        if vote.answer[0] != first.answer[0]:
            return False
        ours, theirs = vote.rows(), first.rows()
        if ours is None or theirs is None:
            return None
        if comparison.difference(ours, theirs, digits, order) is not None:
            return False
        of_first = self.types.get(first.variant) or comparison.types(theirs)
        self.types |= {own.variant: of_first for own in self.votes if own.answer == first.answer}
        self.types[vote.variant] = comparison.types(ours)
        return True

    def other_types(self) -> Iterator[tuple[str, str]]:
        """(variant, words) of the answers whose values agree with those of most engines, in another
        type."""
        engines = {
            own: {
                v.engine: None for v in self.votes if _differs(self.types.get(v.variant), own) < 0
            }
            for own in self.types.values()
        }
        if not engines:
            return
        usual = max(engines, key=lambda one: len(engines[one]))
        for vote in self.votes:
            own = self.types.get(vote.variant, usual)
            if (place := _differs(own, usual)) >= 0:
                mine, most = (" and ".join(sorted(one[place])) for one in (own, usual))
                who = listing(engines[usual])
                yield vote.variant, f"column {place + 1} is {mine}, in the answer of {who} {most}"


def _differs(a: Types | None, b: Types) -> int:
    """The first column that has values of one type in one answer, of another in the other; without
    such a column -1. An answer whose types nobody looked at differs in its first."""
    if a is None:
        return 0
    pairs = enumerate(zip(a, b, strict=False))
    return next((place for place, (x, y) in pairs if x and y and x.isdisjoint(y)), -1)


def grouped_votes(votes: Sequence[Vote], digits: int, order: Sequence[int]) -> list[Group]:
    """The votes by whether they agree. One that agrees with two groups joins them: a text of SQLite
    agrees with a date and with a text, and says of neither that it is wrong."""
    groups: list[Group] = []
    for vote in votes:
        own = Group([vote])
        taken = [(group, group.takes(vote, digits, order)) for group in groups]
        own.unsure = [group for group, agrees in taken if agrees is None]
        first, *others = [group for group, agrees in taken if agrees] or [own]
        if first is own:
            groups.append(own)
            continue
        first.votes.append(vote)
        for other in others:
            first.votes += other.votes
            first.types |= other.types
            groups.remove(other)
            for group in groups:
                group.unsure += [first] if other in group.unsure else []
    return groups
