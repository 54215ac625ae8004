"""What a machine's changing speed leaves certain of a time, and of a ratio over two records."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.estimate import Estimate
from loadstone.plan import Cell
from loadstone.record.model import CellResult, Condition, Sample
from loadstone.speeds import Speeds, at_equal_speed

TIME = Estimate(100.0, 90.0, 110.0)


def condition(yardstick_ns):
    return Condition(0.0, 0.0, 0.0, yardstick_ns)


def run(*yardsticks_ns):
    results = [
        CellResult(Cell(f"operation-{number}", variant, 1000, "warm", 1), "ok", "", "",
                   samples=(Sample(0, 0, 0, 0, 1),), condition=condition(yardstick_ns))
        for number, yardstick_ns in enumerate(yardsticks_ns)
        for variant in ("a", "b")
    ]  # fmt: skip
    return SimpleNamespace(results=results)


def test_a_time_reaches_as_far_as_the_speeds_of_its_run():
    speeds = Speeds(run(*[1000.0] * 50, *[1500.0] * 50))
    assert speeds.interval(TIME, condition(1000.0)) == Estimate(100.0, 90.0, 110.0 * 1.5)
    assert speeds.interval(TIME, condition(1500.0)) == Estimate(100.0, 90.0 / 1.5, 110.0)


def test_a_unit_counts_once_and_a_single_slow_moment_of_many_is_left_out():
    speeds = Speeds(run(*[1000.0] * 99, 9000.0))
    assert (speeds.least_ns, speeds.middle_ns, speeds.most_ns) == (1000.0, 1000.0, 1000.0)


@pytest.mark.parametrize("here", [None, condition(None)])
def test_without_a_reading_an_interval_is_that_of_the_samples(here):
    assert Speeds(run(1000.0, 2000.0)).interval(TIME, here) == TIME


def test_a_record_without_readings_stretches_nothing():
    assert Speeds(run()).interval(TIME, condition(1000.0)) == TIME


def test_no_interval_stays_none():
    assert Speeds(run(1.0, 2.0)).interval(Estimate(5.0), condition(1.0)) == Estimate(5.0)


def test_a_slower_machine_explains_a_slower_engine():
    found = at_equal_speed(Estimate(1.5, 1.4, 1.6), condition(1500.0), condition(1000.0))
    assert found == Estimate(1.0, pytest.approx(1.4 / 1.5), 1.6)


def test_a_slower_machine_does_not_hide_what_is_slower_by_more():
    found = at_equal_speed(Estimate(2.0, 1.9, 2.1), condition(1250.0), condition(1000.0))
    assert found == Estimate(pytest.approx(1.6), pytest.approx(1.9 / 1.25), 2.1)


def test_a_faster_machine_may_hide_a_regression_and_the_interval_says_so():
    found = at_equal_speed(Estimate(1.0, 0.99, 1.01), condition(800.0), condition(1000.0))
    assert (found.low, found.high) == (0.99, pytest.approx(1.01 / 0.8))


@given(
    value=st.floats(0.1, 10),
    width=st.floats(1, 2),
    slower=st.floats(0.2, 5),
    swap=st.booleans(),
)
def test_the_interval_only_grows_and_the_figure_lies_in_it(value, width, slower, swap):
    plain = Estimate(value, value / width, value * width)
    above, below = condition(1000.0 * slower), condition(1000.0)
    found = at_equal_speed(plain, *((below, above) if swap else (above, below)))
    assert found.low <= plain.low
    assert found.high >= plain.high
    assert found.low * 0.999999 <= found.value <= found.high * 1.000001
