"""Names and errors of a record steer no terminal, no page, no Markdown and no spreadsheet."""

import csv
import html
import io
import json
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from oo1_report_fixture import make_oo1_run
from pyarrow.parquet import read_table
from report_fixture import AA_CONTROL, make_run
from rich.console import Console
from study_fixture import record as study_record

from loadstone import registry
from loadstone.control_characters import legible
from loadstone.plan.workload import Workload
from loadstone.record.model import Agreement, Run
from loadstone.report.legible import inert
from loadstone.report.markdown_text import code
from loadstone.report.terminal import print_summary

HOSTILE = "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>|`[x](js:1)`\r\x9b31m\u202e\u2028\n=1+1"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
KEPT = {"temperature", "status", "created_at", "started_at", "ended_at", "model", "unit",
        "operation", "destination", "storage", "benchmark", "edition", "quel",
        "basis"}  # fmt: skip
"""Fields that reports go by."""


def spoiled(value: Any, text: str, name: str = "") -> Any:
    """Every text in a record followed by this one, so that equal names stay equal."""
    match value:
        case str():
            control = value.endswith("#2")
            if name in KEPT or not value:
                return value
            return f"{value.removesuffix('#2')}{text}{'#2' if control else ''}"
        case tuple() | list():
            return type(value)(spoiled(item, text, name) for item in value)
        case dict():
            if name in ("published", "calibration", "latency_ns", "lag_ns", "service_ns"):
                return value
            return {key: spoiled(item, text) for key, item in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    own = {f.name: getattr(value, f.name) for f in fields(value)}
    return replace(value, **{
        key: item if key in ("roles", "preset", "operations") and hasattr(value, "warm_up")
        else spoiled(item, text, key)
        for key, item in own.items()
    })  # fmt: skip


def bad(run: Run, text: str = HOSTILE) -> Run:
    made = spoiled(run, text)
    roles = tuple((f"{v.removesuffix('#2')}{text}{'#2' if v.endswith('#2') else ''}", role)
                  for v, role in run.plan.roles)  # fmt: skip
    return replace(made, plan=replace(made.plan, roles=roles))


SMALL = make_run(("append-1", "select-1%-heap"), scales=(10_000,))
OWN = replace(
    SMALL,
    plan=replace(SMALL.plan, workload=Workload("shop", "x", (), ())),
    agreements=(
        Agreement("append-1", 10_000, "agreed", "sqlite, duckdb", "x"),
        Agreement("select-1%-heap", 10_000, "divided", "sqlite", "x"),
    ),
)
RUNS = [bad(SMALL), bad(make_oo1_run()), bad(study_record()), bad(OWN)]


def shown(run: Run) -> str:
    screen = Console(file=io.StringIO(), width=100, highlight=False, markup=False, no_color=True)
    print_summary(run, Path("a.loadstone"), None, screen)
    return screen.file.getvalue()


def rendered(name: str, run: Run) -> str:
    return registry.load_report(name)().render(run).decode()


@pytest.mark.parametrize("run", RUNS)
def test_a_terminal_is_not_steered(run: Run) -> None:
    text = shown(run)
    assert not STEERING.search(text)
    assert "␛]0;owned" in text


@pytest.mark.parametrize("run", RUNS)
def test_markdown_has_nothing_active(run: Run) -> None:
    text = rendered("md", run)
    assert not STEERING.search(text)
    outside = re.sub(r"(`+)[^\n]*?\1", "", re.sub(r"\\[`|]", "", text))
    assert "<script" not in outside.lower()
    assert not re.search(r"(?<!\\)\[x(?<!\\)\]\(", outside)
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines}
        assert len(bars) <= 1, block[:400]


@pytest.mark.parametrize("run", RUNS)
def test_a_page_has_no_script_but_its_own(run: Run) -> None:
    page = rendered("html", run)
    assert not STEERING.search(page)
    assert not STEERING.search(html.unescape(re.sub(r'href="data:[^"]*"', "", page)))
    assert page.count("<script>") == 1


@pytest.mark.parametrize("run", RUNS)
def test_a_spreadsheet_computes_nothing(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(rendered("csv", run))))
    assert rows
    for row in rows:
        for name, text in row.items():
            assert not STEERING.search(text)
            assert "\n" not in text
            if not re.fullmatch(r"-?[\d.e+-]*(nan|inf)?", text):
                assert text[0] not in "=+-@\t\r", (name, text)


@pytest.mark.parametrize("run", RUNS)
def test_a_file_for_programs_keeps_texts_as_they_are(run: Run) -> None:
    variants = {cell.variant for cell in run.plan.cells}
    assert any(variant.endswith(HOSTILE) for variant in variants)
    table = read_table(io.BytesIO(registry.load_report("parquet")().render(run)))
    assert set(table["variant"].to_pylist()) == variants
    cells = json.loads(rendered("json", run))["cells"]
    assert {cell["variant"] for cell in cells} == variants


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r", " =", '"=', "'="])
def test_a_value_that_begins_like_a_formula_is_text(start: str) -> None:
    run = bad(SMALL, "")
    reason = f"{start}cmd|' /C calc'!A0"
    run = replace(run, results=tuple(
        replace(r, reason=reason) if r.status == "failed" else r for r in run.results
    ))  # fmt: skip
    texts = {row["reason"] for row in csv.DictReader(io.StringIO(rendered("csv", run)))
             if row["status"] == "failed"}  # fmt: skip
    assert texts
    assert all(text.startswith("'") for text in texts)


def test_numbers_stay_numbers() -> None:
    assert inert("plain > 60 s") == "plain > 60 s"
    rows = list(csv.DictReader(io.StringIO(rendered("csv", SMALL))))
    assert {row["speed_drift"] for row in rows} <= {"", "0.012"}


@given(st.text())
def test_no_text_keeps_what_steers(text: str) -> None:
    assert not STEERING.search(legible(text))
    legible(text).encode()
    assert inert(text)[:1] not in set("=+-@\t\r")
    assert "\n" not in inert(text)


@given(st.text(alphabet="`a \n|<", max_size=12))
def test_a_span_of_code_ends_where_it_should(text: str) -> None:
    fenced = code(text)
    fence = re.match("`+", fenced)[0]
    assert "\n" not in fenced
    assert fenced.endswith(fence)
    inside = fenced[len(fence) : -len(fence)]
    assert fence not in re.findall("`+", inside)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, phases=(Phase.generate,))
@given(st.text(min_size=1, max_size=20).filter(lambda text: "#2" not in text))
def test_no_name_breaks_a_report(text: str) -> None:
    run = bad(SMALL, text)
    assert AA_CONTROL.endswith("#2")
    for name in ("md", "html", "csv", "json"):
        assert not STEERING.search(rendered(name, run)) or name == "json"
    shown(run)
