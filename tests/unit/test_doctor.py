"""Each check of the doctor on machines that nobody has to own: what it says and advises."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from loadstone import doctor
from loadstone.commands import doctor as command
from loadstone.diagnostics import Exit
from loadstone.doctor import disk, engines, kernel, memory, processor
from loadstone.doctor.check import Check, Verdict
from loadstone.engines.capabilities import UrlUse
from loadstone.engines.postgresql import probe
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.system import Probe
from loadstone.errors import EngineError, InputError, NotInstalledError
from loadstone.machine import wake_up
from loadstone.machine.page_cache import Evidence
from loadstone.machine.wake_up import RoundTrips

GOOD = {
    "clock.source": "tsc",
    "clock.resolution_ns": 20,
    "clock.cost_ns": 23.3,
    "cpu.count_usable": 4,
    "cpu.quota": None,
    "cpu.governor": "performance",
    "idle_states.driver": "intel_idle",
    "virtualisation": "none",
    "load_average": 0.1,
    "memory.available_bytes": 8 << 30,
    "memory.limit_bytes": None,
    "swap.used_bytes": 0,
    "huge_pages.total": 0,
    "transparent_huge_pages": "madvise",
    "filesystem.type": "ext4",
    "filesystem.free_bytes": 50 << 30,
    "disk.read_ahead_bytes": 128 << 10,
}
BAD = {
    "clock.source": "acpi_pm",
    "clock.resolution_ns": 4_000,
    "clock.cost_ns": 1_900.0,
    "cpu.count_usable": 1,
    "cpu.quota": 0.5,
    "cpu.governor": "powersave",
    "idle_states.driver": "intel_idle",
    "virtualisation": "kvm",
    "container": "docker",
    "load_average": 12.5,
    "memory.available_bytes": 100 << 20,
    "memory.limit_bytes": 64 << 20,
    "swap.used_bytes": 1,
    "huge_pages.total": 0,
    "transparent_huge_pages": "always",
    "filesystem.type": "tmpfs",
    "filesystem.free_bytes": 1 << 20,
    "disk.read_ahead_bytes": 8 << 20,
}
PROVED = Evidence(1, 64 << 20, 16_384, 0, "cachestat", engine_dead=True, proved=True, reason="")
STAYED = replace(PROVED, resident_after=16_384, proved=False, reason="files lie on tmpfs")
UNSEEN = replace(STAYED, resident_before=None, resident_after=None, method="none")
PROBE = disk.DiskProbe(10**8, 10**8, 150_000.0, (64 << 20, 64 << 20), PROVED)
MOVED = (64 << 20, 64 << 20)
REFUSED = "/dev/cpu_dma_latency: Permission denied; run as root, or let this user write to it"


def all_of(facts, probe, *, held, trips, uring, traffic, cpu_ns=10**8):
    """Every check that needs no engine, by name."""
    found = [
        processor.clock(facts),
        processor.processors(facts),
        processor.governor(facts),
        processor.virtualisation(facts),
        processor.idle_states(facts, held=held, reason="" if held else REFUSED, exists=True),
        processor.wake_up(trips),
        memory.memory(facts),
        memory.huge_pages(facts),
        kernel.cpu_time(cpu_ns),
        kernel.io_uring(uring),
        disk.scratch_folder(facts),
        disk.eviction(probe.evidence),
        disk.read_ahead(facts),
        kernel.storage_traffic(traffic, MOVED),
        disk.bandwidth(probe),
        disk.sync_latency(probe),
    ]
    return {check.name: check for check in found}


@pytest.fixture
def good():
    trips = RoundTrips(60_000.0, 18_000.0)
    return all_of(GOOD, PROBE, held=True, trips=trips, uring=None, traffic=MOVED)


@pytest.fixture
def bad():
    probe = disk.DiskProbe(10**7, 10**7, 3_000.0, (0, 0), STAYED)
    trips = RoundTrips(60_000.0, None)
    return all_of(
        BAD, probe, held=False, trips=trips, uring=errno.EPERM, traffic=(0, 0), cpu_ns=None
    )


def test_a_good_machine_needs_nothing(good):
    assert {check.verdict for check in good.values()} == {Verdict.OK}
    assert not any(check.remedy or check.prevents for check in good.values())


def test_a_bad_machine_fails_every_check_and_each_says_what_to_do(bad):
    assert [name for name, check in bad.items() if check.verdict is Verdict.OK] == []
    assert [name for name, check in bad.items() if not check.remedy] == ["disk bandwidth"]


def test_a_machine_that_shows_nothing_has_no_figures():
    shown = [
        check({})
        for check in (
            processor.clock,
            processor.governor,
            processor.virtualisation,
            memory.memory,
            memory.huge_pages,
            disk.read_ahead,
        )
    ]
    shown += [processor.wake_up(None), kernel.cpu_time(None), kernel.storage_traffic(None, MOVED)]
    assert {check.verdict for check in shown} == {Verdict.ABSENT}
    assert not any(letter.isdigit() for check in shown for letter in check.value)


@pytest.mark.parametrize(
    ("check", "fact", "value"),
    [
        (processor.clock, "clock.resolution_ns", 2_000),
        (processor.clock, "clock.cost_ns", 500.0),
        (processor.processors, "cpu.count_usable", 1),
        (processor.processors, "cpu.quota", 1.5),
        (processor.processors, "load_average", 3.0),
        (processor.governor, "cpu.governor", "ondemand"),
        (processor.virtualisation, "virtualisation", "unnamed"),
        (memory.memory, "memory.available_bytes", 1 << 30),
        (memory.memory, "memory.limit_bytes", 1 << 30),
        (memory.memory, "swap.used_bytes", 4096),
        (memory.huge_pages, "transparent_huge_pages", "always"),
        (memory.huge_pages, "transparent_huge_pages", "never"),
        (disk.scratch_folder, "filesystem.free_bytes", 1 << 20),
    ],
)
def test_one_fact_alone_limits(check, fact, value):
    assert check(GOOD).verdict is Verdict.OK
    assert check({**GOOD, fact: value}).verdict is Verdict.LIMITED


def test_reserved_huge_pages_stand_in_for_transparent_ones():
    reserved = {"transparent_huge_pages": "never", "huge_pages.total": 512}
    assert memory.huge_pages(reserved).verdict is Verdict.OK


def test_huge_pages_given_unasked_are_another_matter_than_none():
    always, never = (
        memory.huge_pages({"transparent_huge_pages": word}) for word in ("always", "never")
    )
    assert always.consequence != never.consequence


def test_idle_states_report_a_missing_device_from_a_forbidden_one():
    forbidden = processor.idle_states(GOOD, held=False, reason=REFUSED, exists=True)
    missing = processor.idle_states(GOOD, held=False, reason="not found", exists=False)
    assert (forbidden.verdict, forbidden.remedy) == (Verdict.LIMITED, REFUSED)
    assert missing.verdict is Verdict.ABSENT
    assert "cpu_dma_latency" in missing.value


def test_the_device_is_looked_for_below_the_root(tmp_path):
    assert not kernel.latency_device_exists(tmp_path)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/cpu_dma_latency").touch()
    assert kernel.latency_device_exists(tmp_path)


@pytest.mark.parametrize(("idle_ns", "words"), [(60e3, "makes it 3.0"), (21e3, "no difference")])
def test_the_cost_of_sleep_is_a_ratio_where_there_is_one(idle_ns, words):
    assert words in processor.wake_up(RoundTrips(idle_ns, 20e3)).consequence


def test_round_trips_leave_the_processors_as_they_were():
    before = wake_up.os.sched_getaffinity(0)
    trips = wake_up.round_trips()
    assert wake_up.os.sched_getaffinity(0) == before
    assert (trips is None) == (len(before) < 2)


def test_one_processor_has_no_round_trips(monkeypatch):
    monkeypatch.setattr(wake_up.os, "sched_getaffinity", lambda pid: {0})
    assert wake_up.round_trips() is None


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [(PROVED, Verdict.OK), (STAYED, Verdict.LIMITED), (UNSEEN, Verdict.ABSENT)],
)
def test_only_proof_makes_eviction_ok(evidence, verdict):
    check = disk.eviction(evidence)
    assert check.verdict is verdict
    assert evidence.reason in check.remedy


def test_a_read_that_was_not_cold_is_not_called_the_disks():
    assert disk.bandwidth(replace(PROBE, evidence=STAYED)).verdict is Verdict.LIMITED


def test_a_sync_faster_than_any_disk_is_doubted():
    assert disk.sync_latency(replace(PROBE, commit_ns=3_000.0)).verdict is Verdict.LIMITED


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(None, Verdict.OK), (errno.EPERM, Verdict.LIMITED), (errno.ENOSYS, Verdict.ABSENT)],
)
def test_io_uring_missing_and_forbidden_differ(error, verdict):
    assert kernel.io_uring(error).verdict is verdict


def test_the_disk_is_measured_and_left_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "PROBE_BYTES", 1 << 20)
    probe = disk.measure(tmp_path)
    assert probe.evidence.bytes == 1 << 20
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", [0, 2])
def test_folders_are_gone_with_the_examination(tmp_path, monkeypatch, missing):
    parent = tmp_path.joinpath(*["deep", "down"][:missing])
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(parent))
    with pytest.raises(KeyboardInterrupt), doctor._workplace() as folder:
        (folder / "probe").touch()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_in_one_check_that_says_so(tmp_path, monkeypatch):
    def full(folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "measure", full)
    (check,) = doctor._disk(tmp_path, GOOD)
    assert (check.verdict, check.prevents) == (Verdict.ABSENT, InputError)
    assert "No space left" in check.remedy


def refused(*arguments):
    raise EngineError("no", hint="install it")


def test_no_usable_engine_prevents_runs(monkeypatch):
    monkeypatch.setattr(engines.registry, "load_engine", refused)
    found = engines.engines()
    assert found[-1].prevents is EngineError
    assert all("install it" in check.remedy for check in found[:-1])


def test_one_missing_engine_prevents_nothing(monkeypatch):
    load = engines.registry.load_engine
    monkeypatch.setattr(
        engines.registry, "load_engine", lambda name: refused() if name == "duckdb" else load(name)
    )
    found = {check.name: check for check in engines.engines()}
    assert found["duckdb"].verdict is Verdict.ABSENT
    assert found["sqlite"].verdict is Verdict.OK
    assert not any(check.prevents for check in found.values())


def test_an_engine_whose_programs_are_missing_is_not_usable(monkeypatch):
    def missing(variant):
        raise NotInstalledError("its server is not installed", hint="install it")

    monkeypatch.setattr(SqliteEngine, "check", missing)
    declared = replace(SqliteEngine.capabilities, url=UrlUse.NONE)
    monkeypatch.setattr(SqliteEngine, "capabilities", declared)
    check = engines.engine("sqlite")
    assert (check.verdict, check.value) == (Verdict.ABSENT, "not installed")
    assert check.remedy == "its server is not installed; install it"
    # One that also works in a database of the user's is usable without its own.
    declared = replace(SqliteEngine.capabilities, url=UrlUse.FILE)
    monkeypatch.setattr(SqliteEngine, "capabilities", declared)
    assert engines.engine("sqlite").verdict is Verdict.OK


def test_an_engine_whose_driver_is_missing_is_not_usable_in_a_database_of_the_users_either(
    monkeypatch,
):
    for versions, verdict in (
        ({"driver": "not installed: pip install it"}, Verdict.ABSENT),
        ({"driver": "1.0", "server": "not installed"}, Verdict.OK),
    ):
        monkeypatch.setattr(SqliteEngine, "versions", lambda found=versions: found)
        assert engines.engine("sqlite").verdict is verdict


def test_engines_that_calibrate_are_not_listed():
    assert engines.engine("null") is None


def test_a_server_that_does_not_start_is_reported_and_removed(tmp_path, monkeypatch):
    def launch(server, settings):
        server.data.mkdir(parents=True)
        refused()

    monkeypatch.setattr(probe.PrivateServer, "launch", launch)
    monkeypatch.setattr(probe, "_closed_programs", lambda: "")
    monkeypatch.setattr(engines.registry, "engine_names", lambda: ["postgresql"])
    (check,) = engines.starts(tmp_path)
    assert check.name == "private server"
    assert (check.verdict, check.remedy) == (Verdict.ABSENT, "no; install it")
    assert list(tmp_path.rglob("postgresql")) == []


def test_programs_that_must_be_copied_first_are_not_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(probe.PrivateServer, "launch", lambda *_: pytest.fail("launched"))
    monkeypatch.setattr(probe, "_closed_programs", lambda: "closed")
    monkeypatch.setattr(engines.registry, "engine_names", lambda: ["postgresql"])
    (check,) = engines.starts(tmp_path)
    assert (check.verdict, check.remedy) == (Verdict.LIMITED, "closed")


def test_another_engine_says_of_itself_whether_it_starts(tmp_path, monkeypatch):
    class Another(SqliteEngine):
        @classmethod
        def probe(cls, scratch):
            assert list(scratch.iterdir()) == []
            return Probe("another's server", True, "5 up and down", "starts")

    monkeypatch.setattr(engines.registry, "engine_names", lambda: ["another", "lacking"])
    monkeypatch.setattr(
        engines.registry, "load_engine", lambda name: Another if name == "another" else refused()
    )
    (check,) = engines.starts(tmp_path)
    assert (check.name, check.verdict) == ("another's server", Verdict.OK)
    assert check.value.startswith("5 up and down in ")


def test_the_doctor_knows_no_engine_by_name():
    for path in Path(doctor.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8").lower()
        assert [name for name in engines.registry.engine_names() if name in text] == []


def test_the_worst_machine_fits_one_screen(bad, capsys):
    usable = [Check(name, Verdict.OK, "", "") for name in ("duckdb", "sqlite")]
    useless = [Check(name, Verdict.ABSENT, "", "", "how " * 30) for name in ("a", "b")]
    command._print([*bad.values(), *usable, *useless])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 42
    assert max(map(len, lines)) <= command.COLUMNS_MAX


@pytest.mark.parametrize("machine", ["good", "bad"])
def test_each_finding_takes_one_line(machine, request, capsys):
    checks = list(request.getfixturevalue(machine).values())
    Console(width=command.COLUMNS_MAX).print(command._findings(checks))
    assert len(capsys.readouterr().out.splitlines()) == len(checks)


@pytest.mark.parametrize(
    ("prevents", "code"),
    [(None, Exit.OK), (InputError, Exit.INPUT), (EngineError, Exit.ENGINE)],
)
def test_the_exit_code_says_whether_runs_are_possible(prevents, code, monkeypatch, capsys):
    check = Check("all", Verdict.LIMITED, "", "", "", prevents)
    monkeypatch.setattr(doctor, "examine", lambda: [check])
    assert command.doctor("text") == code
    assert ("No run is possible" in capsys.readouterr().out) == bool(code)


def test_the_screen_has_one_row_for_all_engines_that_are_usable() -> None:
    checks = [
        Check("clock", Verdict.OK, "1 ns", "exact"),
        Check("duckdb", Verdict.OK, "duckdb 2.0", engines.USABLE),
        Check("spark", Verdict.ABSENT, "not installed", engines.UNUSABLE, "install it"),
        Check("sqlite", Verdict.OK, "sqlite 3", engines.USABLE),
    ]
    assert [(one.name, one.value) for one in command._together(checks)] == [
        ("clock", "1 ns"), ("engines", "duckdb, sqlite"), ("others", "spark")
    ]  # fmt: skip
