"""A run in somebody's SQLite file leaves it as it was, however the run ends."""

import os
import re
import signal
from contextlib import closing

import pytest
from desk import Desk, children
from user_file import UserFile, user_file

from loadstone.machine.page_cache import wait_until_dead

CHOICES = ("--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--no-overhead",
           "--no-limits", "--no-report",
           "--operation", "select-1%-heap", "--operation", "append-indexed",
           "--record", "r.loadstone")  # fmt: skip
JOURNALS = ("delete", "wal")
NAME = r"loadstone_[0-9a-f]{8}_[0-9a-f]{8}"


@pytest.fixture(params=JOURNALS)
def user(request: pytest.FixtureRequest, desk: Desk) -> UserFile:
    analysed = request.param == "wal"
    return user_file(desk.folder / "user's db.sqlite", journal=request.param, analysed=analysed)


@pytest.mark.slow
def test_a_run_leaves_everything_as_it_was(desk: Desk, user: UserFile):
    before = user.fingerprint()
    done = desk.run("run", "--on", user.url, "--on", f"{user.url}?durability=none", *CHOICES)
    assert done.returncode == 0, done.stderr
    assert user.fingerprint() == before
    run = desk.read()
    # A cell of a machine that is too busy is invalid; its answers were right all the same.
    assert {result.status for result in run.results} <= {"ok", "disturbed", "invalid"}
    assert all(answer.right for result in run.results for answer in result.answers)
    asked = {term.variant: term.read_back for term in run.terms if term.key == "durability"}
    assert sorted(asked.values()) == ["full", "none"]
    assert desk.leftovers() == []
    assert "nothing to clean" in desk.run("clean", "--on", user.url).stdout


@pytest.mark.slow
def test_a_run_without_a_figure_says_so(desk: Desk):
    user = user_file(desk.folder / "u.db", analysed=False)
    before = user.fingerprint()
    done = desk.run("run", "--on", user.url, *CHOICES, "--time-limit", "0.00001")
    assert done.returncode == 8, done.stderr
    assert "censored" in {result.status for result in desk.read().results}
    assert user.fingerprint() == before
    assert desk.leftovers() == []


def killed(desk: Desk, user: UserFile) -> None:
    """Start a run and kill all of it once it has measured a cell: nobody is left to tidy up."""
    process = desk.start("run", "--on", user.url, *CHOICES)
    assert process.stderr is not None
    process.stderr.readline()
    pids = [process.pid, *children(process.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)  # so that no worker sees the end of another
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert wait_until_dead(pids, limit_s=30)


@pytest.mark.slow
def test_a_killed_run_is_swept_by_clean(desk: Desk, user: UserFile):
    before = user.fingerprint()
    killed(desk, user)
    left = user.fingerprint()
    assert left != before
    asked = desk.run("clean", "--on", user.url)
    shown = set(re.findall(r"loadstone_[0-9a-z_]+", asked.stdout))
    assert {name.split("_")[1] for name in shown} == {desk.read().run_id}
    assert user.fingerprint() == left
    done = desk.run("clean", "--on", user.url, "--yes")
    assert done.returncode == 0, done.stderr
    assert user.fingerprint() == before
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_killed_run_is_resumed_and_leaves_nothing(desk: Desk):
    user = user_file(desk.folder / "u.db", analysed=False)
    before = user.fingerprint()
    killed(desk, user)
    resume = ("run", "--resume", "r.loadstone", "--no-report")
    refused = desk.run(*resume)
    assert refused.returncode == 2
    assert "--on" in refused.stderr
    done = desk.run(*resume, "--on", user.url)
    assert done.returncode == 0, done.stderr
    assert desk.read().pending == ()
    assert user.fingerprint() == before


def ours(desk: Desk, name: str) -> bool:
    return name.split("_")[1] == desk.read().run_id


@pytest.mark.slow
def test_tables_that_a_run_cannot_remove_are_reported_and_recorded(desk: Desk):
    user = user_file(desk.folder / "u.db", analysed=False)
    before = user.fingerprint()
    process = desk.start("run", "--on", user.url, *CHOICES)
    assert process.stderr is not None
    reported = process.stderr.readline()
    process.send_signal(signal.SIGSTOP)
    (mine,) = [name for name in user.names() if re.fullmatch(NAME, name) and ours(desk, name)]
    with closing(user.open()) as db:
        db.execute(f"CREATE VIEW theirs AS SELECT * FROM {mine}_t")
    process.send_signal(signal.SIGCONT)
    reported += process.communicate()[1]
    assert process.returncode == 7, reported
    assert "view theirs" in reported
    assert f"loadstone clean --on {user.url}" in reported
    (event,) = [event for event in desk.read().events if event.kind == "left behind"]
    assert event.message in reported
    assert desk.run("clean", "--on", user.url, "--yes").returncode == 3
    with closing(user.open()) as db:
        db.execute("DROP VIEW theirs")
    assert desk.run("clean", "--on", user.url, "--yes").returncode == 0
    assert user.fingerprint() == before


@pytest.mark.slow
def test_a_run_is_safe_from_a_clean_that_does_not_see_its_folder(desk: Desk):
    user = user_file(desk.folder / "u.db", analysed=False)
    before = user.fingerprint()
    process = desk.start("run", "--on", user.url, *CHOICES)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGSTOP)  # or it is over before the other looks
    elsewhere = {"LOADSTONE_SCRATCH": str(desk.folder / "elsewhere")}
    done = desk.run("clean", "--on", user.url, "--yes", **elsewhere)
    assert done.returncode == 0, done.stderr
    assert "left alone" in done.stderr
    process.send_signal(signal.SIGCONT)
    reported = process.communicate()[1]
    assert process.returncode == 0, reported
    assert user.fingerprint() == before


def test_a_duckdb_file_gets_no_table_of_ours(desk: Desk):
    (desk.folder / "text.db").write_text("dear diary, " * 1000)
    url = f"duckdb://{desk.folder}/text.db"
    done = desk.run("run", *CHOICES, "--on", url)
    assert done.returncode == 2
    assert "no table of ours is made in a database of yours" in done.stderr
    cleaned = desk.run("clean", "--on", url)
    assert (cleaned.returncode, cleaned.stdout) == (0, "nothing to clean\n")
    assert (desk.folder / "text.db").read_text() == "dear diary, " * 1000


@pytest.mark.parametrize(
    ("url", "code", "message"),
    [
        ("sqlite://{}/absent.db", 3, "absent.db: No such file"),
        ("sqlite://{}/text.db", 3, "not a database"),
        ("sqlite://text.db", 2, "sqlite:///absolute/path.db"),
    ],
)
def test_a_file_that_is_no_database_is_named_and_stays_as_it_is(
    desk: Desk, url: str, code: int, message: str
):
    (desk.folder / "text.db").write_text("dear diary, " * 1000)
    for command in (("run", *CHOICES), ("clean",)):
        done = desk.run(*command, "--on", url.format(desk.folder))
        assert done.returncode == code, done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr
        assert (desk.folder / "text.db").read_text() == "dear diary, " * 1000
        assert {path.name for path in desk.folder.iterdir()} <= {"text.db", "scratch"}
        assert desk.leftovers() == []
