"""The calling programs: their null operation, their loops beside the same loop on the bare C
interface, whole runs of OO1, and its huge database.

Our client and the bare loop are examples of `crates/clients`: the same build, inputs, null
procedure and checksum; the sides alternate.
"""

import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from loadstone import _core
from loadstone._core import clock_ns, interval_of_median, interval_of_paired_ratio

ROOT = Path(__file__).parent.parent
NULL_GOAL_NS = 5.0
LOOP_GOAL = 1.05
RUN_GOAL_S = 60
PARTS = 20_000
PARTS_HUGE = 2_000_000
DUCKDB_ROUNDS = 5
"""A call takes a thousand times that of the others."""
COSTS = {"lookup_ns": "look-up", "visit_ns": "traversal step"}

Costs = Mapping[str, float]

HUGE = """
import resource, sys
from loadstone import _core
client = _core.oo1_client(sys.argv[1], sys.argv[2], [], parts=int(sys.argv[3]))
before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
elapsed_ns = client.load()
after_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(elapsed_ns, before_kib, after_kib, client.size_bytes())
"""


def examples() -> Path:
    """The folder of the built examples."""
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "loadstone-clients"]
    subprocess.run([*command, "--examples"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return ROOT / target / "release" / "examples"


def null_operation(samples: int = 200) -> None:
    """The loop's overhead: a call into an engine that does nothing."""
    client = _core.oo1_client("null", "", [], PARTS)
    found = []
    for iteration in range(samples):
        elapsed_ns, _, _, _, calls, _, _ = client.measure("nothing", iteration)
        found.append(elapsed_ns / calls)
    median = interval_of_median(found)[0]
    reached = verdict(median <= NULL_GOAL_NS)
    print(f"null operation {median:6.2f} ns   target {NULL_GOAL_NS:g} ns {reached}")


def bare_loops(folder: Path, programs: Path, rounds: int = 15) -> None:
    """SQLite, LMDB and DuckDB, our client and the bare interface, alternately."""
    print(f"{'ns':28} {'ours':>9} {'bare':>9} {'ratio':>7}")
    for engine, tactic in (("sqlite", "access=rowid"), ("lmdb", "access=links")):
        compare(engine, partial(beside, engine, tactic, folder, programs), rounds)
    python = _libpython()
    if python is None:
        print("duckdb       left out: its library needs a shared one of a Python interpreter")
        return
    compare("duckdb", partial(duckdb_beside, python, folder, programs), DUCKDB_ROUNDS)


def beside(engine: str, tactic: str, folder: Path, programs: Path) -> tuple[Costs, Costs]:
    """(ours, bare) of an engine whose two sides are two programs, on one file."""
    path = str(folder / engine)
    client = [str(programs / "oo1_speed"), engine, path, str(PARTS)]
    if not Path(path).exists():
        output([*client, "2", "load", tactic])
    bare = [str(programs / f"bare_{engine}"), path, str(PARTS), "40"]
    return output([*client, "40", tactic]), output(bare)


def duckdb_beside(python: Path, folder: Path, programs: Path) -> tuple[Costs, Costs]:
    """(ours, bare) of DuckDB: one program has both, for one process cannot open a file twice."""
    import _duckdb

    for left in folder.glob("duckdb.*"):
        left.unlink()
    path = str(folder / "duckdb")
    command = [str(programs / "bare_duckdb"), str(_duckdb.__file__), str(python), path]
    both = output([*command, str(PARTS), "4"])
    return both["client"], both["bare"]


def compare(name: str, both: Callable[[], tuple[Costs, Costs]], rounds: int) -> None:
    """Print a line a cost: medians over the rounds, and the ratio of the pairs."""
    pairs = [both() for _ in range(rounds)]
    for key, title in COSTS.items():
        ours, bare = ([side[key] for side in sides] for sides in zip(*pairs, strict=True))
        ratio, low, high = interval_of_paired_ratio(ours, bare)
        print(f"{name:12} {title:15} {statistics.median(ours):9.1f} {statistics.median(bare):9.1f}"
              f" {ratio:7.3f} {interval(low, high)}  target {LOOP_GOAL:g}"
              f" {verdict(ratio <= LOOP_GOAL)}", flush=True)  # fmt: skip


def whole_run() -> None:
    """`loadstone run oo1` on the small database: all base engines, cold and warm."""
    loadstone = str(Path(sys.executable).parent / "loadstone")
    with tempfile.TemporaryDirectory() as folder:
        record = str(Path(folder) / "bench.loadstone")
        start_ns = clock_ns()
        subprocess.run([loadstone, "run", "oo1", "--record", record], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        elapsed_s = (clock_ns() - start_ns) / 1e9
    reached = verdict(elapsed_s <= RUN_GOAL_S)
    print(f"loadstone run oo1 {elapsed_s:6.1f} s    target {RUN_GOAL_S} s {reached}", flush=True)


def huge(folder: Path) -> None:
    """2,000,000 parts generated and loaded, in a process each; its memory must stay flat.

    LMDB's includes the pages of its file, which it maps: they are the system's to take.
    """
    for engine in ("sqlite", "lmdb"):
        path = folder / f"huge.{engine}"
        command = [sys.executable, "-c", HUGE, engine, str(path), str(PARTS_HUGE)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        elapsed_ns, before_kib, after_kib, size_bytes = map(int, said.split())
        print(f"{engine:12} {PARTS_HUGE:,} parts {elapsed_ns / 1e9:6.1f} s"
              f" {size_bytes / 2**20:7,.0f} MiB   peak memory {after_kib / 1024:,.0f} MiB"
              f" (before loading {before_kib / 1024:,.0f})", flush=True)  # fmt: skip
        for left in folder.glob(f"{path.name}*"):
            left.unlink()


def output(command: Sequence[str]) -> Any:
    """The output of a program that prints JSON."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def verdict(reached: bool) -> str:
    """Of a target."""
    return "reached" if reached else "MISSED"


def interval(low: float | None, high: float | None) -> str:
    """Of a ratio; as many blanks where too few rounds give none."""
    return " " * 16 if low is None or high is None else f"[{low:6.3f},{high:7.3f}]"


def _libpython() -> Path | None:
    """A shared library of an interpreter, which the wheel's extension module refers to."""
    folders = (sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LIBPL"))
    names = (sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LDLIBRARY"))
    paths = (Path(folder) / name for folder in folders for name in names if folder and name)
    return next((path for path in paths if ".so" in path.name and path.exists()), None)
