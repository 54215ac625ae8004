"""Every report format byte for byte. `pytest --update-golden` rewrites; review the diff.

Charts come from a library whose SVG may change, and Parquet bytes name their writer's version:
of a small page the text a reader sees is kept, of a Parquet file the schema and the rows.
"""

import dataclasses
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from budget_fixture import with_budgets
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run
from study_fixture import record as study_record

from loadstone import registry
from loadstone.analysis.compare.compare import compare
from loadstone.report.comparison import markdown

HERE = Path(__file__).parent
SHOWN = (*FEW, "min-scalar")
"""The last one has the invalid cell."""


class Reader(HTMLParser):
    """The text of a page, one line for each run of it; charts, style and script left out."""

    SILENT = ("svg", "style", "script")

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self._silent += tag in self.SILENT
        kept = {name: value for name, value in attributes if name in ("class", "title")}
        if tag in ("td", "th", "section") or "title" in kept:
            self.lines.append(f"<{tag} {' '.join(f'{k}={v}' for k, v in kept.items())}>")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent and data.strip():
            self.lines.append(data.strip())


def page_text(data: bytes) -> bytes:
    reader = Reader()
    reader.feed(data.decode())
    return "\n".join(reader.lines).encode() + b"\n"


def table_text(data: bytes) -> bytes:
    table = pq.read_table(io.BytesIO(data))
    schema = [f"{field.name}: {field.type}" for field in table.schema]
    return (
        "\n".join([*schema, *(json.dumps([*row.values()]) for row in table.to_pylist())]).encode()
        + b"\n"
    )


def lines_of(data: bytes) -> bytes:
    """JSON with a line for every member of a list, so that a diff can be read."""
    return data.replace(b"},{", b"},\n{")


@pytest.mark.parametrize(
    ("name", "file", "normal"),
    [
        ("md", "report.md.golden", bytes),
        ("csv", "report.csv.golden", bytes),
        ("json", "report.json.golden", lines_of),
        ("parquet", "report.parquet.golden", table_text),
    ],
)
def test_bytes(name: str, file: str, normal, request: pytest.FixtureRequest) -> None:
    run = make_run(SHOWN, repeat=2, scales=(10_000, 20_000))
    data = normal(registry.load_report(name)().render(run))
    check(file, data, request)


def test_text_of_a_small_page(request: pytest.FixtureRequest) -> None:
    run = make_run(FEW[:1], repeat=2, scales=(10_000,))
    check("page.html.golden", page_text(registry.load_report("html")().render(run)), request)


def test_bytes_of_a_program(request: pytest.FixtureRequest) -> None:
    check("oo1.md.golden", registry.load_report("md")().render(make_oo1_run()), request)


@pytest.mark.parametrize("name", ["md", "csv"])
def test_bytes_of_several_benchmarks(name: str, request: pytest.FixtureRequest) -> None:
    runs = (make_run(FEW[:2], repeat=2, scales=(10_000,)), make_oo1_run())
    check(f"chapters.{name}.golden", registry.load_report(name)().of(runs), request)


def test_bytes_of_a_study(request: pytest.FixtureRequest) -> None:
    check("study.md.golden", registry.load_report("md")().render(study_record()), request)


def test_bytes_of_budgets(request: pytest.FixtureRequest) -> None:
    run = with_budgets(make_run(FEW[:3], repeat=6, scales=(10_000,)))
    check("budget.md.golden", registry.load_report("md")().render(run), request)


@pytest.mark.parametrize(
    "runs",
    [
        (make_oo1_run(),),
        (study_record(),),
        (with_budgets(make_run(FEW[:3], repeat=6, scales=(10_000,))),),
        (make_run(FEW[:2], repeat=2, scales=(10_000,)), make_oo1_run()),
    ],
    ids=["program", "study", "budget", "chapters"],
)
def test_each_kind_of_page_has_every_operation_of_its_record(runs) -> None:
    """The page's text in full is no golden file: nobody reads such a difference."""
    page = page_text(registry.load_report("html")().of(runs)).decode()
    for run in runs:
        for operation in run.plan.operations:
            assert operation in page


def test_comparison_bytes(request: pytest.FixtureRequest) -> None:
    a = make_run(SHOWN, repeat=10, scales=(10_000,))
    unequal = (
        dataclasses.replace(term, read_back="none")
        if (term.variant, term.key) == ("duckdb", "durability")
        else term
        for term in a.terms
    )
    slower = (
        dataclasses.replace(result, samples=tuple(
            dataclasses.replace(s, elapsed_ns=s.elapsed_ns * 2) for s in result.samples
        ))
        if result.cell.operation == "select-1%-heap"
        else result
        for result in a.results
    )  # fmt: skip
    b = dataclasses.replace(a, run_id="ba9876543210", terms=(*unequal,), results=(*slower,))
    check("comparison.md.golden", markdown.render(compare(a, b)), request)
    crossed = markdown.render(compare(a, b, variants=("duckdb",) * 2, across=["durability"]))
    check("comparison-across.md.golden", crossed, request)


def check(file: str, data: bytes, request: pytest.FixtureRequest) -> None:
    golden = HERE / file
    if request.config.getoption("--update-golden"):
        golden.write_bytes(data)
    assert data == golden.read_bytes(), f"{golden} differs; --update-golden if that is meant"
