"""The certainty that a machine's changing speed leaves of a time, and of a ratio over two
records."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.plan.plan import Cell
from loadstone.record.model import CellResult, Condition, Sample
from loadstone.statistics.drift import Speeds, ratio_across
from loadstone.statistics.estimate import Estimate

TIME = Estimate(100.0, 90.0, 110.0)


def condition(speed_probe_ns):
    return Condition(0.0, 0.0, 0.0, speed_probe_ns)


def run(*speed_probes_ns):
    results = [
        CellResult(Cell(f"operation-{number}", variant, 1000, "warm", 1), "ok", "", "",
                   samples=(Sample(0, 0, 0, 0, 1),), condition=condition(speed_probe_ns))
        for number, speed_probe_ns in enumerate(speed_probes_ns)
        for variant in ("a", "b")
    ]  # fmt: skip
    return SimpleNamespace(results=results)


def test_a_time_reaches_as_far_as_the_speeds_of_its_run():
    speeds = Speeds(run(*[1000.0] * 50, *[1500.0] * 50))
    assert speeds.interval(TIME, condition(1000.0)) == Estimate(100.0, 90.0, 110.0 * 1.5)
    assert speeds.interval(TIME, condition(1500.0)) == Estimate(100.0, 90.0 / 1.5, 110.0)


def test_a_group_counts_once_and_a_single_slow_moment_of_many_is_left_out():
    speeds = Speeds(run(*[1000.0] * 99, 9000.0))
    assert (speeds.least_ns, speeds.median_ns, speeds.most_ns) == (1000.0, 1000.0, 1000.0)


@pytest.mark.parametrize("here", [None, condition(None)])
def test_without_a_reading_an_interval_is_that_of_the_samples(here):
    assert Speeds(run(1000.0, 2000.0)).interval(TIME, here) == TIME


def test_a_record_without_readings_stretches_nothing():
    assert Speeds(run()).interval(TIME, condition(1000.0)) == TIME


def test_no_interval_stays_none():
    assert Speeds(run(1.0, 2.0)).interval(Estimate(5.0), condition(1.0)) == Estimate(5.0)


def test_a_ratio_over_two_records_reaches_as_far_as_the_speeds_of_both():
    a, b = Speeds(run(*[1000.0] * 50, *[1500.0] * 50)), Speeds(run(*[1000.0] * 50, *[2000.0] * 50))
    found = ratio_across(
        Estimate(1.5, 1.4, 1.6), b.reach(condition(2000.0)), a.reach(condition(1000.0))
    )
    assert found == Estimate(1.5, pytest.approx(1.4 / 2 / 1.5), 1.6)


def test_on_a_steady_machine_a_ratio_over_two_records_is_as_narrow_as_measured():
    steady = Speeds(run(*[1000.0] * 9)).reach(condition(1000.0))
    assert ratio_across(TIME, steady, steady) == TIME


@given(
    value=st.floats(0.1, 10),
    width=st.floats(1, 2),
    speed_probes_ns=st.lists(st.floats(100, 1000), min_size=1, max_size=30),
    here=st.tuples(st.floats(100, 1000), st.floats(100, 1000)),
)
def test_an_interval_only_grows(value, width, speed_probes_ns, here):
    plain = Estimate(value, value / width, value * width)
    speeds = Speeds(run(*speed_probes_ns))
    numerator, denominator = (speeds.reach(condition(one)) for one in here)
    for found in (
        ratio_across(plain, numerator, denominator),
        speeds.interval(plain, condition(here[0])),
    ):
        assert found.low <= plain.low <= found.value <= plain.high <= found.high
