"""Our speed beside our peers', each pair interleaved in one run; prints ratios and the targets.

    make bench                        everything, some minutes on two cores
    python selfbench/bench.py data    one part: data, load, oracle, command,
                                      clients, lode, oo7, query

Not a test: nothing here fails on a slow machine.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import clients
import data_generation
import loading
import oo7
import point_lookups
import query
import reference_engine

from loadstone._core import clock_ns, interval_of_median

ROOT = Path(__file__).parent.parent
HELP_SAMPLES = 20


def bench_data() -> None:
    """Generation of CSV and Parquet beside tpchgen-cli; target: at least 2x its MB/s per core."""
    data_generation.main([])


def bench_load() -> None:
    """Loading beside each engine's own best way from a file; target: at most 1.2x its time."""
    loading.main([])


def bench_oracle() -> None:
    """Every query of the suite at a million rows; target: at most 2 s."""
    subprocess.run(
        ["cargo", "run", "--release", "--quiet", "--locked", "-p", "loadstone-quel", "--example",
         "oracle_speed"],
        cwd=ROOT, check=True,
    )  # fmt: skip


def bench_command() -> None:
    """The command itself: `--help`, `run --quick`, `run`, each beside its target."""
    loadstone = str(Path(sys.executable).parent / "loadstone")
    help_ms = [_elapsed_s([loadstone, "--help"]) * 1e3 for _ in range(HELP_SAMPLES)]
    python_ms = [_elapsed_s([sys.executable, "-c", "pass"]) * 1e3 for _ in range(HELP_SAMPLES)]
    print(f"loadstone --help   {interval_of_median(help_ms)[0]:6.0f} ms   target 150 ms"
          f"   (python -c pass {interval_of_median(python_ms)[0]:.0f} ms)")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name, options, target_s in (("run --quick", ["--quick"], 15), ("run", [], 90)):
            record = str(Path(folder) / f"{len(options)}.loadstone")
            start = clock_ns()
            first_s, all_s = _first_and_all_s(
                [loadstone, "run", *options, "--record", record], start
            )
            print(f"loadstone {name:<12} {all_s:6.1f} s    target {target_s} s"
                  f"   first figures {first_s:.1f} s, target 5 s")  # fmt: skip


def bench_clients() -> None:
    """The calling programs in Rust: null operation, bare C interfaces, pgbench, OO1, its size."""
    programs = clients.examples()
    clients.null_operation()
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as folder:
        clients.bare_loops(Path(folder), programs)
        point_lookups.main(programs)
        clients.whole_run()
        clients.huge(Path(folder))


def bench_lode() -> None:
    """Our own engine beside plain structures, LMDB and the bare disk; a small cache's cliff."""
    programs = clients.examples()
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as folder:
        reference_engine.main(Path(folder), programs)


def bench_oo7() -> None:
    """OO7 on lode beside plain structures, LMDB, SQLite, the primitives of a change, the disk."""
    programs = clients.examples()
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as folder:
        oo7.main(Path(folder), programs)


def bench_query() -> None:
    """Wisconsin's queries on lode beside DuckDB, SQLite and PostgreSQL, as geometric means."""
    query.main([])


def _elapsed_s(command: Sequence[str]) -> float:
    start = clock_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (clock_ns() - start) / 1e9


def _first_and_all_s(command: Sequence[str], start_ns: int) -> tuple[float, float]:
    """Seconds to the first line of figures, and to the end."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()
        first_s = (clock_ns() - start_ns) / 1e9
        process.stderr.read()
    return first_s, (clock_ns() - start_ns) / 1e9


PARTS: dict[str, Callable[[], None]] = {
    "data": bench_data,
    "load": bench_load,
    "oracle": bench_oracle,
    "command": bench_command,
    "clients": bench_clients,
    "lode": bench_lode,
    "oo7": bench_oo7,
    "query": bench_query,
}


def main(names: Sequence[str]) -> None:
    """Run the parts named, or all."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name in names or PARTS:
        print(f"\n== {name}: {(PARTS[name].__doc__ or '').splitlines()[0]}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
