"""Answers of engines in one form: equal data are equal, a change is seen, order counts where it was
requested."""

import datetime as dt
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant
from loadstone.workload import answers, comparison
from loadstone.workload.answers import Undated
from loadstone.workload.data import arrow_type

DIGITS = 10
TYPES = {
    "whole": ("int8", st.integers(-(2**63), 2**63 - 1)),
    "real": ("float8", st.floats(allow_nan=False, allow_infinity=False)),
    "exact": ("decimal(12,4)", st.decimals(-99_999_999, 99_999_999, places=4)),
    "words": ("text", st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)),
    "truth": ("bool", st.booleans()),
    "day": ("date", st.dates(dt.date(1600, 1, 1), dt.date(2500, 1, 1))),
    "moment": ("timestamp", st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2500, 1, 1))),
}
TABLE = Table("t", tuple(Attribute(name, kind) for name, (kind, _) in TYPES.items()))
ROWS = st.lists(st.tuples(*(st.none() | values for _, values in TYPES.values())), max_size=12)
PRICES = st.decimals(-99_999, 99_999, places=2).map(float)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory):
    found = []
    for kind in (SqliteEngine, DuckdbEngine):
        place = tmp_path_factory.mktemp(kind.name)
        engine = kind(Variant(kind.name), place, "run1")
        engine.start()
        found.append(engine)
    yield found
    for engine in found:
        engine.remove()


def reader(rows: list[tuple]) -> pa.RecordBatchReader:
    schema = pa.schema([(name, arrow_type(kind)) for name, (kind, _) in TYPES.items()])
    columns = list(zip(*rows, strict=True)) or [()] * len(TYPES)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatchReader.from_batches(schema, [pa.record_batch(arrays, schema=schema)])


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_engines_give_the_same_data_alike(engines, rows: list[tuple]) -> None:
    expected = answers.contents_of(reader(rows))
    given_rows, checksums = [], []
    for engine in engines:
        engine.load(TABLE, reader(rows))
        assert answers.contents_of(engine.contents("t")) == expected, engine.name
        rows_there = engine.fetch('SELECT * FROM "t"')
        dates = engine.dialect != "sqlite"
        checksums.append(answers.checksum_of(rows_there, DIGITS, dates=dates))
        given_rows.append(answers.read(answers.written(rows_there, 1 << 20, dates=dates) or ""))
    assert comparison.difference(*given_rows, DIGITS) is None
    assert checksums[0] == checksums[1]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.none() | PRICES), min_size=1, max_size=30))
def test_sums_that_were_added_in_another_order_agree(rows: list[tuple]) -> None:
    prices = [price for _, price in rows if price is not None]
    there = sum(prices)
    back = sum(reversed(prices))
    exact = sum(Decimal(str(price)) for price in prices)
    # The rest of a difference of large numbers after rounding has no digits in common.
    if abs(exact) * 1000 < sum(map(abs, prices)):
        return
    assert comparison.difference([(there,)], [(back,)], DIGITS) is None
    assert comparison.difference([(there,)], [(exact,)], DIGITS) is None
    tokens = {answers.checksum_of([(value,)], DIGITS) for value in (there, back, exact)}
    assert len(tokens) == 1


@settings(max_examples=100, deadline=None)
@given(ROWS.filter(len), st.data())
def test_a_value_that_is_changed_is_seen_and_order_is_not(rows, data) -> None:
    shuffled = data.draw(st.permutations(rows))
    assert comparison.difference(rows, shuffled, DIGITS) is None
    assert answers.checksum_of(rows, DIGITS) == answers.checksum_of(shuffled, DIGITS)
    row, place = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 6))
    values = list(TYPES.values())[place][1]
    other = data.draw(st.none() | values)
    before = rows[row][place]
    if other == before or (place == 3 and before and other and before.rstrip() == other.rstrip()):
        return
    if place in (1, 2) and other is not None and before is not None:
        a, b = float(before), float(other)
        if abs(a - b) <= 10.0 ** (1 - DIGITS) * max(abs(a), abs(b)):
            return
    changed = [list(one) for one in rows]
    changed[row][place] = other
    assert comparison.difference(rows, changed, DIGITS) is not None
    assert answers.checksum_of(rows, DIGITS) != answers.checksum_of(changed, DIGITS)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (5, 5.0), (5, Decimal("5.00")), (True, 1), ("x", "x  "), (0.1 + 0.2, 0.3),
        (0.1 + 0.2, Decimal("0.3")), (0.9999999999999999, 1), (1e9 + 1e-7, 10**9),
        (float("nan"), float("nan")), (-0.0, 0), (dt.date(2024, 1, 31), Undated("2024-01-31")),
        (b"a", b"a"), (2**53, 2.0**53),
        (10**309, Decimal("1e309")), (2**64, Decimal("1.8446744073709551616e19")),
        (float("inf"), Decimal("Infinity")),
        (2**62, Decimal(2**62)), (2.0**60, 2.0**60 * (1 + 1e-15)),
        (float("inf"), float("inf")), (Decimal("NaN"), float("nan")),
        (dt.datetime(2024, 1, 31, 10), Undated("2024-01-31 10:00:00")),
        (dt.date(2024, 1, 31), dt.datetime(2024, 1, 31)), ("2024-01-31", Undated("2024-01-31")),
        (Undated("2024-01-31"), dt.datetime(2024, 1, 31)),
        (dt.datetime(2024, 1, 31, 11, tzinfo=dt.timezone(dt.timedelta(hours=1))),
         Undated("2024-01-31 10:00:00")),
    ],
)  # fmt: skip
def test_these_agree(a, b) -> None:
    assert comparison.difference([(a,)], [(b,)], DIGITS) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (5, 6), (2**53 + 1, 2.0**53), (Decimal(2**53 + 1), 2.0**53),
        (Decimal("1e309"), float("inf")), (10**309, float("inf")), (10**309, 0.5),
        (2**80, 2**80 + 1), (2**63, 2**63 + 1), (Decimal("-1e131071"), float("-inf")),
        (Decimal("1e400"), Decimal("1e401")), (2**62, 2**62 + 1), (None, 0), (None, ""),
        ("1", 1), ("x", " x"), (0.3, 0.300001),
        (Decimal("0.1"), Decimal("0.2")), (float("nan"), None), (float("inf"), float("-inf")),
        (float("inf"), None), (float("nan"), float("inf")), (Decimal("NaN"), "NaN"),
        (dt.date(2024, 1, 31), "2024-01-31"), (dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 1)),
        (Undated("2024-01-31"), "2024-01-31 00:00:00"), (dt.date(2024, 1, 31), 20240131),
        (b"a", "61"), (b"a", "a"), (b"a", b"b"), (b"", None), (b"", ""),
        (dt.date.max, dt.date(9999, 12, 31)), (dt.date.min, dt.date(1, 1, 1)),
        (dt.datetime.max, "9999-12-31 23:59:59.999999"), (dt.date.max, None),
    ],
)  # fmt: skip
def test_these_do_not(a, b) -> None:
    assert comparison.difference([(a,)], [(b,)], DIGITS) is not None
    assert answers.checksum_of([(a,)], DIGITS) != answers.checksum_of([(b,)], DIGITS)


@pytest.mark.parametrize(
    ("ours", "theirs", "alone"),
    [
        ([(1, "a"), (2, "b"), (2, "b")], [(1, "a"), (2, "b")], (("(2, 'b')", 1), ("", 0))),
        ([(1, "a"), (2, "b")], [(1, "a"), (2, "c")], (("(2, 'b')", 1), ("(2, 'c')", 1))),
        ([(1,), (2,), (3,)], [(2,), (3,), (4,)], (("(1)", 1), ("(4)", 1))),
        ([(-10.0,), (float("inf"),)], [(None,), (-10.0,)], (("(inf)", 1), ("(NULL)", 1))),
        ([(n,) for n in range(9)], [(n + 0.5,) for n in range(3)], (("(0)", 9), ("(0.5)", 3))),
        ([(1, b"a")], [(1, "61")], (("(1, X'61')", 1), ("(1, '61')", 1))),
    ],
)
def test_the_rows_that_one_answer_has_and_the_other_lacks_are_shown_from_both_sides(
    ours: list, theirs: list, alone: tuple
) -> None:
    found = comparison.difference(ours, theirs, DIGITS)
    assert found is not None and (found.only_ours, found.only_theirs) == alone
    back = comparison.difference(theirs, ours, DIGITS)
    assert back is not None and (back.only_theirs, back.only_ours) == alone


def test_an_order_that_was_asked_for_counts_up_to_ties() -> None:
    rows = [(1, "a"), (1, "b"), (2, "c")]
    tie, other = [rows[1], rows[0], rows[2]], [rows[2], rows[0], rows[1]]
    for order in ((0,), (0, 1)):
        differs = order == (0, 1)
        assert (comparison.difference(rows, tie, DIGITS, order) is not None) == differs
        assert (
            answers.checksum_of(rows, DIGITS, order) != answers.checksum_of(tie, DIGITS, order)
        ) == differs
        assert comparison.difference(rows, other, DIGITS, order) is not None
        assert answers.checksum_of(rows, DIGITS, order) != answers.checksum_of(other, DIGITS, order)


def test_close_floats_beside_each_other_are_not_taken_for_one_another() -> None:
    dice = random.Random(1983)
    rows = [(n % 3, dice.uniform(0, 1e6)) for n in range(2_000)]
    noisy = [(n, value * (1 + dice.uniform(-1, 1) * 1e-14)) for n, value in rows]
    dice.shuffle(noisy)
    assert comparison.difference(rows, noisy, DIGITS) is None


@pytest.mark.parametrize("price", [1234567.8905, 1.00000000005, 12.00000000025, 0.3, 9.995, 1e20])
def test_no_line_of_the_grid_is_at_a_number_that_people_write(price: float) -> None:
    near = {answers.checksum_of([(price * (1 + n * 2e-16),)], DIGITS) for n in range(-9, 10)}
    assert len(near) == 1


def test_rows_survive_the_way_to_another_process() -> None:
    rows = [(1, 2.5, Decimal("0.10"), "x", None, dt.date(2024, 1, 1), 2**80, b"a", dt.date.max)]
    text = answers.written(rows, 1 << 20)
    assert text is not None
    (came,) = answers.read(text)
    assert came == [*map(answers.plain, rows[0])]
    assert [*map(type, came)] == [*map(type, map(answers.plain, rows[0]))]
    assert comparison.difference([came], rows, DIGITS) is None


def test_what_is_infinite_on_an_engine_agrees_with_no_finite_value(engines) -> None:
    finite = "SELECT DATE '9999-12-31' AS a, TIMESTAMP '9999-12-31 23:59:59.999999' AS b"
    infinite = "SELECT DATE 'infinity' AS a, TIMESTAMP 'infinity' AS b"
    duckdb = engines[1]
    one, other = (duckdb.fetch(text) for text in (finite, infinite))
    assert comparison.difference(one, other, DIGITS) is not None
    assert answers.checksum_of(one, DIGITS) != answers.checksum_of(other, DIGITS)
    assert comparison.difference(other, duckdb.fetch(infinite), DIGITS) is None


def test_bytes_of_an_engine_agree_with_no_text(engines) -> None:
    for engine in engines:
        (own,), (text,) = engine.fetch("SELECT CAST('a' AS BLOB)"), engine.fetch("SELECT '61'")
        assert comparison.difference([own], [text], DIGITS) is not None, engine.name
        assert answers.checksum_of([own], DIGITS) != answers.checksum_of([text], DIGITS)


def test_money_that_an_engine_keeps_as_floats_agrees_with_decimals(engines) -> None:
    """2,240 lines of 0.99 and 1.99 that sum up to 2,328.60, as Chinook's invoices do."""
    prices = [Decimal("1.99")] * 111 + [Decimal("0.99")] * 2129
    assert sum(prices) == Decimal("2328.60")
    table = Table("line", (Attribute("id", "int8"), Attribute("price", "decimal(10,2)")))
    schema = pa.schema([("id", arrow_type("int8")), ("price", arrow_type("decimal(10,2)"))])
    sums = []
    for engine in engines:
        batch = pa.record_batch([range(len(prices)), pa.array(prices, schema[1].type)], schema)
        engine.load(table, pa.RecordBatchReader.from_batches(schema, [batch]))
        sums.append(engine.fetch('SELECT sum(price), sum(price * 3), avg(price) FROM "line"'))
    assert {type(rows[0][0]) for rows in sums} == {float, Decimal}
    assert comparison.difference(*sums, DIGITS) is None
    wrong = [(Decimal("2328.61"), *sums[1][0][1:])]
    assert comparison.difference(sums[0], wrong, DIGITS) is not None


def test_a_value_without_a_form_is_reported() -> None:
    with pytest.raises(EngineError, match="a value of the type list"):
        answers.checksum_of([([1, 2],)], DIGITS)


def test_a_whole_number_with_the_noise_of_a_sum_has_the_checksum_of_the_whole_one() -> None:
    for whole in (1, 7, 300, -45_678, 10**9):
        near = {answers.checksum_of([(whole * (1 + n * 2e-16),)], DIGITS) for n in range(-9, 10)}
        assert near == {answers.checksum_of([(whole,)], DIGITS)}
    assert answers.checksum_of([(1e12 + 0.25,)], DIGITS) != answers.checksum_of([(10**12,)], DIGITS)


def test_numbers_at_the_edge_of_a_rounding_come_to_the_same_place() -> None:
    """Else each would be compared with its neighbour: no exact column holds them apart."""
    for edge in (1.23455, 0.123445, 99999.5, 2.5e-7):
        ours = [(edge * (1 - 1e-14), 5.5), (edge * (1 - 1e-9), 7.5)]
        theirs = [(edge * (1 + 1e-14), 5.5), (edge * (1 - 1e-9), 7.5)]
        assert comparison.difference(ours, theirs, DIGITS) is None, edge


def test_what_may_differ_is_half_a_unit_of_the_last_digit_in_large_answers_too() -> None:
    rows = [(n % 7, n / 3, n / 7) for n in range(1, 60_000)]
    near = [(a, b * (1 + 4e-10), c * (1 - 4e-10)) for a, b, c in reversed(rows)]
    assert comparison.difference(rows, near, DIGITS) is None
    near[30_000] = (near[30_000][0], near[30_000][1] * (1 + 1e-9), near[30_000][2])
    assert comparison.difference(rows, near, DIGITS) is not None


def test_rows_that_are_too_long_for_the_way_are_not_written() -> None:
    rows = [(1, "x" * 10)] * 5
    text = answers.written(rows, 1000)
    assert text is not None
    assert answers.read(text) == [list(row) for row in rows]
    assert answers.written(rows, 50) is None


def test_a_text_like_a_date_is_one_only_where_the_engine_has_no_dates() -> None:
    day, text = [(dt.date(2024, 1, 31),)], [("2024-01-31",)]
    assert answers.checksum_of(day, DIGITS) != answers.checksum_of(text, DIGITS)
    assert answers.checksum_of(day, DIGITS) == answers.checksum_of(text, DIGITS, dates=False)
    for dates, agrees in ((True, False), (False, True)):
        came = answers.read(answers.written(text, 1 << 20, dates=dates) or "")
        assert (comparison.difference(came, day, DIGITS) is None) == agrees
        assert comparison.difference(came, text, DIGITS) is None
    assert not answers.is_like_date("2024-01-31T10:00:00")
