"""PostgreSQL's point look-ups beside `pgbench -M prepared`: the same server, socket, table and
statement, as many clients; alternately, with idle states of the processors held off and without.

Each of our clients is a thread, as the users of an application server are, so the targets are held
against pgbench with as many threads. Fewer threads that poll several connections each find several
answers at one wake-up: what that saves is shown, too. Client CPU is a whole process's, user and
system; of pgbench's, what it takes to start is taken off.
"""

import json
import os
import random
import re
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from clients import interval, verdict

from loadstone import _core
from loadstone._core import interval_of_paired_ratio
from loadstone.engines.postgresql.binaries import binaries, server_account
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.plan.variant import Variant

CLIENTS = (1, 2, 8)
PARTS = 20_000
SECONDS = 3
"""Our clients end with a thousand look-ups each: of a shorter run that would be a large part."""
SCRIPT = f"\\set id random(1, {PARTS})\nSELECT id, x, y, type FROM part WHERE id = :id;\n"
OURS = 0
"""In place of a number of pgbench's threads."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Of one process for a second."""

    per_s: float
    cpu_us: float
    """Client CPU per transaction."""


def main(programs: Path, rounds: int = 5) -> None:
    """Print a line for each number of clients and of pgbench's threads."""
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as name:
        folder = Path(name)
        # A server that drops to another account has to pass through.
        folder.chmod(0o755)
        script = folder / "lookup.sql"
        script.write_text(SCRIPT)
        engine = PostgresqlEngine(Variant("postgresql"), folder, "bench")
        engine.start()
        try:
            sides = Sides(engine, programs, script)
            sides.load()
            engine.settle(engine.tables())
            show(sides, rounds)
        finally:
            engine.remove()


class Sides:
    """Both programs on one server."""

    def __init__(self, engine: PostgresqlEngine, programs: Path, script: Path) -> None:
        where = {key: str(value) for key, value in engine.instance.parameters().items()}
        known = ("host", "port", "user", "dbname", "schema")
        address = " ".join(f"{key}={where[key]}" for key in known)
        self._ours = [str(programs / "postgresql_closed_loop"), address, str(PARTS)]
        self._pgbench = [str(binaries(server_account()) / "pgbench"), "-n", "-M", "prepared",
                         "-f", str(script)]  # fmt: skip
        self._environment = {
            **os.environ, "PGHOST": where["host"], "PGPORT": where["port"],
            "PGUSER": where["user"], "PGDATABASE": where["dbname"],
            "PGOPTIONS": f"-c search_path={where['schema']}",
        }  # fmt: skip

    def load(self) -> None:
        """Make the table."""
        subprocess.run([*self._ours, "1", "0"], check=True, stdout=subprocess.DEVNULL)

    def rate(self, clients: int, threads: int) -> Rate:
        """Run one side for a second; `threads` are pgbench's, or `OURS`."""
        if threads == OURS:
            said = json.loads(self._output([*self._ours, str(clients), str(SECONDS), "lookup"])[0])
            return Rate(said["visits_per_s"], said["client_cpu_us_per_visit"])
        sizes = ["-c", str(clients), "-j", str(threads)]
        _, start_s = self._output([*self._pgbench, *sizes, "-t", "1"])
        text, cpu_s = self._output([*self._pgbench, *sizes, "-T", str(SECONDS)])
        count, per_s = (
            re.search(pattern, text) for pattern in (r"processed: (\d+)", r"tps = (\S+)")
        )
        if count is None or per_s is None:
            raise SystemExit(f"pgbench reports something new: {text}")
        return Rate(float(per_s[1]), (cpu_s - start_s) * 1e6 / int(count[1]))

    def _output(self, command: Sequence[str]) -> tuple[str, float]:
        """(what it printed, CPU seconds)."""
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self._environment,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stderr is not None
            text, complaint = process.stdout.read(), process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{Path(command[0]).name} failed: {complaint.strip()}")
        return text, usage.ru_utime + usage.ru_stime


def show(sides: Sides, rounds: int) -> None:
    """Measure alternately, then print each ratio beside its target."""
    dice = random.Random(1)
    cells = [(n, threads) for n in CLIENTS for threads in {OURS, 1, min(n, 2), n}]
    found: dict[tuple[bool, int, int], list[Rate]] = {}
    for _ in range(rounds):
        for held in dice.sample((True, False), 2):
            with _core.disable_idle_states() if held else nullcontext():
                # Sides that are compared run next to each other: the machine's speed drifts.
                for clients in dice.sample(CLIENTS, len(CLIENTS)):
                    sides_of = [cell for cell in cells if cell[0] == clients]
                    for cell in dice.sample(sides_of, len(sides_of)):
                        found.setdefault((held, *cell), []).append(sides.rate(*cell))
    for held in (True, False):
        print("idle states " + ("held off" if held else "left to the system"))
        print(f"{'':24} {'ours/s':>9} {'pgbench/s':>9} {'ratio':>7} {'':18}"
              f" {'ours us':>8} {'pgbench':>8} {'ratio':>7}")  # fmt: skip
        for clients, threads in sorted(cells):
            if threads != OURS:
                show_pair(
                    clients, threads, found[held, clients, OURS], found[held, clients, threads]
                )


def show_pair(clients: int, threads: int, ours: Sequence[Rate], theirs: Sequence[Rate]) -> None:
    """One line: transactions per second, and client CPU per transaction."""
    rate, low, high = interval_of_paired_ratio([r.per_s for r in ours], [r.per_s for r in theirs])
    cpu, *_ = interval_of_paired_ratio([r.cpu_us for r in ours], [r.cpu_us for r in theirs])
    median = statistics.median
    targets = "fewer threads than clients: stated"
    if threads == clients:
        targets = f"targets at least 1 {verdict(rate >= 1)}, at most 1 {verdict(cpu <= 1)}"
    print(f"clients {clients}, pgbench -j {threads:<3}"
          f" {median(r.per_s for r in ours):9,.0f} {median(r.per_s for r in theirs):9,.0f}"
          f" {rate:7.2f} {interval(low, high)}"
          f" {median(r.cpu_us for r in ours):9.2f} {median(r.cpu_us for r in theirs):8.2f}"
          f" {cpu:7.2f}  {targets}", flush=True)  # fmt: skip
