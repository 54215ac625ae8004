"""Cold is proved, or it is said why not: every way to be warm in secret is tried here."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from loadstone.machine import facts, page_cache

pytestmark = pytest.mark.machine

PAGES = 64
SIZE = PAGES * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(autouse=True)
def drop_caches(tmp_path, monkeypatch):
    """Nobody's page cache but our files' is dropped by tests."""
    switch = tmp_path / "drop_caches"
    monkeypatch.setattr(page_cache, "DROP_CACHES", switch)
    return switch


@pytest.fixture
def disk():
    """A folder on a file system whose pages can be evicted, open to every user."""
    for parent in (tempfile.gettempdir(), "/var/tmp", Path.cwd()):  # noqa: S108 - looked at first
        mount = facts.mount_of(Path(parent))
        if mount and mount.type in page_cache.PAGE_CACHED and os.access(parent, os.W_OK):
            folder = Path(tempfile.mkdtemp(dir=parent))
            folder.chmod(0o755)
            yield folder
            shutil.rmtree(folder)
            return
    pytest.skip("no folder lies on a file system with a page cache")


def written(path, size=SIZE):
    path.write_bytes(b"x" * size)
    return path


def test_files_are_evicted_and_seen_to_be_gone(disk):
    files = [written(disk / "a"), written(disk / "b", 1)]
    found = page_cache.evict_files(files, engine_dead=True)
    assert found == page_cache.Evidence(2, SIZE + 1, PAGES + 1, 0, found.method, True, True, "")
    assert found.method in {"cachestat", "mincore"}


def test_a_folder_stands_for_all_files_below_and_each_counts_once(disk):
    (disk / "base" / "1").mkdir(parents=True)
    file = written(disk / "base" / "1" / "relation")
    (disk / "link").symlink_to(file)
    (disk / "base" / "circle").symlink_to(disk)
    os.mkfifo(disk / "base" / "pipe")
    found = page_cache.evict_files([disk, str(file)], engine_dead=True)
    assert (found.files, found.bytes, found.proved) == (1, SIZE, True)


def test_files_removed_meanwhile_are_left_out(disk):
    found = page_cache.evict_files([disk / "removed.wal", written(disk / "a")], engine_dead=True)
    assert (found.files, found.proved) == (1, True)


def test_no_file_is_no_proof(disk):
    for paths in ([], [disk / "missing"], [disk]):
        found = page_cache.evict_files(paths, engine_dead=True)
        assert (found.files, found.resident_after, found.proved) == (0, None, False)
        assert "no file" in found.reason


def test_a_living_engine_is_no_proof(disk):
    found = page_cache.evict_files([written(disk / "a")])
    assert (found.resident_after, found.engine_dead, found.proved) == (0, False, False)
    assert "engine" in found.reason


HOLD = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
touched = sum(held[::4096])
print("held", flush=True)
sys.stdin.read()
"""


def held_elsewhere(file):
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_pages_that_another_process_has_mapped_are_no_proof(disk):
    file = written(disk / "a")
    with held_elsewhere(file) as holder:
        assert holder.stdout.readline() == b"held\n"
        found = page_cache.evict_files([file], engine_dead=True)
        holder.stdin.close()
    assert (found.resident_before, found.resident_after, found.proved) == (PAGES, PAGES, False)
    assert f"{PAGES} pages are still in memory" in found.reason
    assert page_cache.evict_files([file], engine_dead=True).proved


def test_everything_is_dropped_only_as_root_and_only_when_needed(disk, drop_caches, monkeypatch):
    file = written(disk / "a")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    page_cache.evict_files([file], engine_dead=True)
    assert not drop_caches.exists()
    with held_elsewhere(file) as holder:
        holder.stdout.readline()
        page_cache.evict_files([file], engine_dead=True)
        assert drop_caches.read_text() == "1\n"
        drop_caches.unlink()
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        page_cache.evict_files([file], engine_dead=True)
        assert not drop_caches.exists()
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(page_cache, "DROP_CACHES", disk / "missing" / "drop_caches")
        found = page_cache.evict_files([file], engine_dead=True)
        holder.stdin.close()
    assert "drop_caches: No such file" in found.reason
    assert not found.proved


def test_a_file_system_without_another_copy_is_no_proof(drop_caches, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    shared = Path("/dev/shm")  # noqa: S108 - the file system is the point
    mount = facts.mount_of(shared)
    if mount is None or mount.type != "tmpfs" or not os.access(shared, os.W_OK):
        pytest.skip("no tmpfs to write to")
    with tempfile.NamedTemporaryFile(dir=shared) as file:
        empty = page_cache.evict_files([file.name], engine_dead=True)
        found = page_cache.evict_files([written(Path(file.name))], engine_dead=True)
    assert (found.resident_after, found.proved) == (PAGES, False)
    assert "tmpfs" in found.reason
    assert not empty.proved, "nothing resident, but no cache that could be looked at either"
    assert not drop_caches.exists(), "would slow the machine for nothing"


@pytest.mark.parametrize(
    ("mount", "reported"),
    [
        (None, "is unknown"),
        (facts.Mount("zfs", "tank", "0:40", ()), "zfs"),
        (facts.Mount("nfs4", "server:/x", "0:41", ()), "nfs4"),
        (facts.Mount("ext4", "/dev/zram3", "252:3", ()), "itself memory"),
        (facts.Mount("ext4", "/dev/ram0", "1:0", ()), "itself memory"),
        (facts.Mount("ext4", "/dev/loop99p1", "7:99", ()), "direct-io"),
    ],
)
def test_caches_that_nobody_can_see_are_no_proof(disk, monkeypatch, mount, reported):
    monkeypatch.setattr(facts, "mount_of", lambda path: mount)
    found = page_cache.evict_files([written(disk / "a")], engine_dead=True)
    assert not found.proved
    assert reported in found.reason


def test_a_file_that_may_not_be_read_is_no_proof(disk):
    secret = written(disk / "secret")
    secret.chmod(0)
    (disk / "closed").mkdir(mode=0o700)
    written(disk / "closed" / "inner")
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    else:
        (disk / "closed").chmod(0)
    try:
        files = page_cache.evict_files([secret], engine_dead=True)
        folders = page_cache.evict_files([disk / "closed"], engine_dead=True)
    finally:
        os.seteuid(before)
        (disk / "closed").chmod(0o700)
    assert (files.files, files.resident_before, files.resident_after) == (1, None, None)
    assert (files.method, files.proved, folders.proved) == ("none", False, False)
    assert files.reason == "secret: Permission denied"
    assert "closed: Permission denied" in folders.reason


def test_a_refused_question_or_eviction_is_no_proof(disk, monkeypatch):
    def refuse(path):
        raise OSError(38, "Function not implemented", path)

    file = written(disk / "a")
    with monkeypatch.context() as patch:
        patch.setattr(page_cache, "resident_pages", refuse)
        found = page_cache.evict_files([file], engine_dead=True)
        assert (found.resident_after, found.method, found.proved) == (None, "none", False)
        assert "not implemented" in found.reason
    written(file)
    with monkeypatch.context() as patch:
        patch.setattr(page_cache, "evict", refuse)
        patch.setattr(os, "geteuid", lambda: 1000)
        found = page_cache.evict_files([file], engine_dead=True)
        assert (found.resident_after, found.proved) == (PAGES, False)
        assert "not implemented" in found.reason
    assert str(disk) not in found.reason, "folders may name people"


def test_one_stubborn_file_spoils_the_proof_of_all(disk, monkeypatch):
    files = [written(disk / name) for name in "abc"]
    ask = page_cache.resident_pages

    def refuse_one(path):
        if path.endswith("b"):
            raise OSError(5, "Input/output error", path)
        return ask(path)

    monkeypatch.setattr(page_cache, "resident_pages", refuse_one)
    found = page_cache.evict_files(files, engine_dead=True)
    assert (found.files, found.resident_after, found.proved) == (3, None, False)


def test_pages_that_go_only_at_the_second_attempt_are_gone(disk, monkeypatch):
    really, attempts = page_cache.evict, []

    def lazy(path):
        attempts.append(path)
        if len(attempts) > 1:
            really(path)

    monkeypatch.setattr(page_cache, "evict", lazy)
    assert page_cache.evict_files([written(disk / "a")], engine_dead=True).proved
    assert len(attempts) == 2


def test_a_device_is_no_file(disk):
    found = page_cache.evict_files([written(disk / "a"), "/dev/null"], engine_dead=True)
    assert not found.proved
    assert "null is a device" in found.reason


STACKED = """
set -e
mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/merged"
exec "$2" -c "$3" "$1/merged/file"
"""
LOOK = "import sys; from loadstone import _core; print(*_core.resident_pages(sys.argv[1]))"


def test_a_stacked_file_system_does_not_hide_pages(disk):
    """On overlayfs `cachestat` counts none of the pages that are there: containers, all of them."""
    for name in ("lower", "upper", "work", "merged"):
        (disk / name).mkdir()
    written(disk / "lower" / "file")
    # A mount of its own name space is gone with its process, whatever happens.
    script = ["unshare", "--mount", "sh", "-c", STACKED, "sh", str(disk), sys.executable, LOOK]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    found = subprocess.run(script, capture_output=True, text=True, check=False, env=environment)
    if found.returncode:
        pytest.skip(f"no overlay file system may be mounted: {found.stderr.strip()}")
    assert found.stdout.split() == [str(PAGES), str(PAGES), "mincore"]


def test_processes_that_ended_are_dead_and_a_living_one_is_not():
    living = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert page_cache.wait_until_dead([], limit_s=0)
    assert page_cache.wait_until_dead([ended.pid], limit_s=0)
    assert not page_cache.wait_until_dead([ended.pid, living.pid], limit_s=0)
    living.send_signal(signal.SIGKILL)
    # Not waited for: a zombie, whose memory and files are released all the same.
    assert page_cache.wait_until_dead([ended.pid, living.pid], limit_s=60)
    living.communicate()


def test_the_wait_ends_with_the_last_process():
    waiting = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(2)]
    for process in waiting:
        process.stdin.close()
    assert page_cache.wait_until_dead([process.pid for process in waiting], limit_s=60)
    for process in waiting:
        process.wait()


def test_a_process_that_cannot_be_watched_counts_as_alive(monkeypatch):
    def refuse(pid):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert not page_cache.wait_until_dead([os.getpid()], limit_s=60)
