"""A time budget adds up, and says when it does not."""

import pytest

from loadstone.statistics.time_budget import time_budget


def budget(samples=(("a", 60), ("b", 20)), cpu_ns=80_500, elapsed_ns=100_000, waited_ns=12_000):
    return time_budget(dict(samples), 1_000, elapsed_ns, [cpu_ns], waited_ns, stretches=6)


def test_rows_and_residual_add_up_to_the_elapsed_time():
    found = budget()
    assert [(part.component, part.ns) for part in found.parts] == [("a", 60_000), ("b", 20_000)]
    assert (found.waited_ns, found.slept_ns, found.residual_ns) == (12_000, 7_500, 500)
    assert found.total_ns + found.residual_ns == found.elapsed_ns


def test_the_residual_is_chance_as_far_as_that_goes_and_no_further():
    assert budget().residual_ns_max == pytest.approx(1_960, rel=1e-3)
    assert budget(cpu_ns=81_900).is_chance
    assert budget(cpu_ns=78_100).is_chance
    assert not budget(cpu_ns=82_100).is_chance
    assert not budget(cpu_ns=77_900).is_chance


def test_a_share_haswilson_s_interval():
    (part,) = budget([("a", 10)]).parts
    assert (part.low_ns, part.high_ns) == (pytest.approx(7_225, abs=5), pytest.approx(10_000))
    halves = budget([("a", 5), ("b", 5)]).parts
    for part in halves:
        assert (part.low_ns, part.high_ns) == (
            pytest.approx(2_366, abs=1),
            pytest.approx(7_634, abs=1),
        )


def test_threads_at_the_same_time_are_an_overlap_and_no_waiting():
    found = budget(cpu_ns=150_000)
    assert (found.waited_ns, found.slept_ns) == (0, -50_000)
    assert found.total_ns + found.residual_ns == found.elapsed_ns


def test_waiting_that_is_not_known_is_not_nothing():
    found = budget(waited_ns=None)
    assert found.waited_ns is None
    assert found.slept_ns == 19_500


def test_without_a_sample_everything_is_the_residual():
    found = budget([])
    assert found.parts == ()
    assert found.residual_ns == 80_500
    assert not found.is_chance


def test_a_stretch_shorter_than_a_period_has_one_sample_or_none():
    # 10,000 stretches of a twentieth of a period: 500 samples, of a variance of 475.
    found = time_budget({"a": 500}, 1_000, 500_000, [500_000.0], 0, stretches=10_000)
    assert found.residual_ns_max == pytest.approx(1.96 * 1_000 * 475**0.5, rel=1e-3)


def test_each_thread_has_a_clock_of_its_own():
    one = time_budget({"a": 100}, 1_000, 100_000, [100_000.0], 0, stretches=6)
    two = time_budget({"a": 100}, 1_000, 100_000, [50_000.0, 50_000.0], 0, stretches=6)
    assert two.residual_ns_max == pytest.approx(one.residual_ns_max * 2**0.5)
