"""A limit claims that nothing which works alike is faster; a run that refutes it says so."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oo1_report_fixture import make_oo1_run

from loadstone import registry
from loadstone.analysis.limits import refuted
from loadstone.analysis.summary import summarise
from loadstone.analysis.verdict import verdict
from loadstone.record.model import Run, Term

LOOKUP = "lookup"


def timed(run: Run, operation: str, factors: Mapping[str, float]) -> Run:
    """The same with a variant's warm times of an operation multiplied."""
    results = tuple(
        replace(
            result,
            samples=tuple(
                replace(s, elapsed_ns=round(s.elapsed_ns * factors[result.cell.variant]))
                for s in result.samples
            ),
        )
        if (result.cell.operation, result.cell.temperature) == (operation, "warm")
        and result.cell.variant in factors
        else result
        for result in run.results
    )
    return replace(run, results=results)


def sooner(factor: float) -> Run:
    """SQLite's look-ups take a share of the time of those in memory."""
    return timed(make_oo1_run(), LOOKUP, {"sqlite": factor * 60 / 330})


def reported(run: Run, *terms: tuple[str, str, str | None]) -> Run:
    found = tuple(Term(variant, key, None, value) for variant, key, value in terms)
    return replace(run, terms=(*run.terms, *found))


def test_a_limit_that_is_fastest_bounds_the_others() -> None:
    assert refuted(summarise(make_oo1_run())) == ()
    assert verdict(summarise(make_oo1_run())).refuted == ()


@pytest.mark.parametrize(("factor", "is_refuted"), [(0.5, True), (0.85, True), (0.95, False)])
def test_a_competitor_that_is_certainly_faster_refutes_it(factor: float, is_refuted: bool) -> None:
    found = refuted(summarise(sooner(factor)))
    assert [(one.limit, one.faster, one.operation) for one in found] == (
        [("memory", "sqlite", LOOKUP)] if is_refuted else []
    )
    if is_refuted:
        assert found[0].ratio == pytest.approx(factor, rel=0.01)


def test_only_what_works_alike_is_held_against_it() -> None:
    unlike = reported(sooner(0.5), ("sqlite", "prefetch", "on"))
    assert refuted(summarise(unlike)) == ()
    alike = reported(unlike, ("memory", "prefetch", "on"))
    assert len(refuted(summarise(alike))) == 1
    # A variant that is silent about it does not prefetch; another language is another client.
    assert len(refuted(summarise(reported(sooner(0.5), ("sqlite", "prefetch", None))))) == 1
    python = reported(sooner(0.5), ("sqlite", "client", "python"))
    assert refuted(summarise(python)) == ()


def test_a_rung_that_calls_no_engine_refutes_nothing() -> None:
    run = timed(make_oo1_run(), "nothing", {"sqlite": 0.01})
    assert refuted(summarise(run)) == ()


def test_every_format_says_that_a_limit_is_none() -> None:
    run = sooner(0.5)
    for name in ("html", "md"):
        text = registry.load_report(name)().render(run).decode()
        assert "memory is no limit of lookup, 20,000, warm (sqlite takes 50 % of its time)" in text
    (found,) = json.loads(registry.load_report("json")().render(run))["verdict"]["refuted"]
    assert (found["limit"], found["faster"], found["operation"]) == ("memory", "sqlite", LOOKUP)
    judged = verdict(summarise(run))
    assert not judged.clean
    both = timed(run, "traversal", {"sqlite": 0.01})
    assert (
        "(sqlite takes 20 % of its time), and of 1 more cell" in verdict(summarise(both)).sentence()
    )


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 20), st.sampled_from(["off", "on", None]), st.sampled_from(["off", "on"]))
def test_the_claim_is_false_just_where_its_like_is_faster(
    factor: float, theirs: str | None, ours: str
) -> None:
    run = reported(sooner(factor), ("sqlite", "prefetch", theirs), ("memory", "prefetch", ours))
    is_like = (theirs or "off") == ours
    assert bool(refuted(summarise(run))) == (is_like and factor * 1.1 < 1)
