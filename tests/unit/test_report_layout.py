"""A page can be entered and left by heading, link and key; no column goes without a word."""

import io
import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, POSTGRESQL, make_run
from rich.console import Console

from loadstone import registry
from loadstone.analysis.summary import summarise
from loadstone.record.model import Run
from loadstone.report.screen import folded
from loadstone.report.terminal import print_summary

RUNS = [make_run(FEW), make_oo1_run(), make_run(("select-10%-heap",), scales=(10_000,))]
LONG = ("lode?access=objects&log=page-diff&swizzle=on", "lode?access=objects&log=page-diff")


@pytest.fixture(scope="module", params=range(len(RUNS)))
def run(request: pytest.FixtureRequest) -> Run:
    return RUNS[request.param]


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return registry.load_report("html")().render(run).decode()


def test_a_page_has_one_heading_and_its_parts_below_it(page: str) -> None:
    assert page.count("<h1>") == 1
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", page)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_contents_lead_to_every_section_and_to_nothing_else(page: str) -> None:
    contents = re.search(r'<nav aria-label="Contents">(.*?)</nav>', page, re.DOTALL)
    linked = re.findall(r'href="#([\w-]+)">([^<]+)<', contents[1])
    sections = re.findall(r'<section id="([\w-]+)"', page)
    titles = dict(re.findall(r'<h2 id="([\w-]+)-title">([^<]+)</h2>', page))
    assert [name for name, _ in linked] == sections
    assert dict(linked) == {name: titles[name] for name in sections}


def test_whatever_moves_sideways_can_be_reached_and_has_a_name(page: str) -> None:
    boxes = re.findall(r'<div class="scroll[^"]*"[^>]*>', page)
    assert boxes
    for box in boxes:
        assert 'tabindex="0"' in box, box
        assert 'role="region"' in box
        assert re.search(r'aria-label="[^"]+"', box)


def test_a_wide_table_says_how_many_columns_it_has(page: str, run: Run) -> None:
    whole = summarise(run)
    for view in whole.views:
        count = len(whole.columns) + len(view.overheads)
        assert f'<p class="wide">{count} columns;' in page


def test_marks_of_terms_have_a_line_of_their_own() -> None:
    text = registry.load_report("html")().render(make_run(FEW)).decode()
    assert '<span class="t">≠iso ' in text
    assert "≠" not in "".join(re.findall(r"<sup>([^<]*)</sup></button>", text))


def named(run: Run, names: dict[str, str]) -> Run:
    def new(variant: str) -> str:
        return names.get(variant, variant)

    return replace(
        run,
        plan=replace(run.plan, variants=tuple(map(new, run.plan.variants)),
                     cells=tuple(replace(c, variant=new(c.variant)) for c in run.plan.cells)),
        results=tuple(replace(r, cell=replace(r.cell, variant=new(r.cell.variant)))
                      for r in run.results),
        terms=tuple(replace(t, variant=new(t.variant)) for t in run.terms),
    )  # fmt: skip


def test_eighty_columns_keep_variants_apart() -> None:
    run = named(make_run(("select-10%-heap",)), dict(zip(("duckdb", POSTGRESQL), LONG,
                                                        strict=True)))  # fmt: skip
    screen = Console(file=io.StringIO(), width=80, highlight=False, markup=False, no_color=True)
    print_summary(run, Path("a.loadstone"), None, screen)
    text = screen.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    heading = text.partition("Ratio to the fastest")[2].partition("Selections")[0]
    assert "…" not in heading
    for part in ("objects&", "page-diff", "swizzle=on"):
        assert part in heading
    assert heading.count("swizzle=on") == 1


@pytest.mark.parametrize("width", [3, 10, 20])
def test_a_folded_name_loses_nothing(width: int) -> None:
    for name in (*LONG, "sqlite", "postgresql://db.example:5432/app?parallelism=2"):
        assert folded(name, width).replace("\n", "") == name
        assert max(map(len, folded(name, width).split("\n"))) <= width
