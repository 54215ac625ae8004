"""Tables of a user's workload, on every engine that takes SQL: each type, NULL, keys, indexes."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from engine_kinds import asked

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.errors import EngineError
from loadstone.workload import answers, comparison
from loadstone.workload.data import arrow_type

COLUMNS = {
    "small": ("int2", [-(2**15), 2**15 - 1, 7, None]),
    "int": ("int4", [-(2**31), 2**31 - 1, 7, None]),
    "select": ("int8", [-(2**63), 2**63 - 1, 7, None]),
    "Real Number": ("float8", [-1.5e300, 5e-324, 0.1, None]),
    "exact": ("decimal(14,4)", [Decimal("-1234567890.1234"), Decimal("0.0001"), Decimal(3), None]),
    "words": ("text", ['a,"b"\n\\.\t', "", "日本 it's", None]),
    "truth": ("bool", [True, False, True, None]),
    "day": ("date", [dt.date(1600, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31), None]),
    "moment": ("timestamp", [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
                             dt.datetime(2024, 2, 29), dt.datetime(2500, 1, 1, 0, 0, 0, 1), None]),
    "key": ("int4", [1, 2, 3, 4]),
    "'quoted\"": ("text", ["a", "b", "c", "d"]),
}  # fmt: skip
TABLE = Table(
    "t",
    tuple(Attribute(name, kind) for name, (kind, _) in COLUMNS.items()),
    primary_key=("key", "'quoted\""),
    compound=(("int",), ("day", "select")),
)


def reader(columns: dict = COLUMNS) -> pa.RecordBatchReader:
    schema = pa.schema([(name, arrow_type(kind)) for name, (kind, _) in columns.items()])
    arrays = [pa.array(values, field.type)
              for (_, values), field in zip(columns.values(), schema, strict=True)]  # fmt: skip
    return pa.table(arrays, schema=schema).to_reader(3)


@pytest.fixture
def sql(engine: Engine) -> Engine:
    if engine.capabilities.no_sql:
        pytest.skip(engine.capabilities.no_sql)
    return engine


def test_every_type_is_kept_and_given_alike(sql: Engine) -> None:
    assert sql.load(TABLE, reader()) == 4
    sql.settle(["t"])
    assert answers.contents_of(sql.contents("t")) == answers.contents_of(reader())
    given = asked(sql, f"SELECT * FROM {sql.quote('t')}")
    rows = list(zip(*(values for _, values in COLUMNS.values()), strict=True))
    assert comparison.difference(given, rows, 15) is None


def test_it_computes_with_them(sql: Engine) -> None:
    sql.load(TABLE, reader())
    table = sql.quote("t")
    for text, expected in (
        (
            f'SELECT sum("exact"), sum("Real Number") > 0 FROM {table} WHERE "key" > 1',
            [(3.0001, 1)],
        ),
        (f'SELECT count(*) FROM {table} WHERE "truth"', [(2,)]),
        (f'SELECT "key" FROM {table} WHERE "day" > \'2024-01-01\'', [(2,), (3,)]),
        (f'SELECT max("moment") FROM {table}', [(dt.datetime(2500, 1, 1, 0, 0, 0, 1),)]),
        (f'SELECT count("words"), count(*) FROM {table} WHERE "words" IS NULL', [(0, 1)]),
    ):
        assert comparison.difference(asked(sql, text), expected, 10) is None, text


def test_a_recursive_query_may_begin_with_a_text_that_is_written_out(sql: Engine) -> None:
    """PostgreSQL refuses it where the columns have another collation than the database."""
    columns = {"room": ("text", ["a", "a", "b"]), "id": ("int4", [2, 3, 3]),
               "parent": ("int4", [1, 2, 1])}  # fmt: skip
    attributes = tuple(Attribute(name, kind) for name, (kind, _) in columns.items())
    sql.load(Table("t", attributes), reader(columns))
    table = sql.quote("t")
    begin = "CAST('a' AS CHAR(9))" if sql.dialect == "mysql" else "'a'"
    found = sql.fetch(
        f"WITH RECURSIVE tree(room, id) AS (SELECT {begin}, 1 UNION ALL SELECT m.room, m.id"
        f" FROM {table} AS m JOIN tree ON tree.room = m.room WHERE m.parent = tree.id)"
        " SELECT count(*) FROM tree"
    )
    assert found == [(3,)]


def test_a_primary_key_holds_and_a_table_without_it_does_not_stay(sql: Engine) -> None:
    twice = COLUMNS | {"key": ("int4", [1, 1, 3, 4]), "'quoted\"": ("text", ["a", "a", "c", "d"])}
    with pytest.raises(EngineError, match=r"(?i)unique|duplicate"):
        sql.load(TABLE, reader(twice))
    assert "t" not in sql.tables()


def test_a_plan_finds_a_row_by_its_primary_key(sql: Engine) -> None:
    count = 20_000
    columns = {"id": ("int4", range(count)), "x": ("text", [f"text {n}" for n in range(count)])}
    table = Table("t", (Attribute("id", "int4"), Attribute("x", "text")), primary_key=("id",))
    sql.load(table, reader(columns))
    sql.settle(["t"])
    text = f"SELECT x FROM {sql.quote('t')} WHERE id = 12345"
    assert sql.fetch(text) == [("text 12345",)]
    if sql.name != "sqlite":  # whose single integer key is the row's own number
        assert "heap" not in (sql.access_paths(text, sql.explain(text)) or ())
