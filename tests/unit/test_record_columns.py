"""A record's columns are declared one by one: the rest is neither written nor believed."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
import study_fixture
from report_fixture import FEW, make_run, write_record
from test_record import BUDGET, CELLS, fresh, result

from loadstone.errors import RecordError
from loadstone.plan.study import PRUNED, Decision
from loadstone.record import Recorder, Sample, read, schema
from loadstone.record.model import Agreement, Disturbance, GivenAnswer, InputText
from loadstone.record.schema import TABLES
from loadstone.record.table import Column, Table
from loadstone.report.markdown import MarkdownReport


def test_a_text_too_long_is_cut_and_no_other_value_is_written_that_could_not_be_read(tmp_path):
    path = tmp_path / "r.loadstone"
    recorder = fresh(path)
    long = replace(result(CELLS[0], "failed"), reason="x\0\ud800" * 100_000, samples=())
    recorder.cell(long)
    for bad in (Sample(0, 0, 0, 10, -1), Sample(0, 0, 0, 10, 1e308), Sample(0, 0, 0, 10, 1, 2.5)):
        with pytest.raises(RecordError, match="must be ") as caught:
            recorder.cell(replace(result(CELLS[1]), samples=(bad,)))
        assert "sample." in caught.value.message
    (one,) = read(path).results
    assert one.reason.startswith("x\N{REPLACEMENT CHARACTER}?")
    assert one.reason.endswith("… (cut)")


HOSTILE_VALUES = {
    "INTEGER": [-1, 2**63 - 1, 1e308, float("inf"), "many", b"\x00\xff", None],
    "REAL": [float("inf"), -1e308, "much", b"1"],
    "TEXT": [b"\xff\xfe", b"", None, "\0", "x" * ((1 << 20) + 1), "[" * 100_000],
    "BLOB": ["text", 7, b"x" * ((1 << 22) + 1)],
    "ANY": [float("inf"), b"blob", "x" * ((1 << 16) + 1)],
}


@pytest.fixture(scope="module")
def whole_record(tmp_path_factory):
    """A record with rows in every table."""
    path = tmp_path_factory.mktemp("whole") / "r.loadstone"
    run = make_run(FEW[:1], repeat=1, scales=(10_000,))
    write_record(run, path)
    recorder = Recorder.resume(path)
    for event in run.events:
        recorder.event(event)
    recorder.inputs([InputText("select-1%-heap", 10_000, 0, "range of t is tenktup1")])
    recorder.cell(replace(run.results[0], disturbance=Disturbance(0.5, 0.5, 1.5), budget=BUDGET))
    ended = replace(run.results[1], status="censored", samples=(), longer_than_ns=10**9)
    recorder.cell(ended)
    recorder.agreements([Agreement("select-1%-heap", 10_000, "agreed", "sqlite, duckdb", "")])
    recorder.given([GivenAnswer("select-1%-heap", 10_000, 0, "sqlite", 1, "a1", 0, ("(1)",))])
    recorder.end("complete", 1)
    return path.read_bytes()


@pytest.fixture(scope="module")
def whole_study(tmp_path_factory):
    """A record with a decision, which only a study's may hold."""
    path = tmp_path_factory.mktemp("study") / "r.loadstone"
    write_record(study_fixture.record(), path)
    recorder = Recorder.resume(path)
    recorder.decisions([Decision("min-heap", 10_000, PRUNED, ("cache",), 0, "no work")])
    recorder.end("complete", 1)
    return path.read_bytes()


def allows(table: Table, row: sqlite3.Row, column: Column, value: object) -> bool:
    """Whether a row may have this value in a column."""
    changed = dict(row) | {column.name: value}
    try:
        table.checked_keys(changed)
        table.value(changed)
    except RecordError:
        return False
    return True


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_column_refuses_what_it_does_not_declare(tmp_path, whole_record, whole_study, table):
    """Each in turn is given what SQLite would keep there; the others stay as they were."""
    path = tmp_path / "r.loadstone"
    tried = 0
    for column in table.columns:
        for value in HOSTILE_VALUES[column.sql_type]:
            path.write_bytes(whole_study if table.name == "decision" else whole_record)
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.row_factory = sqlite3.Row
                row = connection.execute(f"SELECT * FROM {table.name}").fetchone()
                if allows(table, row, column, value):
                    continue
                update = f"UPDATE {table.name} SET {column.name} = ? WHERE rowid = 1"
                try:
                    connection.execute(update, (value,))
                except sqlite3.IntegrityError:
                    continue  # SQLite itself does not keep it there
                connection.commit()
            tried += 1
            with pytest.raises(RecordError, match=rf"{table.name}\.{column.name}|UTF-8|plan_hash"):
                read(path)
    assert tried >= len(table.columns) - 1


@pytest.mark.parametrize(("name", "column"), [
    ("sample", "elapsed_ns"), ("condition", "speed_probe_ns")
])  # fmt: skip
def test_a_time_that_figures_are_made_of_is_never_zero(tmp_path, whole_record, name, column):
    """Reports divide by them: a clock that did not move would end each with an internal error."""
    path = tmp_path / "r.loadstone"
    for value in (0, 0.5, 1):
        path.write_bytes(whole_record)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"UPDATE {name} SET {column} = ?", (value,))
        if value < 1:
            with pytest.raises(RecordError, match=rf"{name}\.{column} must be .*, not {value}"):
                read(path)
        else:
            assert MarkdownReport().render(read(path))


def test_values_are_written_and_read_by_the_names_of_their_columns(tmp_path, monkeypatch):
    """By their places, two columns of one kind that changed them would be believed."""
    run = make_run(FEW)
    write_record(run, tmp_path / "as-declared.loadstone")
    turned = tuple(replace(one, columns=one.columns[::-1]) for one in TABLES)
    expected = read(tmp_path / "as-declared.loadstone")
    monkeypatch.setattr(schema, "TABLES", turned)
    write_record(run, tmp_path / "turned.loadstone")
    found = read(tmp_path / "turned.loadstone")
    same = {"created_at": "", "sessions": ()}
    assert replace(found, **same) == replace(expected, **same)
    assert [session.machine for session in found.sessions] == [
        session.machine for session in expected.sessions
    ]
