"""A worker's knowledge of the database behind its program: only what it loaded itself."""

from pathlib import Path
from typing import Any

import pytest

from loadstone import _core
from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark
from loadstone.benchmarks.oo7.benchmark import Oo7Benchmark
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import ImportState, Load, LookUp, Open, RunLoop
from loadstone.protocol.parts import Block, Loop, StoredAt, Variation
from loadstone.protocol.wire import numbered, to_line, to_reply
from loadstone.worker.client_requests import ClientRequests

PARTS = 200
LOCAL, SCATTERED = (
    StoredAt("oo1", "1992", PARTS, item) for item in Oo1Benchmark().stored_relations("1992")
)
LOCALITY = {LOCAL: True, SCATTERED: False}
SCAN = _core.Oo1Oracle(PARTS).answer("scan", 0)


def worker_in(folder: Path) -> ClientRequests:
    worker = ClientRequests(lambda kind: None)
    worker.open(Open(Variant("sqlite"), str(folder), "owner"))
    return worker


def contents(worker: ClientRequests, stored: StoredAt) -> Any:
    return worker.look_up(LookUp(stored)).answer


def test_parts_do_not_report_one_database_from_the_other() -> None:
    assert _core.Oo1Oracle(PARTS, locality=False).answer("scan", 0) == SCAN


@pytest.mark.parametrize(("first", "second"), [(LOCAL, SCATTERED), (SCATTERED, LOCAL)])
def test_another_database_is_not_there_until_it_is_loaded(tmp_path, first, second) -> None:
    worker = worker_in(tmp_path)
    assert contents(worker, first) is None
    worker.load(Load(first))
    assert contents(worker, first) == SCAN
    for _ in range(2):
        assert contents(worker, second) is None
    worker.load(Load(second))
    assert contents(worker, second) == SCAN
    seen = worker.client.measure("traversal", 1)
    expected = _core.Oo1Oracle(PARTS, locality=LOCALITY[second]).answer("traversal", 1)
    assert (seen.visits, seen.checksum) == expected
    worker.remove()


def test_a_database_that_another_worker_left_is_loaded_again(tmp_path) -> None:
    left = worker_in(tmp_path)
    left.load(Load(LOCAL))
    left.client.stop()
    worker = worker_in(tmp_path)
    assert contents(worker, LOCAL) is None
    worker.load(Load(LOCAL))
    assert contents(worker, LOCAL) == SCAN
    worker.remove()


def test_a_successor_goes_on_with_the_program_of_the_same_benchmark(tmp_path) -> None:
    """A block names measures, and no database: the next process of a study learns it so."""
    stored = StoredAt("oo7", "1993-3", 2_000, Oo7Benchmark().stored_relations("1993-3")[0])
    first = worker_in(tmp_path)
    first.load(Load(stored))
    state = to_reply(numbered(to_line(1, first.export_state()))[1])
    second = worker_in(tmp_path)
    second.import_state(ImportState(state))
    seen = second.client.measure("T2a", 1)
    assert (seen.visits, seen.checksum) == _core.Oo7Oracle(2_000).answer("T2a", 1)
    second.remove()


def test_readers_and_writers_at_once_are_reported_apart(tmp_path) -> None:
    worker = worker_in(tmp_path)
    worker.load(Load(LOCAL))
    block = Block("oo1", "1992", PARTS, "oo1", "client", "warm",
                  (Variation(0, "lookup 1", "", 0, ""),), 0, 0, 0)  # fmt: skip
    loop = Loop("closed", 2, 300_000_000, seed=1, writers=1)
    result = worker.run_loop(RunLoop(block, loop))
    assert result.figures.status == "ok"
    assert result.figures.completed > 0
    assert result.beside is not None
    written = result.beside.completed
    assert written > 0
    assert result.figures.links_checked == 3 * min(written, 1_000)
    alone = worker.run_loop(RunLoop(block, Loop("closed", 2, 300_000_000, seed=1)))
    assert (alone.figures.links_checked, alone.beside) == (None, None)
    worker.remove()
