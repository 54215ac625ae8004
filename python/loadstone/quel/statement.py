"""What a QUEL program comes to in SQL. Apart from the translation, whose libraries take a tenth of
a second to import: who has the statement already needs none of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement. `kind` is `retrieve` (rows to the client), `into` (a new table, called
    `result`), `update` (of the table called `target`) or `definition`."""

    kind: str
    sql: str
    result: str | None = None
    target: str | None = None
