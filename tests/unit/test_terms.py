"""Which terms are unequal: what every engine must have, and what engines have in their own ways."""

from dataclasses import replace

from report_fixture import ALL, POSTGRESQL, make_run

from loadstone.analysis.summary import summarise
from loadstone.analysis.terms import terms
from loadstone.record.model import Run, Term


def with_terms(*reported: tuple[str, str, str]) -> Run:
    """The fixture's run with nothing reported but (variant, key, reading)."""
    return replace(
        make_run(ALL[:1]), terms=tuple(Term(v, key, None, reading) for v, key, reading in reported)
    )


def unequal(*reported: tuple[str, str, str]) -> tuple[str, ...]:
    return terms(summarise(with_terms(*reported))).unequal


def test_a_term_that_every_engine_must_have_is_missed() -> None:
    assert unequal(("sqlite", "isolation", "x"), (POSTGRESQL, "isolation", "x")) == ("isolation",)


def test_an_engine_without_a_mechanism_does_not_differ_in_it() -> None:
    assert unequal(("sqlite", "statistics", "on"), (POSTGRESQL, "statistics", "on")) == ()


def test_engines_with_a_mechanism_differ_in_it() -> None:
    reported = (("sqlite", "statistics", "on"), (POSTGRESQL, "statistics", "off"))
    assert unequal(*reported) == ("statistics",)
