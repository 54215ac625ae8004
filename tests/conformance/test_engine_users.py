"""Concurrent users on every engine: each has a session, and each gets the right answers."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import samples

from loadstone._core import answer_of_rows
from loadstone.engines.abilities import RustUsers
from loadstone.engines.base import Engine
from loadstone.engines.calibration.fixed import FixedEngine
from loadstone.engines.calibration.null import NullEngine
from loadstone.engines.calibration.stalling import StallingEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant
from loadstone.record.users import LoopFigures
from loadstone.worker.user_loop import Loop, Request, Users

USERS, REQUESTS = 4, 50


def query(engine: Engine, number: int) -> str:
    text = "range of t is t retrieve (t.unique1, t.unique2) where t.unique2 = {}"
    return samples.said(engine, text.format(number))


def request(engine: Engine, number: int) -> Request:
    row = samples.rows()[number][:2]
    return Request(query(engine, number), *answer_of_rows([row]))


def loaded(engine: Engine) -> Engine:
    engine.load(samples.table(organisation="heap"), samples.stream(samples.rows()))
    engine.settle(["t"])
    return engine


def test_users_at_the_same_time_get_right_answers(engine: Engine):
    loaded(engine)

    def ask(session: Engine) -> list[list[tuple[object, ...]]]:
        return [session.fetch(query(session, n % samples.ROWS)) for n in range(REQUESTS)]

    with ExitStack() as stack, ThreadPoolExecutor(USERS) as pool:
        sessions = [stack.enter_context(engine.another()) for _ in range(USERS)]
        answers = list(pool.map(ask, sessions))
    expected = [[samples.rows()[n % samples.ROWS][:2]] for n in range(REQUESTS)]
    assert answers == [expected] * USERS


def test_a_session_ends_with_its_context_and_leaves_the_engine_as_it_was(engine: Engine):
    loaded(engine)
    before = engine.terms()
    with engine.another() as session:
        session.fetch(query(engine, 1))
    with pytest.raises(EngineError):
        session.fetch(query(engine, 1))
    assert engine.fetch(query(engine, 1)) == [samples.rows()[1][:2]]
    assert engine.terms() == before


def test_a_session_sees_what_another_committed_and_has_the_same_tactics(engine: Engine):
    loaded(engine)
    with engine.another() as session:
        change = "range of t is t replace t (big = 7) where t.unique2 = 1"
        engine.run(samples.said(engine, change))
        changed = "range of t is t retrieve (t.big) where t.unique2 = 1"
        assert session.fetch(samples.said(engine, changed)) == [(7,)]
        tactics = {key: engine.terms().get(key) for key in engine.capabilities.tactics}
        assert {key: session.terms().get(key) for key in tactics} == tactics


@pytest.mark.parametrize("model", ["closed", "open"])
def test_a_loop_counts_right_answers_only(engine: Engine, model: str):
    loaded(engine)
    loop = Loop(model, USERS, 200_000_000, seed=1, rate_per_s=1000.0, limits=False)
    reply = Users(engine, lambda *_: None).work(loop, [request(engine, n) for n in range(5)])
    assert (reply.status, reply.reason, reply.failed) == ("ok", "", 0)
    assert reply.completed > 0
    assert 0 < reply.service_ns["max"] <= reply.latency_ns["max"]


IN_RUST = {"sqlite", "duckdb", "lode", "postgresql"}
"""Engines whose users are threads of Rust's."""


def closed(engine: Engine, requests: Sequence[Request]) -> LoopFigures:
    loop = Loop("closed", USERS, 200_000_000, seed=1)
    return Users(engine, lambda *_: None).work(loop, requests)


def test_users_are_in_rust_where_the_interpreter_would_limit_them(engine: Engine):
    loaded(engine)
    reply = closed(engine, [request(engine, 1)])
    assert reply.client == ("rust" if engine.name in IN_RUST else "python")


def test_users_leave_the_engine_as_it_was(engine: Engine):
    loaded(engine)
    change = "range of t is t replace t (big = 7) where t.unique2 = 1"
    changed = "range of t is t retrieve (t.big) where t.unique2 = 1"
    engine.run(samples.said(engine, change))
    before = engine.terms()
    row = [(7,)]
    asked = Request(samples.said(engine, changed), *answer_of_rows(row))
    assert closed(engine, [asked]).status == "ok"
    assert engine.fetch(samples.said(engine, changed)) == row
    differing = {key for key, reported in engine.terms().items() if before.get(key) != reported}
    assert differing <= {"round_trip_ns"}


def test_an_answer_of_other_rows_fails_a_loop_in_rust_too(engine: Engine):
    if not isinstance(engine, RustUsers):
        pytest.skip("its users are in Python")
    loaded(engine)
    right = request(engine, 1)
    due = (0, 1, [0] * USERS, 1 << 60)
    with engine.users() as users:
        wrong = users.ask(USERS, [([right.statement], 2)], *due).wrong
        assert wrong == (1, 2)
        refused = users.ask(USERS, [(["nonsense ("], 1)], *due)
        assert refused.failed == USERS
        assert refused.reason
        assert refused.tally.completed == 0


@pytest.mark.parametrize("kind", [NullEngine, FixedEngine, StallingEngine])
def test_artificial_engines_have_concurrent_users_too(kind: type[Engine], tmp_path: Path):
    engine = kind(Variant(kind.name), tmp_path, "run1")
    engine.start()
    loop = Loop("closed", USERS, 1_000_000, seed=1)
    reply = Users(engine, lambda *_: None).work(loop, [Request("", 0, "")])
    assert (reply.status, reply.failed) == ("ok", 0)
    assert reply.completed > 0
