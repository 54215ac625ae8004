"""docs/reference/record.md describes the record that the code writes: its tables, columns, keys and
version.

The queries it shows are run, on a record, by SQLite and by DuckDB.
"""

import re
import sqlite3

import pytest

from loadstone.record import facts
from loadstone.record.schema import APPLICATION_ID, SCHEMA_VERSION, definitions

DOCUMENT = "docs/reference/record.md"


def described(text: str) -> dict[str, list[str]]:
    """Table -> its columns, as a document's `###` sections have them."""
    tables = {}
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        name = re.match(r"`(\w+)`", section)
        if name:
            body = section.split("\n## ")[0]
            tables[name[1]] = re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE)
    return tables


KINDS = {
    "integer": facts.COUNT,
    "0 or 1": facts.COUNT,
    "number": facts.NUMBER,
    "text": facts.WORDS,
}


def machine_keys(text: str) -> dict[str, object]:
    """Key of the table `machine` -> its kind: a row has one for all its keys, or one for each."""
    table = text.partition("| key | kind | meaning |")[2].partition("\n\n")[0]
    found = {}
    for row in table.splitlines()[2:]:
        keys, kinds = (cell.split(", ") for cell in row.split(" | ")[:2])
        for key, kind in zip(keys, kinds if len(kinds) > 1 else kinds * len(keys), strict=True):
            found[key.strip("| `")] = KINDS[kind]
    return found


def empty_record() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(definitions())
    return connection


def table_names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]


def columns_of(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    rows = connection.execute(f"PRAGMA table_info({table})")
    return [(name, kind) for _, name, kind, *_ in rows]


def queries(text: str) -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def record():
    """A right cell with three samples, a failed one, and a cold one without proof."""
    connection = empty_record()
    connection.execute("INSERT INTO session VALUES (1, '', '', 0)")
    for cell_id, (operation, temperature, status, reason) in enumerate(
        [("a", "warm", "ok", ""), ("b", "warm", "failed", "> 60 s"), ("c", "cold", "ok", "")], 1
    ):
        values = (cell_id, 1, operation, "sqlite", 1000, temperature, status, reason, "", "")
        connection.execute("INSERT INTO cell VALUES (?,?,?,?,?,?,?,?,?,?)", values)
    for cell_id, ordinal, elapsed_ns in [(1, 0, 9e6), (1, 1, 1e6), (1, 2, 2e6), (3, 0, 5e6)]:
        values = (cell_id, ordinal, 0, 0, 0, int(elapsed_ns), *[None] * 10)
        connection.execute(
            "INSERT INTO sample VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,0,0,0,0,0,0,0,0,0,0,0)",
            values,
        )
    connection.execute(
        "INSERT INTO evidence (cell_id, ordinal, proved, reason, method, files, bytes,"
        " resident_before, resident_after, engine_dead)"
        " VALUES (3,0,0,'3 pages stayed','mincore',1,9,4,3,1)"
    )
    return connection


def test_every_table_and_column_is_described_in_order(texts):
    connection = empty_record()
    actual = {
        name: [c for c, _ in columns_of(connection, name)] for name in table_names(connection)
    }
    assert described(texts[DOCUMENT]) == actual
    assert list(described(texts[DOCUMENT])) == list(actual)


def test_every_key_of_the_machine_is_described_with_its_kind(texts):
    assert machine_keys(texts[DOCUMENT]) == facts.MACHINE


def test_a_key_or_kind_that_is_not_described_is_seen(texts):
    assert "cpu.model" not in machine_keys(texts[DOCUMENT].replace("| `cpu.model`, ", "| "))
    other = texts[DOCUMENT].replace("| 0 or 1 | whether Loadstone", "| text | whether Loadstone")
    assert machine_keys(other) != machine_keys(texts[DOCUMENT])


def test_version_and_identity_are_described(texts):
    text = " ".join(texts[DOCUMENT].split())
    assert f"`PRAGMA user_version` is the schema's version: {SCHEMA_VERSION}." in text
    assert f"`PRAGMA application_id` is 0x{APPLICATION_ID:X} " in text


EXPECTED = [
    [
        ("a", "sqlite", 1000, "warm", 3, 1.0, 2.0, 9.0),
        ("c", "sqlite", 1000, "cold", 1, 5.0, 5.0, 5.0),
    ],
    [
        ("b", "sqlite", 1000, "warm", "failed", "> 60 s"),
        ("c", "sqlite", 1000, "cold", "unproved", "3 pages stayed"),
    ],
]


def test_the_examples_run_in_sqlite(texts, record):
    assert [record.execute(query).fetchall() for query in queries(texts[DOCUMENT])] == EXPECTED


def test_the_median_of_an_even_number_of_samples_is_the_middle_of_two(texts, record):
    record.execute("INSERT INTO sample SELECT 1, 3, 0, 0, 0, 4000000" + ", 0" * 22)
    assert record.execute(queries(texts[DOCUMENT])[0]).fetchall()[0][4:] == (4, 1.0, 3.0, 9.0)


def test_the_examples_run_in_duckdb(texts, record):
    import duckdb

    connection = duckdb.connect()
    for table in table_names(record):
        columns = columns_of(record, table)
        types = {"INTEGER": "BIGINT"}
        definition = ", ".join(f'"{name}" {types.get(kind, "VARCHAR")}' for name, kind in columns)
        connection.execute(f"CREATE TABLE {table} ({definition})")
        rows = record.execute(f"SELECT * FROM {table}").fetchall()
        if rows:
            marks = ",".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    answers = [connection.execute(query).fetchall() for query in queries(texts[DOCUMENT])]
    assert answers == EXPECTED


def test_a_table_or_column_that_is_not_described_is_seen(texts):
    whole = described(texts[DOCUMENT])
    for name, column in (("run", "`plan_hash`"), ("sample", "`elapsed_ns`")):
        assert described(texts[DOCUMENT].replace(f"| {column} |", "| one |"))[name] != whole[name]
    assert "size" not in described(texts[DOCUMENT].replace("### `size`", "### size"))
