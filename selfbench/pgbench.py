"""Users of a workload on PostgreSQL beside `pgbench`: its own scripts on the same server, tables
and socket, as many clients, alternately; statements as text (`pgbench -M simple`) and parsed once
(`prepared`).

Ours are the users of `loadstone run … --users`: threads of the program in Rust. pgbench has as many
threads, or two, which poll several connections each. Client CPU is user and system time of a whole
process; of pgbench's, what it takes to start is taken off. Both draw parameters for each
transaction.

    python selfbench/pgbench.py [ROUNDS] [SECONDS]
"""

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clients import interval, verdict

from loadstone._core import Drawing, StatementUsers, interval_of_paired_ratio
from loadstone.engines.postgresql.binaries import binaries, server_account
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.plan.variant import Variant
from loadstone.worker.drawing import apart
from loadstone.workload import pgbench, script
from loadstone.workload.parameters import filled, given, marked

CLIENTS = (1, 8, 32)
SCRIPTS = ("select-only", "tpcb-like")
MODES = ("simple", "prepared")
CPU_MOST = 1.1


@dataclass(frozen=True, slots=True)
class Rate:
    """Of one side for a while."""

    per_s: float
    cpu_us: float
    """Client CPU per transaction."""


class Sides:
    """Both programs on one server."""

    def __init__(self, engine: PostgresqlEngine, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds
        self._pgbench = str(binaries(server_account()) / "pgbench")
        where = {key: str(value) for key, value in engine.instance.parameters().items()}
        self._environment = {
            **os.environ, "PGHOST": where["host"], "PGPORT": where["port"],
            "PGUSER": where["user"], "PGDATABASE": where["dbname"],
            "PGOPTIONS": f"-c search_path={where['schema']}",
        }  # fmt: skip
        self._output([self._pgbench, "-i", "-s", "1", "-q"])

    def ours(self, name: str, mode: str, clients: int) -> Rate:
        """Users in Rust."""
        reported = pgbench.script_of(pgbench.BUILT_IN[name], name)
        draws = reported.draws(1983, name, 1)
        (first,) = filled(reported.text, "postgres", draws, 1, name)
        asked = script.split(first, "postgres", name), 1 if name == "select-only" else None
        marked_text, markers = marked(reported.text, "postgres", draws)
        texts = [apart(step, markers) for step in script.split(marked_text, "postgres", name)]
        literals: list[list[str]] = [[] for _ in draws]
        shape = (1, [given(draw) for draw in draws], literals, texts)
        address, begin = self._engine.instance.begin_of_another()
        users = StatementUsers.postgresql(address, begin, mode == "prepared")
        lasting_ns = round(self._seconds * 1e9)
        found = users.ask(clients, [asked], lasting_ns, lasting_ns, drawing=Drawing(0, [shape]))
        if found.failed or found.wrong:
            raise SystemExit(f"{name}: {found.failed} failed, {found.wrong}: {found.reason}")
        completed = found.tally.completed
        cpu_ns = found.work[0] or 0
        return Rate(completed / found.elapsed_ns * 1e9, cpu_ns / 1e3 / completed)

    def theirs(self, name: str, mode: str, clients: int, threads: int) -> Rate:
        """Its program, with so many threads."""
        command = [self._pgbench, "-n", "-M", mode, "-b", name, "-c", str(clients), "-j",
                   str(threads)]  # fmt: skip
        _, start_s = self._output([*command, "-t", "1"])
        text, cpu_s = self._output([*command, "-T", str(round(self._seconds))])
        count, per_s = (
            re.search(pattern, text) for pattern in (r"processed: (\d+)", r"tps = (\S+)")
        )
        if count is None or per_s is None:
            raise SystemExit(f"pgbench reports something new: {text}")
        return Rate(float(per_s[1]), (cpu_s - start_s) * 1e6 / int(count[1]))

    def check(self) -> None:
        """The sums of the balances are one: neither side lost or doubled a change."""
        sums = self._engine.fetch(
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts),"
            " (SELECT sum(tbalance) FROM pgbench_tellers),"
            " (SELECT sum(bbalance) FROM pgbench_branches),"
            " (SELECT coalesce(sum(delta), 0) FROM pgbench_history)"
        )[0]
        if len({int(each) for each in sums}) != 1:
            raise SystemExit(f"the balances differ: {sums}")

    def _output(self, command: Sequence[str]) -> tuple[str, float]:
        """(what it printed, CPU seconds)."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaint:
            process = subprocess.Popen(command, stdout=out, stderr=complaint, env=self._environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            complaint.seek(0)
            if process.returncode:
                raise SystemExit(f"pgbench failed: {complaint.read().strip()}")
            return out.read(), usage.ru_utime + usage.ru_stime


@contextmanager
def private_server() -> Iterator[PostgresqlEngine]:
    """A server of its own, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)  # a server that drops to another account has to pass through
        engine = PostgresqlEngine(Variant("postgresql"), folder, "bench")
        engine.start()
        try:
            yield engine
        finally:
            engine.remove()


def main(rounds: int = 5, seconds: float = 2.0) -> None:
    """Print a line for each script, mode, number of clients and of pgbench's threads."""
    with private_server() as engine:
        show(Sides(engine, seconds), rounds)


def show(sides: Sides, rounds: int) -> None:
    """Measure alternately, then print each ratio beside its target."""
    dice = random.Random(1)
    cells = [(one, mode, n) for one in SCRIPTS for mode in MODES for n in CLIENTS]
    found: dict[tuple[str, str, int, int], list[Rate]] = {}
    for _ in range(rounds):
        for name, mode, n in dice.sample(cells, len(cells)):
            sides_of = [0, *sorted({n, min(n, 2)})]
            for each in dice.sample(sides_of, len(sides_of)):
                rate = sides.theirs(name, mode, n, each) if each else sides.ours(name, mode, n)
                found.setdefault((name, mode, n, each), []).append(rate)
        sides.check()
    print(f"{'':40} {'ours/s':>9} {'pgbench/s':>9} {'ratio':>7} {'':16} {'ours us':>8}"
          f" {'pgbench':>8} {'ratio':>6}")  # fmt: skip
    for (name, mode, n, threads), theirs in sorted(found.items()):
        if threads:
            line(f"{name} -M {mode} -c {n} -j {threads}", found[name, mode, n, 0], theirs)


def line(words: str, ours: Sequence[Rate], theirs: Sequence[Rate]) -> None:
    """Transactions per second, and client CPU per transaction."""
    rate, low, high = interval_of_paired_ratio([r.per_s for r in ours], [r.per_s for r in theirs])
    cpu, *_ = interval_of_paired_ratio([r.cpu_us for r in ours], [r.cpu_us for r in theirs])
    median = statistics.median
    print(f"{words:40} {median(r.per_s for r in ours):9,.0f}"
          f" {median(r.per_s for r in theirs):9,.0f} {rate:7.2f} {interval(low, high):16}"
          f" {median(r.cpu_us for r in ours):8.1f} {median(r.cpu_us for r in theirs):8.1f}"
          f" {cpu:6.2f}  at least 1 {verdict(rate >= 1)}, at most {CPU_MOST}"
          f" {verdict(cpu <= CPU_MOST)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3]))
