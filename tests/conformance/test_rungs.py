"""The rungs of the ladder of statements, on every engine: each does what it says, or says why the
engine has none, and none leaves anything behind."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from samples import said, stream, table

from loadstone._core import clock_ns
from loadstone.engines.base import Engine
from loadstone.errors import UnsupportedError
from loadstone.quel.counting import counting, query_of

ROWS = [(i, i, i, "x") for i in range(1000)]
RETRIEVE = "range of t is t retrieve (t.all) where t.unique2 < 77"
INTO = "range of t is t retrieve into made (t.all) where t.unique2 < 77"
APPEND = 'append to t (unique1 = 5000, unique2 = 5000, big = 5, string = "y")'
UPDATE = "range of t is t replace t (big = 5) where t.unique2 < 77"


@pytest.fixture
def loaded(engine: Engine) -> Engine:
    engine.load(table("t"), stream(ROWS))
    return engine


def stay_unless_unsupported(engine: Engine, ask: Callable[[], None]) -> None:
    before = engine.tables(), engine.fetch(said(engine, RETRIEVE))
    with suppress(UnsupportedError):
        for _ in range(3):
            ask()
    assert (engine.tables(), engine.fetch(said(engine, RETRIEVE))) == before


def test_requests_that_ask_for_no_data_change_nothing(loaded: Engine) -> None:
    stay_unless_unsupported(loaded, loaded.ask_nothing)
    stay_unless_unsupported(loaded, loaded.ask_constant)


def test_a_constant_can_be_asked_for_after_a_restart(loaded: Engine) -> None:
    """A prepared statement belonged to the session before."""
    with suppress(UnsupportedError):
        loaded.ask_constant()
        loaded.stop()
        loaded.start()
        loaded.ask_constant()


@pytest.mark.parametrize("text", [RETRIEVE, INTO, UPDATE])
def test_planning_executes_nothing(loaded: Engine, text: str) -> None:
    statement = said(loaded, text)
    query = query_of(statement, loaded.dialect)
    stay_unless_unsupported(loaded, lambda: loaded.plan(statement, query))


@pytest.mark.parametrize("text", [RETRIEVE, INTO])
@pytest.mark.parametrize("planned", [True, False])
def test_a_count_is_of_the_rows_that_the_statement_retrieves(
    loaded: Engine, text: str, planned: bool
) -> None:
    count = counting(said(loaded, text), loaded.dialect)
    assert loaded.count(count, planned=planned) == 77
    assert loaded.tables() == ["t"]


@pytest.mark.parametrize("text", [INTO, UPDATE])
def test_a_write_taken_back_was_done_and_is_gone(loaded: Engine, text: str) -> None:
    def ask() -> None:
        with loaded.taken_back():
            loaded.run(said(loaded, text))
            if text == INTO:
                assert "made" in loaded.tables()

    stay_unless_unsupported(loaded, ask)


@pytest.mark.parametrize("text", [RETRIEVE, INTO, UPDATE, APPEND])
def test_the_engines_own_timers_report_a_part_of_what_a_clock_does(
    loaded: Engine, text: str
) -> None:
    def ask() -> None:
        with loaded.taken_back():
            begun_ns = clock_ns()
            reported = loaded.own_times(said(loaded, text))
            elapsed_ns = clock_ns() - begun_ns
        assert all(0 <= ns <= elapsed_ns for ns in reported.values())
        assert sum(reported.values()) > 0 or not reported

    stay_unless_unsupported(loaded, ask)


@pytest.mark.parametrize("text", [RETRIEVE, INTO, UPDATE, APPEND])
def test_phases_are_what_the_clock_saw_and_no_more(loaded: Engine, text: str) -> None:
    before = loaded.phases()
    if before is None:
        assert loaded.name != "lode"
        return
    begun_ns = clock_ns()
    statement = said(loaded, text)
    if text == RETRIEVE:
        loaded.fetch(statement)
    else:
        loaded.run(statement)
    elapsed_ns = clock_ns() - begun_ns
    after = loaded.phases() or {}
    took = {name: ns - before[name] for name, ns in after.items() if ns > before[name]}
    assert 0 < sum(took.values()) <= elapsed_ns
    kept = {"reading", "beginning", "planning"}
    assert took.keys() - kept == ({"rows"} if text == RETRIEVE else {"changing", "committing"})


def test_a_failure_within_is_taken_back_too(loaded: Engine) -> None:
    with suppress(UnsupportedError):
        with pytest.raises(ZeroDivisionError), loaded.taken_back():
            loaded.run(said(loaded, INTO))
            raise ZeroDivisionError
        assert loaded.tables() == ["t"]
