"""Hostile files where we read or write, and the account that put them there."""

import os
import sqlite3
from pathlib import Path

import pytest
from test_record import PLAN

from loadstone.engines.postgresql import server
from loadstone.errors import InputError, RecordError
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.record import Recorder
from loadstone.record.writer import refuse_existing
from loadstone.run import scratch
from loadstone.text.files import check_replaceable


def test_a_pipe_is_no_mark_and_nobody_waits_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    (tmp_path / "0badf00d").mkdir()
    os.mkfifo(tmp_path / "0badf00d" / scratch.MARK)
    assert list(scratch.found()) == []


def test_a_pipe_is_no_server_s_pid_file(tmp_path):
    os.mkfifo(tmp_path / "postmaster.pid")
    assert server._postmaster(tmp_path) is None
    server._forget_zombie(tmp_path)


def test_nothing_is_made_where_a_link_leads_to_nothing(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    with pytest.raises(RecordError, match="dangling link"):
        refuse_existing(link)
    with pytest.raises(InputError, match="dangling link"):
        check_replaceable(link, None, tmp_path)


def test_no_folder_is_made_for_a_record_but_the_usual_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = tmp_path / "a" / "b" / "r.loadstone"
    for begins in (refuse_existing, create):
        with pytest.raises(
            RecordError, match=r"b/r\.loadstone: there is no folder .*/a/b"
        ) as refused:
            begins(named)
        assert refused.value.hint == "make it, or name a record in another"
    assert not [*tmp_path.iterdir()]
    create(Path("runs/r.loadstone"))
    assert Path("runs/r.loadstone").is_file()


def create(path):
    Recorder.create(path, PLAN, {}, Presentation("X"), "0a1b2c3d", "1").end("interrupted", 1)


def test_a_record_that_could_not_begin_is_not_there(tmp_path, monkeypatch):
    def full(*given, **named):
        given[0].touch()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite3, "connect", full)
    path = tmp_path / "r.loadstone"
    with pytest.raises(RecordError, match="full") as refused:
        Recorder.create(path, PLAN, {}, Presentation("X"), "0a1b2c3d", "1")
    assert not path.exists()
    assert "start the run again" in refused.value.hint


@pytest.mark.parametrize("name", ["benchmark", "edition"])
def test_no_name_of_a_plan_can_be_taken_for_an_option(name):
    reported = getattr(PLAN, name)
    text = PLAN.to_json().replace(f'"{name}":"{reported}"', f'"{name}":"--record=x"')
    with pytest.raises(InputError, match="is not a valid name"):
        Plan.from_json(text)
