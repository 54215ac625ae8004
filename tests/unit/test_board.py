"""The board on which a worker marks what it times."""

import os

import pytest

from loadstone.protocol import deadline as module
from loadstone.protocol.deadline import Board

SECOND_NS = 1_000_000_000


@pytest.fixture
def sides(monkeypatch: pytest.MonkeyPatch):
    """The runner's side, the worker's side, and what moves the clock."""
    now_ns = [50 * SECOND_NS]
    monkeypatch.setattr(module, "clock_ns", lambda: now_ns[0])
    runners, descriptor = Board.make()
    workers = Board(descriptor)
    os.close(descriptor)
    yield runners, workers, now_ns
    workers.close()
    runners.close()


def test_a_statement_is_overdue_by_its_own_limit(sides) -> None:
    runners, workers, now_ns = sides
    now_ns[0] = 60 * SECOND_NS
    workers.mark("start")
    assert runners.overdue_ns(50 * SECOND_NS, 2 * SECOND_NS, 900 * SECOND_NS) == (
        62 * SECOND_NS,
        True,
    )


def test_between_statements_the_long_limit_holds_from_the_last_end(sides) -> None:
    runners, workers, now_ns = sides
    workers.mark("start")
    now_ns[0] = 70 * SECOND_NS
    workers.mark("end")
    assert runners.overdue_ns(50 * SECOND_NS, 2 * SECOND_NS, 900 * SECOND_NS) == (
        970 * SECOND_NS,
        False,
    )


def test_before_the_first_statement_the_long_limit_holds_from_the_request(sides) -> None:
    runners, _, _ = sides
    assert runners.overdue_ns(50 * SECOND_NS, 2 * SECOND_NS, 900 * SECOND_NS) == (
        950 * SECOND_NS,
        False,
    )
