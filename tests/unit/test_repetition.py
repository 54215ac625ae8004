"""When a cell is repeated: while a comparison is undecided, and no longer than the cap."""

import random

from loadstone.record.model import Sample
from loadstone.statistics.paired_ratio import FORK_NS
from loadstone.statistics.stopping import next_count, of_few_processes, undecided


def cell(median_ns: float, noise: float, count: int, seed: int = 1) -> list[Sample]:
    dice = random.Random(seed)
    return [
        Sample(i, 0, i % 10, i, int(median_ns * dice.lognormvariate(0, noise)))
        for i in range(count)
    ]


def test_far_apart_is_decided_however_noisy():
    taken = {"a": cell(1e6, 0.1, 10), "b": cell(3e6, 0.1, 10, 2)}
    assert not undecided(taken, 0.02)


def test_near_and_noisy_wants_more_and_near_and_sharp_does_not():
    noisy = {"a": cell(1e6, 0.05, 10), "b": cell(1.02e6, 0.05, 10, 2)}
    sharp = {"a": cell(1e6, 0.005, 10), "b": cell(1.02e6, 0.005, 10, 2)}
    assert undecided(noisy, 0.02) == {"a", "b"}
    assert not undecided(sharp, 0.02)
    assert not undecided(noisy, 0.0), "a precision of 0 requests nothing"


def test_only_those_that_stand_in_an_undecided_comparison():
    taken = {
        "a": cell(1e6, 0.05, 10), "b": cell(1e6, 0.05, 10, 2), "c": cell(9e6, 0.05, 10, 3),
    }  # fmt: skip
    assert undecided(taken, 0.02) == {"a", "b"}


def test_a_lone_cell_is_held_to_its_own_interval():
    assert undecided({"a": cell(1e6, 0.3, 10)}, 0.02) == {"a"}
    assert not undecided({"a": cell(1e6, 0.01, 10)}, 0.02)


def test_too_few_for_an_interval_want_more_unless_far_apart():
    assert undecided({"a": cell(1e6, 0.01, 3), "b": cell(1e6, 0.01, 3)}, 0.02) == {"a", "b"}
    assert not undecided({"a": cell(1e6, 0.01, 3), "b": cell(4e6, 0.01, 3)}, 0.02)


def processes(count: int) -> list[Sample]:
    return [Sample(i, i, 0, i * FORK_NS, 1000) for i in range(count)]


def test_seven_processes_of_each_are_few_for_a_cause_and_eight_are_enough():
    taken = {"a": processes(8), "b": processes(7), "c": processes(8)}
    assert of_few_processes(taken, [("a", "b"), ("a", "c")]) == {"a", "b"}
    assert not of_few_processes(taken, [("a", "c")])
    assert not of_few_processes(taken, [])


def test_the_cap_is_reached_in_few_looks():
    counts = [10]
    while counts[-1] < 60:
        counts.append(next_count(counts[-1], 60))
    assert counts[-1] == 60
    assert len(counts) <= 6
