"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.analysis.findings.said import said_longer, said_ns
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import (
    digits,
    duration,
    interval,
    lapse,
    listing,
    percent,
    plural,
    scaled,
    size,
    times,
    unit_for,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.001234, "0.00123"),
        (0.9999, "1.00"),
        (1, "1.00"),
        (9.996, "10.0"),
        (12.34, "12.3"),
        (99.96, "100"),
        (1234.5, "1,230"),
        (1_234_567, "1,230,000"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert digits(value) == text


@given(st.floats(1e-3, 1e12))
def test_digits_keep_the_value(value: float) -> None:
    assert float(digits(value).replace(",", "")) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize(
    ("ns", "text"),
    [(1, "1.00 ns"), (999.9, "1.00 µs"), (1500, "1.50 µs"), (2.5e6, "2.50 ms"), (78.2e9, "78.2 s")],
)
def test_duration(ns: float, text: str) -> None:
    assert duration(ns) == text


def test_a_difference_below_zero_has_the_unit_of_its_bounds() -> None:
    assert duration(-750_173) == "-750 µs"
    time = Estimate(-750_173.0, -1_860_108.0, 8_855.0)
    assert said_ns(time) == "-750 µs (-1,860 … 8.86)"
    assert said_longer(time) == "750 µs (-8.86 … 1,860) shorter"
    assert said_longer(Estimate(750_173.0)) == "750 µs longer"


@pytest.mark.parametrize(
    ("s", "text"),
    [(78.2, "78.2 s"), (211, "3 min 31 s"), (7199.6, "2 h 0 min"), (7500, "2 h 5 min")],
)
def test_lapse(s: float, text: str) -> None:
    assert lapse(s * 1e9) == text


def test_a_row_gets_the_unit_of_its_middle() -> None:
    assert unit_for([5e3, 5e6, 5e9]).symbol == "ms"
    assert unit_for([]).symbol == "ms"


def test_an_interval_without_bounds_says_nothing() -> None:
    unit = unit_for([1e6])
    assert interval(Estimate(1e6), unit) == ""
    assert interval(Estimate(1e6, 9e5, 1.1e6), unit) == "0.900 … 1.10"


def test_words() -> None:
    assert [times(1.0), times(41.4)] == ["1.0\N{MULTIPLICATION SIGN}", "41\N{MULTIPLICATION SIGN}"]
    assert [percent(0.0231), percent(0.97)] == ["2.3 %", "97 %"]
    assert [size(512), size(1_900_544)] == ["512 B", "1.81 MiB"]
    assert [listing(["a"]), listing(["a", "b", "c"])] == ["a", "a, b and c"]
    assert [scaled(1, "tuples"), scaled(1200, "tuples")] == ["1 tuple", "1,200 tuples"]
    assert scaled(1, "database as it stands") == "1 database as it stands"
    assert [plural(1, "cell"), plural(1200, "cell")] == ["1 cell", "1,200 cells"]
