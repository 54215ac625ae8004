"""What a worker does on request, whatever its engine."""

import json

import pytest

from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.errors import EngineError
from loadstone.quel.statement import Statement
from loadstone.worker.statement_requests import StatementRequests


def test_an_engine_started_anew_holds_what_it_held(tmp_path):
    benchmark = WisconsinBenchmark()
    item = benchmark.stored_relations("1993")[0]
    request = benchmark.request("1993", item, 100)
    worker = StatementRequests(lambda kind: None)
    worker.open({"engine": "sqlite", "tactics": []}, str(tmp_path), "owner")
    worker.load(**benchmark.request("1993", item, 100))
    before = worker.contents(**request)
    first = worker.engine._connection
    worker.restart()
    assert worker.engine._connection is not first
    assert worker.contents(**request) == before != {"answer": None}
    worker.remove()


def test_what_a_worker_leaves_another_finds(tmp_path):
    benchmark = WisconsinBenchmark()
    request = benchmark.request("1993", benchmark.stored_relations("1993")[0], 100)
    first, second = (StatementRequests(lambda kind: None) for _ in range(2))
    first.open({"engine": "sqlite", "tactics": []}, str(tmp_path), "owner")
    first.load(**request)
    before = first.contents(**request)
    first._timer().translated["10/heap/text"] = Statement("into", "CREATE", "tmp")
    state = json.loads(json.dumps(first.export_state()["state"]))
    first.remove()
    second.open({"engine": "sqlite", "tactics": []}, str(tmp_path), "owner")
    second.import_state(state)
    assert second._timer().translated == {"10/heap/text": Statement("into", "CREATE", "tmp")}
    assert second.contents(**request) == before != {"answer": None}
    second.remove()


def test_without_an_engine_there_is_nothing_to_start():
    with pytest.raises(EngineError, match="no engine yet"):
        StatementRequests(lambda kind: None).restart()
