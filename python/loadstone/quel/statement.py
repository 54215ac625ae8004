"""A QUEL program as an engine gets it. Apart from the translation, whose libraries take a tenth of
a second to import: a caller that has the statement already needs none of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in an engine's language. `kind` is `retrieve` (rows to the client), `into` (a
    new table, called `result`), `update` (of the table called `target`) or `definition`."""

    kind: str
    text: str
    result: str | None = None
    target: str | None = None
