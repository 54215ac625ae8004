"""A machine's facts and an instrument's figures are of the kind that a report computes with."""

import os
import sqlite3
from contextlib import closing

import pytest
from report_fixture import make_run, write_record

from loadstone import registry
from loadstone.errors import RecordError
from loadstone.machine import facts
from loadstone.protocol import environment
from loadstone.record import read
from loadstone.record.facts import COUNT, MACHINE, NUMBER, machine_fact

FORMATS = ("html", "md", "json", "csv")
NO_NUMBERS = ("many", "12", "1e9999", "NaN", "-1", "\x1b[31m12", "")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "r.loadstone"
    # One operation at one scale: a page of few drawings.
    write_record(make_run(("min-scalar",), scales=(10_000,)), path)
    return path.read_bytes()


def changed(good, path, table, key, value):
    path.write_bytes(good)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
        connection.execute(f"INSERT INTO {table} VALUES (1, ?, ?)", (key, value))
        connection.commit()
    return path


def test_every_fact_of_a_machine_has_its_kind():
    known = facts.describe() | environment.facts(os.environ, url=True)
    assert set(known) | {"idle_states.held", "idle_states.reason"} == set(MACHINE)
    for key, value in known.items():
        assert machine_fact(key, value) == value


@pytest.mark.parametrize("key", [k for k, kind in MACHINE.items() if kind in (COUNT, NUMBER)])
def test_no_number_of_a_machine_may_be_a_text(key, good, tmp_path):
    for value in NO_NUMBERS:
        path = changed(good, tmp_path / "r.loadstone", "machine", key, value)
        with pytest.raises(RecordError, match=f"machine's '{key}' must be"):
            read(path)
        path.unlink()


@pytest.mark.parametrize("value", [-1, 2**62 + 1, 1.5, 1e300])
def test_a_count_is_a_whole_number_that_can_be(value, good, tmp_path):
    with pytest.raises(RecordError, match=r"'cpu\.count'"):
        read(changed(good, tmp_path / "r.loadstone", "machine", "cpu.count", value))


@pytest.mark.parametrize("value", [*NO_NUMBERS, 12, 1.5, 2**63 - 1, "\x1b]0;owned\x07"])
def test_the_value_of_an_unknown_key_is_shown(value, good, tmp_path):
    run = read(changed(good, tmp_path / "r.loadstone", "machine", "quantum.cores", value))
    for form in FORMATS:
        assert registry.load_report(form)().render(run)


@pytest.mark.parametrize("key", [
    "wake_up.round_trip_held_ns", "stalling.pause_ns", "overhead.statement_ns", "fixed.asked_ns",
    "observer.counters_ns",
])  # fmt: skip
def test_a_calibration_s_figure_is_a_length_of_time(key, good, tmp_path):
    for value in (-1, 1e300):
        path = changed(good, tmp_path / "r.loadstone", "calibration", key, value)
        with pytest.raises(RecordError, match="calibration"):
            read(path)
        path.unlink()
    for value in (0, 5e-324, 1e18, None):
        run = read(changed(good, path, "calibration", key, value))
        for form in FORMATS:
            assert registry.load_report(form)().render(run)
        path.unlink()
