"""Requests that users draw anew for each transaction, as the engine gets them.

A text is translated once, with a literal of its own in place of each value, and taken apart at
these; the values come in between. So a translation that depends on a value would be another text
than the engine's own. The first values are translated whole, too, and compared.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from loadstone._core import Drawing
from loadstone.errors import UnsupportedError
from loadstone.plan.workload import LISTED, WITHIN, Draw, DrawnText
from loadstone.protocol.parts import Loop, SqlText
from loadstone.quel.statement import Statement
from loadstone.workload.parameters import filled, given, literal, marked

CHECKED = 5
"""Requests of each text whose translations are compared: of a list, values of all its types are
likely among them."""
SOUGHT = 10_000
"""Requests in which one of each shape is sought, for its plan."""
Text = tuple[list[str], list[int]]
"""Pieces of a text, and the draws between them."""


@dataclass(frozen=True, slots=True)
class DrawnRequests:
    """The requests, and of each shape whether its steps give rows."""

    drawing: Drawing
    gives_rows: Sequence[Sequence[bool]]

    def kinds(self) -> Iterator[Statement]:
        """A request of each shape that the first ones have."""
        found: set[int] = set()
        for number in range(SOUGHT):
            with suppress(ValueError):  # one without a value fails in the loop
                shape, _ = self.drawing.texts(number)
                if shape not in found:
                    found.add(shape)
                    yield self.of(number)
            if len(found) == len(self.gives_rows):
                return

    def of(self, number: int) -> Statement:
        """The request of a number, as a script. Raises `ValueError` where a value has none."""
        shape, texts = self.drawing.texts(number)
        steps = tuple(zip(texts, self.gives_rows[shape], strict=True))
        return Statement("script", ";\n".join(texts), steps=steps)


def drawn_requests(
    loop: Loop,
    sql: SqlText,
    dialect: str,
    translate: Callable[[str], Statement],
    *,
    prepared: bool = False,
) -> DrawnRequests | None:
    """The requests that users draw, in this engine's dialect; None: they go round the variations.
    `prepared`: the values are sent beside the texts. Raises `UnsupportedError`."""
    if not loop.drawn:
        return None
    if prepared and any(draw.kind == WITHIN for drawn in loop.drawn for draw in drawn.draws):
        raise UnsupportedError(
            "a value within quotes is no parameter of a prepared statement",
            hint="join texts by ||, or use statement=text",
        )
    shapes, gives_rows = [], []
    for drawn in loop.drawn:
        text, markers = marked(drawn.text, sql.written_in, drawn.draws)
        steps = _steps(translate(text))
        texts = [apart(step, markers) for step, _ in steps]
        literals = [_literals(draw, dialect) for draw in drawn.draws]
        shapes.append((drawn.weight, [given(draw) for draw in drawn.draws], literals, texts))
        gives_rows.append([rows for _, rows in steps])
        _check(drawn, sql, shapes[-1], translate)
    return DrawnRequests(Drawing(loop.drawn_start, shapes), gives_rows)


def _steps(statement: Statement) -> Sequence[tuple[str, bool]]:
    return statement.steps or ((statement.text, statement.kind == "retrieve"),)


def apart(text: str, markers: Mapping[str, int]) -> Text:
    """A text taken apart at its markers, each with its draw."""
    if not markers:
        return [text], []
    found = re.split("|".join(f"({re.escape(marker)})" for marker in markers), text)
    known = [part for part in found if part is not None]
    pieces, places = [known[0]], []
    for marker, piece in zip(known[1::2], known[2::2], strict=True):
        places.append(markers[marker])
        pieces.append(piece)
    return pieces, places


def _literals(draw: Draw, dialect: str) -> list[str]:
    return [literal(value, dialect) for value in draw.values] if draw.kind == LISTED else []


def _check(
    drawn: DrawnText,
    sql: SqlText,
    shape: tuple[int, list[tuple[str, int, list[int], float, list[str]]], list[list[str]],
                 list[Text]],
    translate: Callable[[str], Statement],
) -> None:  # fmt: skip
    alone = Drawing(0, [shape])
    whole = filled(drawn.text, sql.written_in, drawn.draws, CHECKED, "a drawn text")
    for number, text in enumerate(whole):
        if alone.texts(number)[1] != [step for step, _ in _steps(translate(text))]:
            raise UnsupportedError(
                "its text in this engine's dialect is another for each value, so none can be drawn"
                " for each transaction",
                hint='give the statement a text for this engine, or drawn = "run"',
            )
