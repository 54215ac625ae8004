"""`loadstone doctor` as a user runs it: one screen on stdout, data for scripts, nothing left."""

import json

import pytest

from loadstone.commands.doctor import COLUMNS_MAX
from loadstone.diagnostics import Exit


@pytest.mark.slow
def test_one_screen_on_stdout_and_nothing_left(desk):
    done = desk.run("doctor")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= COLUMNS_MAX
    assert lines[0].startswith("Runs are possible here")
    assert desk.leftovers() == []
    assert list(desk.folder.iterdir()) == []


@pytest.mark.slow
def test_json_holds_the_same_checks_as_the_screen(desk):
    done = desk.run("doctor", "--format", "json")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    found = json.loads(done.stdout)
    assert found["possible"] is True
    names = [check["name"] for check in found["checks"]]
    assert {"clock", "wake-up", "eviction", "sqlite", "private server"} <= set(names)
    assert len(names) == len(set(names))
    assert all(check["value"] and check["consequence"] for check in found["checks"])


def test_no_place_to_work_in_is_an_exit_code_and_a_remedy(desk):
    (desk.folder / "file").touch()
    done = desk.run("doctor", LOADSTONE_SCRATCH=str(desk.folder / "file" / "scratch"))
    assert (done.returncode, done.stderr) == (Exit.INPUT, "")
    assert "LOADSTONE_SCRATCH" in done.stdout
    assert done.stdout.splitlines()[0] == "No run is possible here."


@pytest.mark.slow
def test_a_doctor_who_is_killed_leaves_what_clean_finds(desk):
    from loadstone.run import scratch

    made = desk.scratch / "doctor1"
    made.mkdir(parents=True)
    (made / scratch.MARK).write_text('{"owner": "doctor1", "pid": 1, "boot_id": "another"}')
    assert "doctor1" in desk.run("clean", "--yes").stdout
    assert desk.leftovers() == []
