"""A QUEL program as an engine gets it. Apart from the translation, whose libraries take a tenth of
a second to import: a caller that has the statement already needs none of them."""

from dataclasses import dataclass

CONTROL = ("BEGIN", "COMMIT", "ROLLBACK")
"""First words of the steps of a script that begin and end its transactions."""


def is_control(text: str) -> bool:
    """Whether a step of a script begins or ends a transaction."""
    return text.split(maxsplit=1)[0] in CONTROL


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in an engine's language. `kind` is `retrieve` (rows to the client), `into` (a
    new table, called `result`), `update` (of the table called `target`), `definition`, or `script`:
    `steps`, one after another, each with whether it gives rows."""

    kind: str
    text: str
    result: str | None = None
    target: str | None = None
    steps: tuple[tuple[str, bool], ...] = ()
