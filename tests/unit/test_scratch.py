"""Scratch folders: ours alone, marked from first to last, and no other is touched."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loadstone.errors import InputError, RecordError
from loadstone.run import scratch


@pytest.fixture(autouse=True)
def parent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(folder))
    return folder


def test_a_run_has_its_folder_alone_and_leaves_none(parent: Path) -> None:
    with scratch.claimed("one") as claim:
        (claim.path / "file").write_text("x")
        assert [one.alive for one in scratch.found()] == [True]
        with pytest.raises(RecordError, match="is being measured"), scratch.claimed("one"):
            pass
        assert (claim.path / "file").exists()
    assert list(parent.iterdir()) == []


def test_a_relative_parent_is_made_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOADSTONE_SCRATCH", "here")
    with scratch.claimed("one") as claim:
        assert claim.path == tmp_path / "here" / "one"


def test_a_mark_that_is_a_link_overwrites_nothing(parent: Path, tmp_path: Path) -> None:
    (parent / "one").mkdir(parents=True, mode=0o711)
    precious = tmp_path / "precious"
    precious.write_text("dear diary")
    (parent / "one" / scratch.MARK).symlink_to(precious)
    with scratch.claimed("one"):
        pass
    assert precious.read_text() == "dear diary"


def test_a_folder_that_is_a_link_is_refused(parent: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "theirs").write_text("x")
    parent.mkdir()
    (parent / "one").symlink_to(elsewhere)
    with pytest.raises(InputError), scratch.claimed("one"):
        pass
    assert [path.name for path in elsewhere.iterdir()] == ["theirs"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
@pytest.mark.parametrize("what", ["parent", "folder"])
def test_a_folder_of_somebody_else_is_refused(parent: Path, what: str) -> None:
    (parent / "one").mkdir(parents=True, mode=0o755)
    os.chown(parent if what == "parent" else parent / "one", 12345, 12345)
    with (
        pytest.raises(InputError, match=r"accessible to other users|is not safe"),
        scratch.claimed("one"),
    ):
        pass
    assert list((parent / "one").iterdir()) == []


@pytest.mark.parametrize(("mode", "taken"), [(0o777, False), (0o770, False), (0o1777, True)])
def test_a_parent_that_others_may_write_to_is_refused(parent: Path, mode: int, taken: bool) -> None:
    parent.mkdir()
    parent.chmod(mode)
    if taken:
        with scratch.claimed("one"):
            pass
        return
    with pytest.raises(InputError, match="is not safe"), scratch.claimed("one"):
        pass


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "1", "null", "", '{"owner": "one"', '{"owner": 1, "pid": 1, "boot_id": ""}',
     '{"owner": "one", "pid": "1", "boot_id": ""}', '{"owner": "../x", "pid": 1, "boot_id": ""}',
     "[" * 4000],
)  # fmt: skip
def test_a_mark_that_says_nothing_is_none(parent: Path, text: str) -> None:
    (parent / "one").mkdir(parents=True)
    (parent / "one" / scratch.MARK).write_text(text)
    assert list(scratch.found()) == []
    assert not scratch.release(parent / "one")
    assert (parent / "one" / scratch.MARK).read_text() == text


def test_a_folder_in_which_a_worker_still_works_keeps_its_mark(
    parent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with scratch.claimed("one") as claim:
        worker = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[claim.lock])
    assert "still used" in capsys.readouterr().err
    (left,) = scratch.found()
    assert left.alive  # by its worker alone
    assert not scratch.release(left.path)
    assert (left.path / scratch.MARK).exists()
    worker.communicate(b"")
    assert scratch.release(left.path)
    assert list(parent.iterdir()) == []


def test_a_folder_that_cannot_be_removed_keeps_its_mark(parent: Path) -> None:
    mounted = parent / "one" / "disk"
    with scratch.claimed("one") as claim:
        mounted.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "x", str(mounted)], check=False)
        if done.returncode:
            pytest.skip("no file system can be mounted here")
        path = claim.path
    try:
        assert [one.owner for one in scratch.found()] == ["one"]
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
    assert scratch.release(path)


def test_a_process_whose_number_was_given_to_another_does_not_live(parent: Path) -> None:
    (parent / "one").mkdir(parents=True)
    mark = {"owner": "one", "pid": os.getpid(), "boot_id": scratch._boot_id()}
    for started, alive in ((scratch._started(os.getpid()), True), ("1", False)):
        (parent / "one" / scratch.MARK).write_text(json.dumps({**mark, "started": started}))
        assert [one.alive for one in scratch.found()] == [alive]


CLAIMER = """
import os, signal, sys
from loadstone.run import scratch
EVENTS = "os.mkdir os.chmod open os.rename os.remove os.rmdir shutil.rmtree".split()
def stop(event, arguments):
    # Killed at the n-th call that touches the file system.
    global left
    if event in EVENTS:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
with scratch.claimed("warm"):
    pass
left = int(sys.argv[1])
sys.addaudithook(stop)
with scratch.claimed("one") as claim:
    (claim.path / "data").mkdir()
    (claim.path / "data" / "file").write_text("x")
print("done")
"""


@pytest.mark.slow
def test_a_runner_killed_at_any_step_leaves_nothing_that_is_not_found(parent: Path) -> None:
    for step in range(1, 100):
        command = [sys.executable, "-c", CLAIMER, str(step)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        left = list(scratch.found())
        assert {one.path for one in left} == set(parent.iterdir())
        for one in left:
            assert not one.alive
            assert scratch.release(one.path)
        assert list(parent.iterdir()) == []
        if done.returncode == 0:
            assert "done" in done.stdout
            assert step > 10
            return
        assert done.returncode == -signal.SIGKILL, done.stderr
    raise AssertionError("it never ended")
