"""OO1's tables beside a run: its scale, its temperatures, its sums; and what things are called."""

import html
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from oo1_report_fixture import ROWS, make_oo1_run
from report_fixture import FEW, make_run
from rich.console import Console

from loadstone import registry
from loadstone.analysis.published import Comparison, ComparisonRow, _reimplemented, comparisons
from loadstone.analysis.summary import Summary, summarise
from loadstone.analysis.verdict import headline
from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark
from loadstone.benchmarks.oo1.presentation import LADDER
from loadstone.record.model import AnswerCheck, Run, Term
from loadstone.report.panel import panels
from loadstone.report.paper_words import paper_line
from loadstone.report.terminal import print_summary


@pytest.fixture(scope="module")
def whole() -> Summary:
    return summarise(make_oo1_run())


def tables_of(run: Run) -> dict[str, Comparison]:
    found = comparisons(summarise(run))
    assert found is not None
    return {table.number: table for table in found.tables}


def row_of(run: Run, label: str) -> ComparisonRow:
    return next(row for row in tables_of(run)["II"].rows if row.label == label)


def cell_of(whole: Summary, operation: str, variant: str, temperature: str = "warm"):
    return whole.figures[f"{operation}|{variant}|{ROWS}|{temperature}"]


def test_a_row_takes_the_temperature_it_names(whole: Summary) -> None:
    run = whole.run
    for temperature in ("warm", "cold"):
        shown = row_of(run, f"lookup, {temperature}").measured
        for variant in ("sqlite", "postgresql", "zodb"):
            expected = cell_of(whole, "lookup", variant, temperature).elapsed_ns
            assert shown[variant].elapsed_ns == expected
    assert row_of(run, "lookup, cold").measured["memory"].status == "gap"


def test_a_total_is_the_sum_of_medians_and_of_their_bounds(whole: Summary) -> None:
    found = row_of(whole.run, "total, warm").measured
    parts = [
        cell_of(whole, name, "sqlite").elapsed_ns for name in ("lookup", "traversal", "insert")
    ]
    total = found["sqlite"].elapsed_ns
    assert total.value == pytest.approx(sum(part.value for part in parts))
    assert total.low == pytest.approx(sum(part.low for part in parts))
    assert total.high == pytest.approx(sum(part.high for part in parts))
    ranked = [one for variant, one in found.items() if variant != "memory"]
    best = min(ranked, key=lambda one: one.elapsed_ns.value)
    assert [one for one in found.values() if one.best] == [best]
    other = found["zodb"]
    assert other.ratio.value == pytest.approx(other.elapsed_ns.value / best.elapsed_ns.value)
    assert other.ratio.high == pytest.approx(other.elapsed_ns.high / best.elapsed_ns.low)


@pytest.mark.parametrize("status", ["failed", "invalid", "gap"])
def test_a_total_with_a_part_that_is_not_ok_has_no_figure(status: str) -> None:
    run = make_oo1_run()
    spoiled = tuple(
        replace(result, status=status, reason="because")
        if (result.cell.operation, result.cell.variant) == ("traversal", "sqlite")
        else result
        for result in run.results
    )
    row = row_of(replace(run, results=spoiled), "total, warm")
    total = row.measured["sqlite"]
    assert (total.status, total.text, total.ratio) == (status, "", None)
    assert row.measured["zodb"].text


def test_an_unproved_part_makes_the_total_unproved() -> None:
    run = make_oo1_run()
    bare = tuple(
        replace(result, evidence=())
        if (result.cell.operation, result.cell.variant) == ("insert", "sqlite")
        else result
        for result in run.results
    )
    total = row_of(replace(run, results=bare), "total, cold").measured
    assert total["sqlite"].temperature == "unproved"
    assert total["sqlite"].ratio is None
    assert total["postgresql"].ratio is not None


def test_reverse_traversals_are_as_of_3280_visits(whole: Summary) -> None:
    figure = cell_of(whole, "reverse", "sqlite")
    # The made-up engine takes as long for each visit, wherever it starts.
    assert figure.elapsed_ns.value == pytest.approx(1_500_000, rel=1e-4)
    assert max(figure.shown_ns) == pytest.approx(min(figure.shown_ns), rel=1e-3)
    assert max(s.elapsed_ns for s in figure.samples) > 100 * min(
        s.elapsed_ns for s in figure.samples
    )
    overhead = cell_of(whole, "reverse", "null")
    assert [round(one) for one in overhead.shown_ns] == [s.elapsed_ns for s in overhead.samples]


def test_few_visits_are_flagged() -> None:
    run = make_oo1_run()
    assert cell_of(summarise(run), "reverse", "sqlite").few_visits
    assert not cell_of(summarise(run), "traversal", "sqlite").few_visits
    plenty = tuple(
        replace(result, answers=tuple(_at_least(answer, 100) for answer in result.answers))
        for result in run.results
    )
    assert not cell_of(summarise(replace(run, results=plenty)), "reverse", "sqlite").few_visits


def _at_least(answer: AnswerCheck, visits: int) -> AnswerCheck:
    return replace(answer, rows=max(answer.rows, visits))


def test_size_and_load_stand_beside_the_papers(whole: Summary) -> None:
    size, load = (row_of(whole.run, label) for label in ("database size, MB", "load (local)"))
    assert size.measured["memory"].text == "3.90 MB"
    assert size.published["RDBMS"].ratio == pytest.approx(4.5 / 3.3)
    assert size.measured["postgresql"].ratio.value == pytest.approx(4.1 / 4.0)
    assert load.measured["sqlite"].elapsed_ns.value == 100_000_000
    assert (load.published["INDEX"].text, load.published["INDEX"].time_ns) == ("1100*", 1100e9)
    assert not size.drawn
    assert not load.drawn


def test_a_mark_that_the_paper_does_not_explain_is_no_number() -> None:
    value = tables_of(make_oo1_run())["IV"].rows[0].published["INDEX"]
    assert (value.text, value.time_ns) == ("78000+", None)


def test_a_table_of_another_scale_has_nothing_beside_it() -> None:
    tables = tables_of(make_oo1_run())
    assert tables["II"].missing == ""
    assert tables["III"].missing == "not run at 200,000: add --rows 200000"
    assert not tables["III"].measured
    assert tables["III"].rows[0].published["INDEX"].text == "18"
    large = tables_of(make_oo1_run(rows=200_000))
    assert large["III"].measured
    assert not large["II"].measured


def test_a_table_of_another_edition_has_nothing_beside_it() -> None:
    without = tables_of(make_oo1_run("1992-no-locality"))
    again = "--edition 1992"
    assert {table.apart for table in without.values()} == {
        again, f"{again} --rows 200000", f"{again} --rows 2000000"
    }  # fmt: skip
    assert not any(table.measured for table in without.values())


def test_tables_that_name_an_edition_stand_beside_the_others(whole: Summary) -> None:
    published = json.loads(json.dumps(whole.run.published))
    for table in published["tables"]:
        table["edition"] = "1992-no-locality" if table["number"] == "VI" else ""
    run = replace(whole.run, published=published)
    tables = tables_of(run)
    assert tables["II"].measured
    assert "a run of its own with --edition 1992-no-locality" in tables["VI"].missing
    plan = replace(run.plan, edition="1992-no-locality")
    tables = tables_of(replace(run, plan=plan))
    assert tables["VI"].measured
    assert "leave out --edition" in tables["II"].missing


def test_the_database_without_locality_lends_the_others_neither_size_nor_load(
    whole: Summary,
) -> None:
    size, lookup = tables_of(whole.run)["VI"].rows
    assert size.measured == {}
    assert size.published["INDEX"].size_bytes == 5e6
    expected = cell_of(whole, "lookup-no-locality", "sqlite").elapsed_ns
    assert lookup.measured["sqlite"].elapsed_ns == expected
    load = row_of(whole.run, "load (local)").measured["sqlite"]
    assert load.elapsed_ns.value == 100_000_000


def test_operations_that_were_not_run_are_asked_for() -> None:
    run = make_oo1_run()
    cells = tuple(c for c in run.plan.cells if c.operation != "lookup-no-locality")
    tables = tables_of(replace(run, plan=replace(run.plan, cells=cells)))
    missing = "its operations were not run: add --preset full, without --operation"
    assert (tables["VI"].missing, tables["VI"].add) == (missing, "--preset full")
    assert not tables["VI"].measured
    assert tables["II"].measured


def test_markdown_has_the_papers_tables(whole: Summary) -> None:
    text = registry.load_report("md")().render(whole.run).decode()
    (row,) = (line for line in text.splitlines() if line.startswith("| lookup, warm | 2.4 2.4"))
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[:5] == ["lookup, warm", "2.4 2.4×", "**1.0**", "19 19×", "**330 µs**"]  # noqa: RUF001
    assert cells[5:] == ["16.0 ms 48×", "900 µs 2.7×", "60.0 µs", "3,000× OODBMS / sqlite"]  # noqa: RUF001
    assert "Table VI. Small remote database without locality; s elapsed, as printed" in text
    assert "- Table III. Large remote database: not run at 200,000: add --rows 200000" in text
    assert "Systems of the paper, re-implemented: INDEX as lode?access=links, INDEX with" in text
    # An engine that took part in no comparison has no figure: structs in memory are never cold.
    (cold,) = (line for line in text.splitlines() if line.startswith("| lookup, cold"))
    assert cold.split("|")[8].strip() == "gap"


def test_markdown_has_wisconsins_tables_too() -> None:
    text = registry.load_report("md")().render(make_run()).decode()
    assert "Table 1. Selections without index; s elapsed, as printed" in text
    assert "&gt; 5 hours" in text
    assert "10,000 tuples, warm; ratios to the best of the same era" in text
    assert "The IDM used nested loops." in text


def test_the_terminal_says_where_the_tables_are(whole: Summary) -> None:
    assert paper_line(comparisons(whole)) == (
        "the paper's tables, 2 of 4 beside today's figures; for 2 others add --rows 200000 and"
        " --rows 2000000"
    )
    assert paper_line(comparisons(summarise(make_run()))).endswith("4 of 4 beside today's figures")
    assert paper_line(None) == ""


@pytest.mark.parametrize("name", ["md", "html"])
def test_the_way_to_a_server_stands_beside_the_figures(whole: Summary, name: str) -> None:
    own = (Term("sqlite", "round_trip_ns", None, "not measured: no route"),
           Term("null", "round_trip_ns", None, "7"),
           Term("postgresql", "round_trip_ns", None, "41200"))  # fmt: skip
    run = replace(whole.run, terms=(*whole.run.terms, *own))
    said = "to the server's place, without the server: 41.2 µs (postgresql)."
    text = html.unescape(registry.load_report(name)().render(run).decode())
    assert text.count(said) == (2 if name == "html" else 1)
    assert "without the server: 9.00 µs (postgresql)" not in text
    alone = replace(run, terms=tuple(t for t in run.terms if t.key != "round_trip_ns"))
    assert "and back" not in registry.load_report(name)().render(alone).decode()


def test_the_papers_systems_that_run_again_are_named(whole: Summary) -> None:
    reported = (
        "Systems of the paper, re-implemented: INDEX as lode?access=links, INDEX with B-trees"
        " (Table VII) as lode?access=btree and OODBMS as lode"
    )
    absent = " (not in this run: lode?access=links, lode?access=btree and lode)."
    assert comparisons(whole).reimplemented == reported + absent
    there = (*whole.competitors, "lode", "lode?access=links", "lode?access=btree")
    assert _reimplemented(SimpleNamespace(words=whole.words, competitors=there)) == reported + "."
    run = make_run(FEW)
    unnamed = replace(run, presentation=replace(run.presentation, reimplemented={}))
    assert comparisons(summarise(unnamed)).reimplemented == ""


def test_things_have_their_own_names(whole: Summary) -> None:
    assert headline(whole).startswith(
        "OO1 (1992) on sqlite, postgresql and zodb beside the limit memory, "
    )
    assert "20,000 parts" in headline(whole)
    for name in ("html", "md"):
        text = registry.load_report(name)().render(whole.run).decode()
        assert "Oo1 (" not in text
        assert "tuples" not in text


def test_every_column_names_its_client_and_every_client_its_overhead(whole: Summary) -> None:
    assert whole.headings["zodb"] == "zodb (python)"
    text = registry.load_report("md")().render(whole.run).decode()
    assert "| sqlite (rust) | postgresql (rust) | zodb (python) | memory (rust, limit) |" in text
    assert "Rust for sqlite, postgresql and memory (an empty call: 1.50 ns)" in text
    assert "Python for zodb (an empty call: 60.0 ns)" in text
    # The overhead that was measured in Rust says nothing of a program in Python.
    assert cell_of(whole, "lookup", "sqlite").overhead_share is not None
    assert cell_of(whole, "lookup", "zodb").overhead_share is None


def test_one_client_is_named_in_the_headline() -> None:
    run = make_oo1_run()
    terms = tuple(replace(term, read_back="rust") for term in run.terms)
    assert "called from Rust" in headline(summarise(replace(run, terms=terms)))
    assert "called from" not in headline(summarise(run))


def test_a_panel_shows_a_measure_and_no_statement(whole: Summary) -> None:
    apart = next(panel for panel in panels(whole) if "no-locality" in panel.operation.name)
    assert "measure lookup;" in apart.asked
    panel = next(panel for panel in panels(whole) if panel.operation.name == "reverse")
    assert "measure reverse" in panel.asked
    assert ": 6,917 visits" in panel.expected
    assert panel.nominal == 3280
    page = registry.load_report("html")().render(whole.run).decode()
    assert "<pre>reverse 1</pre>" not in page
    assert "Click a figure for its samples." in page


def test_the_terminal_reports_clients_and_calls_and_fits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = make_oo1_run()
    print_summary(run, Path("a.loadstone"), None, Console(width=100, highlight=False))
    text = capsys.readouterr().out
    assert "Python for zodb" in text
    assert "postgresql: 1,000 × 14.5 µs is 91 % of a look-up: its calls explain it" in text  # noqa: RUF001
    assert "A round trip of one byte to the server's place, without the server: 9.00 µs" in text
    assert "report  loadstone report a.loadstone, with the paper's tables, 2 of 4 beside" in text
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 100


def test_the_rungs_of_the_ladder_are_measured_in_the_same_rounds() -> None:
    together = {
        item.name for item in Oo1Benchmark().operations("1992", 200) if item.interleaved_group
    }
    assert together == {step.operation for step in LADDER.steps}
