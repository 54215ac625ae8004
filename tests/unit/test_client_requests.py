"""What a worker knows of the database behind its program: only what it loaded itself."""

from pathlib import Path
from typing import Any

import pytest

from loadstone import _core
from loadstone.worker.client_requests import ClientRequests

PARTS = 200
LOCAL, SCATTERED = (
    {"source": {"parts": PARTS, "locality": locality, "seed": 1}, "table": {}}
    for locality in (True, False)
)
SCAN = _core.Oo1Oracle(PARTS).answer("scan", 0)


def worker_in(folder: Path) -> ClientRequests:
    worker = ClientRequests(lambda kind: None)
    worker.open({"engine": "sqlite", "tactics": []}, str(folder), "owner")
    return worker


def contents(worker: ClientRequests, database: dict[str, Any]) -> Any:
    return worker.contents(**database)["answer"]


def test_parts_do_not_tell_one_database_from_the_other() -> None:
    assert _core.Oo1Oracle(PARTS, locality=False).answer("scan", 0) == SCAN


@pytest.mark.parametrize(("first", "second"), [(LOCAL, SCATTERED), (SCATTERED, LOCAL)])
def test_another_database_is_not_there_until_it_is_loaded(tmp_path, first, second) -> None:
    worker = worker_in(tmp_path)
    assert contents(worker, first) is None
    worker.load(**first)
    assert contents(worker, first) == SCAN
    for _ in range(2):
        assert contents(worker, second) is None
    worker.load(**second)
    assert contents(worker, second) == SCAN
    seen = worker.client.measure("traversal", 1)
    expected = _core.Oo1Oracle(PARTS, locality=second["source"]["locality"]).answer("traversal", 1)
    assert (seen.visits, seen.checksum) == expected
    worker.remove()


def test_what_another_worker_left_is_loaded_again(tmp_path) -> None:
    left = worker_in(tmp_path)
    left.load(**LOCAL)
    left.client.stop()
    worker = worker_in(tmp_path)
    assert contents(worker, LOCAL) is None
    worker.load(**LOCAL)
    assert contents(worker, LOCAL) == SCAN
    worker.remove()


def test_readers_and_writers_at_once_are_told_apart(tmp_path) -> None:
    worker = worker_in(tmp_path)
    worker.load(**LOCAL)
    block = {
        "benchmark": "oo1", "edition": "1992", "rows": PARTS, "design": "oo1",
        "destination": "client", "temperature": "warm", "variations": [(0, "lookup 1", "", 0, "")],
        "warm_up": 0, "first_ordinal": 0, "round": 0,
    }  # fmt: skip
    loop = {"model": "closed", "users": 2, "duration_ns": 300_000_000, "seed": 1, "writers": 1}
    reply = worker.users(block, loop)
    assert reply["status"] == "ok"
    assert reply["completed"] > 0
    written = reply["beside"]["completed"]
    assert written > 0
    assert reply["links_checked"] == 3 * min(written, 1_000)
    alone = worker.users(block, {**loop, "writers": 0})
    assert (alone["links_checked"], "beside" in alone) == (None, False)
    worker.remove()
