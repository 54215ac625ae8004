"""Disks of our own under a worker's folder: as the kernel has them, kept over a new worker, cold
provably, and taken away however a run ends."""

import mmap
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loadstone.engines.lode.engine import LodeEngine
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import InputError, UnsupportedError
from loadstone.machine import disks, facts, page_cache
from loadstone.machine.opening import Opening
from loadstone.machine.volume import KINDS, MIRRORED, ONE, SHARED, TWO, Volume, sweep
from loadstone.plan.variant import Variant, parse_variant
from loadstone.protocol import messages
from loadstone.run import scratch
from loadstone.worker.statement_requests import StatementRequests

DISK_BYTES = 300 << 20


def of(text: str) -> Variant:
    kind = LodeEngine if text.startswith("lode") else SqliteEngine
    return parse_variant(text, frozenset(kind.tactics()))


def left(folder: Path) -> list[str]:
    """Mounts and devices of ours at a folder and below it."""
    mounts = [str(place) for place, _ in disks.mounted_at() if place.is_relative_to(folder)]
    loops = [disk for disk, file in disks.files_of_loops() if file.is_relative_to(folder)]
    return mounts + loops


@pytest.fixture
def folder(tmp_path: Path):
    """A worker's folder in one of a run, where such disks can be made."""
    why = disks.lacking()
    if why:
        pytest.skip(why)
    made = tmp_path / "sqlite"
    made.mkdir(mode=0o711)
    made.chmod(0o711)
    try:
        Volume(made, DISK_BYTES).use(ONE, "all")
    except UnsupportedError as error:
        pytest.skip(error.message)
    sweep(tmp_path)
    assert not left(tmp_path)
    yield made
    sweep(tmp_path)
    assert not left(tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "scratch"])
def test_disks_are_reported_by_the_kernel_and_found_by_the_next_worker(
    folder: Path, kind: str
) -> None:
    one = Volume(folder, DISK_BYTES)
    assert one.reported() == ("scratch", "all")
    assert one.use(kind, "all")
    (folder / "relation").write_text("kept")
    assert folder.stat().st_mode & 0o777 == 0o711
    other = Volume(folder)
    assert other.reported() == (kind, "all")
    assert not other.use(kind, "all")
    assert (folder / "relation").read_text() == "kept"
    other.end()
    assert other.reported() == ("scratch", "all")
    assert not left(folder.parent)
    assert list(folder.parent.iterdir()) == [folder]


def test_a_mirror_survives_the_loss_of_either_disk(folder: Path, tmp_path: Path) -> None:
    """It is one: the contents are whole with the other disk alone."""
    volume = Volume(folder, DISK_BYTES)
    volume.use(MIRRORED, "all")
    contents = os.urandom(8 << 20)
    (folder / "relation").write_bytes(contents)
    files = [folder.with_name(f"sqlite.disk-{number}") for number in (1, 2)]
    disks.run("umount", str(folder))
    for file in [file.rename(tmp_path / f"kept-{n}") for n, file in enumerate(files)]:
        disk = disks.attach(file, partitions=False)
        try:
            disks.run("mount", "-o", "degraded,ro", f"/dev/{disk}", str(folder))
            assert (folder / "relation").read_bytes() == contents
        finally:
            disks.failed("umount", str(folder))
            disks.detach(disk)
            file.unlink()


@pytest.mark.parametrize("kind", [ONE, MIRRORED, SHARED, TWO])
def test_cold_is_proved_on_all_disks(folder: Path, kind: str, monkeypatch) -> None:
    volume = Volume(folder, DISK_BYTES)
    volume.use(kind, "all")
    files = [folder / "relation"]
    if kind == TWO:
        files.append(volume.second / "copy")
    for file in files:
        file.write_bytes(bytes(1 << 20))
    evidence = page_cache.evict_files(files, engine_dead=True)
    assert evidence.proved, evidence.reason
    assert evidence.files == len(files)
    last = disks.of_mount(volume.second if kind == TWO else folder)[-1]
    asked = facts.loop_is_direct
    monkeypatch.setattr(facts, "loop_is_direct", lambda disk: disk != last and asked(disk))
    evidence = page_cache.evict_files(files, engine_dead=True)
    assert not evidence.proved
    assert f"{last}, whose backing file is cached" in evidence.reason


def test_a_bandwidth_is_read_back_and_holds_for_both_disks_of_a_controller(folder: Path) -> None:
    try:
        for kind, count in ((MIRRORED, 2), (SHARED, 1)):
            volume = Volume(folder, DISK_BYTES)
            volume.use(kind, "40")
            assert volume.reported() == (kind, "40")
            devices = {disks.whole(disk) for disk in disks.of_mount(folder)}
            assert len(devices) == count
            assert volume.use(kind, "80")
            assert volume.reported() == (kind, "80")
            disks.limit(sorted(devices)[:1], "20")
            assert volume.reported() == (kind, "unequal" if count == 2 else "20")
            volume.end()
            assert disks.limit_reported(devices) == "all"
    except UnsupportedError as error:
        pytest.skip(error.message)


def test_a_disk_gives_no_more_than_its_bandwidth(folder: Path) -> None:
    volume = Volume(folder, DISK_BYTES)
    try:
        volume.use(ONE, "20")
    except UnsupportedError as error:
        pytest.skip(error.message)
    relation = folder / "relation"
    relation.write_bytes(os.urandom(20 << 20))
    assert page_cache.evict_files([relation], engine_dead=True).resident_after == 0
    begin_ns = page_cache.clock_ns()
    assert len(relation.read_bytes()) == 20 << 20
    assert page_cache.clock_ns() - begin_ns > 500_000_000


def test_a_worker_reports_the_disks_of_its_variant_and_takes_them_away(folder: Path) -> None:
    requests = StatementRequests(lambda _: None)
    opened = requests.open(messages.Open(of("sqlite?volume=mirrored"), str(folder), "r1"))
    try:
        assert (opened.terms["volume"], opened.terms["bandwidth"]) == ("mirrored", "all")
        assert facts.mount_of(folder / "x").type == "btrfs"
        switched = requests.switch(messages.Switch(of("sqlite?volume=mirrored&bandwidth=30")))
        assert switched.terms["bandwidth"] == "30"
        requests.export_state()
        successor = StatementRequests(lambda _: None)
        opened = successor.open(messages.Open(of("sqlite?volume=mirrored"), str(folder), "r1"))
        assert opened.terms["bandwidth"] == "all"
        requests = successor
    finally:
        requests.remove()
    assert not left(folder.parent)


def test_the_second_copy_of_lode_lies_on_the_second_disk(folder: Path) -> None:
    requests = StatementRequests(lambda _: None)
    opened = requests.open(
        messages.Open(of("lode?volume=two-disks&mirror=idle"), str(folder), "r1")
    )
    try:
        assert (opened.terms["volume"], opened.terms["mirror"]) == ("two-disks", "idle")
        files = requests._opened().files()
        assert len({file.stat().st_dev for file in files}) == 2
    finally:
        requests.remove()
    assert not left(folder.parent)


def test_a_direct_read_of_two_disks_is_direct(folder: Path) -> None:
    """Into memory that was never touched: such reads btrfs takes from its cache."""
    volume = Volume(folder, DISK_BYTES)
    volume.use(TWO, "all")
    relation = folder / "relation"
    relation.write_bytes(os.urandom(1 << 20))
    assert page_cache.evict_files([relation], engine_dead=True).proved
    descriptor = os.open(relation, os.O_RDONLY | os.O_DIRECT)
    try:
        assert os.readv(descriptor, [mmap.mmap(-1, 1 << 20)]) == 1 << 20
    finally:
        os.close(descriptor)
    assert page_cache.resident([relation]) == 0


def test_a_mirrored_lode_is_cold_when_it_was_opened(folder: Path) -> None:
    engine = LodeEngine(of("lode?volume=two-disks&mirror=idle"), folder, "r1")
    Volume(folder, DISK_BYTES).use(TWO, "all")
    engine.start()
    engine.run("create r (a = i4)")
    engine.stop()
    opening = Opening()
    engine.start()
    opened = opening.ended(engine, engine.files(), page_cache.resident(engine.files()))
    assert opened.kept_bytes is not None
    assert opened.kept_bytes < 1 << 20
    engine.remove()


KILLED = """
import os, signal, sys
from pathlib import Path
from loadstone.machine.opening import Opening
from loadstone.machine.volume import Volume
from loadstone.run.scratch import claimed
with claimed("r1") as claim:
    folder = claim.path / "sqlite"
    folder.mkdir()
    Volume(folder, 300 << 20).use(sys.argv[1], "all")
    print(claim.path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", [MIRRORED, SHARED, TWO])
def test_clean_finds_the_disks_of_a_killed_run(
    folder: Path, kind: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path / "scratch"))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, kind], stdout=subprocess.PIPE, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    path = Path(killed.stdout.strip())
    assert left(path)
    (found,) = scratch.found()
    assert (found.path, found.alive) == (path, False)
    assert scratch.release(path)
    assert not path.exists()
    assert not left(path)


def test_a_full_disk_is_the_engines_error_and_leaves_nothing(folder: Path) -> None:
    volume = Volume(folder, DISK_BYTES)
    volume.use(MIRRORED, "all")
    with pytest.raises(OSError, match="No space left"), (folder / "x").open("wb") as file:
        for _ in range(2 * DISK_BYTES >> 20):
            file.write(os.urandom(1 << 20))
    volume.end()
    assert not left(folder.parent)


def test_a_scratch_folder_without_room_says_so(folder: Path, monkeypatch) -> None:
    usage = type("usage", (), {"free": 500 << 20})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(UnsupportedError, match="do not fit: 500 MiB are free"):
        Volume(folder).use(MIRRORED, "all")
    assert list(folder.parent.iterdir()) == [folder]


def test_the_parts_of_a_half_made_volume_are_taken_away(folder: Path, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise UnsupportedError("mkfs.btrfs refused: no", hint="")

    monkeypatch.setattr(disks, "mount", broken)
    with pytest.raises(UnsupportedError, match=r"mkfs\.btrfs refused"):
        Volume(folder, DISK_BYTES).use(MIRRORED, "all")
    assert list(folder.parent.iterdir()) == [folder]
    assert not left(folder.parent)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("os.geteuid", lambda: 1000), "only root"),
        (
            ("shutil.which", lambda _: None),
            "not installed: losetup, addpart, mkfs.btrfs, mkfs.ext4, mount, umount",
        ),
    ],
)
def test_a_system_or_a_user_without_such_disks_is_reported(
    change, said, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(*change)
    with pytest.raises(UnsupportedError, match=said):
        Volume(tmp_path).use(MIRRORED, "all")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sqlite?volume=tape", "cannot set volume to 'tape'"),
        ("sqlite?bandwidth=50", "bandwidth limits disks of ours"),
        ("sqlite?bandwidth=50&volume=scratch", "bandwidth limits disks of ours"),
        ("sqlite:////tmp/x.db?volume=mirrored", "cannot be set for a database of yours"),
        ("lode?disk=direct&volume=mirrored", "btrfs reads through its cache"),
        ("lode?profile=idm-nodac&volume=one-disk", "btrfs reads through its cache"),
    ],
)
def test_values_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        (LodeEngine if text.startswith("lode") else SqliteEngine).check(of(text))
