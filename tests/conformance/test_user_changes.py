"""The changes of a user's statement in its table, and the table as it was: on every engine that
takes SQL, in a database of ours."""

import re

import pyarrow as pa
import pytest

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.errors import EngineError
from loadstone.protocol.parts import ChangedTable
from loadstone.worker.table_copy import TableCopy
from loadstone.workload import answers, comparison
from loadstone.workload.data import arrow_type

COLUMNS = {
    "id": ("int4", [1, 2, 3, 3, 4, 4]),
    "Kind": ("text", ["a", "b", "c", "d", "e", None]),
    "share": ("float8", [0.1, -2.5, None, 1e300, 0.0, 7.0]),
}
KEYS = {"one column": ("id",), "two columns": ("id", "Kind"), "none": ()}


def rows_of(key: tuple[str, ...]) -> pa.Table:
    """A key of one column needs other rows than twice the same."""
    schema = pa.schema([(name, arrow_type(kind)) for name, (kind, _) in COLUMNS.items()])
    table = pa.table([pa.array(values, field.type) for (_, values), field
                      in zip(COLUMNS.values(), schema, strict=True)], schema=schema)  # fmt: skip
    if key == ("id",):
        return table.slice(0, 3)
    # No part of a key is NULL; without a key a row may stand twice.
    return table.slice(0, 5) if key else pa.concat_tables([table, table.slice(2, 1)])


@pytest.fixture(params=KEYS)
def key(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return KEYS[request.param]


@pytest.fixture
def copied(engine: Engine, key: tuple[str, ...]) -> TableCopy:
    if engine.capabilities.no_sql:
        pytest.skip(engine.capabilities.no_sql)
    attributes = tuple(Attribute(name, kind) for name, (kind, _) in COLUMNS.items())
    engine.load(Table("t", attributes, primary_key=key), rows_of(key).to_reader())
    engine.load(Table("t__0", attributes), rows_of(key).to_reader())
    return TableCopy(engine, ChangedTable("t", key, tuple(COLUMNS)))


def contents(engine: Engine) -> tuple[int, str]:
    return answers.contents_of(engine.contents("t"))


CHANGES = {
    "an update": ('UPDATE {t} SET "share" = 5.5 WHERE "id" = 2', 1, 2),
    "one that changes no value": ('UPDATE {t} SET "id" = "id"', None, 0),
    "one of all rows": ('UPDATE {t} SET "id" = "id" + 100', None, None),
    "a deletion": ('DELETE FROM {t} WHERE "id" = 2', 1, 1),
    "of all": ("DELETE FROM {t}", None, None),
    "of none": ('DELETE FROM {t} WHERE "id" = 99', 0, 0),
    "an insertion": ("INSERT INTO {t} VALUES (9, 'it''s', NULL)", 1, 1),
    "of what is there": ('INSERT INTO {t} SELECT "id" + 10, "Kind", "share" FROM {t}', None, None),
    "behind WITH": ("WITH x AS (SELECT 8 AS n) INSERT INTO {t} SELECT n, 'x', 1.5 FROM x", 1, 1),
    "behind a comment": ('-- to none\nDELETE FROM {t} WHERE "id" = 1', 1, 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_counted_shown_and_put_back(
    engine: Engine, copied: TableCopy, key: tuple[str, ...], change: str
) -> None:
    text, counted, differing = CHANGES[change]
    if engine.name == "mariadb":
        # There the query's own WITH stands behind INSERT INTO.
        text = re.sub(r"^(WITH .*\)) (INSERT INTO \{t\}) ", r"\2 \1 ", text)
    before = contents(engine)
    assert copied.changes() == []
    rows = rows_of(key).num_rows
    assert engine.run(text.format(t=engine.quote("t"))) == (rows if counted is None else counted)
    found = copied.changes()
    if differing is not None:
        assert len(found) == differing, found
    elif change == "of all":
        assert {row[0] for row in found} == {"went"}
    else:
        assert found
    if found:
        assert contents(engine) != before
    copied.put_back()
    assert contents(engine) == before
    assert copied.changes() == []


def test_what_was_there_once_and_is_there_twice_shows(
    engine: Engine, copied: TableCopy, key: tuple[str, ...]
) -> None:
    if key:
        pytest.skip("a key allows no row twice")
    engine.run(f"INSERT INTO {engine.quote('t')} VALUES (3, 'c', NULL)")
    found = copied.changes()
    assert comparison.difference(
        found, [("came", 3, "c", None, 3), ("went", 3, "c", None, 2)], 10
    ) is None, found  # fmt: skip
    copied.put_back()
    assert copied.changes() == []


def test_all_engines_report_a_change_alike(engine: Engine, copied: TableCopy) -> None:
    engine.run(f'UPDATE {engine.quote("t")} SET "share" = 0.1 WHERE "id" = 2')
    expected = [("came", 2, "b", 0.1), ("went", 2, "b", -2.5)]
    found = copied.changes()
    if len(found[0]) > len(expected[0]):
        expected = [(*row, 1) for row in expected]
    assert comparison.difference(found, expected, 10) is None
    assert answers.checksum_of(found, 10) == answers.checksum_of(expected, 10)


def test_a_table_that_does_not_become_what_it_was_is_reported(
    engine: Engine, copied: TableCopy, key: tuple[str, ...]
) -> None:
    if not key:
        pytest.skip("without a key it becomes what its copy is")
    # A row that no key finds: what is left differs from the copy, however often it is put back.
    engine.run(f"INSERT INTO {engine.quote('t__0')} SELECT * FROM {engine.quote('t__0')}")
    engine.run(f'UPDATE {engine.quote("t__0")} SET "share" = 3.25 WHERE "id" = 1')
    engine.run(f"INSERT INTO {engine.quote('t__0')} VALUES (1, 'a', 4.5)")
    with pytest.raises(EngineError):
        copied.put_back()
