"""The sensitivity map from a record: effects that were planted are there, the others are not."""

import io
import json
import re
import shlex
from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any

import pytest
from report_fixture import make_run
from rich.console import Console
from rich.table import Table
from study_fixture import FACTORS, NOISE, OPERATIONS, TOGETHER, plan, record, result
from typer.testing import CliRunner

from loadstone import registry
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import summarise
from loadstone.cli import app
from loadstone.plan.study import Switch
from loadstone.plan.variant import is_aa_control
from loadstone.record.model import CellResult, Run, StatementText
from loadstone.report import terminal_study
from loadstone.report.legible import legible_run
from loadstone.report.study_page import side_of
from loadstone.report.study_words import (
    NOTHING,
    OTHER_PLAN,
    UNKNOWN,
    cell,
    closure_words,
    share_words,
)
from loadstone.report.terminal_study import StudyProgress, ended_line, study_summary
from loadstone.studies.plan_shape import beside, same_plans, shape
from loadstone.studies.view import StudyMap, operation_effects, study_map
from loadstone.studies.waterfall import descents
from loadstone.text.numbers import digits, times


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


def test_the_largest_effects_come_first() -> None:
    map_ = found(record())
    assert [operation.name for operation in map_.operations] == ["select-1%-heap", "min-heap"]
    assert [switch.tactic for switch in map_.order] == [
        "parallelism",
        "durability",
        "cache",
        "join",
    ]


def test_an_effect_through_another_plan_is_marked() -> None:
    reported = cells(record())
    assert reported["select-1%-heap", "parallelism"] == times(4) + OTHER_PLAN
    assert reported["select-1%-heap", "cache"] == times(1.25)
    assert reported["min-heap", "parallelism"] == f"{NOTHING}{OTHER_PLAN}"
    assert reported["min-heap", "cache"] == NOTHING


def test_a_combination_that_failed_gives_no_figure_and_is_a_problem() -> None:
    made = plan()
    broken = result(made, "min-heap", "postgresql?durability=none", ("durability",))
    broken = replace(broken, status="failed", reason="wrong answer", samples=())
    run = record({("min-heap", broken.cell.variant): broken})
    reported = cells(run)
    assert reported["min-heap", "durability"] == UNKNOWN
    assert reported["min-heap", "cache"] == NOTHING, "the others stand"
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
    unsteered = replace(record().plan.study, steered=False)
    run = record()
    run = replace(run, plan=replace(run.plan, study=unsteered))
    text = "\n".join(str(part) for part in study_summary(run, Path("r.loadstone"), None))
    (reported,) = re.findall(r"To take them apart: loadstone (study .*)", text)
    again = CliRunner().invoke(app, [*shlex.split(reported), "--dry-run"])
    assert again.exit_code == 0, again.output
    assert "min-heap" in again.output
    assert "select-1%-heap" not in again.output


def test_shares_that_noise_leaves_undecided_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOISE, "min-heap", 0.15)
    run = record()
    unsteered = replace(run.plan, study=replace(run.plan.study, steered=False))
    run = replace(run, plan=unsteered)
    text = "\n".join(str(part) for part in study_summary(run, Path("r.loadstone"), None))
    assert "min-heap: whether three or more switches act together is undecided" in text
    assert "select-1%-heap: whether" not in text
    loose, close = sorted(descents(found(run)), key=lambda one: one.operation.name)
    reported = closure_words(loose)
    assert "The shares are undecided: what both ends leave out may be" in reported
    assert "shares" not in closure_words(close)
    assert share_words(loose.steps[0]).endswith("), undecided")
    assert share_words(close.steps[0]).endswith(")")


def test_a_run_that_is_no_study_has_no_map() -> None:
    assert study_map(make_run(("select-1%-heap",), scales=(10_000,))) is None


def test_an_operation_reports_its_effects_as_it_ends() -> None:
    first, last = found(record()).operations
    reported = f"parallelism 1 → 2 {times(4)}{OTHER_PLAN}, cache 256 MiB → 1.00 MiB {times(1.25)}"
    assert reported in ended_line(first)
    assert f"durability full → none {times(0.5)}" in ended_line(last)


@pytest.mark.parametrize(
    ("noise", "reported"),
    [(0.003, "no switch changes it by more than 3.0 %"), (0.5, "no effect found; one of ")],
)
def test_that_nothing_is_found_is_not_that_nothing_is_there(
    monkeypatch: pytest.MonkeyPatch, noise: float, reported: str
) -> None:
    monkeypatch.setitem(FACTORS, "min-heap", dict.fromkeys(FACTORS["min-heap"], 1.0))
    monkeypatch.setitem(NOISE, "min-heap", noise)
    operation = next(one for one in found(record()).operations if one.name == "min-heap")
    assert operation.strength == 0
    assert reported in ended_line(operation)
    few = replace(operation, switches=tuple(replace(one, last=None, alone=replace(
        one.alone, low=None)) for one in operation.switches))  # fmt: skip
    assert "too few blocks to find an effect" in ended_line(few)


def test_the_strongest_effects_report_the_work_behind_them() -> None:
    run = record()
    text = "\n".join(str(part) for part in study_summary(run, Path("r.loadstone"), None))
    (reported,) = re.findall(r"min-heap, durability full → none: .*", text)
    assert reported.endswith("; same plan; written to storage 8.00 KiB → 0 B")
    (other,) = re.findall(r"select-1%-heap, cache 256 MiB → 1.00 MiB: .*", text)
    assert other.endswith("plan"), "what is counted alike is not reported"


def test_a_bound_is_reported_as_one_and_never_as_a_figure() -> None:
    run = record()
    ended = next(r for r in run.results if r.cell.operation == "min-heap"
                 and r.cell.variant == "postgresql?durability=none")  # fmt: skip
    ended = replace(ended, status="censored", reason="> 100 ms", samples=(), answers=(),
                    longer_than_ns=100_000_000)  # fmt: skip
    run = record({("min-heap", ended.cell.variant): ended})
    reported = cells(run)["min-heap", "durability"]
    assert reported == f"> {times(25)}", "50 by the median of the base, 25 by the slowest it can be"
    operation = next(one for one in found(run).operations if one.name == "min-heap")
    each = next(one for one in operation.switches if one.switch.tactic == "durability")
    assert (each.alone, each.failure) == (None, "")
    assert each.alone_beyond is not None and 20 < each.alone_beyond < 50
    assert "durability" in ended_line(operation)
    assert operation.status == "ok"
    text = "\n".join(str(part) for part in study_summary(run, Path("r.loadstone"), None))
    assert "alone more than" in text
    page = registry.load_report("html")().render(run).decode()
    assert "its statement was ended, a lower bound" in page


def test_costs_and_counts_do_not_make_another_plan() -> None:
    one = "Seq Scan on t (cost=0.00..12.50 rows=5 width=4)\n  Filter: (a < 10)"
    other = "Seq Scan on t  (cost=0.10..99.00 rows=7 width=4)\n Filter: (a < 10)"
    assert shape(one) == shape(other)
    assert shape(one) != shape(one.replace("Seq", "Index"))

    assert same_plans([StatementText(0, "", one)], [StatementText(0, "", other)]) is True
    assert same_plans([StatementText(0, "", one)], [StatementText(0, "", "Hash Join")]) is False
    assert same_plans([StatementText(0, "", "")], [StatementText(0, "", "")]) is None
    assert same_plans([StatementText(0, "", one)], [StatementText(1, "", one)]) is None


def test_how_a_plan_is_executed_is_no_part_of_it():
    """Else no effect of compiling could be reported as one with the same plan."""
    plan = "1. scan a is parts_heap_3360\n     rows (a.pnum) (about 3360 rows)\n"
    compiled = plan + "pipeline 1 is compiled to 1 function of 260 bytes, which call: like\n"
    assert shape(compiled) == shape(plan)
    assert shape(compiled) != shape(plan.replace("scan", "index"))
    scanned = "1. scan a is parts\n   where a.pnum = 488\n   rows (a.pnum)\n"
    held = "1. scan a is parts where a.pnum = 488\n   rows (a.pnum)\n"
    assert same_plans([StatementText(0, "", scanned)], [StatementText(0, "", held)]) is True


def test_the_terminal_and_the_page_see_the_same_plans():
    """The terminal once folded a plan's lines before plans were compared."""
    text = StatementText(
        0, "select", "1. scan a\n   rows (a.x)\npipeline 1 is compiled to 1 function"
    )
    run = record()
    reported = replace(run, results=tuple(replace(r, statements=(text,)) for r in run.results))
    for lines in (True, False):
        shown = legible_run(reported, lines=lines)
        assert {r.statements for r in shown.results} == {(text,)}


def test_plans_stand_beside_each_other_line_by_line() -> None:
    one = "Sort (cost=1..2)\n  Seq Scan on a\n  Filter: x < 10"
    other = "Gather\nSort (cost=3..4)\n  Seq Scan on a\n  Filter: y < 10"
    lines = beside(one, other)
    assert [(line.one, line.other) for line in lines if line.differs] == [
        ("", "Gather"),
        ("  Filter: x < 10", "  Filter: y < 10"),
    ]
    assert "\n".join(line.one for line in lines if line.one) == one
    assert "\n".join(line.other for line in lines if line.other) == other


def test_a_line_is_computed_once_however_often_the_screen_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While others are measured, each drawing would take the processor from them."""
    run, computed = record(), []

    def counted(*given: Any) -> Any:
        computed.append(given)
        return operation_effects(*given)

    monkeypatch.setattr(terminal_study, "operation_effects", counted)
    progress = StudyProgress(run.plan, run.presentation, len(run.results))
    overhead = [each for each in run.plan.cells if each.variant == "null"]
    for one in (*run.results, *(CellResult(each, "ok", "", "2026-11-23") for each in overhead)):
        progress.on_result(one)
        progress._table()
    assert len(computed) == len(OPERATIONS)
    assert progress._table().row_count == len(OPERATIONS)


def reported_of(run: Run) -> dict[str, str]:
    """The texts of the terminal, Markdown and the page."""
    console = Console(width=200, record=True, file=io.StringIO())
    for part in study_summary(run, Path("r.loadstone"), None):
        console.print(part)
    pages = {name: registry.load_report(name)().render(run).decode() for name in ("md", "html")}
    return {"terminal": console.export_text(), **pages}


def with_status(status: str, variant: str = "postgresql") -> Run:
    flipped = {each.variant: each.flipped for each in plan().study.combinations}
    bad = result(plan(), "min-heap", variant, flipped.get(variant, ()))
    return record({("min-heap", variant): replace(bad, status=status, reason="a reason")})


@pytest.mark.parametrize("together", [3.0, 1.0])
def test_all_parts_call_the_same_switches_an_effect(
    monkeypatch: pytest.MonkeyPatch, together: float
) -> None:
    """Those that act only last among them."""
    monkeypatch.setitem(TOGETHER, "min-heap", together)
    run = record()
    (operation,) = (one for one in found(run).operations if one.name == "min-heap")
    shown = json.loads(registry.load_report("json")().render(run))["study"]["operations"]
    acts = {s["tactic"]: s["acts"] for one in shown if one["operation"] == "min-heap"
            for s in one["switches"]}  # fmt: skip
    for each in operation.switches:
        has_ratio = cell(each)[0] not in (NOTHING, UNKNOWN)
        assert has_ratio == each.acts == acts[each.switch.tactic] == bool(side_of(each)[0])
    reported = {each.switch.tactic: cell(each) for each in operation.switches}
    assert reported["durability"] == times(0.5)
    assert reported["cache"] == (f"last {times(3)}" if together == 3.0 else NOTHING)
    assert ("cache 256 MiB → 1.00 MiB last" in ended_line(operation)) == (together == 3.0)
    for name, text in reported_of(run).items():
        assert (f"last {times(3)}" in text) == (together == 3.0), name


def test_a_waterfall_calls_no_effect_what_the_map_does_not() -> None:
    map_ = found(record())
    assert any(step.called for fall in descents(map_) for step in fall.steps)
    denied = [
        replace(operation, switches=tuple(
            replace(each, effect=replace(each.effect, acts=False), acts_alone=False,
                    acts_last=False) for each in operation.switches))
        for operation in map_.operations
    ]  # fmt: skip
    falls = descents(replace(map_, operations=tuple(denied)))
    assert falls
    assert not any(step.called for fall in falls for step in fall.steps)


def test_an_operation_whose_base_is_invalid_reports_no_effect() -> None:
    run = with_status("invalid")
    (operation,) = (one for one in found(run).operations if one.name == "min-heap")
    assert operation.strength == 0
    assert ended_line(operation) == "min-heap: its base has no figure: invalid: a reason"
    for name, text in reported_of(run).items():
        assert "not measured, or not in order" in text, name
        assert not re.search("min-heap.{0,9}, durability full → none: (alone|last) ", text), name


def test_no_effect_is_not_for_want_of_blocks_where_a_combination_is_invalid() -> None:
    (operation,) = (one for one in found(with_status("invalid", "postgresql?durability=none"))
                    .operations if one.name == "min-heap")  # fmt: skip
    assert ended_line(operation).endswith("; no effect found; no figure for durability")


@pytest.mark.parametrize("status", ["ok", "disturbed"])
def test_the_effects_of_a_disturbed_operation_are_marked(status: str) -> None:
    reported = reported_of(with_status(status))
    for name in ("terminal", "md"):
        text = reported[name]
        assert ("min-heap ! " in text) == (status == "disturbed"), name
        assert ("min-heap !, durability" in text) == (status == "disturbed"), name
        assert "select-1%-heap !" not in text
        assert "! some combination was disturbed" in text
    assert ("disturbed</sup>" in reported["html"]) == (status == "disturbed")


@pytest.mark.parametrize(("noise", "words"), [
    (0.003, "the contributions make up the whole"), (0.5, "undecided"),
])  # fmt: skip
def test_a_wide_closure_is_not_closed(
    monkeypatch: pytest.MonkeyPatch, noise: float, words: str
) -> None:
    monkeypatch.setitem(NOISE, "min-heap", noise)
    (fall,) = (one for one in descents(found(record())) if one.operation.name == "min-heap")
    assert fall.closure is not None and fall.closure.high is not None
    assert (fall.closure.high > 1.1) == (noise == 0.5)
    assert words in closure_words(fall)
    assert ("make up the whole" in closure_words(fall)) == (noise == 0.003)


def test_the_noise_that_denies_an_effect_is_reported() -> None:
    """By every format, where no cell of the A/A control is in order, too."""
    run = with_status("disturbed", "postgresql#2")
    (operation,) = (one for one in found(run).operations if one.name == "min-heap")
    noise = operation.effects.noise
    assert noise is not None
    assert noise.low is not None and noise.high is not None
    assert operation.effects.threshold >= max(abs(noise.low), abs(noise.high))
    reach = f"{digits(exp(noise.low))} to {digits(exp(noise.high))}"
    for name, text in reported_of(run).items():
        assert "A/A noise: the base measured twice" in text, name
        assert re.search(rf"min-heap( !)?: \S+ \({reach}\); no effect within 1\.03", text), name
    shown = json.loads(registry.load_report("json")().render(run))["study"]["operations"]
    (reported,) = (one for one in shown if one["operation"] == "min-heap")
    assert reported["threshold"] == exp(operation.effects.threshold)
    assert reported["aa_ratio"]["low"] == exp(noise.low)


@pytest.mark.parametrize("status", ["ok", "disturbed"])
def test_calibration_does_not_call_unmeasured_what_is_not_in_order(status: str) -> None:
    run = record()
    results = tuple(replace(one, status=status) if is_aa_control(one.cell.variant) else one
                    for one in run.results)  # fmt: skip
    text = registry.load_report("md")().render(replace(run, results=results)).decode()
    (row,) = re.findall(r"A/A difference: one variant measured twice \| ([^|]*) \|", text)
    assert (row == "measured, but no pair of cells is in order") == (status == "disturbed")
    assert row != "not measured"


def test_a_heading_has_no_sign_that_means_something_else_in_a_cell() -> None:
    """`?` is a cell without a figure, and not the one in a variant's name."""
    run = record()
    (columns,) = {
        tuple(str(column.header) for column in part.columns)
        for part in study_summary(run, Path("r.loadstone"), None)
        if isinstance(part, Table)
    }
    assert "cache\n→ 1.00 MiB" in columns, columns
    assert not [one for one in columns if terminal_study.UNKNOWN in one]
    group = Switch("storage", "", "")
    assert terminal_study._heading(group) == "storage"


def test_switches_without_a_column_are_named_below_the_map(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fifty columns would not be legible; what acts is never lost."""
    monkeypatch.setattr(terminal_study, "SWITCHES_SHOWN", 1)
    text = " ".join(reported_of(record())["terminal"].split())
    assert "3 switches more, with an effect: durability and cache; without an effect: join" in text
    monkeypatch.setattr(terminal_study, "SWITCHES_SHOWN", 4)
    assert "switches more" not in reported_of(record())["terminal"]


def test_a_study_finds_what_its_switches_do_and_of_other_cells_those_at_base() -> None:
    """A combination of switches is no engine that anybody compares with another."""
    run = record()
    wrong = (
        StatementText(0, "SELECT", "Seq Scan on t  (cost=0.00..9.00 rows=500000 width=4)", None),
    )
    run = replace(run, results=tuple(replace(each, statements=wrong) for each in run.results))
    found = learned(summarise(run)).findings
    assert {each.variant for each in found if each.rule == "estimates"} == {run.plan.study.base}
    assert Evidence(summarise(run)).distances == {}
