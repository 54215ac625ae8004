"""Small relations that exercise every type, quoting and order."""

from collections.abc import Iterable

import pyarrow as pa

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.quel.translate import translate

ATTRIBUTES = (
    Attribute("unique1", "int2"),
    Attribute("unique2", "int4"),
    Attribute("big", "int8"),
    Attribute("string", "char(12)"),
)
STRINGS = (
    "plain",
    "a,b",
    'say "x"',
    "it's",
    "zwölf",
    "日本",
    "back\\slash",
    "two\nlines",
    "\\.",
    "%s",
)
ROWS = 40

Row = tuple[int, int, int, str]


def rows(count: int = ROWS) -> list[Row]:
    """Rows in order of unique2; unique1 runs the other way, so no index gets its order free."""
    return [
        (count - 1 - i, i, 2**40 * (1 - 2 * (i % 2)) + i, STRINGS[i % len(STRINGS)])
        for i in range(count)
    ]


def stream(values: list[Row], batch_rows: int = 7) -> pa.RecordBatchReader:
    """The rows as the generator would give them: several batches, exact types."""
    columns = zip(*values, strict=True) if values else ([], [], [], [])
    types = (pa.int16(), pa.int32(), pa.int64(), pa.string())
    arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
    table = pa.table(arrays, names=[a.name for a in ATTRIBUTES])
    return table.to_reader(batch_rows)


def table(name: str = "t", **design: object) -> Table:
    return Table(name, ATTRIBUTES, **design)  # type: ignore[arg-type]


def said(engine: Engine, text: str) -> str:
    """A QUEL program over tables like `table` in the engine's own language."""
    return translate(
        text, engine.dialect, engine.stored_name, lambda _: ATTRIBUTES, engine.schema
    ).text


def as_rows(answer: object) -> list[tuple[object, ...]]:
    """The rows of an answer that `read` gave, as Python rows; as to blanks see `trimmed`."""
    if isinstance(answer, pa.Table):
        return list(zip(*(c.to_pylist() for c in answer.columns), strict=True))
    assert isinstance(answer, Iterable)
    return trimmed(answer)


def trimmed(answer: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Rows as an engine gave them, without the blanks that pad a char(n) on some."""
    return [tuple(v.rstrip(" ") if isinstance(v, str) else v for v in row) for row in answer]
