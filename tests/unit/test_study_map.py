"""The sensitivity map from a record: effects that were planted are there, the others are not."""

import random
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from math import exp
from pathlib import Path

import pytest
from report_fixture import make_run
from typer.testing import CliRunner

from loadstone.analysis.plan_shape import same_plans, shape
from loadstone.analysis.study import StudyMap, study_map
from loadstone.cli import app
from loadstone.plan.plan import Plan
from loadstone.record.model import CellResult, OperationText, Run, Sample, StatementText
from loadstone.report.study_words import NOTHING, OTHER_PLAN, UNKNOWN, cell
from loadstone.report.terminal_study import ended_line, study_summary
from loadstone.run import session
from loadstone.text.numbers import times

OPERATIONS = ("min-heap", "select-1%-heap")
FACTORS = {
    "min-heap": {"durability": 0.5, "parallelism": 1.0, "cache": 1.0, "join": 1.0},
    "select-1%-heap": {"durability": 1.0, "parallelism": 4.0, "cache": 1.25, "join": 1.0},
}
"""What each switch multiplies an operation's time by."""
TOGETHER: dict[str, float] = {"min-heap": 1.0, "select-1%-heap": 1.0}
"""And all of them, besides."""
BLOCKS = 12


def plan() -> Plan:
    vary = ["durability", "parallelism=1,2", "cache=268435456,1048576", "join=auto,hash"]
    return session.plan_from(
        {"benchmark": "wisconsin", "on": ["postgresql"], "design": "two-ended", "vary": vary,
         "operations": OPERATIONS}, None).plan  # fmt: skip


def result(plan: Plan, operation: str, variant: str, flipped: tuple[str, ...]) -> CellResult:
    """Samples with a factor common to each block, and a little noise of their own."""
    found = next(c for c in plan.cells if (c.operation, c.variant) == (operation, variant))
    chance = random.Random(f"{operation} {variant}")
    factor = 1.0
    for tactic in flipped:
        factor *= FACTORS[operation][tactic]
    factor *= TOGETHER[operation] if len(flipped) == len(FACTORS[operation]) else 1.0
    samples = [
        Sample(block * 2 + turn, block, 0, block, round(
            2e6 * factor * exp(random.Random(block).gauss(0, 0.3) + chance.gauss(0, 0.003))))
        for block in range(BLOCKS) for turn in range(2)
    ]  # fmt: skip
    scan = "parallel" if "parallelism" in flipped else "sequential"
    text = StatementText(0, "SELECT", f"{scan} scan (cost=0..{round(99 * factor)})\n  ~{variant}")
    text = replace(text, plan=text.plan.splitlines()[0])
    return CellResult(found, "ok", "", "2026-11-23", tuple(samples), statements=(text,))


def record(changed: Mapping[tuple[str, str], CellResult | None] = {}) -> Run:
    made = plan()
    assert made.study is not None
    flipped = {each.variant: each.flipped for each in made.study.combinations}
    flipped[made.aa_control] = ()
    results = [
        changed.get((operation, variant), result(made, operation, variant, flipped[variant]))
        for operation in OPERATIONS for variant in flipped
    ]  # fmt: skip
    texts = [OperationText(name, 10_000, place, name, "", "", "heap", "heap", "client", "")
             for place, name in enumerate(OPERATIONS)]  # fmt: skip
    return replace(
        make_run(("select-1%-heap",), scales=(10_000,)), plan=made, operations=tuple(texts),
        results=tuple(one for one in results if one is not None),
    )  # fmt: skip


def found(run: Run) -> StudyMap:
    map_ = study_map(run)
    assert map_ is not None
    return map_


def cells(run: Run) -> dict[tuple[str, str], str]:
    return {
        (operation.name, each.switch.tactic): cell(each)
        for operation in found(run).operations
        for each in operation.switches
    }


def test_planted_effects_are_found_and_no_others() -> None:
    for operation in found(record()).operations:
        for each in operation.switches:
            planted = FACTORS[operation.name][each.switch.tactic]
            assert each.effect.acts == (planted != 1.0), (operation.name, each.switch)
            for ratio in (each.alone, each.last):
                assert ratio is not None
                assert ratio.value == pytest.approx(planted, rel=0.02)


def test_what_matters_comes_first() -> None:
    map_ = found(record())
    assert [operation.name for operation in map_.operations] == ["select-1%-heap", "min-heap"]
    assert [switch.tactic for switch in map_.order] == [
        "parallelism",
        "durability",
        "cache",
        "join",
    ]


def test_an_effect_through_another_plan_is_marked() -> None:
    told = cells(record())
    assert told["select-1%-heap", "parallelism"] == times(4) + OTHER_PLAN
    assert told["select-1%-heap", "cache"] == times(1.25)
    assert told["min-heap", "parallelism"] == f"{NOTHING}{OTHER_PLAN}"
    assert told["min-heap", "cache"] == NOTHING


def test_a_combination_that_failed_gives_no_figure_and_is_a_problem() -> None:
    made = plan()
    broken = result(made, "min-heap", "postgresql?durability=none", ("durability",))
    broken = replace(broken, status="failed", reason="wrong answer", samples=())
    run = record({("min-heap", broken.cell.variant): broken})
    told = cells(run)
    assert told["min-heap", "durability"] == UNKNOWN
    assert told["min-heap", "cache"] == NOTHING, "the others stand"
    text = "\n".join(str(part) for part in study_summary(run, Path("r.loadstone"), None))
    assert "min-heap: failed: wrong answer" in text


def test_without_its_base_an_operation_has_no_line() -> None:
    run = record({("min-heap", "postgresql"): None})
    assert [operation.name for operation in found(run).operations] == ["select-1%-heap"]


def test_what_three_switches_do_together_calls_for_a_factorial_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not any(operation.escalate for operation in found(record()).operations)
    monkeypatch.setitem(TOGETHER, "min-heap", 3.0)
    run = record()
    text = "\n".join(str(part) for part in study_summary(run, Path("r.loadstone"), None))
    (told,) = re.findall(r"To take them apart: loadstone (study .*)", text)
    again = CliRunner().invoke(app, [*shlex.split(told), "--dry-run"])
    assert again.exit_code == 0, again.output
    assert "min-heap" in again.output
    assert "select-1%-heap" not in again.output


def test_a_run_that_is_no_study_has_no_map() -> None:
    assert study_map(make_run(("select-1%-heap",), scales=(10_000,))) is None


def test_an_operation_tells_its_effects_as_it_ends() -> None:
    first, last = found(record()).operations
    told = f"parallelism 1 → 2 {times(4)}{OTHER_PLAN}, cache 268435456 → 1048576 {times(1.25)}"
    assert told in ended_line(first)
    assert f"durability full → none {times(0.5)}" in ended_line(last)


def test_costs_and_counts_do_not_make_another_plan() -> None:
    one = "Seq Scan on t (cost=0.00..12.50 rows=5 width=4)\n  Filter: (a < 10)"
    other = "Seq Scan on t  (cost=0.10..99.00 rows=7 width=4)\n Filter: (a < 10)"
    assert shape(one) == shape(other)
    assert shape(one) != shape(one.replace("Seq", "Index"))
    assert same_plans([StatementText(0, "", one)], [StatementText(0, "", other)]) is True
    assert same_plans([StatementText(0, "", one)], [StatementText(0, "", "Hash Join")]) is False
    assert same_plans([StatementText(0, "", "")], [StatementText(0, "", "")]) is None
    assert same_plans([StatementText(0, "", one)], [StatementText(1, "", one)]) is None
