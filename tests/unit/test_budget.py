"""A time budget's rows add up, its ladder telescopes, and what was not seen is said."""

import dataclasses

import pytest
from budget_fixture import LADDER_US, PLAN, budget

from loadstone.analysis.budget import (
    ASLEEP,
    COMPONENT,
    KERNEL,
    RESIDUAL,
    WAITING,
    budget_of,
)
from loadstone.plan.plan import Cell
from loadstone.record.budget import NOTHING, PROGRAMS
from loadstone.record.model import CellResult, StatementText

CELL = Cell("select-1%-heap", "sqlite", 10_000, "warm", 10)


def found(taken, destination="relation"):
    statements = (StatementText(0, "CREATE TABLE …", PLAN),)
    result = CellResult(CELL, "ok", "", "", statements=statements, budget=taken)
    return budget_of(result, destination)


def by_name(reported):
    return {row.name: row for row in reported.rows}


def test_the_rows_of_a_budget_add_up_to_the_elapsed_time():
    for reported in (found(budget()), found(budget(PROGRAMS)), found(budget(NOTHING))):
        assert sum(row.elapsed_ns for row in reported.rows) == pytest.approx(reported.elapsed_ns)
        assert sum(row.share for row in reported.rows) == pytest.approx(1)
        assert reported.elapsed_ns == 3_000_000


def test_each_row_has_its_share_and_samples_their_interval():
    reported = found(budget())
    rows = by_name(reported)
    executor = rows["executor"]
    assert (executor.kind, executor.elapsed_ns) == (COMPONENT, 1_000_000)
    assert executor.share == pytest.approx(1 / 3)
    assert executor.share_low < executor.share < executor.share_high
    assert rows["kernel: sync"].kind == KERNEL
    assert reported.kernel_share == pytest.approx(0.05)
    assert reported.unclassified_share == pytest.approx(1 / 30)
    assert rows["access method"].functions == (("sqlite3BtreeNext", pytest.approx(62.5 / 300)),)
    kinds = {row.kind: row for row in reported.rows}
    assert kinds[WAITING].elapsed_ns == 400_000
    # 300 ms less 205 on the CPU, of which 3 were spent on reading the clock, less 40 of waiting.
    assert kinds[ASLEEP].elapsed_ns == pytest.approx(580_000)
    assert kinds[RESIDUAL].elapsed_ns == pytest.approx(20_000)


def test_a_budget_closes_within_five_percent_and_no_further():
    assert found(budget()).closes
    assert found(budget()).residual_share == pytest.approx(2 / 300)
    for cpu_ns in (219_000_000, 187_000_000):
        reported = found(budget(cpu_ns=cpu_ns))
        assert reported.closes is False
        assert abs(reported.residual_share) == pytest.approx(16 / 300)


def test_time_that_the_sampler_cannot_see_is_no_residual():
    programs = found(budget(PROGRAMS, "the kernel's functions are not sampled"))
    assert programs.closes is None
    assert by_name(programs)["kernel, and what chance left"].elapsed_ns == pytest.approx(170_000)
    assert programs.reason == "the kernel's functions are not sampled"
    nothing = found(budget(NOTHING, "refused"))
    assert nothing.closes is None
    assert by_name(nothing)["on the CPU"].elapsed_ns == pytest.approx(2_020_000)
    assert not [row for row in nothing.rows if row.kind == COMPONENT]


def test_a_cell_that_nothing_was_measured_of_has_a_reason_and_no_rows():
    bare = dataclasses.replace(budget(NOTHING, "it died"), statements=0, elapsed_ns=0, threads=(),
                               blocks=(), rungs=())  # fmt: skip
    reported = found(bare)
    assert (reported.rows, reported.ladder, reported.observer, reported.reason) == (
        (),
        (),
        None,
        "it died",
    )


def test_the_ladder_telescopes_to_the_statement():
    ladder = found(budget()).ladder
    assert [rung.rung for rung in ladder] == list(LADDER_US)
    assert sum(rung.beyond_ns.value for rung in ladder) == pytest.approx(ladder[-1].each_ns.value)
    assert ladder[0].below == ""
    assert ladder[1].below == "an empty request"
    assert ladder[1].beyond_ns.value == pytest.approx(4_200, rel=0.05)


def test_a_rung_that_takes_less_than_the_one_below_is_not_measurable():
    rungs = {rung.rung: rung for rung in found(budget()).ladder}
    assert rungs["uncommitted"].beyond_ns.value < 0
    assert not rungs["uncommitted"].is_measurable
    assert rungs["whole"].is_measurable


def test_a_rung_without_times_has_its_reason_and_is_passed_over():
    known = {rung: us for rung, us in LADDER_US.items() if rung != "planned"}
    rungs = {rung.rung: rung for rung in found(budget(rungs=known)).ladder}
    assert rungs["planned"].each_ns is None
    assert rungs["planned"].reason == "it stays prepared"
    assert rungs["counted"].below == "a constant, prepared"
    assert rungs["counted"].attributed == "parsing and planning, and finding the rows"
    assert rungs["uncommitted"].attributed == "writing the relation"
    assert sum(r.beyond_ns.value for r in rungs.values() if r.beyond_ns) == pytest.approx(
        rungs["whole"].each_ns.value
    )


def test_another_plan_for_the_count_is_reported():
    rungs = {rung.rung: rung for rung in found(budget()).ladder}
    assert rungs["counted"].same_plan is True
    other = dataclasses.replace(budget(), rungs=(
        dataclasses.replace(budget().rungs[1], plan="SCAN t USING COVERING INDEX i"),
    ))  # fmt: skip
    rungs = {rung.rung: rung for rung in found(other).ladder}
    assert rungs["counted"].same_plan is False
    assert rungs["whole"].same_plan is None


def test_the_observer_s_cost_is_the_paired_ratio():
    reported = found(budget(slower=1.05))
    assert reported.observer.value == pytest.approx(1.05)
    assert reported.observer.low <= 1.05 <= reported.observer.high


def test_a_ladder_follows_where_the_rows_go():
    rungs = [rung.rung for rung in found(budget(), "client").ladder]
    assert rungs == ["empty", "constant", "planned", "counted", "whole"]
    assert [r.rung for r in found(budget(), "update").ladder] == [
        "empty", "constant", "planned", "uncommitted", "whole",
    ]  # fmt: skip
    assert found(budget(), "").ladder == ()
