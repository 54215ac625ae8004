"""A run's own use of the machine is distinguished from that of others; what cannot be distinguished
is not reported at all."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from loadstone import _core
from loadstone.machine import conditions
from loadstone.machine.conditions import WINDOW_NS, Conditions
from loadstone.record.model import Condition

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
GROUP_NS = 2 * WINDOW_NS
WORKED_NS = 10 * TICK_NS
SERVER = f"""
import sys, time
while time.process_time_ns() < {WORKED_NS}:
    pass
print(time.process_time_ns(), flush=True)
sys.stdin.read()
"""
WORKER = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {SERVER!r}])
"""
"""Waits for its server, and hands its own input and output on to it."""


class Machine:
    """One processor that only reports what it is made to report; processes are real ones."""

    def __init__(self) -> None:
        self.now_ns = self.busy_ns = 0
        self.probe_ns = 1

    def passes(self, *, busy_ns: int) -> None:
        """A while in which programs of any kind worked so long."""
        self.now_ns += GROUP_NS
        self.busy_ns += busy_ns

    def processor_times(self) -> tuple[int, int, int]:
        return self.busy_ns, self.now_ns - self.busy_ns, 0


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    imagined = Machine()
    core = SimpleNamespace(
        spin_ns=lambda iterations: 1,
        SpeedProbe=lambda: SimpleNamespace(run_ns=lambda: imagined.probe_ns),
        cpu_ns=_core.cpu_ns,
        clock_ns=lambda: imagined.now_ns,
        processor_times=imagined.processor_times,
    )
    monkeypatch.setattr(conditions, "_core", core)
    return imagined


@contextmanager
def worked() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A worker whose server has worked, and lives; and for how long it says it did."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe, text=True
    ) as worker:
        assert worker.stdout is not None
        yield worker, int(worker.stdout.readline())


def test_the_work_of_a_worker_s_server_is_the_run_s_own_alive_and_ended(machine):
    state = Conditions()
    state.begin()
    with worked() as (_, server_ns):
        machine.passes(busy_ns=server_ns)
        assert state.end() == Condition(0.0, 0.0, 0.0)
        state.begin()
    # Ended and waited for: of each of the two the kernel may owe a tick.
    machine.passes(busy_ns=0)
    assert state.end() == Condition(0.0, 0.0, 0.0)
    assert server_ns >= WORKED_NS > 2 * TICK_NS


def test_the_work_of_a_server_that_came_and_went_within_a_group_is_its_own(machine):
    state = Conditions()
    state.begin()
    with worked() as (_, server_ns):
        pass
    machine.passes(busy_ns=server_ns - 2 * TICK_NS)
    assert state.end() == Condition(0.0, 0.0, 0.0)


def test_the_work_of_others_is_foreign(machine):
    # Before the first reading and after the last: what the two hold lies within.
    own_ns = _core.cpu_ns(os.getpid())
    state = Conditions()
    state.begin()
    machine.passes(busy_ns=GROUP_NS // 2)
    share = state.end().foreign_share
    used_ns = _core.cpu_ns(os.getpid()) - own_ns
    assert 0.5 - used_ns / GROUP_NS <= share <= 0.5


def test_where_a_server_outlived_its_worker_nobody_can_report_whose_the_work_was(machine):
    with worked() as (worker, server_ns):
        state = Conditions()
        state.begin()
        # Its server is handed on to another parent, and what it did goes with it.
        worker.kill()
        worker.wait()
        machine.passes(busy_ns=TICK_NS)
        assert server_ns >= WORKED_NS
        assert state.end() == Condition(0.0, None, 0.0)
        # The next group knows again.
        machine.passes(busy_ns=0)
        state.begin()
        machine.passes(busy_ns=0)
        assert state.end() == Condition(0.0, 0.0, 0.0)


def test_a_tick_that_is_lost_with_a_process_spoils_nothing(machine, monkeypatch):
    own_ns = iter([0, 50 * TICK_NS, 49 * TICK_NS])
    monkeypatch.setattr(conditions._core, "cpu_ns", lambda pid: next(own_ns))
    state = Conditions()
    machine.passes(busy_ns=50 * TICK_NS)
    state.begin()
    machine.passes(busy_ns=TICK_NS)
    assert state.end().foreign_share == TICK_NS / GROUP_NS


def test_too_early_in_a_session_nothing_is_reported(machine):
    state = Conditions()
    state.begin()
    assert state.end() == Condition(None, None, 0.0)
