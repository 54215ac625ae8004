"""Properties that all formats share: the same numbers, nothing active, bounded size."""

import csv
import io
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from report_fixture import FEW, HOSTILE, make_run

from loadstone import registry
from loadstone.analysis.summary import summarise
from loadstone.errors import RecordError
from loadstone.record.model import CellResult, Run, StatementText, Term
from loadstone.report.panel import _drawn
from loadstone.text.numbers import digits

FORMATS = ("html", "md", "csv", "json", "parquet")


@pytest.fixture(scope="module")
def run() -> Run:
    return make_run(FEW, repeat=6)


def rendered(name: str, run: Run) -> bytes:
    return registry.load_report(name)().render(run)


def key_of(row) -> tuple:
    names = ("operation", "variant", "temperature_planned")
    return (*(row[name] for name in names), int(row["rows"]))


def test_numbers_agree_across_formats(run: Run) -> None:
    cells = {key_of(c): c for c in json.loads(rendered("json", run))["cells"]}
    flat = list(csv.DictReader(io.StringIO(rendered("csv", run).decode())))
    assert len(flat) == len(cells) == len(run.plan.cells)
    markdown, page = rendered("md", run).decode(), rendered("html", run).decode()
    for row in flat:
        cell = cells[key_of(row)]
        assert row["status"] == cell["status"]
        assert row["reason"] == cell["reason"]
        elapsed = cell["elapsed_ns"]["value"] if cell["elapsed_ns"] else None
        assert row["elapsed_ns_median"] == ("" if elapsed is None else str(elapsed))
        ratio = cell["best_ratio"]["value"] if cell["best_ratio"] else None
        assert row["best_ratio"] == ("" if ratio is None else str(ratio))
    whole = summarise(run)
    for view in whole.views:
        for shown in view.all_rows:
            for variant, figure in shown.figures.items():
                if figure.elapsed_ns and variant in whole.competitors:
                    number = digits(figure.elapsed_ns.value / shown.unit.ns)
                    assert number in markdown
                    assert f'<span class="n">{number}</span>' in page


def test_a_row_without_a_proved_figure_has_no_ratio_in_any_format(run: Run) -> None:
    """The page and the Markdown report print none."""

    def doubted(result: CellResult) -> CellResult:
        evidence = tuple(replace(e, proved=False, reason="warm") for e in result.evidence)
        return replace(result, evidence=evidence)

    found = replace(run, results=tuple(map(doubted, run.results)))
    ratios: dict[str, set[str]] = {}
    for row in csv.DictReader(io.StringIO(rendered("csv", found).decode())):
        ratios.setdefault(row["temperature"], set()).add(row["best_ratio"])
    assert ratios["unproved"] == {""}
    assert len(ratios["warm"]) > 1
    for cell in json.loads(rendered("json", found))["cells"]:
        assert cell["temperature"] != "unproved" or cell["best_ratio"] is None


def test_parquet_has_every_sample_and_every_cell(run: Run) -> None:
    rows = pq.read_table(io.BytesIO(rendered("parquet", run))).to_pylist()
    samples = sum(len(result.samples) for result in run.results)
    without = sum(not figure.samples for figure in summarise(run).figures.values())
    assert len(rows) == samples + without
    flat = list(csv.DictReader(io.StringIO(rendered("csv", run).decode())))
    medians = {key_of(row): row["elapsed_ns_median"] for row in flat}
    assert {key_of(row) for row in rows} == set(medians)
    for row in rows:
        expected = medians[key_of(row)]
        assert (
            "" if row["elapsed_ns_median"] is None else str(row["elapsed_ns_median"])
        ) == expected
    assert all(row["sample_elapsed_ns"] is None for row in rows if row["status"] == "failed")


@pytest.mark.parametrize("name", FORMATS)
def test_equal_records_give_equal_bytes(name: str, run: Run) -> None:
    assert rendered(name, run) == rendered(name, run)


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_killed_at_once_still_has_a_report(name: str, run: Run) -> None:
    bare = replace(
        run, results=(), operations=(), terms=(), sessions=(), loads=(), sizes=(), events=(),
        structure_notes=(), published={},
    )  # fmt: skip
    assert rendered(name, bare)


@pytest.mark.parametrize("name", FORMATS)
def test_one_scale_one_temperature_one_engine(name: str) -> None:
    run = make_run(("select-10%-heap",), repeat=1, scales=(10_000,))
    cells = tuple(c for c in run.plan.cells if c.variant == "sqlite" and c.temperature == "warm")
    keys = {cell.key for cell in cells}
    single = replace(
        run,
        plan=replace(run.plan, cells=cells, variants=("sqlite",)),
        results=tuple(result for result in run.results if result.cell.key in keys),
    )
    assert rendered(name, single)


def test_nothing_hostile_becomes_markup() -> None:
    run = make_run(("append-1", "select-1%-heap"), scales=(10_000,))
    spoiled = replace(
        run,
        operations=tuple(
            replace(text, title=HOSTILE, group=HOSTILE, quel=HOSTILE) for text in run.operations
        ),
        structure_notes=(("sqlite", "heap", HOSTILE),),
        published=hostile(run.published),
    )
    page = rendered("html", spoiled).decode()
    assert page.count("<script>") == 1
    assert "&lt;script&gt;alert" in page
    assert "\x1b" not in page
    markdown = rendered("md", spoiled).decode()
    assert "<script>" not in markdown
    assert "\x1b" not in markdown
    cells = markdown.partition("Failed:")[0]
    bars = [
        {line.replace("\\|", "").count("|") for line in block.splitlines()}
        for block in cells.split("\n\n")
        if block.startswith("|")
    ]
    assert [*map(len, bars)] == [1] * len(bars)
    assert set().union(*bars) == {7, 10}


def hostile(published: dict[str, Any]) -> dict[str, Any]:
    """The paper's tables with labels, titles, notes and systems that nobody would print."""
    tables = [
        {
            **table,
            **dict.fromkeys(("title", "note"), HOSTILE),
            "systems": [HOSTILE, *table["systems"][1:]],
            "rows": [
                (HOSTILE, operation, {HOSTILE: HOSTILE, **values})
                for _, operation, values in table["rows"]
            ],
        }
        for table in published["tables"]
    ]
    return {**published, "citation": HOSTILE, "tables": tables}


def test_the_page_needs_no_network(run: Run) -> None:
    page = rendered("html", run).decode()
    for attribute in ('src="', "url(", "@import", 'href="http', '<link rel="stylesheet'):
        assert attribute not in page


def test_a_page_of_400_cells_with_endless_plans_stays_below_two_megabytes() -> None:
    run = make_run()
    assert len(run.plan.cells) >= 400
    plan = "│ SEQ_SCAN │\n" * 1_000
    endless = tuple(
        replace(result, statements=(StatementText(0, "SELECT 1 -- " + "x" * 9_000, plan),))
        for result in run.results
    )
    page = rendered("html", replace(run, results=endless))
    assert len(page) < 2_000_000
    assert b"characters more; the record has them all" in page


@pytest.mark.parametrize("samples", [3_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_of_many_samples_the_page_draws_some_and_says_so(samples: int) -> None:
    few, many = (make_run(("min-scalar",), repeat=n, scales=(10_000,)) for n in (40, samples))
    pages = [rendered("html", run).decode() for run in (few, many)]
    assert "drawn</span>" not in pages[0]
    assert pages[0].count("<circle") == 4 * 40 + 3 * 3  # not the harness's own
    assert f"{1_000} drawn</span>" in pages[1]
    assert "Too many samples to draw" in pages[1]
    assert pages[1].count("<circle") < 12_000
    assert len(pages[1]) < 2_000_000


def test_a_thinned_drawing_keeps_the_ends_and_the_shape() -> None:
    elapsed = [float((n * 7919) % 10_007) for n in range(10_007)]
    drawn = sorted(elapsed[place] for place in _drawn(elapsed, 101))
    assert (drawn[0], drawn[-1], len(drawn)) == (min(elapsed), max(elapsed), 101)
    gaps = [b - a for a, b in itertools.pairwise(drawn)]
    assert max(gaps) - min(gaps) <= 1
    assert list(_drawn(elapsed[:101], 101)) == list(range(101))


@pytest.mark.slow
def test_a_page_of_many_cells_leaves_out_what_opens_and_says_so() -> None:
    run = make_run(repeat=1, scales=tuple(10_000 * n for n in range(1, 8)))
    page = rendered("html", run)
    assert len(run.plan.cells) > 1_400
    assert len(page) < 2_000_000
    assert b"the figures of all but 70,000 tuples is left out" in page
    assert page.count(b"<aside") == 30
    targets = set(re.findall(rb"popovertarget=(p\d+)", page))
    assert targets <= set(re.findall(rb'<aside popover class="panel" id="(p\d+)"', page))


def test_a_record_of_which_no_page_can_be_made_is_refused() -> None:
    run = make_run(("min-scalar",), repeat=1, scales=(10_000,))
    long = replace(run, terms=tuple(Term("sqlite", f"t{n}", None, "x" * 900) for n in range(3_000)))
    with pytest.raises(RecordError, match="more than 2,000,000 bytes"):
        rendered("html", long)
    assert rendered("json", long)


def test_the_page_holds_the_whole_record(run: Run) -> None:
    import base64
    import gzip

    page = rendered("html", run).decode()
    packed = re.search(r'href="data:application/gzip;base64,([^"]+)"', page)
    assert packed
    assert gzip.decompress(base64.b64decode(packed[1])) == rendered("json", run)


def test_parquet_has_the_columns_of_the_csv(run: Run) -> None:
    header = rendered("csv", run).decode().partition("\n")[0].split(",")
    assert pq.read_table(io.BytesIO(rendered("parquet", run))).column_names[: len(header)] == header


def test_the_document_names_every_column_and_member(run: Run) -> None:
    document = (Path(__file__).parents[2] / "docs/reference/report.md").read_text(encoding="utf-8")
    rows = pq.read_table(io.BytesIO(rendered("parquet", run))).column_names
    members = json.loads(rendered("json", run))
    for name in (*rows, *members, *members["cells"][0]):
        if name not in ("schema", "ended_at"):
            assert f"`{name}`" in document, name
