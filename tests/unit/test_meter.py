"""The meter tells whose work a statement was, and says nothing where the system does not."""

import pytest

from loadstone import meter
from loadstone.meter import Meter, Work


@pytest.fixture
def system(monkeypatch):
    """Readings of an imagined machine: process 1 is the worker, 7 and 8 are servers."""
    readings = {"cpu": {}, "io": {}}
    monkeypatch.setattr(meter.os, "getpid", lambda: 1)
    monkeypatch.setattr(meter, "cpu_ns", lambda pid: readings["cpu"].get(pid))
    monkeypatch.setattr(meter, "io_bytes", lambda pid: readings["io"].get(pid))
    return readings


def test_an_embedded_engine_is_the_worker(system):
    system["cpu"], system["io"] = {1: 100}, {1: (10, 20)}
    running = Meter(())
    system["cpu"], system["io"] = {1: 150}, {1: (10, 27)}
    assert running.read() == Work(50, None, 0, 7)


def test_a_servers_work_is_not_its_clients(system):
    system["cpu"], system["io"] = {1: 1000, 7: 300, 8: 10}, {1: (5, 5), 7: (1, 1), 8: (2, 2)}
    running = Meter((7, 8))
    system["cpu"], system["io"] = {1: 1900, 7: 900, 8: 110}, {1: (9, 9), 7: (4, 1), 8: (2, 9)}
    assert running.read() == Work(200, 700, 3, 7)


def test_what_is_not_told_is_absent_and_not_zero(system):
    system["cpu"], system["io"] = {1: 1}, {}
    running = Meter((7,))
    assert running.read() == Work(0, None, None, None)
