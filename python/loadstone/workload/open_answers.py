"""Answers to a query that leaves its answer open, compared on what it determines.

Two of them agree if the parts that the query determines do (`opening.py`). Of rows that the query
chooses, the answer without the choice is compared, too, and each chosen row has to be one of its
rows: else an engine could answer anything there. Where that one cannot be had (the choice stands
within the query, or its answer is too large), the rows that tie are not compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from loadstone.workload import comparison
from loadstone.workload.answers import checksum_of
from loadstone.workload.opening import Opening
from loadstone.workload.votes import Group, Rows, Vote

Grouped = Callable[[Sequence[Vote]], list[Group]]


def regrouped(
    votes: Sequence[Vote], opening: Opening, digits: int, grouped: Grouped
) -> tuple[list[Group], bool]:
    """Votes by what the query determines of their answers, each with that part as its answer and
    rows; and whether the rows that it chose were looked up."""
    parts = [
        replace(vote, answer=vote.determined, rows=partial(_part, vote, opening, digits))
        for vote in votes
        if vote.determined is not None
    ]
    groups = grouped(parts)
    if not opening.cuts:
        return groups, False
    own = {vote.variant: vote for vote in votes}
    parted = [_by_choice(group, own, digits, grouped) for group in groups]
    looked_up = [part for each in parted if each is not None for part in each]
    left = [group for group, each in zip(groups, parted, strict=True) if each is None]
    return [*looked_up, *left], not left


def _part(vote: Vote, opening: Opening, digits: int) -> Rows:
    rows = vote.rows()
    return None if rows is None else comparison.determined(rows, opening, digits)


def _by_choice(
    group: Group, own: dict[str, Vote], digits: int, grouped: Grouped
) -> list[Group] | None:
    """The same votes, parted by the rows among which each engine chose; None where these are not
    known."""
    among = {vote.variant: own[vote.variant].uncut() for vote in group.votes}
    if any(rows is None for rows in among.values()):
        return None
    chosen = []
    for vote in group.votes:
        rows, all_rows = own[vote.variant].rows() or (), among[vote.variant] or ()
        found = comparison.difference(rows, all_rows, digits)
        strange = found.only_ours[0] if found else ""
        note = f"; without its LIMIT it does not give {strange}" if strange else ""
        chosen.append(replace(vote, note=note))
    honest = [vote for vote in chosen if not vote.note]
    whole = [
        replace(vote, answer=checksum_of(among[vote.variant] or (), digits),
                rows=partial(among.get, vote.variant))
        for vote in honest
    ]  # fmt: skip
    alike = grouped(whole)
    parts = {vote.variant: vote for vote in chosen}
    first = alike[0].votes[0].variant if alike else ""
    for each in alike:
        other = each.votes[0].variant
        found = comparison.difference(among[other] or (), among[first] or (), digits)
        note = f"; without its LIMIT {found.words(other, first)}" if found else ""
        each.votes = [replace(parts[vote.variant], note=note) for vote in each.votes]
    return [*alike, *(Group([vote]) for vote in chosen if vote.note)]
