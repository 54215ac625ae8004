"""Files of data as people have them: the right rows and types, or a refusal that says where."""

import codecs
from pathlib import Path

import duckdb
import pytest

from loadstone.errors import InputError
from loadstone.plan.workload import DataTable
from loadstone.text import csv_file
from loadstone.workload import data


def read(
    place: Path, content: str | bytes, types: dict[str, str] | None = None, name: str = "t.csv"
) -> tuple[DataTable, list[tuple[object, ...]]]:
    """(table, rows) of a file."""
    raw = content.encode() if isinstance(content, str) else content
    (place / name).write_bytes(raw)
    table = data.described("t", str(place), [name], types or {})
    rows = data.stream(table, str(place)).read_all()
    assert rows.num_rows == table.rows
    return table, [tuple(row[name] for name in rows.column_names) for row in rows.to_pylist()]


MANY = "".join(f"{n},{n}\n" for n in range(30_000))
NAMED = [f"{n},name {n}\n" for n in range(20_000)]
STRAY = "a,b\n" + "".join([*NAMED[:10_000], '10000,"name 10000\n', *NAMED[10_001:]])
QUOTED = [f'{n},"name {n}"\n' for n in range(20_000)]
STRAY_AMONG_QUOTED = "a,b\n" + "".join([*QUOTED[:10_000], '10000,"name 10000\n', *QUOTED[10_001:]])

ROWS = {
    "a BOM": ("\ufeffa,b\n1,x\n", [(1, "x")]),
    "CRLF": ("a,b\r\n1,x\r\n2,y\r\n", [(1, "x"), (2, "y")]),
    "both line ends": ("a,b\r\n1,x\n2,y\r\n", [(1, "x"), (2, "y")]),
    "a line break within quotes": ('a,b\n1,"x\ny"\n2,z\n', [(1, "x\ny"), (2, "z")]),
    "a quote within quotes": ('a,b\n1,"x""y"\n', [(1, 'x"y')]),
    "a quote within an unquoted value": ('a,b\n1,5" pipe\n2,z\n', [(1, '5" pipe'), (2, "z")]),
    "a blank before a quote": ('a,b\n1, "x"\n', [(1, ' "x"')]),
    "nothing, and a quoted nothing": ('a,b\n1,\n2,""\n', [(1, None), (2, "")]),
    "an empty line of one column": ("a\n1\n\n2\n", [(1,), (None,), (2,)]),
    "empty lines at its end, of one column": ("a\n1\n\n\n", [(1,), (None,), (None,)]),
    "a quoted nothing of one column": ('a\nx\n""\n', [("x",), ("",)]),
    "an empty line of two columns": ("a,b\n1,x\n\n2,y\n\n", [(1, "x"), (2, "y")]),
    "no line end at its end": ("a,b\n1,x", [(1, "x")]),
    "no rows": ("a,b\n", []),
    "blanks at a text's ends": ("a,b\n1, x \n", [(1, " x ")]),
    "other line breaks in a text": ("a,b\n1,x\u2028y\x85z\x0cw\n", [(1, "x\u2028y\x85z\x0cw")]),
    "a backslash": ('a,b\n1,"x\\"\n', [(1, "x\\")]),
    "names of all kinds": ('"x""y",p q,😀\n1,2,3\n', [(1, 2, 3)]),
    "a long value": (f'a,b\n1,"{"x" * 3_000_000}"\n', [(1, "x" * 3_000_000)]),
}  # fmt: skip


@pytest.mark.parametrize("case", ROWS)
def test_a_csv_has_the_rows_that_it_says(tmp_path: Path, case: str) -> None:
    content, rows = ROWS[case]
    assert read(tmp_path, content)[1] == rows


def test_a_line_break_in_a_value_is_kept_wherever_a_block_of_the_file_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_file, "BLOCK_BYTES", 64)
    texts = [f"{'x' * (n % 7)}\r\ny\r\r\n" for n in range(200)]
    content = "a\n" + "".join(f'"{text}"\n' for text in texts)
    assert read(tmp_path, content)[1] == [(text,) for text in texts]


REFUSED: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "an unclosed quote": (STRAY, ("line 10,002", "column 2 (b)")),
    "an unclosed quote among others": (STRAY_AMONG_QUOTED, ("line 10,002", "column 2 (b)")),
    "an unclosed quote in the last line": ('a,b\n1,x\n2,"y\n', ("line 3", "column 2 (b)")),
    "a quote without an end, of a long file": (f'a,b\n1,"x\n{MANY * 20}', ("line 2", "column 2")),
    "letters behind a quoted value": ('a,b\n1,"x"y\n', ("line 2", "column 2 (b)")),
    "a surplus field": ("a,b\n1,x\n2,y,z\n", ("line 3",)),
    "a surplus empty field": ("a,b\n1,x\n2,y,\n", ("line 3",)),
    "a missing field": ("a,b\n1,x\n2\n", ("line 3", "'b'")),
    "a missing field below line breaks": ('a,b\n1,"x\n\ny"\n2\n', ("line 5",)),
    "Latin-1": ("a,b\n1,Zug\n2,Zürich\n".encode("latin-1"), ("line 3", "column 2 (b)", "0xfc")),
    "UTF-16": (codecs.BOM_UTF16_LE + "a,b\n1,x\n".encode("utf-16-le"), ("UTF-16",)),
    "a NUL": ("a,b\n1,x\n2,y\0z\n", ("line 3", "column 2 (b)", "NUL")),
    "no line": ("", ("empty",)),
    "a BOM alone": ("\ufeff", ("empty",)),
    "an empty first line": ("\na,b\n1,x\n", ("line 1",)),
    "a name twice": ("a,a\n1,2\n", ("line 1", "'a'", "1 and 2")),
    "a name twice but for capitals": ("a,A\n1,2\n", ("line 1", "'a'", "1 and 2")),
    "an empty name": ("a,,c\n1,2,3\n", ("line 1", "column 2")),
    "a line break in a name": ('a,"b\nc"\n1,2\n', ("line 1", "column 2")),
    "a long name": (f"a,{'b' * 121}\n1,2\n", ("line 1", "column 2", "120")),
    "too many columns": (",".join(f"c{n}" for n in range(2_001)), ("line 1", "2,001", "2,000")),
    "semicolons": ("a;b\n1;2,5\n", ("line 1", "a;b")),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_csv_that_is_broken_is_refused_with_its_place(tmp_path: Path, case: str) -> None:
    content, facts = REFUSED[case]
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    for fact in ("t.csv", *facts):
        assert fact in caught.value.message
    assert "\n" not in caught.value.message


GUESSED = {
    "integers": (["0", "-7", "9223372036854775807"], "int8"),
    "integers beyond 64 bits": (["12345678901234567890", "12345678901234567891"], "text"),
    "leading zeros": (["00123", "5"], "text"),
    "a plus": (["+4912345"], "text"),
    "minus zero": (["-0", "1"], "text"),
    "money": (["1.50", "-2.25", "100.10"], "decimal(5,2)"),
    "decimals beyond 15 digits": (["1234567890123456.78", "1.5"], "text"),
    "decimals beyond 15 digits, of the same places": (["1234567890123456.78", "1.20"], "text"),
    "a fraction alone": (["0.125", "-0.250"], "decimal(3,3)"),
    "numbers of versions": (["1.9", "1.10", "1.1"], "text"),
    "floats as programs write them": (["0.1", "7.0", "0.30000000000000004", "1e-05"], "float8"),
    "numbers without closing zeros": (["12.5", "7", "3.25"], "float8"),
    "one number in two ways": (["7.5", "7", "7.0", "0.25"], "text"),
    "a code that looks like an exponent": (["1e5", "12e4"], "text"),
    "a number beyond floats": (["1.5", "1e400"], "text"),
    "no numbers": (["1.5", "NaN"], "text"),
    "a comma in numbers": (["1,234.50", "1.20"], "text"),
    "hexadecimal": (["0x10"], "text"),
    "blanks": (["1 ", "2"], "text"),
    "truths": (["true", "false", "true"], "bool"),
    "truths of Python": (["True", "False"], "bool"),
    "truths in two ways": (["True", "false"], "text"),
    "letters": (["t", "f"], "text"),
    "days": (["2024-02-29", "0001-01-01", "9999-12-31"], "date"),
    "no day": (["2024-02-29", "2024-02-30"], "text"),
    "days in another order": (["31/12/2024"], "text"),
    "times": (["2024-01-05 10:15:00", "2024-01-05T10:15:00.123456"], "timestamp"),
    "nanoseconds without a remainder": (["2024-01-05 10:15:00.123456000"], "timestamp"),
    "nanoseconds": (["2024-01-05 10:15:00.123456001"], "text"),
    "times with an offset": (["2024-01-05T10:15:00+02:00", "2024-01-05 10:15Z"], "timestamp"),
    "times with an offset and without": (["2024-01-05T10:15:00Z", "2024-01-05T10:15:00"], "text"),
    "times of a day": (["10:15:00"], "text"),
}  # fmt: skip


@pytest.mark.parametrize("case", GUESSED)
def test_a_type_is_guessed_where_it_keeps_the_text(tmp_path: Path, case: str) -> None:
    texts, kind = GUESSED[case]
    table, rows = read(tmp_path, "v\n" + "".join(f'"{text}"\n' for text in texts))
    assert [one.type for one in table.columns] == [kind]
    if kind == "text":
        assert [value for (value,) in rows] == texts


@pytest.mark.parametrize("place", [0, 20_479, 29_999])
@pytest.mark.parametrize("odd", ["n/a", "00123", "9223372036854775808", "1.50", '"1,5"'])
def test_the_type_does_not_depend_on_the_place_of_the_odd_value(
    tmp_path: Path, place: int, odd: str
) -> None:
    lines = [f"{n},{n}" for n in range(30_000)]
    lines[place] = f"{place},{odd}"
    table, rows = read(tmp_path, "k,v\n" + "\n".join(lines))
    assert [one.type for one in table.columns] == ["int8", "text"]
    assert rows[place] == (place, odd.strip('"'))


def test_a_type_is_one_for_all_files_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y,x\nn/a,3\n", encoding="utf-8")
    table = data.described("t", str(tmp_path), ["a.csv", "b.csv"], {})
    assert [(one.name, one.type) for one in table.columns] == [("x", "int8"), ("y", "text")]
    rows = data.stream(table, str(tmp_path)).read_all().to_pylist()
    assert rows == [{"x": 1, "y": "2"}, {"x": 3, "y": "n/a"}]


STATED = {
    "a code as a number": ("int8", "00123", 123),
    "a plus": ("int4", "+49", 49),
    "hexadecimal": ("int8", "0x10", None),
    "a fraction as an integer": ("int8", "1.5", None),
    "beyond its range": ("int2", "40000", None),
    "too many places": ("decimal(10,2)", "10.999", None),
    "a comma": ("decimal(10,2)", "1,234.50", None),
    "beyond floats": ("float8", "1e400", None),
    "infinity": ("float8", "-inf", float("-inf")),
    "a letter": ("bool", "t", True),
    "no truth": ("bool", "2", None),
    "no day": ("date", "2024-02-30", None),
    "an offset": ("timestamp", "2023-09-20T23:30:00+02:00", "2023-09-20 21:30:00"),
    "an offset behind a blank": ("timestamp", "2023-09-20 23:30:00 -0330", "2023-09-21 03:00:00"),
    "UTC": ("timestamp", "2023-09-20T23:30:00Z", "2023-09-20 23:30:00"),
    "zeros of nanoseconds": ("timestamp", "2023-09-20 23:30:00.500000000Z",
                             "2023-09-20 23:30:00.500000"),
    "nanoseconds": ("timestamp", "2023-09-20 23:30:00.500000001", None),
    "nanoseconds and an offset": ("timestamp", "2023-09-20 23:30:00.500000001+02:00", None),
}  # fmt: skip


@pytest.mark.parametrize("case", STATED)
def test_a_stated_type_has_the_value_or_refuses_it_with_its_line(tmp_path: Path, case: str) -> None:
    kind, text, value = STATED[case]
    content = f'k,v\n1,\n"a\nb","{text}"\n'
    if value is None:
        with pytest.raises(InputError) as caught:
            read(tmp_path, content, {"v": kind})
        assert "t.csv, line 3, column v" in caught.value.message
        assert text in caught.value.message
        return
    table, rows = read(tmp_path, content, {"v": kind})
    assert table.columns[1].type == kind
    found = rows[1][1]
    assert (str(found) if isinstance(value, str) else found) == value


def test_a_stated_type_of_mixed_times_takes_both(tmp_path: Path) -> None:
    content = "v\n2023-09-20T23:30:00+02:00\n2023-09-20T23:30:00\n\n"
    _, rows = read(tmp_path, content, {"v": "timestamp"})
    assert [str(value) for (value,) in rows] == [
        "2023-09-20 21:30:00", "2023-09-20 23:30:00", "None"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["T.CSV", "t.Csv"])
def test_an_ending_may_have_capitals(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, "a\n1\n", name=name)[1] == [(1,)]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tbl", "t.tsv", "t"])
def test_an_unknown_ending_is_the_reason(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a\n1\n", name=name)
    assert ".csv" in caught.value.message
    assert name in caught.value.message


def test_both_readers_of_csv_agree_with_duckdb(tmp_path: Path) -> None:
    """Where DuckDB is right; it loses the rows that an unclosed quote takes (`REFUSED`)."""
    for case in ("CRLF", "a line break within quotes", "nothing, and a quoted nothing",
                 "an empty line of one column", "a quote within quotes"):  # fmt: skip
        content, _ = ROWS[case]
        _, ours = read(tmp_path, content)
        theirs = duckdb.read_csv(
            str(tmp_path / "t.csv"), header=True, strict_mode=True, auto_detect=False,
            columns=dict.fromkeys("ab" if len(ours[0]) > 1 else "a", "VARCHAR"),
            allow_quoted_nulls=False,
        ).fetchall()  # fmt: skip
        assert [tuple(v if v is None else str(v) for v in row) for row in ours] == theirs, case
