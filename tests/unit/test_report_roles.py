"""A variant that is no competitor is shown and never ranked; unequal terms stand at the cell."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oo1_report_fixture import make_oo1_run
from report_fixture import make_run

from loadstone import registry
from loadstone.analysis.published import comparisons
from loadstone.analysis.summary import Summary, summarise
from loadstone.errors import NotInstalledError
from loadstone.plan.choices import Choices
from loadstone.plan.plan import Plan
from loadstone.record.model import Run, Term
from loadstone.report.paper_words import paper_tables

NO_DATABASE = {"memory", "python-dict", "null", "python-null", "fixed", "stalling", "planted"}


def rendered(name: str, run: Run) -> str:
    return registry.load_report(name)().render(run).decode()


def named(run: Run, old: str, new: str, role: str = "") -> Run:
    """The same with a variant of another name, and of another role where one is given."""
    cells = tuple(replace(c, variant=new) if c.variant == old else c for c in run.plan.cells)
    variants = tuple(new if v == old else v for v in run.plan.variants)
    roles = tuple((new if v == old else v, role if role and v == old else r)
                  for v, r in run.plan.roles)  # fmt: skip
    return replace(
        run,
        plan=replace(run.plan, cells=cells, variants=variants, roles=roles),
        results=tuple(
            replace(r, cell=replace(r.cell, variant=new)) if r.cell.variant == old else r
            for r in run.results
        ),
        terms=tuple(replace(t, variant=new) if t.variant == old else t for t in run.terms),
    )


def reported(run: Run, *terms: Term) -> Run:
    return replace(run, terms=(*run.terms, *terms))


def ranked(whole: Summary) -> Iterable[str]:
    """Every variant that something ranks: shaded, best, or with a ratio."""
    for figure in whole.figures.values():
        if figure.best or figure.ratio:
            yield figure.cell.variant
    for table in comparisons(whole).tables:
        for row in table.rows:
            yield from (v for v, today in row.measured.items() if today.best or today.ratio)


def installed(load, name: str):
    """That engine or client; none where its extra is not installed."""
    try:
        return load(name)
    except NotInstalledError:
        return None


@pytest.mark.parametrize("road", ["engine", "client"])
def test_a_variant_that_is_no_database_declares_a_role_of_its_own(road: str) -> None:
    listed = getattr(registry, f"{road}_names")()
    load = getattr(registry, f"load_{road}")
    loaded = {name: kind for name in listed if (kind := installed(load, name)) is not None}
    assert loaded.keys() >= NO_DATABASE & set(listed)
    for name, kind in loaded.items():
        role = kind.capabilities.role.value
        assert (role != "competitor") == (name in NO_DATABASE), name


def test_a_plan_reports_the_roles_and_keeps_them() -> None:
    plan = make_oo1_run().plan
    assert plan.role_of("memory").value == "limit"
    assert plan.role_of("sqlite").value == "competitor"
    assert Plan.from_json(plan.to_json()) == plan


def test_choices_become_a_plan_with_roles(tmp_path) -> None:
    from loadstone.run.planned import plan_from

    chosen = {"benchmark": "oo1", "on": ["memory", "sqlite", "python-null"], "preset": "quick"}
    plan = plan_from(chosen, None).plan
    assert dict(plan.roles) == {
        "memory": "limit",
        "sqlite#2": "control",
        "python-null": "harness overhead",
        "null": "harness overhead",
    }
    assert Choices().overhead


def test_the_fastest_limit_is_never_the_best() -> None:
    whole = summarise(make_oo1_run())
    assert set(ranked(whole)) == {"sqlite", "postgresql", "zodb"}
    lookup = whole.figures["lookup|memory|20000|warm"]
    assert lookup.elapsed_ns is not None
    assert (lookup.ratio, lookup.best) == (None, False)
    best = whole.figures["lookup|sqlite|20000|warm"]
    assert best.best


@pytest.mark.parametrize("role", ["limit", "harness overhead", "control"])
def test_a_role_and_not_a_name_keeps_it_out(role: str) -> None:
    run = named(make_oo1_run(), "memory", "newcomer?a=b", role)
    assert "newcomer?a=b" not in set(ranked(summarise(run)))
    page = rendered("html", run)
    assert page


def test_a_second_harness_has_a_column_of_its_own_and_no_rank() -> None:
    run = named(make_oo1_run(), "memory", "python-null", "harness overhead")
    run = replace(run, terms=tuple(
        replace(t, read_back="python") if (t.variant, t.key) == ("python-null", "client") else t
        for t in run.terms
    ))  # fmt: skip
    whole = summarise(run)
    assert "python-null" not in whole.columns
    page = rendered("html", run)
    assert "harness (rust), µs" in page
    assert "harness (python), µs" in page
    assert whole.figures["lookup|zodb|20000|warm"].overhead_share is not None


def test_every_format_shows_a_limit_and_says_what_it_is() -> None:
    run = make_oo1_run()
    text = rendered("md", run)
    assert "| zodb (python) | memory (rust, limit) |" in text
    row = next(line for line in text.splitlines() if "The measures: lookup |" in line)
    assert row.split("|")[-3].strip() == r"0.0600 \*"
    assert "not a database: it keeps and commits nothing" in rendered("html", run)
    rows = list(csv.DictReader(io.StringIO(rendered("csv", run))))
    assert {r["role"] for r in rows if r["variant"] == "memory"} == {"limit"}
    assert {r["best_ratio"] for r in rows if r["variant"] == "memory"} == {""}
    cells = json.loads(rendered("json", run))["cells"]
    assert {c["role"] for c in cells if c["variant"] == "null"} == {"harness overhead"}


def test_in_the_papers_tables_a_limit_is_no_denominator() -> None:
    whole = summarise(make_oo1_run())
    tables = {table.number: table for table in comparisons(whole).tables}
    lookup = next(row for row in tables["II"].rows if row.label == "lookup, warm")
    assert lookup.measured["memory"].elapsed_ns
    assert lookup.measured["sqlite"].best
    assert lookup.gain == pytest.approx(1.0e9 / lookup.measured["sqlite"].elapsed_ns.value)


def test_a_row_that_calls_no_engine_is_not_ranked() -> None:
    whole = summarise(make_oo1_run())
    nothing = [f for f in whole.figures.values() if f.cell.operation == "nothing"]
    assert nothing
    assert all(f.elapsed_ns and not f.ratio and not f.best for f in nothing)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 10**9), min_size=5, max_size=5))
def test_whatever_the_times_only_competitors_are_ranked(times: list[int]) -> None:
    run = make_oo1_run()
    factors = dict(zip(run.plan.variants, times, strict=True))
    results = tuple(
        replace(r, samples=tuple(replace(s, elapsed_ns=factors[r.cell.variant] + s.ordinal)
                                 for s in r.samples))
        for r in run.results
    )  # fmt: skip
    whole = summarise(replace(run, results=results))
    assert set(ranked(whole)) <= {"sqlite", "postgresql", "zodb"}


DURABILITY = (
    Term("sqlite", "durability", "none", "none"),
    Term("postgresql", "durability", "full", "full"),
    Term("zodb", "durability", None, "full"),
)


def test_a_term_is_marked_at_the_cells_it_concerns_in_every_format() -> None:
    run = reported(make_oo1_run(), *DURABILITY)
    whole = summarise(run)
    insert = whole.figures["insert|sqlite|20000|warm"]
    assert [term.words for term in insert.unequal] == ["durability: none, not full"]
    assert whole.figures["lookup|sqlite|20000|warm"].unequal == ()
    assert whole.figures["insert|postgresql|20000|warm"].unequal == ()
    lines = rendered("md", run).splitlines()
    row = next(line for line in lines if "The measures: insert |" in line)
    assert "≠dur" in row.split("|")[3]
    assert "- ≠ dur, durability: sqlite none; the rows' full" in lines
    page = rendered("html", run)
    assert page.count("≠ durability: none, not full") == 2
    rows = list(csv.DictReader(io.StringIO(rendered("csv", run))))
    marked = {(r["operation"], r["variant"]) for r in rows if r["unequal_terms"]}
    assert marked == {("insert", "sqlite")}
    cells = json.loads(rendered("json", run))["cells"]
    assert {c["operation"] for c in cells if c["unequal_terms"]} == {"insert"}
    tables = paper_tables(comparisons(whole), whole)
    texts = {label: [cell.text for cell in cells] for label, cells in tables[0].rows}
    assert any("≠dur" in text for text in texts["total, warm"])
    assert not any("≠dur" in text for text in texts["lookup, warm"])


def test_equal_terms_are_marked_nowhere() -> None:
    equal = tuple(replace(term, read_back="FULL") for term in DURABILITY)
    run = reported(make_oo1_run(), *equal)
    assert not any(figure.unequal for figure in summarise(run).figures.values())
    assert "≠" not in rendered("md", run)


def test_a_variant_that_does_not_report_a_term_departs_from_those_that_do() -> None:
    run = reported(make_oo1_run(), *DURABILITY[1:], Term("sqlite", "durability", "full", None))
    found = summarise(run).figures["insert|sqlite|20000|warm"].unequal
    assert [term.words for term in found] == ["durability: not reported, not full"]


def test_a_row_has_its_own_participants() -> None:
    """Of two that agree nothing is marked, whatever a third says that has no figure there."""
    run = make_run(("select-1-hash-client",), scales=(10_000,))
    whole = summarise(run)
    timed = [f for f in whole.figures.values() if f.elapsed_ns and f.cell.variant == "duckdb"]
    assert not timed
    assert not any(
        term.key == "isolation" and term.usual == "snapshot"
        for figure in whole.figures.values()
        for term in figure.unequal
    )
