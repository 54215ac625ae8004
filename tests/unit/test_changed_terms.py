"""Which terms of an engine are others than before."""

from loadstone.record.model import Term
from loadstone.run.runner import changed_terms


def terms(**read_back: str | None) -> list[Term]:
    return [Term("duckdb", key, None, value) for key, value in read_back.items()]


def test_another_value_is_a_change_and_an_equal_one_is_none() -> None:
    before = terms(durability="full", cache="256 MiB")
    assert changed_terms(before, terms(durability="none", cache="256 MiB")) == ["durability"]
    assert changed_terms(before, before) == []


def test_a_term_that_was_not_there_is_a_change() -> None:
    assert changed_terms(terms(cache="256 MiB"), terms(cache="256 MiB", hop="join")) == ["hop"]


def test_another_measurement_is_no_change() -> None:
    assert changed_terms(terms(round_trip_ns="4717"), terms(round_trip_ns="5310")) == []


def test_a_term_not_reported_since_a_restart_is_no_change() -> None:
    before = terms(cache="256 MiB", hop="join", statement="prepared")
    assert changed_terms(before, terms(cache="256 MiB", hop=None, statement=None)) == []
