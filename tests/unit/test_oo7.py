"""OO7's operations, their counts, and what the benchmark says of itself."""

import json

import pytest

from loadstone import _core
from loadstone.benchmarks.oo7.benchmark import Oo7Benchmark
from loadstone.benchmarks.oo7.database import EDITIONS, Database, database_of
from loadstone.errors import InputError

BENCHMARK = Oo7Benchmark()
SMALL = 10_000
COUNTS = {
    "T1": 43_740, "T1WW": 43_740, "T10": 43_740, "T6": 2_187,
    "T2a": 2_187, "T2b": 43_740, "T2c": 174_960, "CU": 2_187,
    "T3a": 2_187, "T3b": 43_740, "T3c": 174_960,
    "T4": 83_106, "T8": 2_632, "T9": 0,
    "Q1": 10, "Q7": 10_000, "Q8": 10_000, "S1": 10, "S2": 10,
    "M1": 60, "M2": 60, "M3": 60, "M4": 60, "M5": 60, "M6": 60,
}  # fmt: skip
"""Sections 4 to 6 of the specification: what depends on no random number, of the small database."""


@pytest.fixture(scope="module")
def oracle() -> _core.Oo7Oracle:
    return _core.Oo7Oracle(SMALL)


def test_every_operation_is_a_measure_of_the_client() -> None:
    operations = BENCHMARK.operations("1993-3", SMALL)
    assert sorted(one.storage for one in operations) == sorted(_core.oo7_measures())
    assert len({one.name for one in operations}) == len(operations)
    assert {"quick", "cold", "full", "study"} >= {it for one in operations for it in one.presets}
    assert {"T1", "T2a", "T2c"} <= {one.name for one in operations if "cold" in one.presets}


@pytest.mark.parametrize("measure", COUNTS)
def test_counts_are_those_of_the_specification(oracle: _core.Oo7Oracle, measure: str) -> None:
    assert oracle.answer(measure, 1)[0] == COUNTS[measure]


def test_random_counts_are_near_their_expectation(oracle: _core.Oo7Oracle) -> None:
    counts = {measure: oracle.answer(measure, 1)[0] for measure in _core.oo7_measures()}
    assert 485 <= counts["T5do"] == counts["T5undo"] <= 500
    assert 60 <= counts["Q2"] <= 140
    assert 900 <= counts["Q3"] <= 1_100
    assert 160 <= counts["Q5"] <= 240
    assert 400 <= counts["Q6"] <= 600
    above = [oracle.answer("T7", iteration)[0] for iteration in range(200)]
    assert 0 <= min(above) <= max(above) <= 56
    # Section 4: a mean of 23.7; 200 draws are within two of it.
    assert abs(sum(above) / len(above) - 23.7) < 2
    used = [oracle.answer("Q4", iteration)[0] for iteration in range(100)]
    assert abs(sum(used) / len(used) - 43.7) < 5


@pytest.mark.parametrize("edition", EDITIONS)
def test_visits_do_not_depend_on_the_connections(edition: str) -> None:
    held = database_of(edition, 1_000)
    assert held == Database(1_000, fan_out=int(edition[-1]))
    counted = _core.Oo7Oracle(held.parts, held.fan_out).answer("T1", 1)[0]
    assert counted == 2_187 * 2


def test_answers_of_editions_and_iterations_differ(oracle: _core.Oo7Oracle) -> None:
    assert oracle.answer("Q1", 1) != oracle.answer("Q1", 2)
    assert oracle.answer("T2c", 1) == oracle.answer("T2c", 2)
    assert oracle.answer("T2a", 1) != oracle.answer("T2b", 1)
    assert oracle.answer("S1", 1)[1] != oracle.answer("S2", 1)[1]


def test_answers_are_the_oracles(oracle: _core.Oo7Oracle) -> None:
    answers = BENCHMARK.answers("1993-3", SMALL, ())
    for operation in BENCHMARK.operations("1993-3", SMALL):
        assert answers.of(operation, 0) == oracle.answer(operation.storage, 1)
    assert answers.contents("oo7") == oracle.answer("Q7", 0)


def test_inputs_are_reported() -> None:
    reported = {
        operation.name: json.loads(BENCHMARK.input("1993-3", SMALL, operation, 0))
        for operation in BENCHMARK.operations("1993-3", SMALL)
    }
    drawn = {name: len(values) for name, values in reported.items() if values}
    paths = {f"M{number}": 6 for number in range(1, 7)}
    assert drawn == {"Q1": 10, "Q4": 10, "T7": 1, "S1": 10, "S2": 10, **paths}


@pytest.mark.parametrize("rows", [0, 999, 10_001, 100_500, 10**12])
def test_a_size_that_there_is_not_is_reported(rows: int) -> None:
    with pytest.raises(InputError, match=r"oo7|OO7|out of range|too large|big") as caught:
        BENCHMARK.check_scale("1993-3", rows)
    assert "small is 10,000" in caught.value.hint


def test_objects_are_counted() -> None:
    assert Database(SMALL).tuples == 2 + 364 + 729 + 500 + 500 + 10_000 + 30_000
    assert Database(200_000, fan_out=9).tuples == 2 * (2 + 1_093 + 1_000) + 2_000_000
