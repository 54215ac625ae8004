"""The oracle through the core: known counts, answers of streams and rows, errors as shown."""

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from loadstone import _core

ROWS = 10_000
RANGES = "range of t is tenktup1 range of w is tenktup2 range of o is onektup range of b is bprime "

COUNTS = {
    "Q1": ("retrieve (t.all) where t.unique2 >= 0 and t.unique2 <= 99", 100),
    "Q2": ("retrieve (t.all) where t.unique2 >= 792 and t.unique2 <= 1791", 1000),
    "Q5": ("retrieve (t.all) where t.unique1 >= 0 and t.unique1 <= 99", 100),
    "Q7": ("retrieve (t.all) where t.unique2 = 2001", 1),
    "Q9": ("retrieve (t.all, w.all) where t.unique2 = w.unique2 and w.unique2 < 1000", 1000),
    "Q10": ("retrieve (t.all, b.all) where t.unique2 = b.unique2", 1000),
    "Q17": (
        "retrieve (o.all, t.all, w.all) where o.unique1 = t.unique1 and t.unique1 = w.unique1 "
        "and t.unique1 < 1000",
        1000,
    ),
    "Q18": ("retrieve unique (t.two, t.four, t.ten, t.twenty, t.onePercent, t.string4)", 400),
    "Q27": ("delete t where t.unique1 = 1491", 1),
    "Q28": ("replace t (unique2 = 10001) where t.unique2 = 1491", 1),
}


@pytest.fixture(scope="module")
def oracle() -> _core.Oracle:
    oracle = _core.Oracle()
    for relation in ("onektup", "tenktup1", "tenktup2", "bprime"):
        oracle.add("wisconsin", "1993", relation, ROWS)
    return oracle


@pytest.mark.parametrize(("text", "rows"), COUNTS.values(), ids=COUNTS.keys())
def test_counts(oracle: _core.Oracle, text: str, rows: int) -> None:
    assert oracle.answer(RANGES + text)[0] == rows


def test_partitions_are_the_known_ones(oracle: _core.Oracle) -> None:
    sums = [(495_000 + 100 * group,) for group in range(100)]
    text = "retrieve (x = sum(t.unique3 by t.onePercent))"
    assert oracle.answer(RANGES + text) == _core.answer_of_rows(sums)
    minima = [(group,) for group in range(100)]
    text = "retrieve (x = min(t.unique3 by t.onePercent))"
    assert oracle.answer(RANGES + text) == _core.answer_of_rows(minima)
    text = "retrieve (x = min(t.unique2))"
    assert oracle.answer(RANGES + text) == _core.answer_of_rows([(0,)])


def test_a_relation_counts_the_same_as_stream_rows_and_retrieve(oracle: _core.Oracle) -> None:
    contents = oracle.contents("tenktup1")
    assert contents[0] == ROWS
    assert oracle.answer(RANGES + "retrieve (t.all)") == contents
    stream = _core.RelationStream("wisconsin", "1993", "tenktup1", ROWS)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    assert _core.answer_of_stream(table) == contents
    columns = [column.to_pylist() for column in table.columns]
    assert _core.answer_of_rows(list(zip(*columns, strict=True))) == contents
    assert _core.answer_of_stream(table.slice(1)) != contents


def test_an_update_leaves_the_oracle_as_it_was(oracle: _core.Oracle) -> None:
    before = oracle.contents("tenktup1")
    changed = oracle.answer(RANGES + "delete t where t.unique1 = 1491")
    assert changed == (1, changed[1])
    assert changed[1] != before[1]
    assert oracle.contents("tenktup1") == before


def test_a_name_of_ones_own() -> None:
    oracle = _core.Oracle()
    oracle.add("wisconsin", "1993", "onektup", ROWS, seed=0, name="Mine")
    assert oracle.answer("range of m is mine retrieve (m.unique1)")[0] == 1000
    with pytest.raises(_core.QuelError, match="no relation 'onektup'; there are: mine"):
        oracle.contents("onektup")
    with pytest.raises(ValueError, match="onektup"):
        oracle.add("wisconsin", "1993", "nosuch", ROWS)


VALUES: list[Any] = [1, 0, -7, 2**62, None, 3]

ARRAYS: dict[str, tuple[pa.Array, Sequence[Any]]] = {
    "int64": (pa.array(VALUES, pa.int64()), VALUES),
    "int8": (pa.array([1, None, -7], pa.int8()), [1, None, -7]),
    "uint64": (pa.array([1, 2**64 - 1], pa.uint64()), [1, 2**64 - 1]),
    "bool": (pa.array([True, False, None]), [1, 0, None]),
    "float": (pa.array([1.0, 2.5, math.nan, None]), [1, Decimal("2.50"), math.nan, None]),
    "float32": (pa.array([0.5, 3.0], pa.float32()), [0.5, 3]),
    "decimal": (pa.array([Decimal("2.00"), Decimal("2.25")]), [2, 2.25]),
    "decimal256": (pa.array([Decimal("2.25")], pa.decimal256(60, 2)), [2.25]),
    "string": (pa.array(["ab  ", "", "é", None]), ["ab", " ", "é", None]),
    "large": (pa.array(["ab", None], pa.large_string()), ["ab ", None]),
    "view": (pa.array(["ab", "x" * 52], pa.string_view()), ["ab", "x" * 52]),
    "dictionary": (pa.array(["a", "b", None, "a"]).dictionary_encode(), ["a", "b", None, "a"]),
    "no dictionary": (pa.array([None], pa.string()).dictionary_encode(), [None]),
    "null": (pa.nulls(2), [None, None]),
}


@pytest.mark.parametrize(("array", "values"), ARRAYS.values(), ids=ARRAYS.keys())
def test_streams_and_rows_agree(array: pa.Array, values: Sequence[Any]) -> None:
    table = pa.table({"x": array})
    assert _core.answer_of_stream(table) == _core.answer_of_rows([[value] for value in values])


def test_the_documented_row() -> None:
    assert _core.answer_of_rows([(1, "AAAA", None)]) == (1, "5dba6f92cfbcf884")
    assert _core.answer_of_rows([]) == (0, "0000000000000000")


def test_order_does_not_count_and_duplicates_do() -> None:
    rows = [(1, "a"), (2, "b"), (2, "b")]
    assert _core.answer_of_rows(rows) == _core.answer_of_rows(rows[::-1])
    assert _core.answer_of_rows(rows) != _core.answer_of_rows([*rows[:2], rows[0]])
    assert _core.answer_of_rows([(1, 2)]) != _core.answer_of_rows([(2, 1)])


def test_values_that_no_answer_holds() -> None:
    with pytest.raises(TypeError, match="cannot hold a bytes"):
        _core.answer_of_rows([(b"x",)])
    with pytest.raises(TypeError, match="not a str"):
        _core.answer_of_rows(["ab"])
    with pytest.raises(TypeError, match="column 'x': an answer cannot hold Binary"):
        _core.answer_of_stream(pa.table({"x": [b"x"]}))


GOLDEN_SYNTAX = """\
line 2, column 26: the end of the text cannot stand here
  |
2 | retrieve (t.all) where t.
  |                          ^
  = expected an attribute of the range variable"""

GOLDEN_UNKNOWN = """\
line 1, column 15: there is no relation `tenktup`
  |
1 | range of t is tenktup
  |               ^^^^^^^
  = relations there are: bprime, onektup, tenktup1, tenktup2"""


def test_errors_as_the_user_sees_them(oracle: _core.Oracle) -> None:
    with pytest.raises(_core.QuelError) as raised:
        _core.quel_parse("range of t is tenktup1\nretrieve (t.all) where t.")
    assert str(raised.value) == GOLDEN_SYNTAX
    with pytest.raises(_core.QuelError) as raised:
        oracle.answer("range of t is tenktup")
    assert str(raised.value) == GOLDEN_UNKNOWN
    assert issubclass(_core.QuelError, ValueError)


def test_trees_travel_as_json() -> None:
    text = "RANGE OF T IS r; retrieve (t.all) where t.a = 'x*' and (t.b < 2)"
    tree = _core.quel_parse(text)
    assert [statement["kind"] for statement in json.loads(tree)] == ["range", "go", "retrieve"]
    canonical = 'range of t is r\ngo\nretrieve (t.all) where t.a = "x*" and t.b < 2\n'
    assert _core.quel_format(tree) == canonical
    with pytest.raises(_core.QuelError, match="not a tree"):
        _core.quel_format('[{"kind":"nosuch"}]')
