"""What a query leaves open, so that two right engines may answer differently; and the part of an
answer that it determines.

`sql_opening.py` finds it in the query's text. The text alone says no more than *may*: where all
engines give one answer, nothing was open. So an opening counts only where answers differ, and then
only for what it covers. It would hide a wrong answer where an engine errs just there, in the rows
that tie at the cut of a LIMIT: hence they are looked up in the answer without it, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.text.numbers import listing
from loadstone.workload.answers import Moment, Row, plain

OPEN = Moment("…")
"""In place of a value that is left open."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a query leaves open: its `reasons` and the `advice` that closes it, for people.

    `everything`: even the number of rows. `columns`: their values; `others`: those of all columns
    but the `keys`; `letters`: the order of the letters in these texts. `first`, `last`: which of
    the rows that tie with the first or the last one by their `keys` the answer has.
    """

    reasons: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    everything: bool = False
    columns: tuple[int, ...] = ()
    others: bool = False
    letters: tuple[int, ...] = ()
    first: bool = False
    last: bool = False
    keys: tuple[int, ...] = ()

    @property
    def cuts(self) -> bool:
        """Whether it is about rows that the query chooses: then the answer without the choice shows
        all that could be chosen."""
        also = self.everything or self.columns or self.letters or self.others
        return (self.first or self.last) and not also

    def beside(self, other: "Opening") -> "Opening":
        """What two texts of one statement leave open together; both order by the same columns."""
        letters = {*self.letters, *other.letters} - {*self.columns, *other.columns}
        return Opening(
            tuple(dict.fromkeys(self.reasons + other.reasons)),
            tuple(dict.fromkeys(self.advice + other.advice)),
            self.everything or other.everything,
            tuple(sorted({*self.columns, *other.columns})),
            self.others or other.others,
            tuple(sorted(letters)),
            self.first or other.first,
            self.last or other.last,
            self.keys or other.keys,
        )

    def determined(self, rows: Sequence[Row], close: Callable[[Any, Any], bool]) -> Sequence[Row]:
        """The part of an answer that the query determines: its rows with `OPEN` for every open
        value. `close`: whether two values of a key count as equal."""
        if self.everything:
            return []
        ends = [*(rows[:1] if self.first else ()), *(rows[-1:] if self.last else ())]
        edges = [[plain(row[place]) for place in self.keys] for row in ends]
        return [self._row(row, edges, close) for row in rows]

    def _row(
        self, row: Row, edges: Sequence[Sequence[Any]], close: Callable[[Any, Any], bool]
    ) -> Row:
        key = [plain(row[place]) for place in self.keys]
        ties = any(all(map(close, key, edge)) for edge in edges)
        found: list[Any] = []
        for place, value in enumerate(row):
            beside = place not in self.keys
            if place in self.columns or (beside and (ties or self.others)):
                found.append(OPEN)
            elif place in self.letters and isinstance(value, str):
                found.append("".join(sorted(value)))
            else:
                found.append(value)
        return found

    def words(self, *, looked_up: bool) -> str:
        """Why it is open, what was compared, and what closes it. `looked_up`: whether the rows that
        a LIMIT chose are known to be rows of the answer without it."""
        compared = ["the number of rows"]
        if self.keys:
            compared.append("the values that they are sorted by")
        if self.cuts and self.keys:
            compared.append("the rows that do not tie at the cut")
        if (self.columns or self.letters) and not (self.others or self.cuts):
            compared.append("the other columns")
        if self.letters:
            compared.append("the letters of the text that is joined")
        if looked_up:
            compared.append("all rows without the LIMIT, among which these are")
        what = "nothing" if self.everything else listing(compared)
        return f"{'; '.join(self.reasons)}; compared: {what}; to close it, {listing(self.advice)}"
