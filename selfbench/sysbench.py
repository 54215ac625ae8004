"""Users of a workload on PostgreSQL beside `sysbench`: its OLTP scripts on the same server, table
and socket, as many clients, alternately; every statement is text on both sides
(`--db-ps-mode=disable`).

Ours are the users of `loadstone run sysbench:NAME --users`: threads of the program in Rust. Theirs
draw uniformly, as ours do (`--rand-type=uniform`), and have one thread for each client. Client CPU
is user and system time of a whole process; of sysbench's, what it takes to start is taken off.

    python selfbench/sysbench.py [ROUNDS] [SECONDS]

The program is found by PATH, or by SYSBENCH; its scripts beside it, or by its own folder.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pgbench import CPU_MOST, Rate, line, private_server

from loadstone._core import Drawing, StatementUsers
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.worker.drawing import apart
from loadstone.workload import script
from loadstone.workload.parameters import filled, given, marked
from loadstone.workload.reading import known_to_all

CLIENTS = (1, 8, 32)
SCRIPTS = ("oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_update_index")
ROWS = 10_000


class Sides:
    """Both programs on one server, and one table, which sysbench has made."""

    def __init__(self, engine: PostgresqlEngine, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds
        found = os.environ.get("SYSBENCH") or shutil.which("sysbench")
        if found is None:
            raise SystemExit("there is no sysbench: apt-get install sysbench, or set SYSBENCH")
        where = {key: str(value) for key, value in engine.instance.parameters().items()}
        self._environment = {
            **os.environ, "PGOPTIONS": f"-c search_path={where['schema']}",
        }  # fmt: skip
        self._scripts = Path(found).resolve().parents[1] / "share" / "sysbench"
        self._command = [
            found, "--db-driver=pgsql", f"--pgsql-host={where['host']}",
            f"--pgsql-port={where['port']}", f"--pgsql-user={where['user']}",
            f"--pgsql-db={where['dbname']}", "--tables=1", f"--table-size={ROWS}",
            "--rand-type=uniform", "--db-ps-mode=disable",
        ]  # fmt: skip
        self._output("oltp_read_write", ["prepare"])
        engine.fetch("SELECT count(*) FROM sbtest1")

    def ours(self, name: str, clients: int) -> Rate:
        """Users in Rust."""
        (drawn,) = known_to_all(f"sysbench:{name}", ROWS).statements[0].drawn
        (first,) = filled(drawn.text, "postgres", drawn.draws, 1, name)
        asked = script.split(first, "postgres", name), None
        text, markers = marked(drawn.text, "postgres", drawn.draws)
        texts = [apart(step, markers) for step in script.split(text, "postgres", name)]
        literals: list[list[str]] = [[] for _ in drawn.draws]
        shape = (1, [given(draw) for draw in drawn.draws], literals, texts)
        address, begin = self._engine.instance.begin_of_another()
        users = StatementUsers.postgresql(address, begin, False)
        lasting_ns = round(self._seconds * 1e9)
        found = users.ask(clients, [asked], lasting_ns, lasting_ns, drawing=Drawing(0, [shape]))
        completed = found.tally.completed
        if found.wrong or not completed:
            raise SystemExit(f"{name}: {found.failed} failed, {found.wrong}: {found.reason}")
        return Rate(completed / found.elapsed_ns * 1e9, (found.work[0] or 0) / 1e3 / completed)

    def theirs(self, name: str, clients: int) -> Rate:
        """Its program, a thread for each client."""
        own = [f"--threads={clients}", "--events=0"]
        _, start_s = self._output(name, [*own, "--time=0", "--events=1", "run"])
        text, cpu_s = self._output(name, [*own, f"--time={max(1, round(self._seconds))}", "run"])
        found = re.search(r"transactions: +(\d+) +\((\S+) per sec", text)
        if found is None:
            raise SystemExit(f"sysbench reports something new: {text}")
        return Rate(float(found[2]), (cpu_s - start_s) * 1e6 / int(found[1]))

    def _output(self, name: str, more: Sequence[str]) -> tuple[str, float]:
        """(what it printed, CPU seconds)."""
        installed = self._scripts / f"{name}.lua"
        command = [*self._command[:1], str(installed) if installed.exists() else name]
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                [*command, *self._command[1:], *more],
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=self._scripts if installed.exists() else None,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
            if process.returncode:
                raise SystemExit(f"sysbench failed: {text.strip()}")
            return text, usage.ru_utime + usage.ru_stime


def main(rounds: int = 5, seconds: float = 2.0) -> None:
    """Print a line for each script and number of clients."""
    with private_server() as engine:
        show(Sides(engine, seconds), rounds)


def show(sides: Sides, rounds: int) -> None:
    """Measure alternately, then print each ratio beside its target."""
    dice = random.Random(1)
    cells = [(name, clients) for name in SCRIPTS for clients in CLIENTS]
    found: dict[tuple[str, int], tuple[list[Rate], list[Rate]]] = {}
    for _ in range(rounds):
        for name, clients in dice.sample(cells, len(cells)):
            ours, theirs = found.setdefault((name, clients), ([], []))
            for mine in dice.sample((True, False), 2):
                if mine:
                    ours.append(sides.ours(name, clients))
                else:
                    theirs.append(sides.theirs(name, clients))
    print(f"transactions a second, ours and sysbench's; CPU us each, goal at most {CPU_MOST}")
    for (name, clients), (ours, theirs) in sorted(found.items()):
        line(f"{name} --threads={clients}", ours, theirs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3]))
