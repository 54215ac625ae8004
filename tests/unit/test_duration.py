"""The time that is announced: one owner for a benchmark alone and for several, and every part of a
run is in it."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from loadstone.clients.rust.embedded import SqliteClient
from loadstone.engines.capabilities import SYNC_S, Estimate
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.system import System
from loadstone.plan.choices import RAMP_STEPS
from loadstone.planning import duration
from loadstone.run.chapters import describe_all, plan_all
from loadstone.run.load_levels import _without_times, load_levels
from loadstone.run.planned import Planned, announced, describe, plan_from

CHOICES = {
    "benchmark": "wisconsin", "on": ("sqlite",), "rows": (1000,), "overhead": False,
    "temperature": ("warm",), "operations": ("select-1%-heap",), "repeat": 5,
}  # fmt: skip


def planned(**other: Any) -> Planned:
    return plan_from({**CHOICES, **other}, None)


def test_several_benchmarks_take_what_they_take_alone() -> None:
    together = plan_all({"on": ("sqlite",)}, None)
    alone = [
        plan_from({"benchmark": one.plan.benchmark, "preset": "quick", "on": one.plan.on}, None)
        for one in together
    ]
    assert [one.plan.hash for one in alone] == [one.plan.hash for one in together]
    seconds = sum(one.seconds() for one in alone)
    assert seconds == pytest.approx(sum(one.seconds() for one in together))
    assert describe_all(together).endswith(f"about {seconds:.0f} s")
    assert describe(alone[0]).endswith(f"about {alone[0].seconds():.0f} s on two cores")


@pytest.mark.parametrize(
    ("more", "least_s"),
    [
        ({"on": ("sqlite", "duckdb")}, 0.05),
        ({"operations": ("select-1%-heap", "select-1%-clustered")}, 4 * duration.RELATION_S),
        ({"rows": (1000, 2000)}, duration.RELATION_S),
        ({"temperature": ("warm", "cold"), "repeat_cold": 4}, 4 * duration.REOPENED_S),
        ({"repeat": 50}, 45 * duration.SAMPLE_S),
        ({"budget": True}, duration.BUDGET_S),
        ({"users": (2, 4), "operations": ("select-one-clustered-client",)}, 4 * 1.0),
    ],
)
def test_every_part_of_a_run_is_in_its_time(more: dict[str, Any], least_s: float) -> None:
    assert planned(**more).seconds() - planned().seconds() >= 0.99 * least_s


def test_budgets_are_of_the_largest_scale() -> None:
    """Of two they would take twice as long, and it is the larger one whose ratios are largest."""
    plan = planned(budget=True, rows=(2000, 1000), temperature=("warm", "cold")).plan
    taken = [cell for cell in plan.cells if duration.has_budget(plan, cell)]
    assert taken
    assert {(cell.rows, cell.temperature) for cell in taken} == {(2000, "warm")}
    assert duration.budget_seconds(plan) == duration.BUDGET_S * len(taken)


def estimated(monkeypatch: pytest.MonkeyPatch, kind: type[System], estimate: Estimate) -> None:
    declared = replace(kind.capabilities, estimate=estimate)
    monkeypatch.setattr(kind, "capabilities", declared)


def test_a_program_takes_as_long_as_its_calls() -> None:
    """OO1's look-ups are a thousand calls; DuckDB's take tenths of a millisecond each."""
    own = {"benchmark": "oo1", "rows": (), "operations": ("lookup",)}
    fast, slow = planned(**own), planned(**own, on=("duckdb",))
    passes = 5 + 3 * slow.plan.warm_up
    assert slow.seconds() - fast.seconds() == pytest.approx(passes * 1000 * (300e-6 - 2e-6))


def test_a_call_takes_what_it_takes_in_its_own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """OO7's walks are made of other calls than OO1's look-ups: a tenth of them, on SQLite."""
    own = planned(benchmark="oo7", rows=(), operations=("T1",))
    with_calls = own.seconds()
    estimated(monkeypatch, SqliteClient, Estimate(calls_s={"oo1": 2e-6}))
    of_calls = with_calls - own.seconds()
    passes = 5 * (1 + own.plan.warm_up)
    assert of_calls == pytest.approx(passes * 91_000 * 0.2e-6)


def test_a_start_and_a_statement_take_what_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster starts once for each variant, and for each round of cold samples."""
    run = planned(temperature=("warm", "cold"), repeat_cold=4)
    without = run.seconds()
    estimated(monkeypatch, SqliteEngine, Estimate(start_s=10.0))
    starts = 1 + 4
    assert run.seconds() - without == pytest.approx(starts * 10.0 - 4 * duration.REOPENED_S)
    monkeypatch.undo()
    estimated(monkeypatch, SqliteEngine, Estimate(statement_s=0.3))
    relations = sum(one.design == "heap" for one in run.benchmark.stored_relations("1993"))
    statements = 5 * (1 + run.plan.warm_up) + 4 + 2 * relations
    assert run.seconds() - without == pytest.approx(statements * 0.3)


def test_variants_that_take_longer_for_a_tuple_are_announced_so() -> None:
    """As the profiles of systems of 1983, that read one page at a time from the disk."""
    fast, slow = (
        planned(on=(f"lode{profile}",), rows=(100_000,)).seconds()
        for profile in ("", "?profile=idm-dac")
    )
    assert slow > 2 * fast


def test_a_trial_takes_as_long_as_the_syncs_of_its_commits() -> None:
    """RVM's are 4,000 transactions, and a commit of LMDB syncs twice."""
    own: dict[str, Any] = {"benchmark": "rvm", "rows": ()}
    for engine, syncs in (("sqlite", 1), ("lmdb", 2)):
        durable, loose = (
            planned(**own, operations=("tpca-random",), on=(f"{engine}{durability}",))
            for durability in ("", "?durability=none")
        )
        passes = 5 * (1 + durable.plan.warm_up)
        waited_s = durable.seconds() - loose.seconds()
        assert waited_s == pytest.approx(passes * 4_000 * syncs * SYNC_S)
    audit = planned(**own, operations=("tpca-audit",))
    assert audit.seconds() < durable.seconds() - 4_000 * SYNC_S
    memory = planned(**own, operations=("tpca-random",), on=("memory",))
    assert memory.seconds() < loose.seconds() + 1.0


def test_a_resumed_run_takes_no_longer_than_its_missing_cells() -> None:
    whole = planned(temperature=("warm", "cold"))
    warm = [cell for cell in whole.plan.cells if cell.temperature == "warm"]
    assert duration.START_S < whole.seconds(warm) < whole.seconds()


@pytest.mark.parametrize("loops", [{}, {"ramp": "100..1000"}])
def test_nor_than_its_missing_loops_and_budgets(loops: dict[str, Any], tmp_path) -> None:
    asked = ("select-one-clustered-client",)
    whole = planned(users=(2, 4), operations=asked, loop_s=30.0, budget=True, **loops)
    levels = load_levels(whole.plan, whole.benchmark)
    recorded = [
        _without_times(level, model, "failed", "") for level in levels for model in level.models
    ]
    assert len(recorded) == 4
    opens_s = 30.0 * (RAMP_STEPS if loops else 1)
    left_s = [whole.seconds(None, recorded[:count]) for count in range(5)]
    assert [a - b for a, b in pairwise(left_s)] == pytest.approx([30.0, opens_s] * 2)
    cells = whole.plan.cells
    assert whole.seconds(cells) - whole.seconds(()) > duration.BUDGET_S
    last = announced(whole, tmp_path, (), recorded)
    assert "about 10 s; the record" in last
    by_statement = {(cell.operation, cell.variant): 0.1 for cell in cells}
    assert whole.seconds_left(cells, by_statement) - whole.seconds_left(
        cells, by_statement, recorded
    ) == pytest.approx(2 * (30.0 + opens_s))


def test_gaps_and_the_null_engine_take_next_to_nothing() -> None:
    assert planned(overhead=True).seconds() - planned().seconds() < 1.0


def own(**other: Any) -> Planned:
    """A statement of a user's own, of which nobody knows how long it takes."""
    query = {"sql": "SELECT 1 AS n", "on": ("sqlite",), "temperature": ("warm",), "repeat": 5,
             "overhead": False}  # fmt: skip
    return plan_from({**query, **other}, None)


def test_a_statement_of_ones_own_is_announced_once_it_was_executed(tmp_path) -> None:
    run = own()
    announcement = announced(run, tmp_path)
    assert "beside its statements, whose time is announced once each was executed" in announcement
    assert describe(run).endswith("beside what its statements take: nobody knows it yet")
    assert "statements" not in announced(planned(), tmp_path)
    statement = run.plan.cells[0].operation
    quick, slow = (
        run.seconds_left(run.plan.cells, {(statement, "sqlite"): s}) for s in (0.001, 3.0)
    )
    executions = 5 * (1 + run.plan.warm_up)
    assert slow - quick == pytest.approx(executions * (3.0 - 0.001))
    # What gave no answer is not measured; what is measured already takes nothing.
    assert run.seconds_left(run.plan.cells, {}) == run.seconds_left(
        (), {(statement, "sqlite"): 3.0}
    )


def test_an_undecided_comparison_takes_one_more_block_however_long_it_is() -> None:
    run = own(repeat=None, repeat_s=1.0, repeat_most=50)
    (cell,) = run.plan.cells
    left_s = run.seconds_left((cell,), {(cell.operation, "sqlite"): 10.0})
    executions = (1 + run.plan.warm_up) * (cell.samples + 4 * duration.REPEATED_SHARE)
    assert left_s == pytest.approx(executions * 10.0, rel=0.01)
