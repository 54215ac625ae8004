"""The sensitivity map of a cold study: as a warm one's, and without what was not proved cold."""

from dataclasses import replace
from pathlib import Path

from findings_fixture import found_by
from rich.table import Table
from study_fixture import plan, record
from test_study_map import cells, found

from loadstone import registry
from loadstone.analysis.findings import studied
from loadstone.record.model import ColdEvidence, Run
from loadstone.report.study_words import UNKNOWN, cell
from loadstone.report.terminal_study import study_summary


def cold_record(unproved: str = "") -> Run:
    """The same study, cold; of a variant the proof of one sample of `min-heap` is missing."""
    run, made = record(), plan(temperature="cold")
    results = [
        replace(
            one,
            cell=replace(one.cell, temperature="cold"),
            evidence=tuple(
                ColdEvidence(
                    sample.ordinal,
                    not (
                        one.cell.variant == unproved
                        and one.cell.operation == "min-heap"
                        and sample.ordinal == 5
                    ),
                    "", "mincore", 1, 4096, 1, 0, True, 1, 0,
                )
                for sample in one.samples
            ),
        )
        for one in run.results
    ]  # fmt: skip
    return replace(run, plan=made, results=tuple(results))


def test_a_cold_study_shows_what_a_warm_one_does_and_says_that_it_is_cold() -> None:
    run = cold_record()
    assert cells(run) == cells(record())
    assert found(run).temperature == "cold"
    assert not run.pending
    page, markdown = (registry.load_report(name)().render(run).decode() for name in ("html", "md"))
    assert "<h3>10,000 tuples, cold" in page
    assert "10,000 tuples, cold" in markdown
    drawn = [one for one in study_summary(run, Path("r.loadstone"), None) if isinstance(one, Table)]
    assert str(drawn[0].title) == "Effect of each switch: 10,000 tuples, cold"


def test_the_switch_of_a_cold_study_is_found_as_that_of_a_warm_one() -> None:
    warm, cold = (list(found_by(studied.find, run)) for run in (record(), cold_record()))
    assert [(one.operation, one.grade) for one in cold] == [
        (one.operation, one.grade) for one in warm
    ]
    assert {one.temperature for one in cold} == {"cold"}
    assert all(key.endswith("|cold") for one in cold for key in one.cells)


def test_a_combination_that_was_not_shown_to_be_cold_has_no_effect() -> None:
    variant = "postgresql?durability=none"
    operation = {one.name: one for one in found(cold_record(variant)).operations}["min-heap"]
    switches = {each.switch.tactic: each for each in operation.switches}
    assert cell(switches["durability"]) == UNKNOWN
    assert switches["durability"].alone is None
    assert switches["durability"].failure == "unproved: not every sample was shown to be cold"
    assert (operation.status, operation.reason) == (
        "unproved",
        "not every sample was shown to be cold",
    )
    others = {each.switch.tactic: each.alone for each in operation.switches}
    assert others["cache"] is not None
    base = {one.name: one for one in found(cold_record("postgresql")).operations}["min-heap"]
    assert {cell(each) for each in base.switches} == {UNKNOWN}
