"""The paper's tables, growth and terms: what stands beside what."""

from dataclasses import replace

import pytest
from report_fixture import FEW, POSTGRESQL, make_run

from loadstone.analysis.growth import growth
from loadstone.analysis.published import comparisons
from loadstone.analysis.summary import summarise
from loadstone.analysis.terms import TermValue, terms
from loadstone.record.model import Term
from loadstone.report.reproduce import command, plan_toml, typed


def test_published_beside_measured() -> None:
    found = comparisons(summarise(make_run()))
    assert found is not None
    assert (found.rows, found.temperature) == (10_000, "warm")
    row = found.tables[0].rows[0]
    assert row.published["IDMdac"].time_ns == 21.6e9
    assert row.published["U-INGRES"].ratio == pytest.approx(53.2 / 21.6)
    best = next(f for f in row.measured.values() if f.best)
    assert row.gain == pytest.approx(21.6e9 / best.elapsed_ns.value)


def test_over_is_a_bound_and_never_a_figure() -> None:
    found = comparisons(summarise(make_run()))
    row = found.tables[2].rows[0]
    over = row.published["IDMdac"]
    assert (over.text, over.time_ns, over.over, over.ratio) == ("> 5 hours", 18e12, True, None)
    assert row.published["C-INGRES"].ratio == 1


def test_bounds_alone_give_no_gain() -> None:
    run = make_run()
    tables = run.published["tables"]
    tables[0]["rows"][0][2] = dict.fromkeys(tables[0]["systems"], "> 5 hours")
    row = comparisons(summarise(run)).tables[0].rows[0]
    assert row.gain is None
    assert all(value.ratio is None for value in row.published.values())


def test_a_row_without_operation_is_only_the_papers() -> None:
    row = comparisons(summarise(make_run())).tables[3].rows[1]
    assert (row.operation, row.measured, row.gain) == (None, {}, None)


def test_no_tables_no_section() -> None:
    run = make_run(FEW)
    assert comparisons(summarise(replace(run, published={}))) is None


def test_growth_of_a_known_law() -> None:
    run = make_run(("select-10%-heap",), scales=(1_000, 10_000, 100_000))
    shaped = tuple(
        replace(
            result,
            samples=tuple(replace(s, elapsed_ns=result.cell.rows**2) for s in result.samples),
        )
        for result in run.results
    )
    lines = growth(summarise(replace(run, results=shaped)))
    assert {(line.variant, line.temperature) for line in lines} == {
        (v, t) for v in ("sqlite", "duckdb", POSTGRESQL) for t in ("warm", "cold")
    }
    assert all(line.exponent == pytest.approx(2.0) for line in lines)


def test_one_scale_has_no_growth() -> None:
    assert growth(summarise(make_run(FEW, scales=(10_000,)))) == ()


def test_failures_do_not_grow() -> None:
    lines = growth(summarise(make_run()))
    assert not any(
        (line.operation.name, line.variant, line.temperature)
        == ("joinAselB-heap", "sqlite", "warm")
        for line in lines
    )


def test_unequal_terms_are_named_and_disobedience_is_seen() -> None:
    run = make_run(FEW)
    assert terms(summarise(run)).unequal == ("isolation", "parallelism")
    disobeyed = Term("sqlite", "durability", "full", "none")
    found = terms(summarise(replace(run, terms=(*run.terms, disobeyed))))
    assert "durability" in found.unequal
    row = next(row for row in found.rows if row.key == "durability")
    assert row.values["sqlite"].disobeyed
    assert not row.values["duckdb"].disobeyed


def test_an_engine_that_says_more_than_it_was_asked_obeys() -> None:
    assert not TermValue("objects", "objects: one value a part").disobeyed
    assert TermValue("objects", "objects, but not all").disobeyed


def test_a_term_that_one_engine_does_not_report_is_unequal() -> None:
    run = make_run(FEW)
    kept = tuple(t for t in run.terms if (t.variant, t.key) != ("duckdb", "cache_bytes"))
    assert "cache_bytes" in terms(summarise(replace(run, terms=kept))).unequal


def test_the_plan_file_is_a_plan(tmp_path) -> None:
    from loadstone.plan.choices import Choices
    from loadstone.plan.written_choices import read_given

    run = make_run(FEW, repeat=7)
    file = tmp_path / "plan.toml"
    file.write_text(plan_toml(run), encoding="utf-8")
    choices = Choices(**read_given(file))
    assert choices.on == ("sqlite", "duckdb", POSTGRESQL)
    assert choices.rows == (10_000, 100_000)
    assert (choices.repeat, choices.repeat_cold, choices.overhead) == (7, 3, True)
    assert (choices.precision, choices.limits) == (0.0, True)
    assert typed(run) == "loadstone run wisconsin --on sqlite"
    assert command(run).startswith("loadstone run wisconsin --on sqlite --on duckdb --on")


def test_a_term_that_one_engine_alone_reports_is_its_setting() -> None:
    run = make_run(FEW)
    own = (Term("sqlite", "apsw", None, "3.54"), Term("null", "durability", None, "none"))
    found = terms(summarise(replace(run, terms=(*run.terms, *own))))
    assert found.unequal == ("isolation", "parallelism")
    assert "apsw" in dict(found.settings["sqlite"])
    assert "null" not in found.settings
