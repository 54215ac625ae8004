"""A signal that comes while C code calls back into Python, which reports an error of its own or
drops it: the command is interrupted all the same."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from loadstone import interruption
from loadstone.diagnostics import Exit, guarded
from loadstone.record import read
from loadstone.run.interrupts import Interrupts
from loadstone.workload import answers

SCHEMA = pa.schema([("a", pa.int64())])


def signalled() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def through_arrow() -> int:
    def batches():
        signalled()
        yield pa.RecordBatch.from_pylist([{"a": 1}], schema=SCHEMA)

    answers.contents_of(pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    return 0


def through_sqlite() -> int:
    connection = sqlite3.connect(":memory:")
    connection.set_progress_handler(signalled, 10)
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999)"
        " SELECT sum(i) FROM n"
    )
    return 0


class Finalized:
    def __del__(self) -> None:
        signalled()


def through_a_finalizer() -> int:
    Finalized()
    return 0


WAYS = (through_arrow, through_sqlite, through_a_finalizer)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupt_that_c_code_wraps_or_drops_ends_a_command(way, capsys, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", interruption.unraisable)

    def command() -> int:
        with Interrupts():
            return way()

    assert guarded(command) == Exit.INTERRUPTED
    assert capsys.readouterr() == ("", "loadstone: interrupted\n")
    assert guarded(lambda: 0) == Exit.OK, "the next command was not interrupted"


def test_an_interrupt_that_was_dropped_is_raised_at_the_next_step(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", interruption.unraisable)
    steps = []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
        interrupts.measuring()
        for step in range(3):
            interruption.check()
            steps.append(step)
            through_a_finalizer()
    assert steps == [0]


IN_A_RUN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from loadstone.workload import answers

as_text = answers._as_text

def signalled(column):
    answers._as_text = as_text
    os.kill(os.getpid(), signal.SIGINT)
    return as_text(column)

answers._as_text = signalled
from loadstone.__main__ import main
main()
"""
WORKLOAD = """
[data.t]
file = "t.csv"

[[statement]]
name = "all"
sql = "SELECT a FROM t ORDER BY a"
"""


@pytest.mark.machine
def test_a_run_interrupted_while_arrow_reads_its_tables_is_one_to_be_resumed(tmp_path: Path):
    """The record had begun: it was called failed, with Arrow's traceback and the exit code 2."""
    (tmp_path / "t.csv").write_text("a,d\n1,2020-01-01\n2,2020-01-02\n")
    (tmp_path / "workload.toml").write_text(WORKLOAD)
    done = subprocess.run(
        [sys.executable, "-c", IN_A_RUN, "run", ".", "--on", "sqlite",
         "--record", "r.loadstone", "--no-overhead", "--no-report"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "LOADSTONE_SCRATCH": str(tmp_path / "scratch")},
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "Arrow" not in done.stderr
    assert "loadstone run --resume r.loadstone" in done.stderr
    assert done.returncode == Exit.INTERRUPTED
    assert [one.outcome for one in read(tmp_path / "r.loadstone").sessions] == ["interrupted"]
