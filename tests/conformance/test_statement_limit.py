"""A statement that takes longer than its block allows is ended on every engine, nothing of it is
kept, and the engine goes on. So is the one in flight when a run is given up."""

import os

import pytest
from engine_kinds import with_spark
from samples import rows, said, stream, table

from loadstone._core import clock_ns
from loadstone.engines.base import Engine
from loadstone.errors import EngineError, StatementEndedError
from loadstone.protocol import messages
from loadstone.worker.cut_short import CutShort
from loadstone.worker.statement_limit import StatementLimit

MANY = 3000
LONG = (
    "range of a is t range of b is t range of c is t range of d is t retrieve into long (n = count"
    "(a.unique2 where a.big + b.big + c.big + d.big = 1))"
)
"""The product of four relations: days."""
SOON_NS = 30 * 10**9


@pytest.fixture(params=with_spark())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_statement_over_its_limit_is_ended_and_the_engine_goes_on(engine: Engine) -> None:
    engine.load(table(), stream([(i % 30000, i, i, "x") for i in range(MANY)], 1000))
    engine.settle(["t"])
    before, statement = list(engine.tables()), said(engine, LONG)
    limit_ns = 100_000_000
    start_ns = clock_ns()
    with pytest.raises(StatementEndedError, match=r"> 0\.1 s"), StatementLimit(engine, limit_ns):
        engine.run(statement)
    assert limit_ns < clock_ns() - start_ns < SOON_NS
    assert list(engine.tables()) == before
    one = said(engine, "range of t is t retrieve (t.unique2) where t.unique2 = 77")
    for _ in range(3):
        with StatementLimit(engine, 10 * SOON_NS):
            assert engine.fetch(one) == [(77,)]


def test_one_within_its_limit_is_left_alone(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    one = said(engine, "range of t is t retrieve (t.unique2) where t.unique2 = 7")
    with StatementLimit(engine, 10 * SOON_NS):
        assert engine.fetch(one) == [(7,)]


def test_an_error_of_the_statement_itself_is_reported_as_it_is(engine: Engine) -> None:
    with pytest.raises(Exception, match=r".") as reported, StatementLimit(engine, 10 * SOON_NS):
        engine.fetch("nonsense")
    assert not isinstance(reported.value, StatementEndedError)


def test_the_statement_of_a_run_that_was_given_up_is_ended_and_the_data_removed(
    engine: Engine,
) -> None:
    engine.load(table(), stream([(i % 30000, i, i, "x") for i in range(MANY)], 1000))
    engine.settle(["t"])
    statement = said(engine, LONG)
    wanted, runner = os.pipe()
    cut_short = CutShort(wanted, engine.interrupt)
    start_ns = clock_ns()
    with pytest.raises(Exception, match=r"."), cut_short.request(1, messages.Restart()):
        os.close(runner)
        engine.run(statement)
    assert clock_ns() - start_ns < SOON_NS
    with pytest.raises(EngineError, match="given up"), cut_short.request(1, messages.Restart()):
        pytest.fail("a request after the run was given up")
    with cut_short.request(1, messages.Remove()):
        engine.drop("t")
        assert "t" not in engine.tables()
    os.close(wanted)
