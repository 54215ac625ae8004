"""The record is append-only, whole at every moment, and says clearly what is wrong with it."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from loadstone.errors import RecordError
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.presentation import Presentation
from loadstone.record import CellResult, Recorder, Sample, read, writer
from loadstone.record.budget import (
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
    BudgetTimer,
)
from loadstone.record.model import (
    AnswerCheck,
    ColdEvidence,
    Event,
    Load,
    StatementText,
    Term,
)

CELLS = tuple(Cell(f"operation-{i}", "sqlite", 1000, "warm", 2) for i in range(5))
PLAN = Plan(edition="1993", variants=("sqlite",), rows=(1000,), rounds=1, cells=CELLS)

AT = "2026-01-01T00:00:00+00:00"
BUDGET = Budget(
    "programs", "no kernel", 250_000, 10, 9, 8, 1,
    threads=(BudgetThread(True, False, "postgres", 7, None),),
    parts=(BudgetPart(True, "log", "postgres", "XLogInsert", "", 6),),
    blocks=(BudgetBlock(0, "whole", 3, 5), BudgetBlock(0, "watched", 3, 5)),
    rungs=(BudgetRung("counted", "SELECT COUNT(*) …", "SCAN t", "unlike"),),
    timers=(BudgetTimer("planning", 5, 70_000),),
)  # fmt: skip


def result(cell, status="ok"):
    return CellResult(
        cell=cell,
        status=status,
        reason="",
        ended_at=AT,
        samples=(Sample(0, 0, 0, 10, 20, None, None, 0, None), Sample(1, 0, 1, 30, 25)),
        answers=(AnswerCheck(0, 0, 1, "aa", 1, "aa"),),
        evidence=(
            ColdEvidence(0, True, "", "cachestat", 1, 4096, 1, 0, True, 1, 0, 4096, 9, 4096),
        ),
        statements=(StatementText(0, "SELECT 1", "a plan"),),
        budget=BUDGET,
    )


def fresh(path):
    return Recorder.create(path, PLAN, {"citation": "a paper"}, Presentation("X"), "abc", "0.1")


def test_a_record_is_read_back_as_it_was_written(tmp_path):
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    recorder.machine({"cpu.count": 2, "cpu.governor": None})
    recorder.terms([Term("sqlite", "durability", "full", "FULL")])
    recorder.load(Load("sqlite", 1000, "tenktup1", "heap", 1000, 5, True))
    recorder.event(Event(AT, "worker lost", "sqlite", "it died"))
    recorder.cell(result(CELLS[0]))
    recorder.end("complete", 7)
    run = read(path)
    assert run.plan == PLAN
    assert run.results == (result(CELLS[0]),)
    assert run.pending == CELLS[1:]
    assert run.sessions[0].machine == {"cpu.count": 2, "cpu.governor": None}
    assert run.sessions[0].outcome == "complete"
    assert run.loads[0].answer_ok is True
    assert run.events[0].kind == "worker lost"


@pytest.mark.parametrize("at_clock", [None, 1])
def test_pages_that_nobody_counted_at_the_clock_are_no_proof(tmp_path, at_clock):
    """Neither of a record of an older Loadstone nor of one whose own figures contradict it."""
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    recorder.cell(result(CELLS[0]))
    with closing(sqlite3.connect(path)) as record, record:
        record.execute("UPDATE evidence SET resident_at_clock = ?", (at_clock,))
    ((evidence,),) = (item.evidence for item in read(path).results)
    assert not evidence.proved
    assert "when the clock started" in evidence.reason


def test_absent_is_none_and_zero_is_zero(tmp_path):
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    recorder.cell(result(CELLS[0]))
    sample = read(path).results[0].samples[0]
    assert sample.client_cpu_ns is None
    assert sample.read_bytes == 0


def test_a_second_session_appends(tmp_path):
    path = tmp_path / "r.loadstone"
    first = fresh(path)
    first.cell(result(CELLS[0]))
    first.end("interrupted", 1)
    second = Recorder.resume(path)
    second.size("sqlite", 1000, 1)
    second.size("sqlite", 1000, 2)
    second.cell(result(CELLS[1], "failed"))
    run = read(path)
    assert [s.outcome for s in run.sessions] == ["interrupted", None]
    assert [r.status for r in run.results] == ["ok", "failed"]
    assert run.sizes == (("sqlite", 1000, 2),)


def test_an_existing_file_is_never_overwritten(tmp_path):
    path = tmp_path / "r.loadstone"
    path.write_text("somebody's thesis")
    with pytest.raises(RecordError, match="exists already"):
        fresh(path)
    assert path.read_text() == "somebody's thesis"


def test_a_run_that_ended_before_its_record_began_leaves_the_name_free(tmp_path, monkeypatch):
    path = tmp_path / "r.loadstone"
    made = writer.definitions()
    monkeypatch.setattr(writer, "definitions", lambda: f"{made} CREATE TABLE run (twice);")
    with pytest.raises(RecordError, match="cannot write the record"):
        fresh(path)
    assert not path.exists()
    monkeypatch.undo()
    fresh(path).cell(result(CELLS[0]))
    assert read(path).results == (result(CELLS[0]),)


def test_a_commit_that_fails_says_why_and_the_next_one_can_be_tried(tmp_path):
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        recorder._connection.execute("PRAGMA busy_timeout=0")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM cell").fetchall()
        for _ in range(2):
            with pytest.raises(RecordError, match="locked"):
                recorder.cell(result(CELLS[0]))
    recorder.cell(result(CELLS[0]))
    assert read(path).results == (result(CELLS[0]),)


def test_sigkill_keeps_every_cell_that_had_ended(tmp_path):
    path = tmp_path / "r.loadstone"
    script = (
        "import sys; sys.path.insert(0, sys.argv[2]); import test_record as t, pathlib\n"
        "r = t.fresh(pathlib.Path(sys.argv[1]))\n"
        "for c in t.CELLS[:3]: r.cell(t.result(c))\n"
        # So large that half of it is in the file before its commit, and the journal beside it.
        "r._connection.execute('PRAGMA cache_size=1'); r._connection.execute('BEGIN')\n"
        "event = (1, t.AT, 'x', 'x', 'x' * 5000)\n"
        "r._connection.executemany('INSERT INTO event VALUES (?,?,?,?,?)', [event] * 100)\n"
        "print('ready', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(path), str(Path(__file__).parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert path.with_name(f"{path.name}-journal").stat().st_size
    run = read(path)
    Recorder.resume(path).end("complete", 1)
    assert read(path).results == run.results
    assert [r.cell for r in run.results] == list(CELLS[:3])
    assert run.events == ()


def damage_truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_foreign(path):
    path.unlink()
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()


def damage_newer(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()


def damage_negative(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=-1")
    connection.close()


def damage_text(path):
    path.write_text("not a database at all, but long enough to be read as one" * 20)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_truncated, "damaged|not a readable record"),
        (damage_foreign, "not a Loadstone record"),
        (damage_newer, "schema 99"),
        (damage_negative, "has schema -1"),
        (damage_text, "not a readable record"),
        (lambda path: path.unlink(), "there is no record"),
    ],
)
def test_a_damaged_record_is_refused_and_left_as_it_is(tmp_path, damage, message):
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    for cell in CELLS:
        recorder.cell(result(cell))
    recorder.end("complete", 1)
    damage(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(RecordError, match=message):
        read(path)
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_place_that_cannot_be_written_is_named(tmp_path):
    target = tmp_path / "file"
    target.write_text("")
    with pytest.raises(RecordError, match="cannot write the record"):
        fresh(target / "r.loadstone")
