"""A statement that would take hours ends with its run, on every engine, be the run interrupted or
killed."""

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from desk import Desk, children, command_line

from loadstone.machine.page_cache import wait_until_dead

pytestmark = [pytest.mark.machine, pytest.mark.slow]

ENDLESS = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 1000000000000)"
    " SELECT count(*) FROM t"
)
ENGINES = ("sqlite", "duckdb", "postgresql")
IN_STATEMENT_S = 2.0
"""A worker, or its server, that has worked so long is in its statement: its start takes less."""


def worked_s(pid: int) -> float:
    """The processor time of a process and all below it; 0 of one that has ended meanwhile."""
    try:
        spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        below = children(pid)
    except OSError:
        return 0.0
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK") + sum(map(worked_s, below))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_statement_ends_with_its_run(desk: Desk, engine: str, number: signal.Signals):
    process = desk.start(
        "run", "--sql", ENDLESS, "--on", engine, "--time-limit", "3600", "--no-report",
        "--record", "r.loadstone", "--no-overhead",
    )  # fmt: skip
    started: set[int] = set()
    while True:
        workers = [pid for pid in children(process.pid) if "worker.main" in command_line(pid)]
        with suppress(OSError):
            started.update(workers, *map(children, workers))
        if any(worked_s(pid) > IN_STATEMENT_S for pid in workers):
            break
        assert process.poll() is None
        select.select([], [], [], 0.05)
    process.send_signal(number)
    _, reported = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 130), reported
    assert wait_until_dead(started, limit_s=30)
    if number != signal.SIGKILL:
        assert desk.leftovers() == []
