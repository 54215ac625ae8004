"""Time budgets in reports: what is shown is the record's, and nothing of it where there is none."""

import io
import json
import re
from dataclasses import replace

from budget_fixture import with_budgets
from report_fixture import FEW, make_run
from rich.console import Console

from loadstone.analysis.budget import budgets
from loadstone.analysis.budget_overview import budget_quality, overviews
from loadstone.analysis.summary import summarise
from loadstone.record.budget import BudgetPart
from loadstone.report import terminal_budget
from loadstone.report.budget_words import NOT_MEASURABLE, budget_tables
from loadstone.report.html import HtmlReport
from loadstone.report.json import JsonReport
from loadstone.report.markdown import MarkdownReport
from loadstone.report.terminal_budget import time_budgets

BARE = make_run(FEW[:3], repeat=6, scales=(10_000,))
RUN = with_budgets(BARE)


def on_terminal(run) -> str:
    console = Console(file=io.StringIO(), width=110)
    for part in time_budgets(summarise(run)):
        console.print(part)
    return console.file.getvalue()


def test_without_budgets_no_report_says_anything_of_them():
    assert "Where the time goes" not in HtmlReport().render(BARE).decode()
    assert "Where the time goes" not in MarkdownReport().render(BARE).decode()
    assert json.loads(JsonReport().render(BARE))["budgets"] == []
    assert on_terminal(BARE) == ""


def test_every_format_has_them():
    page = HtmlReport().render(RUN).decode()
    assert '<section id="budget"' in page
    assert 'href="#budget"' in page
    assert "| executor | 33 % | 33 % | 33 % |" in MarkdownReport().render(RUN).decode()
    reported = on_terminal(RUN)
    assert re.search(r"executor +33 % +33 % +33 %", reported), reported
    (first, *_) = json.loads(JsonReport().render(RUN))["budgets"]
    assert sum(part["elapsed_ns"] for part in first["parts"]) == first["elapsed_ns"]
    beyond = [rung["beyond_ns"]["value"] for rung in first["ladder"]]
    assert abs(sum(beyond) - first["ladder"][-1]["each_ns"]["value"]) < 1


def test_the_terminal_shows_the_largest_rows_first_and_adds_the_others_up():
    wide = [BudgetPart(False, f"component {at}", "o", f"f{at}", "", 30) for at in range(24)]
    cells = [
        replace(each, budget=each.budget and replace(each.budget, parts=tuple(wide)))
        for each in RUN.results
    ]
    lines = on_terminal(replace(RUN, results=tuple(cells))).splitlines()
    rows = [line.rsplit(maxsplit=6) for line in lines if line.rstrip().endswith("%")]
    shown = {line[0]: float(line[1]) for line in rows}
    assert next(iter(shown)).startswith("asleep"), lines
    assert len(shown) == terminal_budget.ROWS_MAX + 1 and list(shown)[-1] == "all others"
    assert abs(sum(shown.values()) - 100) < 2, shown
    assert "more, in the report" not in "".join(lines)


def test_a_component_without_a_sample_has_no_mean():
    assert re.search(r"kernel: sync +5.0 % +\u2013 +", on_terminal(RUN)), on_terminal(RUN)


def test_a_bar_fills_its_width_and_opens_its_row_s_panel():
    page = HtmlReport().render(RUN).decode()
    section = page.partition('<section id="budget"')[2].partition("</section>")[0]
    bars = re.findall(r"<button[^>]*popovertarget=(p\d+)[^>]*><svg.*?</svg>", section)
    assert bars
    for name in bars:
        panel = page.partition(f'<aside popover class="panel" id="{name}"')[2].partition(
            "</aside>"
        )[0]
        assert "The ladder of its statement" in panel
    for bar in re.findall(r"<svg width=.130. .*?</svg>", section):
        drawn = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', bar)]
        assert abs(sum(drawn) - 130) < 2, bar


def test_what_does_not_add_up_or_was_not_seen_is_said_where_it_is_shown():
    page = HtmlReport().render(RUN).decode()
    assert "does not add up" in page
    assert "not all was seen" in page
    assert "at least 3 samples lost" in page
    assert "while its time was taken apart: &gt; 60 s" in page
    quality = budget_quality(budgets(RUN))
    assert (quality.cells, quality.judged, quality.closed) == (8, 4, 2)
    assert {cell.cell.variant for cell in quality.unclosed} == {"postgresql?parallelism=2"}


def test_a_negative_difference_is_not_measurable_in_words():
    found = budgets(RUN)[0]
    ladder = dict(budget_tables(found, {}).ladder.rows)
    reported = [cell.beyond for cell in ladder["into a relation, taken back"]]
    assert reported == [NOT_MEASURABLE] * 3
    assert all(cell.beyond.startswith("+") for cell in ladder["into a relation, committed"])


def test_small_rows_are_reported_together_and_none_is_lost():
    for view in overviews(budgets(RUN)):
        for variant in view.variants:
            assert abs(sum(row.shares[variant] for row in view.parts) - 1) < 1e-9
