"""Parquet and Arrow files: each value is the one that DuckDB reads in the file, or is refused."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.sqlite_family import kept_rows
from loadstone.errors import InputError, UnsupportedError
from loadstone.workload import data

FAR = [dt.datetime(1, 1, 1), dt.datetime(1000, 1, 1), dt.datetime(2001, 2, 3, 4, 5, 6, 789),
       dt.datetime(2262, 4, 12), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999), None]  # fmt: skip
BACK = [dt.datetime(1677, 9, 22), dt.datetime(2001, 2, 3, 4, 5, 6, 789), None]

VALUES: dict[str, tuple[Any, str]] = {
    "int8": (pa.array([-(2**63), 2**63 - 1, None]), "BIGINT"),
    "uint8": (pa.array([255, 0], pa.uint8()), "SMALLINT"),
    "uint16": (pa.array([2**16 - 1], pa.uint16()), "INTEGER"),
    "uint32": (pa.array([2**32 - 1], pa.uint32()), "BIGINT"),
    "uint64": (pa.array([2**64 - 1, 2**64 - 2], pa.uint64()), "DECIMAL(20,0)"),
    "float16": (pa.array([1.5, 65504.0], pa.float16()), "DOUBLE"),
    "float32": (pa.array([0.1, float("nan"), float("-inf")], pa.float32()), "DOUBLE"),
    "float64": (pa.array([0.1, 5e-324, -0.0]), "DOUBLE"),
    "decimal": (pa.array([Decimal("1234567890123456789012345678.0123456789")],
                         pa.decimal128(38, 10)), "DECIMAL(38,10)"),
    "text": (pa.array(["a", "", " é ", None], pa.large_string()), "VARCHAR"),
    "string view": (pa.array(["a", None], pa.string_view()), "VARCHAR"),
    "dictionary of texts": (pa.array(["a", "b", "a", None]).dictionary_encode(), "VARCHAR"),
    "dictionary of integers": (pa.array([7, 8, 7]).dictionary_encode(), "BIGINT"),
    "bool": (pa.array([True, False, None]), "BOOLEAN"),
    "date": (pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None]), "DATE"),
    "date64": (pa.array([dt.date(1500, 2, 28)], pa.date64()), "DATE"),
    "seconds": (pa.array(FAR[1:2], pa.timestamp("s")), "TIMESTAMP"),
    "microseconds": (pa.array(FAR, pa.timestamp("us")), "TIMESTAMP"),
    "nanoseconds": (pa.array(BACK, pa.timestamp("ns")), "TIMESTAMP"),
    "in a zone": (pa.array([dt.datetime(2024, 3, 10, 14, 30)], pa.timestamp("us"))
                  .cast(pa.timestamp("us", "America/St_Johns")), "TIMESTAMP"),
    "null": (pa.nulls(2), "VARCHAR"),
    "no rows": (pa.array([], pa.int32()), "INTEGER"),
}  # fmt: skip


def differing(place: Path, name: str, kind: str, source: Any) -> list[tuple[object, ...]]:
    """The rows of a file that DuckDB's own reading of `source` has otherwise."""
    table = data.described("t", str(place), [name], {})
    ours = data.stream(table, str(place)).read_all()
    with duckdb.connect() as db:
        db.register("ours", ours)
        if not isinstance(source, str):
            db.register("theirs", source)
            source = "theirs"
        return db.execute(
            f"SELECT o.v::VARCHAR, t.v FROM ours o POSITIONAL JOIN (SELECT v::{kind} AS v FROM"
            f" {source}) t WHERE o.v IS DISTINCT FROM t.v OR typeof(o.v) <> '{kind}'"
        ).fetchall()


@pytest.mark.parametrize("case", VALUES)
def test_a_value_is_the_one_that_duckdb_reads(tmp_path: Path, case: str) -> None:
    values, kind = VALUES[case]
    table = pa.table({"v": values})
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=2)
    assert not differing(tmp_path, "p.parquet", kind, f"'{tmp_path}/p.parquet'")
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    # It takes no float16 and no view from Arrow; the file of Parquet has both.
    if case not in ("float16", "string view"):
        assert not differing(tmp_path, "a.arrow", kind, table)


def int96(place: Path, values: Any, name: str = "c.parquet") -> str:
    parquet.write_table(pa.table({"k": range(len(values)), "v": values}), place / name,
                        use_deprecated_int96_timestamps=True, store_schema=False)  # fmt: skip
    return name


def test_times_in_int96_are_read_beyond_the_range_of_nanoseconds(tmp_path: Path) -> None:
    name = int96(tmp_path, pa.array(FAR[1:], pa.timestamp("us")))
    assert not differing(tmp_path, name, "TIMESTAMP", f"'{tmp_path}/{name}'")
    as_text = data.described("t", str(tmp_path), [name], {"v": "text"})
    rows = data.stream(as_text, str(tmp_path)).read_all()["v"].to_pylist()
    assert rows[0] == "1000-01-01 00:00:00.000000"


MICRO_NS = 981_173_106_000_000_000
"""Of the third of February 2001, 04:05:06."""
REFUSED: dict[str, tuple[Any, dict[str, str], tuple[str, ...]]] = {
    "nanoseconds": (pa.array([None, MICRO_NS, MICRO_NS + 1], pa.timestamp("ns")), {},
                    ("row 3", "2001-02-03 04:05:06.000000001")),
    "a year of five digits": (pa.array([253_402_300_800], pa.timestamp("s")), {}, ("row 1",)),
    "bytes": (pa.array([b"a"]), {}, ("binary", '"v" = "text"')),
    "bytes that are no text": (pa.array([b"a", b"\xff"]), {"v": "text"}, ("row 2", "UTF-8")),
    "bytes that are called a text": (pa.array([b"a", b"\xff"]).view(pa.string()), {},
                                     ("row 2", "UTF-8")),
    "a time of day": (pa.array([dt.time(10, 15)]), {}, ("time64", '"v" = "text"')),
    "a struct": (pa.array([{"a": 1}]), {}, ("struct",)),
    "a list": (pa.array([[1]]), {"v": "text"}, ("list",)),
    "a long decimal": (pa.array([Decimal(1)], pa.decimal256(50, 0)), {}, ("decimal256(50, 0)",)),
    "a fraction as an integer": (pa.array([1.0, 1.5]), {"v": "int8"}, ("row 2", "1.5")),
    "a float between two decimals": (pa.array([1.1, 1.005]), {"v": "decimal(10,2)"}, ("row 2",)),
    "a long decimal as a float": (pa.array([Decimal("12345678901234567.89")]), {"v": "float8"},
                                  ("row 1", "12345678901234567.89")),
    "a time as a day": (pa.array(FAR[:3], pa.timestamp("us")), {"v": "date"}, ("row 3",)),
    "a number as a truth": (pa.array([0, 1, 5]), {"v": "bool"}, ("row 3", "'5'")),
    "a text as a number": (pa.array(["1", "x"]), {"v": "int8"}, ("row 2", "'x'")),
    "an integer beyond": (pa.array([2**64 - 1], pa.uint64()), {"v": "int8"}, ("row 1",)),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_would_change_is_refused_with_its_place(tmp_path: Path, case: str) -> None:
    values, types, facts = REFUSED[case]
    parquet.write_table(pa.table({"k": range(len(values)), "v": values}), tmp_path / "p.parquet")
    with pytest.raises(InputError) as caught:
        data.described("t", str(tmp_path), ["p.parquet"], types)
    for fact in ("p.parquet", *facts):
        assert fact in f"{caught.value.message}; {caught.value.hint}"
    # What is named already is no advice.
    assert types.get("v") != "text" or '"text"' not in (caught.value.hint or "")


def test_a_remainder_of_nanoseconds_in_int96_is_refused(tmp_path: Path) -> None:
    name = int96(tmp_path, pa.array([None, MICRO_NS, MICRO_NS + 1], pa.timestamp("ns")))
    for types in ({}, {"v": "text"}):
        with pytest.raises(InputError) as caught:
            data.described("t", str(tmp_path), [name], types)
        assert f"{name}, row 3, column v" in caught.value.message
        assert "microsecond" in caught.value.message


def test_bytes_are_texts_where_they_are_named_so(tmp_path: Path) -> None:
    parquet.write_table(
        pa.table({"URL": [b"http://x", None, "é".encode()]}), tmp_path / "h.parquet"
    )
    table = data.described("t", str(tmp_path), ["h.parquet"], {"URL": "text"})
    rows = data.stream(table, str(tmp_path)).read_all()["URL"].to_pylist()
    assert rows == ["http://x", None, "é"]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" * 9], ids=["empty", "csv", "cut"])
def test_a_broken_file_is_not_sent_to_its_types(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        data.described("t", str(tmp_path), [name], {})
    assert name in caught.value.message
    assert "types" not in (caught.value.hint or "")


def test_columns_of_files_are_matched_by_name(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": pa.array([], pa.int32()), "b": pa.array([], pa.string())}),
                        tmp_path / "1.parquet")  # fmt: skip
    parquet.write_table(pa.table({"b": ["y"], "a": pa.array([2], pa.int32())}),
                        tmp_path / "2.parquet")  # fmt: skip
    parquet.write_table(pa.table({"a": [3], "b": ["z"]}), tmp_path / "3.parquet")
    table = data.described("t", str(tmp_path), ["1.parquet", "2.parquet"], {})
    assert data.stream(table, str(tmp_path)).read_all().to_pylist() == [{"a": 2, "b": "y"}]
    with pytest.raises(InputError) as caught:
        data.described("t", str(tmp_path), ["1.parquet", "3.parquet"], {})
    for fact in ("1.parquet", "3.parquet", "'a'", "int4", "int8"):
        assert fact in caught.value.message
    named = data.described("t", str(tmp_path), ["1.parquet", "3.parquet"], {"a": "int8"})
    assert named.rows == 1


def test_sqlite_keeps_a_long_decimal_as_it_is_or_refuses_it() -> None:
    column = pa.array([Decimal(2**63 - 1), Decimal(7), None], pa.decimal128(20, 0))
    table = Table("t", (Attribute("v", "decimal(20,0)"),))
    assert list(kept_rows([column], table)) == [(2**63 - 1,), (7,), (None,)]
    for text in ("18446744073709551615", "1234567890123456.78"):
        exact = Decimal(text)
        long = Table("t", (Attribute("v", "decimal(38,2)"),))
        with pytest.raises(UnsupportedError) as caught:
            list(kept_rows([pa.array([exact])], long))
        assert text in caught.value.message
        assert "t.v" in caught.value.message
    short = pa.array([Decimal("0.10"), Decimal("123456789012.345")], pa.decimal128(18, 3))
    brief = Table("t", (Attribute("v", "decimal(18,3)"),))
    assert list(kept_rows([short], brief)) == [(0.1,), (123456789012.345,)]


@pytest.mark.parametrize("values", [pa.array(["a", "b\0c"]), pa.array([b"a", b"b\0c"])])
def test_a_text_with_a_nul_is_refused_with_its_place(tmp_path: Path, values: Any) -> None:
    """PostgreSQL has no such text: the run would fail there."""
    parquet.write_table(pa.table({"v": values}), tmp_path / "t.parquet")
    with pytest.raises(InputError) as caught:
        data.described("t", str(tmp_path), ["t.parquet"], {"v": "text"})
    for fact in ("t.parquet", "row 2", "column v", "NUL"):
        assert fact in caught.value.message
