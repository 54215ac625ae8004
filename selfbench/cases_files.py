"""The files of `cases.py`: CSV and Parquet as they come, each with its right outcome."""

import datetime as dt
import decimal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Writer = Callable[[Path], object]
Outcome = tuple[tuple[int, ...], tuple[str, ...]]
"""Exit codes that are right, and what is printed."""

GOOD: Outcome = ((0,), (r"as 2 engines agree",))
REFUSED = (2,)
CANNOT: Outcome = ((0, 1), (r"SQLite",))
"""SQLite has no such value, and says so."""


def _refused(*says: str) -> Outcome:
    return REFUSED, says


def _types(*says: str) -> Outcome:
    return (0,), says


_CSV: tuple[tuple[str, str, Outcome], ...] = (
    ("bom.csv", "\ufeffa,b\n1,x\n", GOOD),
    ("crlf.csv", "a,b\r\n1,x\r\n", GOOD),
    ("break_within.csv", 'a,b\n1,"x\ny"\n', GOOD),
    ("break_in_name.csv", 'a,"b\nc"\n1,2\n', _refused(r"break_in_name\.csv", r"line break")),
    ("doubled.csv", 'a,b\n1,"x""y"\n', GOOD),
    ("late_text.csv", "a\n" + "1\n" * 30_000 + "n/a\n", _types(r"a text|text")),
    ("late_quote.csv", "a,b\n" + "1,x\n" * 20_479 + '1,"x,y"\n', GOOD),
    ("stray.csv", "a,b\n" + "1,x\n" * 10_000 + '1,"x\n' + "1,x\n" * 9_999,
     _refused(r"stray\.csv", r"10,?00\d")),
    ("same_names.csv", "a,a\n1,2\n", _refused(r"\ba\b")),
    ("case_names.csv", "a,A\n1,2\n", _refused(r"capital")),
    ("no_name.csv", "a,\n1,2\n", _refused(r"name")),
    ("grouped.csv", 'a\n"1,234.50"\n', _types(r"text")),
    ("empty_and_null.csv", 'a,b\n1,\n2,""\n', GOOD),
    ("fewer.csv", "a,b\n1,2\n3\n", _refused(r"fewer\.csv", r"\b3\b")),
    ("more.csv", "a,b\n1,2\n3,4,5\n", _refused(r"more\.csv", r"\b3\b")),
    ("no_rows.csv", "a,b\n", GOOD),
    ("nothing.csv", "", _refused(r"nothing\.csv")),
    ("no_day.csv", "a\n2024-02-30\n", _types(r"text")),
    ("zoned.csv", "a\n2023-09-20T23:30:00+02:00\n", _types(r"timestamp")),
    ("zeros.csv", "a\n00123\n00124\n", _types(r"text")),
    ("plus.csv", "a\n+4912345\n", _types(r"text")),
    ("long.csv", "a\n12345678901234567890\n12345678901234567891\n", _types(r"text|decimal")),
    ("blanks.csv", "a\nx  \n", GOOD),
    ("odd_numbers.csv", "a\nNaN\n1e400\n-0\n", _types(r"text")),
    ("no_end.csv", "a\n1\n2", GOOD),
    ("one_empty.csv", "a\n1\n\n3\n", GOOD),
    ("zero.csv", "a\nx\0y\n", _refused(r"zero\.csv", r"NUL|zero byte")),
    ("odd_names.csv", 'id,"a ""b"" c",\U0001f600\n1,2,3\n', GOOD),
    ("table.tbl", "1|2|\n", _refused(r"\.tbl")),
)  # fmt: skip
FILES_44 = tuple((name, text, *outcome) for name, text, outcome in _CSV)


def _parquet(values: list[Any], kind: pa.DataType, **options: Any) -> Writer:
    def write(path: Path) -> None:
        pq.write_table(pa.table({"a": pa.array(values, kind)}), path, **options)

    return write


def _truncated(path: Path) -> None:
    _parquet([*range(1000)], pa.int32())(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


AT = dt.datetime(2024, 3, 10, 12, 0, 0)
_PARQUET: tuple[tuple[str, Writer, Outcome], ...] = (
    ("seconds.parquet", _parquet([AT], pa.timestamp("s")), GOOD),
    ("nanoseconds.parquet", _parquet([AT], pa.timestamp("ns")), GOOD),
    ("remainder.parquet", _parquet([1], pa.timestamp("ns")), _refused(r"\ba\b", r"(nano|micro)")),
    ("zoned.parquet", _parquet([AT], pa.timestamp("us", "America/St_Johns")), GOOD),
    ("wide.parquet", _parquet([decimal.Decimal("1.5")], pa.decimal128(38, 10)), GOOD),
    ("unsigned.parquet", _parquet([2**64 - 1], pa.uint64()), CANNOT),
    ("floats.parquet", _parquet([0.1, float("nan"), float("inf")], pa.float32()), CANNOT),
    ("dictionary.parquet", _parquet(["x", "y", "x"], pa.dictionary(pa.int8(), pa.string())), GOOD),
    ("large.parquet", _parquet(["x"], pa.large_string()), GOOD),
    ("bytes.parquet", _parquet([b"x"], pa.binary()), _refused(r"\ba\b", r"types")),
    ("list.parquet", _parquet([[1]], pa.list_(pa.int32())), _refused(r"\ba\b")),
    ("nulls.parquet", _parquet([None], pa.null()), _types()),
    ("none.parquet", _parquet([], pa.int32()), GOOD),
    ("zstd.parquet", _parquet([1], pa.int32(), compression="zstd"), GOOD),
    ("truncated.parquet", _truncated, _refused(r"truncated\.parquet")),
    ("text.parquet", lambda path: path.write_text("a,b\n1,2\n"), _refused(r"text\.parquet")),
)  # fmt: skip
FILES_45 = tuple((name, writer, *outcome) for name, writer, outcome in _PARQUET)


def int96(path: Path) -> None:
    day = dt.datetime
    dates = [day(1000, 1, 1), day(2001, 2, 3, 4, 5, 6), day(3000, 1, 1), day(9999, 12, 31)]
    table = pa.table({"id": [1, 2, 3, 4], "valid_to": pa.array(dates, pa.timestamp("us"))})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False)


def clickbench(path: Path) -> None:
    rows = range(2_000)
    table = pa.table(
        {
            "WatchID": pa.array(rows, pa.int64()),
            "URL": pa.array(
                [f"http://{'google' if i % 7 else 'x'}.com/{i}".encode() for i in rows]
            ),
            "Referer": pa.array([b"" for _ in rows]),
            "SearchPhrase": pa.array([b"q" if i % 3 else b"" for i in rows]),
            "ResolutionWidth": pa.array([i % 1_000 for i in rows], pa.int16()),
        }
    )
    pq.write_table(table, path)


def northwind(path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE [Order Details]"
            "([OrderID] INT, [UnitPrice] NUMERIC, [Quantity] INT, [Discount] REAL)"
        )
        connection.execute("INSERT INTO [Order Details] VALUES (1, 14.5, 2, 0), (2, 9.8, 10, 0.5)")
        connection.commit()
