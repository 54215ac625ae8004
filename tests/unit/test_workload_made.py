"""Tables and values that a query makes when a workload is planned."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.plan.workload import Workload
from loadstone.run.planned import plan_from
from loadstone.workload import answers, data, waiting

MAKING = "SELECT i AS id, i % 3 AS kind, i * 0.5 AS share, 'x' || i AS words FROM range(10) AS t(i)"
STATEMENT = """
[[statement]]
name = "s"
sql = "SELECT * FROM t WHERE kind = :kind"
parameters.kind = { query = "SELECT DISTINCT kind::UTINYINT FROM t WHERE id > 0 ORDER BY 1" }
"""


def planned(place: Path, table: str = f'sql = "{MAKING}"', statement: str = STATEMENT) -> Workload:
    (place / "workload.toml").write_text(f"[data.t]\n{table}\n{statement}", encoding="utf-8")
    choices = {"benchmark": str(place / "workload.toml"), "on": ("sqlite", "duckdb")}
    plan = plan_from(choices, None).plan
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.workload is not None
    return plan.workload


def test_a_table_is_made_of_a_query_the_same_each_time(tmp_path: Path) -> None:
    workload = planned(
        tmp_path, f'sql = "{MAKING}"\nprimary_key = "id"\ntypes = {{ kind = "int2" }}'
    )
    (table,) = workload.tables
    assert [(column.name, column.type) for column in table.columns] == [
        ("id", "int8"), ("kind", "int2"), ("share", "decimal(21,1)"), ("words", "text")
    ]  # fmt: skip
    assert (table.rows, table.primary_key, workload.rows) == (10, ("id",), 10)
    rows = data.stream(table, "").read_all().to_pylist()
    assert rows[7] == {"id": 7, "kind": 1, "share": rows[7]["share"], "words": "x7"}
    assert float(rows[7]["share"]) == 3.5
    assert answers.contents_of(data.stream(table, "")) == (10, table.checksum)
    data.check_unchanged(table, "")
    with pytest.raises(InputError, match="other rows than when this run began"):
        data.check_unchanged(replace(table, checksum="0" * 16), "")
    other = planned(tmp_path, f'sql = "{MAKING.replace("range(10)", "range(11)")}"')
    assert other.edition != workload.edition


def test_values_are_drawn_from_its_rows(tmp_path: Path) -> None:
    (statement,) = planned(tmp_path).statements
    texts = {text.rpartition(" ")[2] for text in statement.texts}
    assert texts <= {"0", "1", "2"}
    assert len(texts) > 1


REFUSED = {
    "random rows": ('sql = "SELECT random() AS x FROM range(9)"', "other rows each time"),
    "a file": ("sql = \"SELECT * FROM read_csv('/etc/passwd')\"", "cannot be made"),
    "a file's name": ("sql = \"SELECT * FROM '/etc/passwd'\"", "reads"),
    "a table": ('sql = "SELECT * FROM u"', "a query that makes a table reads none"),
    "an extension": ("sql = \"SELECT * FROM sqlite_scan('a', 'b')\"", "cannot be made"),
    "a change": ('sql = "CREATE TABLE x (a int)"', "is no query"),
    "two statements": ('sql = "SELECT 1 AS a; SELECT 2 AS a"', "has 2 statements"),
    "a setting": ('sql = "SET enable_external_access = true"', "is no query"),
    "words of DuckDB": ('sql = "SELECT nosuch(i) AS a FROM range(3) AS t(i)"', "nosuch"),
    "a failure at the end": ("sql = \"SELECT CASE WHEN i = 99999 THEN error('the end') ELSE i END"
                             ' AS a FROM range(100000) AS t(i)"', "the end"),
    "a type": ('sql = "SELECT [1] AS a"', "not every engine has"),
    "no column": ('sql = "SELECT 1 AS a"\nprimary_key = "b"', "has no column 'b'"),
    "both": ('sql = "SELECT 1 AS a"\nfile = "t.csv"', "both a file and a query"),
    "neither": ('primary_key = "b"', "neither a file nor a query"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_made_is_reported(tmp_path: Path, case: str) -> None:
    table, stated = REFUSED[case]
    with pytest.raises(InputError) as caught:
        planned(tmp_path, table, '[[statement]]\nname = "s"\nsql = "SELECT * FROM t"')
    assert stated in caught.value.message
    assert "\n" not in caught.value.message


ASKED = {
    "another table": ("SELECT a FROM u", "no table of this workload"),
    "a file": ("SELECT * FROM read_csv('/etc/passwd')", "cannot be made"),
    "a change": ("DELETE FROM t", "is no query"),
    "nothing": ("SELECT id FROM t WHERE id < 0", "has no value"),
    "nulls alone": ("SELECT NULL", "has no value"),
    "too many": ("SELECT a.id FROM t a, t b, t c, t d, t e, t f", "more than 100,000 values"),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_query_of_values_that_gives_none_is_reported(tmp_path: Path, case: str) -> None:
    query, stated = ASKED[case]
    statement = STATEMENT.partition("parameters")[0] + f'parameters.kind = {{ query = "{query}" }}'
    with pytest.raises(InputError) as caught:
        planned(tmp_path, statement=statement)
    assert stated in caught.value.message


WAITED = {
    "a query": ('sql = "SELECT i AS id FROM range(10) AS t(i)"', "executing the query that makes"
                " the rows of the table t"),
    "a file": ('file = "t.csv"', "reading the files of the table t: t.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", WAITED)
def test_what_takes_long_is_said_with_the_way_to_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    table, stated = WAITED[case]
    said: list[str] = []
    heard = threading.Event()
    rows = data._batches

    def say(text: str) -> None:
        said.append(text)
        heard.set()

    def slow(*asked: object) -> Iterator[object]:
        assert heard.wait(60)
        return rows(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    monkeypatch.setattr(waiting, "say", say)
    monkeypatch.setattr(data, "_batches", slow)
    (tmp_path / "t.csv").write_text("id\n1\n", encoding="utf-8")
    planned(tmp_path, table, '[[statement]]\nname = "s"\nsql = "SELECT * FROM t"')
    words = f"loadstone: still {stated}, which the plan needs; Ctrl-C ends it"
    assert said == [words]


def test_what_is_ready_in_time_is_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(waiting, "say", said.append)
    with waiting.announced("reading"):
        pass
    assert not said
    assert not any(isinstance(one, threading.Timer) for one in threading.enumerate())
