"""No file that a system reads is missing from the list of those that must be cold: every variant of
every engine and client is opened, loaded and asked, and what its processes then have open or
mapped, as the kernel shows it, is compared with the list."""

import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from engine_kinds import ENGINES
from samples import rows, said, stream, table
from test_clients import CONTENTS, build
from test_switch import CLIENTS, MAY_LACK, every_switch

from loadstone.clients.base import Client
from loadstone.engines import data_files
from loadstone.engines.base import Engine
from loadstone.engines.lode.engine import LodeEngine
from loadstone.engines.system import System
from loadstone.errors import UnsupportedError
from loadstone.machine import disks
from loadstone.machine.volume import KINDS, TWO, Volume, sweep
from loadstone.plan.variant import Variant, parse_variant

pytestmark = pytest.mark.slow

LEFT_OUT = (
    r"-shm$", r"-lock$", r"/server\.log$", r"/data/pg_wal/", r"^/dev/shm/PostgreSQL\.",
    r"/data/(ib_logfile\d+|aria_log(\.\d+|_control)|ibtmp1)$",
)  # fmt: skip
"""All that a system may have open though it is not listed: locks, what it writes and never reads
but at a start, temporary tables, and a server's shared memory, which ends with it."""
PROGRAMS = (sys.prefix, sys.base_prefix, "/usr/", "/lib", "/etc/", "/opt/")
"""The place where installed programs, their libraries and their tables of languages lie."""
MIRRORED = (
    "lode?mirror=idle",
    "lode?mirror=first&disk=direct",
    "lode?mirror=nearer&layout=columns",
)

File = tuple[int, int]
"""A device and a number on it: one file, whatever its names."""


def held(pid: int) -> dict[File, str]:
    """The regular files that a process has open or mapped, by any name; those that it executes
    and those that have no name any more left out."""
    found = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            kind = link.stat()
            found[kind.st_dev, kind.st_ino] = (kind, str(link.readlink()))
        except FileNotFoundError:
            continue  # closed since, as the one that lists this folder
    executed = set()
    for line in Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines():
        _, rights, _, _, number, *path = line.split(maxsplit=5)
        if number == "0" or not Path(path[0]).is_file():
            continue
        kind = Path(path[0]).stat()
        found[kind.st_dev, kind.st_ino] = (kind, path[0])
        if "x" in rights:
            executed.add((kind.st_dev, kind.st_ino))
    return {
        file: name
        for file, (kind, name) in found.items()
        if stat.S_ISREG(kind.st_mode) and kind.st_nlink and file not in executed
    }


def of(system: System) -> dict[File, str]:
    """The files that all processes of a system hold: this one, which embeds it, and its
    servers'."""
    pids = [os.getpid(), *system.processes()]
    found: dict[File, str] = {}
    for pid in pids:
        pids += () if pid == os.getpid() else children(pid)
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            found |= held(pid)
    return found


def children(pid: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, listed.read_text("ascii").split())
    return found


def identity(path: Path) -> File:
    kind = path.stat()
    return kind.st_dev, kind.st_ino


def missing(system: System, before: dict[File, str]) -> list[str]:
    """The names of files that the system holds and does not list."""
    listed = {identity(path) for path in system.files()}
    found = {file: name for file, name in of(system).items() if file not in before}
    assert not system.files() or any(file in listed for file in found), "it holds none of its own"
    return [
        name
        for file, name in found.items()
        if file not in listed
        and not name.startswith(PROGRAMS)
        and not any(re.search(pattern, name) for pattern in LEFT_OUT)
    ]


@contextmanager
def folder() -> Iterator[Path]:
    # Not in the closed folders of tmp_path: a server that drops to another user must get there.
    with TemporaryDirectory(prefix="loadstone-test-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def fill(system: System) -> None:
    system.start()
    if isinstance(system, Client):
        system.load()
        system.settle()
    elif isinstance(system, Engine):
        for design in (
            table("t", indexes=("unique2",)),
            table("c", organisation="clustered", key="unique2", tiebreaker="unique1"),
        ):
            system.load(design, stream(rows()))
        system.settle(["t", "c"])


def ask(system: System) -> None:
    """Read all; and change something, so that logs and journals are open, too."""
    if isinstance(system, Client):
        for measure in (*CONTENTS, "insert"):
            system.measure(measure, 1)
    elif isinstance(system, Engine):
        for name in ("t", "c"):
            assert len(system.fetch(said(system, f"range of t is {name} retrieve (t.all)"))) == 40
        system.run(said(system, "range of t is t replace t (unique1 = 7) where t.unique2 = 7"))


def assert_listed(system: System, before: dict[File, str]) -> None:
    """Both as it was loaded and as it is opened for a cold sample."""
    ask(system)
    assert missing(system, before) == [], system.variant.name
    system.stop()
    system.start()
    ask(system)
    assert missing(system, before) == [], system.variant.name


@contextmanager
def system_of(variant: Variant, kind: type[Engine] | None, place: Path) -> Iterator[System]:
    system = build(variant.name, place) if kind is None else kind(variant, place, "run1")
    try:
        yield system
    finally:
        system.remove()


def assert_every_value_listed(name: str, kind: type[Engine] | None) -> None:
    before = held(os.getpid())
    with folder() as place, system_of(Variant(name), kind, place) as plain:
        fill(plain)
        assert_listed(plain, before)
        variants = [variant for _, variant in every_switch(plain)]
        for variant in variants:
            if not plain.same_data(plain.variant, variant) or lacks(variant):
                continue
            plain.switch(variant)
            ask(plain)
            assert missing(plain, before) == [], variant.name
    for variant in variants:
        with folder() as place, system_of(variant, kind, place) as loaded:
            if not loaded.same_data(Variant(name), variant):
                fill(loaded)
                assert_listed(loaded, before)


def lacks(variant: Variant) -> bool:
    """Whether this machine may lack the one value that a variant requests, or OO1's program does:
    it maps no pages, so that nothing would be detected."""
    (asked,) = variant.tactics
    may_lack = (variant.engine, *asked) in MAY_LACK or asked == ("place", "remote")
    return may_lack or asked[0] == "detect"


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_an_engine_lists_every_file_that_it_reads(name: str) -> None:
    assert_every_value_listed(name, ENGINES[name])


@pytest.mark.parametrize("name", [name for name in CLIENTS if name != "memory"])
def test_a_client_lists_every_file_that_it_reads(name: str) -> None:
    assert_every_value_listed(name, None)


@pytest.mark.parametrize("text", MIRRORED)
def test_both_copies_of_a_mirrored_lode_are_listed(text: str) -> None:
    before = held(os.getpid())
    variant = parse_variant(text, frozenset(LodeEngine.tactics()))
    with folder() as place, system_of(variant, LodeEngine, place) as system:
        fill(system)
        assert_listed(system, before)
        volumes = [path for path in system.files() if path.name == "relations.lode"]
        assert len(volumes) == 2


class Forgetful(LodeEngine):
    """Leaves out the second copy."""

    def files(self) -> Sequence[Path]:
        return [path for path in super().files() if "-mirror" not in str(path)]


def test_a_second_copy_that_is_left_out_is_found() -> None:
    """The sample of what the comparison is for."""
    before = held(os.getpid())
    variant = parse_variant(MIRRORED[0], frozenset(LodeEngine.tactics()))
    with folder() as place, system_of(variant, Forgetful, place) as system:
        fill(system)
        ask(system)
        names = missing(system, before)
        assert names
        assert all("relations.lode-mirror" in name for name in names)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "scratch"])
@pytest.mark.parametrize("name", [*sorted(ENGINES), "client of lode"])
def test_files_on_disks_of_our_own_are_listed(name: str, kind: str, tmp_path: Path) -> None:
    why = disks.lacking()
    if why:
        pytest.skip(why)
    engine = ENGINES.get(name)
    mirror = (("mirror", "idle"),) if (name, kind) == ("lode", TWO) else ()
    before = held(os.getpid())
    with folder() as top:
        place = top / "worker"
        place.mkdir(mode=0o755)
        try:
            Volume(place, 400 << 20).use(kind, "all")
            variant = Variant(name.rpartition(" ")[2], mirror)
            with system_of(variant, engine, place) as system:
                fill(system)
                assert_listed(system, before)
                assert len({identity(path)[0] for path in system.files()}) == 1 + bool(mirror)
        except UnsupportedError as error:
            pytest.skip(error.message)
        finally:
            sweep(place)


def test_no_file_is_listed_that_lies_elsewhere() -> None:
    """In so deep a folder a server's socket and its lock are in one for temporary files, which may
    be memory: then nothing could be proved."""
    with folder() as top:
        place = top / ("x" * 60) / ("y" * 60)
        place.mkdir(parents=True)
        for each in (place.parent, place):
            each.chmod(0o755)
        with system_of(Variant("postgresql"), ENGINES["postgresql"], place) as system:
            fill(system)
            files = system.files()
            assert files
            assert all(path.resolve().is_relative_to(place.resolve()) for path in files)


def test_a_file_is_listed_once_whatever_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "relation").write_text("x")
    (tmp_path / "b").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a" / "circle").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "lock").write_text("x")
    (found,) = data_files.below([tmp_path, tmp_path / "a"], [tmp_path / "lock"])
    assert found.name == "relation"
    assert data_files.below([tmp_path / "gone"], []) == []


def test_a_folder_that_cannot_be_read_is_no_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    listed = os.listdir

    def refuse(path: str) -> list[str]:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "listdir", refuse)
    assert data_files.below([tmp_path], []) == [tmp_path / "closed"]
