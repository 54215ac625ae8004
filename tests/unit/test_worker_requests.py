"""What a worker does on request, whatever its engine."""

import pytest

from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Found, ImportState, Load, LookUp, Open, StoredAt
from loadstone.protocol.wire import numbered, to_line, to_reply
from loadstone.quel.statement import Statement
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


def test_what_a_worker_leaves_another_finds(tmp_path):
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
