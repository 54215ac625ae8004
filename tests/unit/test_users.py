"""Concurrent users: what a loop counts, and that a pause shows where it must."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from loadstone._core import Tally, answer_of_rows, clock_ns, intended_starts
from loadstone.engines.calibration import stalling
from loadstone.engines.calibration.artificial import IMAGINED, ArtificialEngine
from loadstone.engines.calibration.stalling import StallingEngine
from loadstone.engines.capabilities import Capabilities
from loadstone.errors import EngineError, UnsupportedError
from loadstone.machine.counters import Work
from loadstone.plan.variant import Variant
from loadstone.protocol.deadline import Board
from loadstone.statistics import validity
from loadstone.worker.loop_result import loop_figures, percentiles
from loadstone.worker.user_loop import LEAD_NS, Loop, Request, Users

PAUSE_MS = 50
PAUSE_NS = PAUSE_MS * 1_000_000
RATE_PER_S = 1000.0
SECOND_NS = 1_000_000_000


class ManualClock:
    """Time goes on by 20 us with each look at it, by waiting, and by an engine's pause."""

    def __init__(self):
        self.time_ns = 0

    def now_ns(self):
        self.time_ns += 20_000
        return self.time_ns

    def wait_until(self, due_ns):
        self.time_ns = max(self.time_ns, due_ns)
        return 0

    def sleep(self, seconds):
        self.time_ns += round(seconds * 1e9)


@pytest.fixture
def clock(monkeypatch):
    """One that the stalling engine sleeps by."""
    clock = ManualClock()
    monkeypatch.setattr(stalling, "time", SimpleNamespace(sleep=clock.sleep))
    return clock


def stalling_engine(pause_ms=PAUSE_MS, every=1000):
    tactics = (("every", str(every)), ("pause_ms", str(pause_ms)))
    engine = StallingEngine(Variant("stalling", tactics), Path(), "run1")
    engine.start()
    return engine


def work(engine, clock=None, model="closed", users=1, requests=None, **values):
    loop = Loop(model, users, 2 * SECOND_NS, seed=7, rate_per_s=RATE_PER_S, **values)
    return Users(engine, lambda *_: None, clock).work(loop, requests or [Request("", 0, "")])


class Answering(ArtificialEngine):
    """Answers with its rows, as often as it is reported to; afterwards it refuses."""

    name = "answering"
    capabilities = Capabilities(structures=IMAGINED)

    def __init__(self, *answers):
        super().__init__(Variant("answering"), Path(), "run1")
        self.answers = iter(answers)

    def run(self, statement):
        raise NotImplementedError

    def fetch(self, statement):
        answer = next(self.answers, None)
        if answer is None:
            raise EngineError("database is locked")
        return answer

    def another(self):
        return nullcontext(self)


RIGHT = [(1, 2)]
REQUEST = Request("retrieve", *answer_of_rows(RIGHT))


def test_a_pause_shows_in_the_open_loop_and_not_in_the_closed_one(clock):
    engine = stalling_engine()
    closed, opened = work(engine, clock), work(engine, clock, "open")
    assert closed.latency_ns["99"] < PAUSE_NS / 100
    assert opened.service_ns["99"] < PAUSE_NS / 100
    assert opened.latency_ns["99"] > PAUSE_NS / 2
    assert closed.latency_ns["max"] >= PAUSE_NS
    # A pause of 50 ms makes the 50 wait that are due in it, at 1,000 a second: one each of two.
    assert 50 < opened.late < 150


def test_a_closed_loop_has_no_lag_and_its_latency_is_its_service(clock):
    reply = work(stalling_engine(), clock)
    assert reply.lag_ns == {}
    assert reply.latency_ns == reply.service_ns
    assert (reply.late, reply.skipped) == (0, 0)


def test_in_a_closed_loop_nothing_is_due_whatever_a_thread_waits_between_two_clocks():
    """A client in Rust reads the clock twice, and another thread may have the processor between."""
    tally = Tally()
    for _ in range(200):
        tally.add(0, 3_000_000, 4_000_000)
    found = loop_figures(tally, 0, closed=True)
    assert (found.late, found.lag_ns) == (0, {})
    assert found.service_ns == found.latency_ns
    opened = loop_figures(tally, 0, closed=False)
    assert opened.late == 200
    assert opened.service_ns != opened.latency_ns


def test_the_lag_lies_between_service_and_latency(clock):
    reply = work(stalling_engine(), clock, "open")
    assert reply.service_ns["99"] < reply.lag_ns["99"] <= reply.latency_ns["99"]


def test_a_request_that_cannot_begin_in_time_is_skipped_and_never_lost(clock):
    engine = stalling_engine(pause_ms=5000, every=500)
    due = intended_starts(7, RATE_PER_S, 2 * SECOND_NS)
    reply = work(engine, clock, "open")
    # One is spent on the check beforehand, and the 500th is the one that pauses.
    assert (reply.completed, reply.skipped) == (499, len(due) - 499)
    assert reply.elapsed_ns > 5 * SECOND_NS


def test_a_stalled_server_stalls_all_its_sessions(monkeypatch):
    paused, go_on = threading.Event(), threading.Event()

    def sleep(_):
        paused.set()
        go_on.wait()

    monkeypatch.setattr(stalling, "time", SimpleNamespace(sleep=sleep))
    engine = stalling_engine(every=2)
    with engine.another() as one, engine.another() as other, ThreadPoolExecutor(2) as pool:
        one.fetch("")
        first = pool.submit(other.fetch, "")  # the second of all: it pauses
        paused.wait()
        second = pool.submit(one.fetch, "")
        ended = wait([second], timeout=0.1).done  # a right engine is waited for, a wrong one seen
        go_on.set()
        assert ended == set()
        assert (first.result(), second.result()) == ([], [])


@pytest.mark.parametrize("model", ["closed", "open"])
@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([[]], "wrong answer: 0 tuples, 1 expected"),
        ([[(1, 3)]], "wrong answer: 1 tuple, with wrong contents"),
        ([RIGHT, RIGHT, RIGHT * 2], "wrong answer: 2 tuples, 1 expected"),
    ],
)
def test_a_wrong_answer_fails_the_loop_and_keeps_no_times(model, answers, reason):
    reply = work(Answering(*answers), ManualClock(), model, requests=[REQUEST])
    assert (reply.status, reply.reason) == ("failed", reason)
    assert (reply.completed, reply.latency_ns, reply.elapsed_ns) == (0, {}, 0)


def test_refused_requests_are_counted_with_the_first_message():
    reply = work(Answering(*[RIGHT] * 11), ManualClock(), "open", requests=[REQUEST])
    due = len(intended_starts(7, RATE_PER_S, 2 * SECOND_NS))
    assert (reply.status, reply.completed, reply.failed) == ("ok", 10, due - 10)
    assert reply.reason == f"{due - 10:,} requests failed: database is locked"


def test_a_loop_without_any_answer_has_failed():
    reply = work(Answering(RIGHT), ManualClock(), "open", requests=[REQUEST])
    assert (reply.status, reply.completed) == ("failed", 0)
    assert "database is locked" in reply.reason


def test_an_engine_with_one_session_is_a_gap():
    class Lonely(Answering):
        def another(self):
            return super(ArtificialEngine, self).another()

    reply = work(Lonely())
    assert (reply.status, reply.reason) == ("gap", "answering has one session only")
    with pytest.raises(UnsupportedError):
        Lonely().another()


@pytest.mark.parametrize(
    ("users", "share", "asked", "status"),
    [(2, 0.97, True, "invalid"), (2, 0.9, True, "ok"), (1, 0.97, True, "ok"),
     (2, 0.97, False, "ok")],
)  # fmt: skip
def test_a_client_without_headroom_makes_a_loop_invalid(monkeypatch, users, share, asked, status):
    busy_ns = round(share * 2 * SECOND_NS)
    used = SimpleNamespace(read=lambda: Work(busy_ns, 1, None, None, None, None))
    monkeypatch.setattr("loadstone.worker.user_loop.Meter", lambda _: used)
    engine = Answering(*[RIGHT] * 200_000)
    reply = work(engine, ManualClock(), users=users, requests=[REQUEST], limits=asked)
    assert reply.status == status
    assert reply.completed > 0
    assert reply.reason == (validity.of_client(share) if status == "invalid" else "")


def test_whatever_hangs_but_the_loop_itself_is_held_to_the_time_limit():
    reported = []
    engine = Answering(*[RIGHT] * 200_000)
    loop = Loop("open", 2, SECOND_NS, seed=7, rate_per_s=RATE_PER_S)
    Users(engine, lambda *mark: reported.append(mark), ManualClock()).work(loop, [REQUEST, REQUEST])
    checks, rest = reported[: 2 * 2], reported[2 * 2 :]
    assert checks == [("start",)] * 4
    # Marked before the loop: one whose worker is stopped within it is overdue, too.
    assert rest == [("end",), ("start", LEAD_NS + SECOND_NS), ("end",)]


def test_a_worker_that_is_stopped_within_a_loop_is_overdue_after_it():
    board, descriptor = Board.make()
    os.close(descriptor)
    before_ns = clock_ns()
    board.mark("start", 5 * SECOND_NS)
    overdue_ns, of_statement = board.overdue_ns(before_ns, SECOND_NS, 900 * SECOND_NS)
    assert of_statement
    assert 0 <= overdue_ns - (before_ns + 6 * SECOND_NS) < SECOND_NS
    board.close()


def test_the_document_states_the_limit():
    text = (Path(__file__).parents[2] / "docs/reference/method.md").read_text(encoding="utf-8")
    stated = f"used more than {validity.CLIENT_SHARE_MAX:.0%} of one processor".replace("%", " %")
    assert stated in " ".join(text.split())


def test_a_percentile_with_no_request_beyond_it_is_left_out():
    def kept(count):
        return list(percentiles(lambda p: round(p), count))

    assert kept(0) == ["max"]
    assert kept(99) == ["50", "90", "max"]
    assert kept(100) == ["50", "90", "99", "max"]
    assert kept(9_999) == ["50", "90", "99", "99.9", "max"]
    assert kept(10_000) == ["50", "90", "99", "99.9", "99.99", "max"]
    assert percentiles(lambda *_: None, 0) == {}
