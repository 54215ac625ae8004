"""A worker's answers to requests, whatever its engine."""

import pytest

from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import (
    Found,
    ImportState,
    Load,
    LookUp,
    Open,
    Remove,
    Reopen,
    TakeBlock,
)
from loadstone.protocol.parts import Block, StoredAt, Variation
from loadstone.protocol.wire import numbered, to_line, to_reply
from loadstone.quel.statement import Statement
from loadstone.record.model import AnswerCheck
from loadstone.worker.statement_requests import StatementRequests

STORED = StoredAt("wisconsin", "1993", 100, WisconsinBenchmark().stored_relations("1993")[0])


def test_an_engine_started_anew_holds_what_it_held(tmp_path):
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant("sqlite"), str(tmp_path), "owner"))
    worker.load(Load(STORED))
    before = worker.look_up(LookUp(STORED))
    first = worker.engine._connection
    worker.restart()
    assert worker.engine._connection is not first
    assert worker.look_up(LookUp(STORED)) == before != Found(None)
    worker.remove()


def test_a_worker_finds_the_state_that_another_left(tmp_path):
    first, second = (StatementRequests(lambda kind: None) for _ in range(2))
    first.open(Open(Variant("sqlite"), str(tmp_path), "owner"))
    first.load(Load(STORED))
    before = first.look_up(LookUp(STORED))
    first._timer().translated["10/heap/text"] = Statement("into", "CREATE", "tmp")
    state = to_reply(numbered(to_line(1, first.export_state()))[1])
    first.remove()
    second.open(Open(Variant("sqlite"), str(tmp_path), "owner"))
    second.import_state(ImportState(state))
    assert second._timer().translated == {"10/heap/text": Statement("into", "CREATE", "tmp")}
    assert second.look_up(LookUp(STORED)) == before != Found(None)
    second.remove()


def test_without_an_engine_there_is_nothing_to_start():
    with pytest.raises(EngineError, match="no engine yet"):
        StatementRequests(lambda kind: None).restart()


@pytest.mark.parametrize("between", [False, True])
def test_an_engine_that_was_reopened_is_stopped_again_only_after_another_request(
    tmp_path, monkeypatch, between
):
    worker, stopped = StatementRequests(lambda kind: None), []
    worker.answer(Open(Variant("sqlite"), str(tmp_path), "owner"))
    worker.answer(Load(STORED))
    stop = worker.engine.stop
    monkeypatch.setattr(worker.engine, "stop", lambda: stopped.append(True) or stop())
    text = f"range of t is {STORED.item.relation} retrieve (t.all)"
    variations = (Variation(0, text, "", 100, "unknown"), Variation(1, text, "", 100, "unknown"))
    monkeypatch.setattr(AnswerCheck, "right", True)
    block = Block("wisconsin", "1993", 100, "heap", "client", "cold", variations, 0, 0, 0)
    worker.answer(Reopen(block))
    if between:
        worker.answer(LookUp(STORED))
    evidence = worker.answer(TakeBlock(block)).evidence
    assert len(stopped) == 2 + between, "before the second sample, too"
    assert [each.ordinal for each in evidence] == [0, 1]
    worker.answer(TakeBlock(block))
    assert len(stopped) == 4 + between
    worker.answer(Remove())
