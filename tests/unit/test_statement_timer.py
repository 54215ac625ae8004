"""The protocol is a log: what happens around a sample, in which order, can never drift."""

import msgspec
import pytest

from loadstone._core import answer_of_rows
from loadstone.engines.calibration.null import NullEngine
from loadstone.engines.capabilities import Capabilities, Structure
from loadstone.errors import EngineError, UnsupportedError
from loadstone.machine import page_cache
from loadstone.plan.variant import Variant
from loadstone.protocol.parts import Block, SqlText, Variation
from loadstone.worker import statement_timer
from loadstone.worker.statement_timer import StatementTimer

ROWS = [(1, "a"), (2, "b")]
RIGHT = answer_of_rows(ROWS)


class LoggingEngine(NullEngine):
    """The null engine, writing down what is asked of it and answering with fixed rows."""

    capabilities = Capabilities(structures={"heap": Structure(True)})
    dialect = "sqlite"

    def __init__(self, log, scratch):
        super().__init__(Variant("null"), scratch, "owner")
        self.log = log

    def run(self, statement):
        self.log.append(f"run {statement.split()[0]}")
        return 1

    def fetch(self, statement):
        self.log.append(f"fetch {statement.split()[0]}")
        return ROWS

    def read(self, statement):
        self.log.append("read")
        return ROWS

    def drop(self, table):
        self.log.append(f"drop {table}")

    def stop(self):
        self.log.append("stop")
        return ()

    def start(self):
        self.log.append("start")

    def explain(self, statement):
        self.log.append("explain")
        return "a plan"


INTO = "range of t is onektup retrieve into tmp (t.all)"
TO_CLIENT = "range of t is onektup retrieve (t.all)"
APPEND = "append to onektup (unique1 = 7)"
UNDO = "range of t is onektup delete t where t.unique1 = 7"


def block(destination, text, undo="", *, temperature="warm", warm_up=0, expected=RIGHT, times=1):
    variations = tuple(Variation(number, text, undo, *expected) for number in range(times))
    return Block(
        benchmark="wisconsin",
        edition="1993",
        rows=1000,
        design="heap",
        destination=destination,
        temperature=temperature,
        variations=variations,
        warm_up=warm_up,
        first_ordinal=0,
        round=0,
    )


@pytest.fixture
def log():
    return []


@pytest.fixture
def timer(log, tmp_path, monkeypatch):
    ticks = iter(range(0, 10**9, 1000))

    def clock():
        log.append("CLOCK")
        return next(ticks)

    monkeypatch.setattr(statement_timer, "clock_ns", clock)
    return StatementTimer(LoggingEngine(log, tmp_path), lambda kind: log.append(f"mark {kind}"))


def test_retrieve_into(timer, log):
    timer.take(block("relation", INTO))
    assert log == [
        "drop tmp", "mark start", "CLOCK", "run CREATE", "CLOCK", "mark end", "read", "drop tmp"
    ]  # fmt: skip


def test_a_result_is_dropped_again_only_where_it_was_made_again(timer, log, monkeypatch):
    timer.take(block("relation", INTO))
    log.clear()
    timer.take(block("relation", INTO))
    assert log.count("drop tmp") == 1

    def fails(statement):
        raise EngineError("no room")

    with monkeypatch.context() as patch, pytest.raises(EngineError):
        patch.setattr(timer.engine, "run", fails)
        timer.take(block("relation", INTO))
    log.clear()
    timer.take(block("relation", INTO))
    assert log[0] == "drop tmp", "what the statement left that failed"


def test_a_clock_too_coarse_for_a_statement_counts_as_one_nanosecond(timer, monkeypatch):
    monkeypatch.setattr(statement_timer, "clock_ns", lambda: 7)
    (sample,) = timer.take(block("client", TO_CLIENT)).samples
    assert (sample.started_ns, sample.elapsed_ns) == (7, 1)


def test_warm_up_runs_every_variation_before_the_first_sample(timer, log):
    reply = timer.take(block("client", TO_CLIENT, warm_up=2, times=3))
    assert log.count("fetch SELECT") == 9
    assert [sample.ordinal for sample in reply.samples] == [0, 1, 2]


def test_update_is_checked_before_it_is_undone(timer, log):
    timer.take(block("update", APPEND, UNDO, expected=(1, RIGHT[1])))
    assert log == [
        "mark start", "CLOCK", "run INSERT", "CLOCK", "mark end", "read", "run DELETE"
    ]  # fmt: skip


def test_cold_stops_waits_evicts_and_starts_before_the_clock(timer, log, monkeypatch):
    def evict(files, *, engine_dead):
        log.append(f"evict (dead: {engine_dead})")
        return page_cache.Evidence(
            files=1, bytes=1, resident_before=1, resident_after=0, method="cachestat",
            engine_dead=engine_dead, proved=True, reason="",
        )  # fmt: skip

    def wait(pids, limit_s):
        log.append("wait")
        return True

    monkeypatch.setattr(page_cache, "evict_files", evict)
    monkeypatch.setattr(page_cache, "wait_until_dead", wait)
    reply = timer.take(block("client", TO_CLIENT, temperature="cold"))
    assert log == [
        "stop", "wait", "evict (dead: True)", "start", "evict (dead: True)",
        "mark start", "CLOCK", "fetch SELECT", "CLOCK", "mark end",
    ]  # fmt: skip
    assert reply.evidence[0].proved is True


def test_an_engine_that_may_not_be_stopped_is_never_proved(timer, monkeypatch):
    def refuse():
        raise UnsupportedError("the server is not ours to stop")

    monkeypatch.setattr(timer.engine, "stop", refuse)
    reply = timer.take(block("client", TO_CLIENT, temperature="cold"))
    assert reply.evidence[0].proved is False
    assert reply.evidence[0].reason == "the server is not ours to stop"


def test_a_wrong_answer_ends_the_block(timer):
    reply = timer.take(block("client", TO_CLIENT, expected=(3, RIGHT[1]), times=4))
    assert len(reply.answers) == 1
    assert reply.answers[0].rows == 2


def test_the_clock_surrounds_nothing_but_the_statement(timer):
    sample = timer.take(block("client", TO_CLIENT)).samples[0]
    assert sample.elapsed_ns == 1000


def test_an_error_of_the_engine_passes_through(timer, monkeypatch):
    def fail(statement):
        raise EngineError("no")

    monkeypatch.setattr(timer.engine, "fetch", fail)
    with pytest.raises(EngineError):
        timer.take(block("client", TO_CLIENT))


def test_explaining_executes_nothing(timer, log):
    timer.explain(block("relation", INTO))
    assert log == ["explain"]


@pytest.mark.parametrize(("destination", "asked"), [("client", True), ("script", False)])
def test_a_script_is_not_executed_to_see_what_it_reads(timer, destination, asked, monkeypatch):
    """It would end the transaction in which an engine takes that back, and leave its changes."""
    seen = []
    monkeypatch.setattr(timer.engine, "access_paths", lambda text, plan: seen.append(text) or [])
    cold = block(destination, TO_CLIENT, temperature="cold")
    (reported,) = timer.explain(msgspec.structs.replace(cold, storage="heap"))
    assert (bool(seen), reported.access) == (asked, "" if asked else None)


def test_only_the_answers_that_a_block_asks_about_are_checked(timer, log):
    whole = block("relation", INTO, times=3)
    assert [each.ordinal for each in timer.take(whole).answers] == [0, 1, 2]
    log.clear()
    result = timer.take(msgspec.structs.replace(whole, checked=1))
    assert [each.ordinal for each in result.answers] == [0]
    assert (len(result.samples), log.count("read")) == (3, 1)


def test_a_text_is_read_anew_where_it_is_a_script_too_or_in_another_dialect(timer):
    """Else a mix beside its own statements would run nothing: they are no scripts."""
    sql = SqlText("postgres", ("t",), (), 10, ())
    text = "SELECT x FROM t ORDER BY x"
    alone = msgspec.structs.replace(block("client", text), sql=sql)
    script = msgspec.structs.replace(
        block("script", text), sql=msgspec.structs.replace(sql, script=True)
    )
    assert timer.translate(alone, text).steps == ()
    assert timer.translate(script, text).steps != ()
    assert timer.translate(script.asking(), text).steps == ()
    of_sqlite = msgspec.structs.replace(
        alone, sql=msgspec.structs.replace(sql, written_in="sqlite")
    )
    assert timer.translate(of_sqlite, text).text != timer.translate(alone, text).text


def test_a_statement_is_seen_to_be_harmless_before_the_clock(timer, log, monkeypatch):
    def admit(text, *, changes):
        log.append(f"admit {text.split()[0]} {changes}")

    monkeypatch.setattr(timer.engine, "admit", admit, raising=False)
    timer.take(block("client", TO_CLIENT))
    timer.take(block("relation", INTO))
    assert log.index("admit SELECT False") < log.index("CLOCK")
    assert log.index("admit CREATE True") < log.index("run CREATE")
