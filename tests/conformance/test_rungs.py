"""The rungs of the ladder of statements, on every engine: each does what it says, or says why the
engine has none, and none leaves anything behind."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from samples import said, stream, table

from loadstone._core import clock_ns
from loadstone.engines.abilities import (
    BareRequests,
    CountsWork,
    KeepsPlans,
    OwnTimes,
    Plans,
    RollsBack,
)
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


def unchanged(engine: Engine, ask: Callable[[], None]) -> None:
    """It may be a gap in this place alone, with a reason."""
    before = engine.tables(), engine.fetch(said(engine, RETRIEVE))
    with suppress(UnsupportedError):
        for _ in range(3):
            ask()
    assert (engine.tables(), engine.fetch(said(engine, RETRIEVE))) == before


def test_requests_that_ask_for_no_data_change_nothing(loaded: Engine) -> None:
    if isinstance(loaded, BareRequests):
        unchanged(loaded, loaded.ask_nothing)
        unchanged(loaded, loaded.ask_constant)


def test_the_constant_works_after_a_restart(loaded: Engine) -> None:
    """A prepared statement belonged to the session before."""
    if isinstance(loaded, BareRequests):
        loaded.ask_constant()
        loaded.stop()
        loaded.start()
        loaded.ask_constant()


@pytest.mark.parametrize("text", [RETRIEVE, INTO, UPDATE])
def test_planning_executes_nothing(loaded: Engine, text: str) -> None:
    statement = said(loaded, text)
    query = query_of(statement, loaded.dialect)
    if isinstance(loaded, Plans):
        unchanged(loaded, partial(loaded.plan, statement, query))


@pytest.mark.parametrize("text", [RETRIEVE, INTO])
@pytest.mark.parametrize("planned", [True, False])
def test_a_count_is_of_the_rows_that_the_statement_retrieves(
    loaded: Engine, text: str, planned: bool
) -> None:
    query = counting(said(loaded, text), loaded.dialect)
    assert int(loaded.fetch(query)[0][0]) == 77
    if isinstance(loaded, KeepsPlans):
        assert loaded.count(query, planned=planned) == 77
    assert loaded.tables() == ["t"]


@pytest.mark.parametrize("text", [INTO, UPDATE])
def test_a_write_taken_back_was_done_and_is_gone(loaded: Engine, text: str) -> None:
    if not isinstance(loaded, RollsBack):
        return

    def ask() -> None:
        with loaded.taken_back():
            loaded.run(said(loaded, text))
            assert ("made" in loaded.tables()) == (text == INTO)

    unchanged(loaded, ask)


@pytest.mark.parametrize("text", [RETRIEVE, INTO, UPDATE, APPEND])
def test_the_engines_own_timers_report_a_part_of_what_a_clock_does(
    loaded: Engine, text: str
) -> None:
    if not (isinstance(loaded, OwnTimes) and isinstance(loaded, RollsBack)):
        return
    before = loaded.tables(), loaded.fetch(said(loaded, RETRIEVE))
    for _ in range(3):
        with loaded.taken_back():
            begun_ns = clock_ns()
            reported = loaded.own_times(said(loaded, text))
            elapsed_ns = clock_ns() - begun_ns
        assert all(0 <= ns <= elapsed_ns for ns in reported.values())
        assert sum(reported.values()) > 0 or not reported
    assert (loaded.tables(), loaded.fetch(said(loaded, RETRIEVE))) == before


@pytest.mark.parametrize("text", [RETRIEVE, INTO, UPDATE, APPEND])
def test_phases_are_what_the_clock_saw_and_no_more(loaded: Engine, text: str) -> None:
    if not isinstance(loaded, CountsWork):
        assert loaded.name != "lode"
        return
    before = loaded.phases()
    begun_ns = clock_ns()
    statement = said(loaded, text)
    if text == RETRIEVE:
        loaded.fetch(statement)
    else:
        loaded.run(statement)
    elapsed_ns = clock_ns() - begun_ns
    after = loaded.phases()
    took = {name: ns - before[name] for name, ns in after.items() if ns > before[name]}
    assert 0 < sum(took.values()) <= elapsed_ns
    kept = {"reading", "beginning", "planning"}
    assert took.keys() - kept == ({"rows"} if text == RETRIEVE else {"changing", "committing"})


def test_a_failure_within_is_taken_back_too(loaded: Engine) -> None:
    if not isinstance(loaded, RollsBack):
        return
    with suppress(UnsupportedError):  # MariaDB commits what makes a table
        with pytest.raises(ZeroDivisionError), loaded.taken_back():
            loaded.run(said(loaded, INTO))
            raise ZeroDivisionError
        assert loaded.tables() == ["t"]
