"""A primary key that the data do not have is reported when they are read, before any engine."""

from pathlib import Path

import pyarrow as pa
import pytest

from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.run.planned import plan_from
from loadstone.workload import keys
from loadstone.workload.keys import PrimaryKey

ASCENDS = "id,part,name\n1,1,a\n2,1,b\n3,1,c\n"
DESCENDS = "id,part,name\n3,1,a\n2,1,b\n1,1,c\n"
TWICE = "id,part,name\n2,1,a\n1,1,b\n2,2,c\n2,1,d\n1,3,b\n"
HOLED = "id,part,name\n1,1,a\n,1,b\n"


def planned(place: Path, rows: str, table: str) -> Plan:
    (place / "t.csv").write_text(rows, encoding="utf-8")
    stated = f'[data.t]\n{table}\n[[statement]]\nname = "s"\nsql = "SELECT * FROM t"'
    (place / "workload.toml").write_text(stated, encoding="utf-8")
    return plan_from({"benchmark": str(place), "on": ("sqlite",)}, None).plan


def in_file(key: str) -> str:
    return f'file = "t.csv"\nprimary_key = {key}'


@pytest.mark.parametrize(
    ("rows", "key"),
    [(ASCENDS, '"id"'), (DESCENDS, '"id"'), (TWICE, '["id", "part", "name"]'), (HOLED, '"name"')],
)
def test_a_key_that_each_row_has_alone_is_one(tmp_path: Path, rows: str, key: str) -> None:
    assert planned(tmp_path, rows, in_file(key)).rows


@pytest.mark.parametrize(
    ("rows", "table", "stated"),
    [
        (TWICE, in_file('"id"'), "the table t has its primary key (id) more than once: 1 in 2 rows,"
         " and 1 other key"),
        (TWICE, in_file('["id", "part"]'), "(id, part) more than once: 2, 1 in 2 rows"),
        (TWICE, in_file('"name"'), "(name) more than once: b in 2 rows"),
        (HOLED, in_file('"id"'), "the table t has a NULL in its primary key (id)"),
        (HOLED, in_file('["part", "id"]'), "a NULL in its primary key (part, id): id"),
        ("", 'sql = "SELECT i % 7 AS id FROM range(9) AS r(i)"\nprimary_key = "id"',
         "the table t has its primary key (id) more than once: 0 in 2 rows, and 1 other key"),
        ("", 'sql = "SELECT nullif(i, 5) AS id FROM range(9) AS r(i)"\nprimary_key = "id"',
         "the table t has a NULL in its primary key (id)"),
    ],
)  # fmt: skip
def test_one_that_several_have_is_named(tmp_path: Path, rows: str, table: str, stated: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(tmp_path, rows, table)
    assert stated in caught.value.message
    assert "primary_key" in (caught.value.hint or "")


def passed(*values: list[int]) -> PrimaryKey:
    found = PrimaryKey("t", ["id"])
    for each in values:
        found.take(pa.RecordBatch.from_pydict({"id": pa.array(each, pa.int64())}))
    return found


@pytest.mark.parametrize("values", [([1, 2], [2, 3]), ([1, 1], [2, 3]), ([3], [1, 2], [3])])
def test_it_is_found_within_and_between_batches(values: tuple[list[int], ...]) -> None:
    with pytest.raises(InputError, match=r"[123] in 2 rows"):
        passed(*values).check()


def test_keys_beyond_memory_are_left_to_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "BYTES_MAX", 20)
    passed([1, 2], [2, 3]).check()
    passed([1, 2], [3]).check()
