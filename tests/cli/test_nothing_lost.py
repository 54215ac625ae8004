"""Whatever ends a run, its record keeps every cell that had ended, and the run can be resumed."""

import os
import random
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from desk import Desk, children

from loadstone.errors import RecordError
from loadstone.machine.page_cache import wait_until_dead
from loadstone.record import Recorder, Run, read
from loadstone.run.planned import plan_from
from loadstone.run.runner import published_of

RECORD = ("--record", "r.loadstone", "--no-report")
RESUME = ("run", "--resume", "r.loadstone", "--no-report")
SMALL = ("run", "--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--no-overhead",
         "--no-limits",
         "--on", "sqlite", "--on", "duckdb", "--operation", "select-1%-heap",
         "--operation", "append-indexed", "--operation", "sum-partitions-heap")  # fmt: skip
UNITS = 6
"""Lines that the small run prints: three operations at two temperatures."""
SPIN_MAX = 5_000
"""Looks at the process after the last line that was read, some 15 µs each: an operation or two."""
SPIN_START_MAX = 100_000
"""The same where no line was read: start, loading and the first operation."""
DISK_BYTES = 1 << 20
LINE = re.compile(r"^1,000 (warm|cold) (\S+):", re.MULTILINE)


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--kills"))


@pytest.mark.slow
@pytest.mark.timeout(0)  # --kills decides how long it takes
def test_a_run_killed_anywhere_keeps_what_it_reported_and_is_resumed(
    desk: Desk, kills: int, chance: random.Random
):
    held: Run | None = None
    while kills:
        process = desk.start(*(SMALL + RECORD if held is None else RESUME))
        known = UNITS if held is None else len(held.pending) // 2
        reported, workers = killed_somewhere(process, chance.randint(0, known), chance)
        kills -= process.returncode != 0
        before, held = held, record_of(desk)
        if held is None:
            assert reported == set()
            continue
        assert reported <= units_of(held)
        if before is not None:
            assert held.plan == before.plan
            assert held.results[: len(before.results)] == before.results
        assert_no_cell_twice(desk.record)
        if not held.pending:
            desk.record.unlink()
            held = None
        if chance.random() < 0.5:  # else the next session meets them while they tidy up
            assert wait_until_dead(workers, limit_s=30)
    done = desk.run(*(SMALL + RECORD if held is None else RESUME))
    assert done.returncode == 0, done.stderr
    assert_complete(desk.record)
    # A run that was killed before it had a record cannot be resumed: `clean` sweeps its folder.
    assert all(path.name != desk.read().run_id for path in desk.scratch.iterdir())
    assert desk.run("clean", "--yes").returncode == 0
    assert desk.leftovers() == []


def killed_somewhere(
    process: subprocess.Popen[str], lines: int, chance: random.Random
) -> tuple[set[tuple[str, str]], list[int]]:
    """The cells that a run had reported on stderr when SIGKILL struck, and the workers that it left
    alone."""
    assert process.stderr is not None
    reported = "".join(process.stderr.readline() for _ in range(lines))
    for _ in range(chance.randrange(SPIN_MAX if lines else SPIN_START_MAX)):
        if not is_running(process):
            break
    # Stopped first, so that no worker is started between the look at them and the kill.
    stop(process)
    workers = children(process.pid) if is_running(process) else []
    process.kill()
    process.wait()
    with process.stderr:
        reported += process.stderr.read()
    assert "internal error" not in reported
    return units(reported), workers


@pytest.mark.slow
def test_a_record_has_one_runner_at_a_time(desk: Desk):
    process = desk.start(*SMALL, *RECORD)
    first_line(process)
    stop(process)
    try:
        refused = desk.run(*RESUME)
    finally:
        process.send_signal(signal.SIGCONT)
    process.communicate(timeout=90)
    assert refused.returncode == 4
    assert f"is being measured by process {process.pid}" in refused.stderr
    assert process.returncode == 0
    assert [session.outcome for session in desk.read().sessions] == ["complete"]
    assert_no_cell_twice(desk.record)
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_resumed_run_waits_for_the_workers_of_the_killed_one(desk: Desk):
    process = desk.start(*SMALL, *RECORD)
    first_line(process)
    worker = children(process.pid)[0]
    os.kill(worker, signal.SIGSTOP)
    process.kill()
    process.communicate()
    resumed = desk.start(*RESUME)
    try:
        assert first_line(resumed).startswith("waiting for the processes of a killed session")
    finally:
        os.kill(worker, signal.SIGCONT)
    _, reported = resumed.communicate(timeout=90)
    assert resumed.returncode == 0, reported
    assert_complete(desk.record)
    assert desk.leftovers() == []


@pytest.fixture
def disk(desk: Desk) -> Iterator[Path]:
    """A disk of its own, small and quick to fill."""
    folder = desk.folder / "disk"
    folder.mkdir()
    try:
        mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "loadstone", str(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_keeps_what_was_there(desk: Desk, disk: Path):
    record = disk / "r.loadstone"
    process = desk.start(*SMALL, "--record", str(record), "--no-report")
    reported = first_line(process)
    stop(process)
    fill(disk / "filler")
    process.send_signal(signal.SIGCONT)
    _, rest = process.communicate(timeout=90)
    assert process.returncode == 4, rest
    assert "cannot write the record" in rest
    assert "database or disk is full" in rest
    assert "--resume" in rest
    before = read(record)
    assert units(reported + rest) <= units_of(before)
    assert before.pending
    assert desk.leftovers() == []
    (disk / "filler").unlink()
    done = desk.run("run", "--resume", str(record), "--no-report")
    assert done.returncode == 0, done.stderr
    assert_complete(record)
    assert read(record).results[: len(before.results)] == before.results


GREEDY = ("run", "idm", "--on", "lode?mirror=idle", "--on", "sqlite", "--rows", "10000",
          "--no-limits", "--no-overhead", "--repeat", "2", "--rounds", "1", "--temperature", "warm",
          "--operation", "retrieve-heap", "--operation", "count-long", "--no-report",
          "--record", "r.loadstone")  # fmt: skip


@pytest.mark.slow
def test_an_engine_that_fills_the_disk_is_given_up_and_leaves_its_room(desk: Desk, disk: Path):
    """A mirror needs more than there is; what remains without its files is enough for the other."""
    mount("-o", "remount,size=16m", str(disk))
    done = desk.run(*GREEDY, LOADSTONE_SCRATCH=str(disk / "scratch"))
    assert done.returncode == 1, done.stderr
    run = desk.read()
    found = {name: {r.status for r in run.results if r.cell.variant == name}
             for name in run.plan.variants}  # fmt: skip
    assert found == {"lode?mirror=idle": {"failed"}, "sqlite": {"ok"}}
    assert all("no room left on the disk" in r.reason for r in run.results if r.status == "failed")
    assert [event.kind for event in run.events] == ["worker lost", "given up"]


@pytest.mark.slow
def test_a_run_that_found_no_space_can_be_started_again(desk: Desk, disk: Path):
    start = (*SMALL, "--record", str(disk / "r.loadstone"), "--no-report")
    fill(disk / "filler")
    refused = desk.run(*start)
    assert refused.returncode == 4
    assert "cannot write the record" in refused.stderr
    assert desk.leftovers() == []
    (disk / "filler").unlink()
    assert desk.run(*start).returncode == 0


def test_a_read_only_folder_is_reported_and_its_record_can_still_be_read(desk: Desk, disk: Path):
    record = begun(disk / "r.loadstone")
    before = record.read_bytes()
    mount("-o", "remount,ro", str(disk))
    for arguments in (("--resume", str(record)), (*SMALL[1:], "--record", str(disk / "new"))):
        refused = desk.run("run", *arguments)
        assert refused.returncode == 4, refused.stderr
        assert "cannot write the record" in refused.stderr
    shown = desk.run("report", str(record), "--format", "json")
    assert shown.returncode == 0, shown.stderr
    assert record.read_bytes() == before
    assert desk.leftovers() == []


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (newer, "has schema 99; this Loadstone reads 1"),
        (truncated, "malformed"),
        (empty, "is empty"),
    ],
)
def test_a_record_that_cannot_be_read_is_named_and_left_alone(desk: Desk, damage, message):
    damage(begun(desk.record))
    before = desk.record.read_bytes()
    for command in (RESUME, ("report", "r.loadstone")):
        refused = desk.run(*command)
        assert refused.returncode == 4
        assert message in refused.stderr
        assert "r.loadstone" in refused.stderr
        assert refused.stdout == ""
    assert desk.record.read_bytes() == before
    assert [path.name for path in desk.folder.iterdir()] == ["r.loadstone"]


def begun(path: Path) -> Path:
    """A record of a run that ended before its first cell did."""
    planned = plan_from(
        {"rows": [1000], "on": ["sqlite"], "operations": ["sum-partitions-heap"]}, None
    )
    reported = (published_of(planned.benchmark), planned.benchmark.presentation())
    Recorder.create(path, planned.plan, *reported, "0a1b2c3d", "1").end("interrupted", 1)
    return path


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def stop(process: subprocess.Popen[str]) -> None:
    """Returns when it has stopped, or was over already."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def is_running(process: subprocess.Popen[str]) -> bool:
    """Also where it is stopped; not where it is over but was not waited for."""
    return ") Z " not in Path(f"/proc/{process.pid}/stat").read_text()


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as stream, suppress(OSError):
        while True:
            stream.write(b"x" * 4096)


def record_of(desk: Desk) -> Run | None:
    """The record; None where the run was killed before it had one."""
    try:
        return desk.read()
    except RecordError as error:
        assert "there is no record" in error.message or "is empty" in error.message
        return None


def units(reported: str) -> set[tuple[str, str]]:
    """(temperature, operation) of every line that says that all cells of it have ended."""
    return set(LINE.findall(reported))


def units_of(run: Run) -> set[tuple[str, str]]:
    return {(result.cell.temperature, result.cell.operation) for result in run.results}


def assert_complete(record: Path) -> None:
    run = read(record)
    assert run.pending == ()
    assert {result.status for result in run.results} == {"ok"}
    assert_no_cell_twice(record)


def assert_no_cell_twice(record: Path) -> None:
    with closing(sqlite3.connect(record)) as connection:
        cells = "SELECT operation, variant, rows, temperature FROM cell"
        (twice,) = connection.execute(
            f"SELECT (SELECT count(*) FROM ({cells})) - (SELECT count(*) FROM (SELECT DISTINCT *"
            f" FROM ({cells})))"
        ).fetchone()
    assert twice == 0
