"""Every row of the summary has its line, every format its findings; and each operation of ours has
what a learner needs."""

import json
from dataclasses import replace

import pytest
from findings_fixture import Side, found_by, made
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run
from study_fixture import record as study_record

from loadstone import registry
from loadstone.analysis.findings import calls, statements
from loadstone.analysis.findings.finding import Grade
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.findings.said import beyond_all, said_share
from loadstone.analysis.summary import summarise
from loadstone.plan.presentation import CostLadder, Lesson, Presentation
from loadstone.record.model import Run, Term
from loadstone.report.findings_words import NONE, OPEN_MOST
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import REFORK_S

SCATTERED = Side(1.0, scatter=(0.5, 2.0))
RUNS = {"statements": make_run(FEW), "a program": make_oo1_run()}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
def test_every_row_that_compares_engines_has_a_line(run: Run) -> None:
    whole = summarise(run)
    found = learned(whole)
    rows = {
        (row.operation.name, row.rows, row.temperature)
        for view in whole.views
        for row in view.all_rows
        if row.operation.storage not in whole.words.harness
    }
    assert found.whys.keys() == rows
    assert all(why.words for why in found.whys.values())


@pytest.mark.parametrize(
    ("share", "reported", "why"),
    [
        (Estimate(0.86, 0.8, 0.92), "86 % (80 to 92 %)", False),
        (Estimate(0.97, 0.53, 1.004), "97 % (53 to 100 %)", False),
        (Estimate(1.04, 0.53, 2.3), "100 % (53 to 100 %)", True),
        (Estimate(0.9, 0.53, 40.0), "90 % (53 to 100 %)", False),
        (Estimate(0.1, -0.2, 0.4), "10 % (0 to 40 %)", False),
        (Estimate(1.2), "100 %", True),
    ],
)
def test_a_share_lies_between_none_and_all_and_more_than_all_is_said(share, reported, why) -> None:
    assert said_share(share) == reported
    assert bool(beyond_all(share)) is why


def test_a_row_with_a_difference_and_no_cause_says_unexplained() -> None:
    run = made({"sqlite": Side(0.02), "duckdb": Side(0.1)})  # too short for the counters
    (why,) = learned(summarise(run)).whys.values()
    assert (why.grade, why.finding) == (Grade.UNEXPLAINED, None)


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ({"sqlite": Side(1.0), "duckdb": Side(1.0)}, "no difference to explain"),
        ({"sqlite": Side(1.0), "duckdb": SCATTERED}, "undecided"),
        ({"sqlite": Side(1.0), "duckdb": Side(3.0, samples=3)}, "too few samples"),
        ({"sqlite": Side(1.0), "duckdb": Side(3.0, status="invalid")}, "nothing to compare"),
        ({"sqlite": Side(1.0), "duckdb": Side(3.0, samples=1)}, "nothing to compare"),
    ],
)
def test_a_row_without_a_certain_difference_claims_no_cause(sides, words: str) -> None:
    (why,) = learned(summarise(made(sides))).whys.values()
    assert why.grade is None
    assert why.words.startswith(words)


def test_of_two_answers_the_better_grade_is_the_rows() -> None:
    terms = [Term("sqlite", "durability", "full", "full"),
             Term("sqlite?durability=none", "durability", "none", "none")]  # fmt: skip
    commits = {"commit_ns": lambda ns: max(0, ns - 1_000_000)}
    slow, again = Side(10.0, samples=40, counts=commits), "sqlite#2"
    sides = {"sqlite": slow, again: slow,
             "sqlite?durability=none": Side(4.0, samples=40, counts=commits),
             "duckdb": Side(2.0, samples=40, counts=commits)}  # fmt: skip
    run = made(sides, terms=terms, roles=((again, "control"),))
    run = replace(run, plan=replace(run.plan, aa_control=again, repeat_s=REFORK_S))
    found = learned(summarise(run))
    assert {each.rule for each in found.findings} >= {"switched", "spent"}
    (why,) = found.whys.values()
    assert why.grade is Grade.EXPLAINED
    alone = {name: side for name, side in sides.items() if "?" not in name}
    (why,) = learned(summarise(made(alone))).whys.values()
    assert why.grade is Grade.CONSISTENT


def test_a_row_that_is_answered_is_not_reported_as_unexplained_besides() -> None:
    sides = {"sqlite": Side(2.0, access="nonclustered"), "duckdb": Side(10.0, access="heap")}
    found = learned(summarise(made(sides))).findings
    assert [each.grade for each in found] == [Grade.CONSISTENT]
    bare = {name: replace(side, access=None) for name, side in sides.items()}
    found = learned(summarise(made(bare))).findings
    assert [each.grade for each in found] == [Grade.UNEXPLAINED]


def rendered(name: str, run: Run) -> str:
    return registry.load_report(name)().render(run).decode()


def test_every_format_leads_with_what_was_learned() -> None:
    run = made({"sqlite": Side(2.0), "duckdb": Side(10.0, cpu=0.1)})
    page, text = rendered("html", run), rendered("md", run)
    assert page.index('id="findings"') < page.index('id="summary"')
    assert text.index("Findings") < text.index("| operation |")
    reported = json.loads(rendered("json", run))
    assert [one["kind"] for one in reported["findings"]] == ["waiting"]
    assert [one["grade"] for one in reported["whys"]] == ["consistent with"]
    for words in (reported["findings"][0]["sentence"], "consistent with"):
        assert words in page
        assert words in text


def test_a_record_without_findings_says_so() -> None:
    run = made({"sqlite": Side(2.0)})
    assert NONE in rendered("html", run)
    assert NONE in rendered("md", run)


def test_a_study_leads_with_its_findings_and_has_no_rows() -> None:
    run = study_record()
    page = rendered("html", run)
    assert page.index('id="findings"') < page.index('id="study"')
    assert not learned(summarise(run)).whys


@pytest.mark.slow
def test_further_findings_open() -> None:
    page = rendered("html", make_run())
    count = len(learned(summarise(make_run())).themes)
    assert count > OPEN_MOST
    assert f"{count - OPEN_MOST} more finding" in page


COUNTED = ("lookup", "traversal", "reverse")


def test_calls_answer_where_their_price_is_most_of_the_time() -> None:
    found = {each.operation: each for each in found_by(calls.find, make_oo1_run())}
    assert {name: found[name].kind for name in COUNTED if name in found}["lookup"] == "statements"
    assert found["lookup"].variant == "postgresql"


def test_calls_are_silent_where_they_are_cheap_or_uncounted() -> None:
    run = make_oo1_run()
    cheap = tuple(
        replace(each, samples=tuple(replace(s, elapsed_ns=s.elapsed_ns // 50 + 1)
                                    for s in each.samples))
        if each.cell.operation in ("empty", "constant") else each
        for each in run.results
    )  # fmt: skip
    uncounted = tuple(
        replace(each, samples=tuple(
            replace(s, calls=None, statements=None, round_trips=None) for s in each.samples))
        for each in run.results
    )  # fmt: skip
    for results in (cheap, uncounted):
        kinds = {each.kind for each in found_by(calls.find, replace(run, results=results))}
        assert "statements" not in kinds


def walks(*, elapsed_ms=10.0, other_ms=2.0, statements=1_000, other=200, fast=None) -> Run:
    """Two operations without a ladder: the first on SQLite by so many statements, on lode by calls,
    and another one whose statements are the price."""
    counts = {"calls": 1_000, "statements": statements}
    sides = {
        "sqlite": Side(elapsed_ms, counts=counts),
        "lode": Side(1.0, counts={"calls": 1_000, "statements": fast}),
    }
    priced = Side(other_ms, counts={"calls": other, "statements": other})
    first = made(sides, operation="T1", destination="client")
    second = made({"sqlite": priced, "lode": priced}, operation="T6", destination="client")
    cells = (*first.plan.cells, *second.plan.cells)
    return replace(
        first,
        plan=replace(first.plan, cells=cells),
        results=(*first.results, *second.results),
        operations=(*first.operations, *second.operations),
        presentation=replace(first.presentation, ladder=CostLadder()),
    )


def test_statements_without_a_ladder_answer_at_the_price_of_another_operation() -> None:
    (found,) = found_by(statements.find, walks(elapsed_ms=12.0))
    assert (found.operation, found.variant, found.grade) == ("T1", "sqlite", Grade.CONSISTENT)
    assert "which needs none" in found.sentence and "in T6" in found.sentence
    assert found.numbers[-1].figure.value == pytest.approx(10 / 11, rel=0.05)


def test_a_statement_costs_no_more_than_the_row_s_own_time_leaves() -> None:
    """There 13 µs each, of 1,000 here 12: all of the time is theirs, and not more than all."""
    (found,) = found_by(statements.find, walks(elapsed_ms=12.0, other_ms=2.6))
    assert found.numbers[-1].figure.value == 1.0
    assert "that its time leaves each, and not the 13.5 µs" in found.sentence, found.sentence


@pytest.mark.parametrize(
    "other",
    [
        {"other_ms": 0.5},  # a statement costs too little to be most of it
        {"other_ms": 4.0},  # a statement costs far more there than here
        {"other": 20},  # too few of them: mostly the transaction
        {"fast": 1_000},  # both need as many
        {"statements": None},  # it has none
    ],
)
def test_statements_without_a_ladder_are_silent_otherwise(other) -> None:
    assert found_by(statements.find, walks(elapsed_ms=12.0, **other)) == []


@pytest.mark.parametrize("name", ["wisconsin", "oo1"])
def test_every_operation_has_its_lesson(name: str) -> None:
    benchmark = registry.load_benchmark(name)()
    rows = 10_000
    operations = {
        each.name for edition in benchmark.editions for each in benchmark.operations(edition, rows)
    }
    reported = [each for one in benchmark.presentation().lessons for each in one.operations]
    assert operations == set(reported)
    assert len(reported) == len(set(reported))
    for one in benchmark.presentation().lessons:
        assert all(text.endswith(".") for text in (one.isolates, one.paper, one.refuted))


def test_a_lesson_opens_from_its_row() -> None:
    lesson = Lesson(("select-10%-nonclustered",), "Kegs <in> rows.", "Half of them.", "A full one.")
    run = replace(
        made({"sqlite": Side(2.0), "duckdb": Side(10.0)}),
        presentation=Presentation("Thirds", lessons=(lesson,)),
    )
    page = rendered("html", run)
    panel = page[page.index('<aside popover class="panel" id="p0"') :]
    for words in ("Kegs &lt;in&gt; rows.", "Half of them.", "A full one."):
        assert words in panel
    assert '<th scope="row"><button type="button" class="to" popovertarget="p0">' in page
    none = replace(run, presentation=Presentation("Thirds"))
    assert 'class="lesson"' not in rendered("html", none)
