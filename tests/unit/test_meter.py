"""The meter shows whose work a sample was, nothing where the system does not, and nothing that lies
outside of the sample."""

import resource
import subprocess
import sys

from loadstone.machine.counters import Meter

BUSY = """
import sys, time
sys.stdin.readline()
until = time.process_time() + 0.05
while time.process_time() < until:
    pass
print("done", flush=True)
sys.stdin.readline()
"""


def own_ns() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return round((used.ru_utime + used.ru_stime) * 1e9)


def spin(length_ns: int) -> None:
    until_ns = own_ns() + length_ns
    while own_ns() < until_ns:
        pass


def test_an_embedded_engine_is_the_worker():
    meter = Meter(())
    spin(20_000_000)
    work = meter.read()
    assert work.client_cpu_ns is not None
    assert work.client_cpu_ns >= 19_000_000
    assert (work.server_cpu_ns, work.server_threads) == (None, None)
    assert work.client_threads
    assert work.read_bytes is None or work.read_bytes >= 0


def test_work_before_and_after_is_none_of_the_sample():
    spin(20_000_000)
    meter = Meter(())
    work = meter.read()
    spin(20_000_000)
    assert work.client_cpu_ns is not None
    assert work.client_cpu_ns < 5_000_000


def test_a_servers_work_is_not_its_clients():
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        meter = Meter((server.pid,))
        server.stdin.write("go\n")
        server.stdin.flush()
        server.stdout.readline()
        work = meter.read()
        server.stdin.write("end\n")
    assert work.server_cpu_ns is not None
    assert work.server_cpu_ns >= 45_000_000
    assert work.client_cpu_ns is not None
    assert work.client_cpu_ns < work.server_cpu_ns
    assert work.server_threads == 1


def test_an_unreported_counter_is_absent_and_not_zero():
    work = Meter((2**31 - 2,)).read()
    assert (work.server_cpu_ns, work.server_threads) == (None, None)
    assert (work.read_bytes, work.written_bytes) == (None, None)


def test_a_meter_is_read_once():
    meter = Meter(())
    meter.read()
    assert meter.read().client_cpu_ns is None
