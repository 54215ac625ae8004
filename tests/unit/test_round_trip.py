"""The way to a server, measured without it: between two processes; no term that has to agree."""

import socket
from dataclasses import replace

import pytest
from report_fixture import make_run

from loadstone.analysis.compare.compare import compare
from loadstone.analysis.summary import summarise
from loadstone.analysis.terms import terms
from loadstone.machine.wake_up import round_trip_ns, round_trips
from loadstone.record.model import Run, Term


def reported(run: Run, *readings: Term) -> Run:
    return replace(run, terms=(*run.terms, *readings))


def test_a_byte_comes_back_and_both_ends_are_closed() -> None:
    near, far = socket.socketpair()
    assert round_trip_ns(near, far, 10) > 0
    assert near.fileno() == far.fileno() == -1


def test_an_end_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadstone.machine.wake_up._ECHO", "")
    near, far = socket.socketpair()
    with pytest.raises(ConnectionError):
        round_trip_ns(near, far, 10)
    assert near.fileno() == -1


def test_no_machine_answers_where_the_echo_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadstone.machine.wake_up._ECHO", "")
    assert round_trips(10) is None


def test_it_stands_beside_the_terms_and_need_not_agree() -> None:
    run = make_run()
    shown = terms(summarise(reported(run, Term("sqlite", "round_trip_ns", None, "5900"))))
    (row,) = (row for row in shown.rows if row.key == "round_trip_ns")
    assert row.values["sqlite"].read_back == "5900"
    assert "round_trip_ns" not in shown.unequal


def test_two_records_of_it_are_compared_and_other_differences_still_refused() -> None:
    run = make_run()
    a = reported(run, Term("sqlite", "round_trip_ns", None, "5900"))
    b = reported(run, Term("sqlite", "round_trip_ns", None, "6100"))
    assert not [cell for cell in compare(a, b).unlike if "round_trip" in cell.reason]
    changed = reported(b, Term("sqlite", "setting.page", None, "1"))
    base = reported(a, Term("sqlite", "setting.page", None, "2"))
    assert [cell for cell in compare(base, changed).unlike if "setting.page" in cell.reason]
