"""The variants' answers to a variation of a statement, grouped by whether they agree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadstone.benchmarks.expected import Answer
from loadstone.plan.variant import engine_of, release_of
from loadstone.workload import comparison

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
    note: str = ""
    """How it differs where its rows do not show it."""


@dataclass(slots=True, eq=False)
class Group:
    """Votes that agree."""

    votes: list[Vote] = field(default_factory=list)
    unsure: "list[Group]" = field(default_factory=list)
    """Earlier groups with which it could not be compared."""

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
        if any(vote.answer == own.answer for own in self.votes):
            return True
        first = self.votes[0]
        if vote.answer[0] != first.answer[0]:
            return False
        ours, theirs = vote.rows(), first.rows()
        if ours is None or theirs is None:
            return None
        return comparison.difference(ours, theirs, digits, order) is None


def grouped_votes(votes: Sequence[Vote], digits: int, order: Sequence[int]) -> list[Group]:
    groups: list[Group] = []
    for vote in votes:
        own = Group([vote])
        for group in groups:
            agrees = group.takes(vote, digits, order)
            if agrees:
                group.votes.append(vote)
                break
            if agrees is None:
                own.unsure.append(group)
        else:
            groups.append(own)
    return groups
