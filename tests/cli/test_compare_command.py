"""`loadstone compare` on real records: the result on stdout, notes on stderr, a code for CI."""

import contextlib
import json
import os
import re
import shlex
import sqlite3
import subprocess
from pathlib import Path

import pytest
from desk import COMMAND, Desk

from loadstone.record import read

RUN = ("run", "--on", "sqlite", "--on", "sqlite?durability=none", "--rows", "1000", "--repeat", "6",
       "--temperature", "warm", "--operation", "select-1%-heap", "--no-overhead", "--no-limits",
       "--no-report")  # fmt: skip
RECORD = "r.loadstone"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """Two records of the same plan, of a calm machine: who else was at work here is no matter of
    these tests."""
    folder = tmp_path_factory.mktemp("records")
    environment = {**os.environ, "LOADSTONE_SCRATCH": str(folder / "scratch")}
    return measure(Desk(folder, environment)), measure(Desk(folder, environment))


@pytest.fixture
def measured(desk: Desk, records: tuple[bytes, bytes]) -> Desk:
    desk.record.write_bytes(records[0])
    return desk


def measure(desk: Desk) -> bytes:
    done = desk.run(*RUN, "--record", RECORD)
    assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(desk.record)) as record, record:
        record.execute("UPDATE condition SET stolen_share = 0, foreign_share = 0, speed_drift = 0")
    content = desk.record.read_bytes()
    desk.record.unlink()
    return content


def test_a_record_beside_itself_has_no_regression_and_is_left_as_it_was(measured: Desk):
    before = measured.record.read_bytes()
    for form in ("table", "md", "json"):
        done = measured.run("compare", RECORD, RECORD, "--format", form)
        assert (done.returncode, done.stderr) == (0, "")
        assert "no regression" in done.stdout
    assert json.loads(done.stdout)["schema"] == "loadstone-comparison-1"
    assert measured.record.read_bytes() == before
    assert [path.name for path in measured.folder.glob("*.*")] == [RECORD]


def test_two_runs_compare_within_a_generous_threshold(measured: Desk, records: tuple[bytes, bytes]):
    (measured.folder / "again.loadstone").write_bytes(records[1])
    done = measured.run("compare", RECORD, "again.loadstone", "--fail-on", "9999%")
    assert (done.returncode, done.stderr) == (0, "")
    assert "not compared:" not in done.stdout


def test_unequal_terms_are_refused_and_the_way_out_is_said(measured: Desk):
    sides = ("compare", RECORD, "--variants", "sqlite", "sqlite?durability=none")
    done = measured.run(*sides)
    assert done.returncode == 5
    assert "durability: full against none" in done.stdout
    assert "--across durability" in done.stderr
    # Whichever is faster: it is compared, and said to be across.
    done = measured.run(*sides, "--across", "durability", "--fail-on", "9999%")
    assert done.returncode == 0, done.stderr
    assert "Unequal terms, compared all the same: durability" in done.stdout


def test_the_example_of_the_document_compares(measured: Desk):
    text = (Path(__file__).parents[2] / "docs/reference/method.md").read_text(encoding="utf-8")
    example = re.search(r"`loadstone (compare A --variants [^`]+)`", text)
    assert example is not None
    words = [RECORD if word == "A" else word for word in shlex.split(example[1])]
    done = measured.run(*words, "--fail-on", "9999%")
    assert done.returncode == 0, done.stderr
    assert "B / A" in done.stdout


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("compare", RECORD, "--variants", "sqlite", "sqlite?durability=none"), 5),
        (("compare", RECORD, RECORD), 0),
        (("compare", RECORD, RECORD, "--format", "md"), 0),
        (("report", RECORD, "--format", "md"), 0),
        (("engines",), 0),
        ((*RUN, "--record", "unread.loadstone"), 0),
    ],
)
def test_a_reader_who_leaves_changes_no_exit_code(measured: Desk, arguments, code, both):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=measured.folder,
            env=measured.environment,
            stdout=gone,
            stderr=gone if both else subprocess.PIPE,
            timeout=100,
        )
    assert done.returncode == code
    if arguments[0] == "run":
        assert read(measured.folder / "unread.loadstone").sessions[0].outcome == "complete"


def test_equal_terms_are_one_line(measured: Desk):
    done = measured.run("compare", RECORD, RECORD)
    terms = [line for line in done.stdout.splitlines() if "durability, " in line]
    assert len(terms) == 2, "one of each variant"
    assert all(line.startswith("Equal on both sides: ") for line in terms)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((RECORD,), 2, "nothing to compare it with"),
        ((RECORD, "absent.loadstone"), 4, "no record"),
        ((RECORD, RECORD, "--fail-on", "5"), 2, "'5' is not a percentage"),
        ((RECORD, RECORD, "--across", "all"), 2, "no term is called 'all'"),
        ((RECORD, RECORD, "--format", "xls"), 2, "no format 'xls'"),
        ((RECORD, "--variants", "sqlite", "duckdb"), 2, "no variant 'duckdb'"),
    ],
)
def test_bad_input_gets_a_clear_error(measured: Desk, arguments, code, message):
    done = measured.run("compare", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
