"""A share of a processor: read back from the kernel, kept by what is started, given back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loadstone import registry
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import InputError, UnsupportedError
from loadstone.machine import processor_share
from loadstone.machine.processor_share import PREFIX, Controller, ProcessorShare
from loadstone.plan.variant import Variant, parse_variant
from loadstone.protocol import messages
from loadstone.run.scratch import claimed
from loadstone.worker.statement_requests import StatementRequests


def of(text: str) -> Variant:
    return parse_variant(text, frozenset(SqliteEngine.tactics()))


@pytest.fixture
def controller():
    try:
        found = processor_share.found()
    except UnsupportedError as error:
        pytest.skip(error.message)
    if not os.access(found.root, os.W_OK):
        pytest.skip("the control groups here are not writable by this user")
    return found


@pytest.fixture
def share(controller):
    one = ProcessorShare()
    yield one
    one.end()


def test_a_share_is_read_back_from_the_kernel_and_inherited(controller, share):
    assert share.reported() == "all"
    assert share.limit(40)
    assert share.reported() == "40"
    assert not share.limit(40)
    child = subprocess.run(["cat", "/proc/self/cgroup"], capture_output=True, text=True, check=True)
    assert f"{PREFIX}{os.getpid()}" in child.stdout
    assert share.limit(75)
    assert share.reported() == "75"
    group = controller.root / f"{PREFIX}{os.getpid()}"
    assert group.is_dir()
    assert share.limit(None)
    assert share.reported() == "all"
    assert not group.exists()


def test_the_kernels_share_counts_and_not_the_one_asked(controller, share):
    share.limit(40)
    controller.limit(controller.root / f"{PREFIX}{os.getpid()}", 20)
    assert share.reported() == "20"
    home = controller.root / "cgroup.procs"
    home.write_text(str(os.getpid()))
    assert share.reported() == "all"


def test_a_limited_process_is_stopped_in_between(controller, share):
    """Half a second of computing at a fifth of a processor: the kernel counts its stops."""
    share.limit(20)
    spin = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", spin], check=True)
    reported = (controller.root / f"{PREFIX}{os.getpid()}" / "cpu.stat").read_text().split()
    assert int(reported[reported.index("nr_throttled") + 1]) > 0


def test_the_group_of_a_killed_process_is_swept(controller, share, tmp_path: Path, monkeypatch):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True, check=True)  # fmt: skip
    left = controller.root / f"{PREFIX}{ended.stdout.strip()}"
    left.mkdir()
    share.limit(50)
    assert not left.exists()
    left.mkdir()
    own = controller.root / f"{PREFIX}{os.getpid()}"
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    with claimed("r1"):
        assert left.exists()
    assert not left.exists()
    assert own.exists(), "it is in use"


def test_the_second_version_of_control_groups_has_one_file(tmp_path: Path):
    controller = Controller(tmp_path, 2)
    controller.limit(tmp_path, 25)
    assert (tmp_path / "cpu.max").read_text() == "1000 4000"
    assert controller.hundredths(tmp_path) == 25
    (tmp_path / "cpu.max").write_text("max 100000")
    assert controller.hundredths(tmp_path) is None


def test_a_system_without_such_groups_says_so(tmp_path: Path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\n")
    monkeypatch.setattr(processor_share, "MOUNTS", mounts)
    with pytest.raises(UnsupportedError, match="no control groups"):
        ProcessorShare().limit(50)


def test_a_worker_reports_the_share_of_its_variant_and_switches_it(controller, tmp_path: Path):
    requests = StatementRequests(lambda _: None)
    opened = requests.open(messages.Open(of("sqlite?processor=30"), str(tmp_path), "r1"))
    try:
        assert opened.terms["processor"] == "30"
        for text, reported in (("sqlite", "all"), ("sqlite?processor=60", "60")):
            switched = requests.switch(messages.Switch(of(text)))
            assert switched.terms["processor"] == reported
    finally:
        requests.remove()
    assert not (controller.root / f"{PREFIX}{os.getpid()}").exists()


@pytest.mark.parametrize("name", ["sqlite", "lode", "duckdb", "lmdb", "postgresql"])
def test_a_calling_program_is_asked_for_no_tactic_of_the_worker(name: str, tmp_path: Path):
    kind = registry.load_system("clients", name)
    text = f"{name}?processor=30&volume=one-disk&bandwidth=50"
    client = kind(parse_variant(text, frozenset(kind.tactics())), tmp_path, "r1")
    assert list(client.program_tactics()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sqlite?processor=0", "cannot set processor to '0'"),
        ("sqlite?processor=101", "its maximum is 100"),
        ("sqlite?processor=half", "cannot set processor"),
        ("sqlite:////tmp/x.db?processor=50", "cannot be set for a database of yours"),
    ],
)
def test_values_that_are_refused(text: str, said: str):
    with pytest.raises(InputError, match=said):
        SqliteEngine.check(of(text))
