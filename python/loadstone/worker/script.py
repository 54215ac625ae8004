"""A user's script of several statements: its execution, and what concurrent users of it must leave.

    before: the answers of `same` and `grows` -> the loop -> after: the same queries -> put back

Users of a script that changes data see each other's changes, so no answer of theirs can be expected
alone. What they leave can: the answers of the queries in `same` are what they were, and each number
of those in `grows` is larger by the number of scripts that were completed. The label "ok" of such a
loop would be false if an engine lost or doubled a change that no such query sees.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from loadstone.engines.base import Engine
from loadstone.errors import LoadstoneError
from loadstone.protocol.parts import SqlText
from loadstone.quel.statement import Statement
from loadstone.text.numbers import plural
from loadstone.workload.answers import checksum_of
from loadstone.workload.comparison import first_rows

Row = tuple[Any, ...]


def play(engine: Engine, statement: Statement) -> list[Row]:
    """Execute the statements of a script in their order. Returns the rows of its queries, each
    behind its query's place. Where one fails, the open transaction is rolled back."""
    found: list[Row] = []
    for place, (text, gives_rows) in enumerate(statement.steps):
        try:
            if gives_rows:
                found += [(place, *row) for row in engine.fetch(text)]
            else:
                engine.run(text)
        except LoadstoneError:
            if len(statement.steps) > 1:
                with suppress(LoadstoneError):  # where it has ended already
                    engine.run("ROLLBACK")
            raise
    return found


class Invariants:
    """The state that concurrent users of a script must leave as it was before them."""

    def __init__(self, engine: Engine, sql: SqlText, translate: Callable[[str], Statement]) -> None:
        self._engine = engine
        self._digits = sql.digits
        self._same = {text: translate(text).text for text in sql.same}
        self._grows = {text: translate(text).text for text in sql.grows}
        self._before = self._read()

    def broken(self, completed: int) -> str:
        """The first state that is wrong after so many scripts; empty: none is."""
        after = self._read()
        for text in self._same:
            if after[text] != self._before[text]:
                first, last = (_shown(each[text]) for each in (self._before, after))
                return f"wrong state after the loop: {text} returned {first}, and now {last}"
        for text in self._grows:
            was, now = (_number(each[text]) for each in (self._before, after))
            if was is None or now is None:
                return f"wrong state after the loop: {text} does not return one number"
            if now - was != completed:
                grown = plural(completed, "script")
                return (
                    f"wrong state after the loop: {grown} were completed, and {text} was"
                    f" {was:,}, now {now:,}"
                )
        return ""

    def _read(self) -> dict[str, tuple[Any, Sequence[Row]]]:
        found: dict[str, tuple[Any, Sequence[Row]]] = {}
        for text, asked in (self._same | self._grows).items():
            rows = self._engine.fetch(asked)
            found[text] = (checksum_of(rows, self._digits), rows)
        return found


def _shown(answer: tuple[Any, Sequence[Row]]) -> str:
    _, rows = answer
    return first_rows(rows)[0] if len(rows) == 1 else plural(len(rows), "row")


def _number(answer: tuple[Any, Sequence[Row]]) -> Decimal | None:
    _, rows = answer
    value = rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else None
    return Decimal(value) if isinstance(value, int | float | Decimal) else None
