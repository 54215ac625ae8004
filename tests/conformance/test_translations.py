"""A text of one dialect has the same answer on every engine that gets our translation of it.

For each construct that dialects understand differently, over values at the edges: the answer of the
dialect's own engine is the truth. A gap that a construct declares is none of an answer.
"""

import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest
from engine_kinds import CHDB, EVERY_ENGINE, asked

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.workload import comparison, sql_for_engine
from loadstone.workload.constructs import CONSTRUCTS
from loadstone.workload.data import arrow_type

TYPES = {
    "id": "int4", "i": "int4", "n": "int8", "f": "float8", "d": "decimal(10,2)", "s": "text",
    "b": "bool", "day": "date", "moment": "timestamp",
}  # fmt: skip
COLUMNS = [("t", name, kind) for name, kind in TYPES.items()]
TABLE = Table("t", tuple(Attribute(name, kind) for name, kind in TYPES.items()))
EDGES = [
    (-7, None, -2.5, "-7.25", "Abc", True, "2024-01-07", "2024-01-07T10:11:12.5"),
    (0, 3, 0.5, "2.50", "", False, "2024-12-31", "1969-12-31T23:59:59"),
    (5, -4, 1.5, "0.10", "aBc", None, "2023-01-01", "2000-02-29T00:00:00"),
    (7, 7, 2.5, "10.00", "a%b", True, None, None),
    (None, None, None, None, None, None, "2024-02-29", "2024-02-29T12:00:00.25"),
    (2, 2, -0.5, "-0.35", "ab*", False, "1931-01-03", "2021-01-03T06:07:08.123456"),
    (1, 9, 3.0, "3.00", "A_c", True, "2020-12-28", "2020-12-28T01:02:03"),
]
LETTERS = "aAbBc%_*?[] "
SOURCES = ("sqlite", "duckdb", "postgresql", "mariadb", "chdb")
EXACT = ("duckdb", "postgresql")
"""Most people write in these dialects: their own engine takes each text as it is written."""


def rows(dice: random.Random) -> Iterator[tuple]:
    for id_, (i, n, f, d, s, b, day, moment) in enumerate(EDGES):
        yield (id_, i, n, f, d and Decimal(d), s, b, day and dt.date.fromisoformat(day),
               moment and dt.datetime.fromisoformat(moment))  # fmt: skip
    for id_ in range(len(EDGES), 40):
        letters = dice.choices(LETTERS, k=dice.randrange(6))
        moment = dt.datetime(1900, 1, 1) + dt.timedelta(seconds=dice.randrange(2**32))
        yield (id_, dice.randint(-20, 20), dice.randint(-5, 5), dice.randint(-9, 9) / 2,
               Decimal(dice.randint(-5000, 5000)) / 100, "".join(letters).rstrip(),
               dice.random() < 0.5, moment.date(), moment)  # fmt: skip


@pytest.fixture(scope="module")
def loaded(shared: dict[str, Engine], seed: int) -> Iterator[dict[str, Engine]]:
    """The engines of SQL, each with the table; a newcomer's driver takes no decimals."""
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in TYPES.items()])
    columns = zip(*rows(random.Random(seed)), strict=True)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    data = pa.table(arrays, schema=schema)
    found = {
        name: engine
        for name, engine in shared.items()
        if name not in ("spark", "plain") and not engine.capabilities.no_sql
    }
    for engine in found.values():
        engine.start()
        engine.load(TABLE, data.to_reader())
        engine.settle(["t"])
    yield found
    for engine in found.values():
        engine.drop("t")
        if engine.name in ("turso", *(kind.name for kind in CHDB)):
            engine.stop()


def texts() -> Iterator[tuple[str, str]]:
    for construct in CONSTRUCTS:
        for example in construct.examples:
            if example.startswith("SELECT"):
                yield construct.name, f"{example} ORDER BY 1"
                yield construct.name, f"{example} ORDER BY 1 DESC"
            elif example.startswith(("sum(", "avg(", "count(", "stddev")):
                yield construct.name, f"SELECT {example} AS r FROM t"
            else:
                yield construct.name, f"SELECT id, {example} AS r FROM t ORDER BY id"


def translated(engine: Engine, text: str, source: str) -> list[list]:
    stored = {"t": engine.stored_name("t")}
    given = sql_for_engine.for_engine(text, source, engine.dialect, stored, COLUMNS, engine.schema)
    return asked(engine, given.text)


@pytest.mark.slow
@pytest.mark.parametrize("source", [name for name in SOURCES if name in EVERY_ENGINE])
def test_an_engine_answers_a_translation_as_the_dialect_s_own_engine_does(
    loaded: dict[str, Engine], source: str
) -> None:
    own, wrong, answered = loaded[source], [], set()
    for name, text in texts():
        try:
            expected = translated(own, text, own.dialect)
        except (EngineError, InputError):
            continue  # the dialect lacks it
        answered.add(name)
        for engine in loaded.values():
            if engine.dialect == own.dialect:
                continue
            try:
                given = translated(engine, text, own.dialect)
            except UnsupportedError:
                continue
            except EngineError as error:
                if source in EXACT:
                    wrong.append((text, engine.name, error.message))
                continue
            found = comparison.difference(given, expected, 10, (0,))
            if found is not None:
                wrong.append((text, engine.name, found))
    assert not wrong
    assert len(answered) >= len(CONSTRUCTS) // 2
