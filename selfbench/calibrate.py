"""Convicting the instrument: differences that are there are found, others are not invented.

    make calibrate                          everything, about ten minutes on two cores
    python selfbench/calibrate.py planted   one part: planted, agree, observer

planted   on three real engines, interleaved: the same variant twice (A/A), the variant with every
          statement made 5 % longer, and 1 % longer; 100 comparisons of each kind at the defaults
agree     two complete default runs, one after the other: whose intervals overlap
observer  what the counters around each sample do to a short statement

Not a test: nothing here fails on a busy machine; it prints what it found beside what must hold.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import slowed

from loadstone._core import clock_ns, interval_of_median, interval_of_paired_ratio
from loadstone.estimate import Estimate
from loadstone.meter import Meter
from loadstone.record import Run, read
from loadstone.variant import is_twin

LOADSTONE = str(Path(sys.executable).parent / "loadstone")
OPERATIONS = (
    "select-1%-heap", "select-10%-heap", "select-1%-clustered", "select-1%-nonclustered",
    "select-1%-clustered-host", "min-heap", "min-partitions-heap", "join-ABprime-clustered",
    "project-1%", "select-10%-clustered",
)  # fmt: skip
ENGINES = ("sqlite", "duckdb", "postgresql")
RUNS = int(os.environ.get("RUNS", "4"))
WANTED = 100


def planted() -> None:
    """A/A at most 5 false alarms of 100; planted 5 %: at least 95 of 100 found; 1 %: as it is."""
    kinds = {"the same twice": "{0}#2", "5 % slower": "slowed-{0}?percent=5",
             "1 % slower": "slowed-{0}?percent=1"}  # fmt: skip
    verdicts: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": slowed.register(Path(folder))}
        for number in range(RUNS):
            for engine in ENGINES:
                record = Path(folder) / f"{engine}-{number}.loadstone"
                variants = {kind: name.format(engine) for kind, name in kinds.items()}
                _run(record, [engine, *variants.values()], number, environment)
                for kind, variant in variants.items():
                    verdicts[kind] += _compared(record, engine, variant, environment)
    must = {"the same twice": "at most 5 called different", "5 % slower": "at least 95 slower",
            "1 % slower": "stated, whatever it is"}  # fmt: skip
    for kind, pairs in verdicts.items():
        used = pairs[:WANTED]
        if not used:
            print(f"{kind:<15} nothing could be compared: too busy a machine?")
            continue
        counts = Counter(pair["verdict"] for pair in used)
        ratio, low, high = interval_of_median([pair["ratio"]["value"] for pair in used])
        print(f"{kind:<15} {len(used)} comparisons: "
              + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
              + f"; middle ratio {ratio:.4f} ({low:.4f} … {high:.4f}); {must[kind]}")  # fmt: skip


def _run(record: Path, variants: Sequence[str], seed: int, environment: dict[str, str]) -> None:
    options = [part for name in variants for part in ("--on", name)]
    options += [part for name in OPERATIONS for part in ("--operation", name)]
    subprocess.run(
        [LOADSTONE, "run", *options, "--rows", "10000", "--temperature", "warm", "--no-floor",
         "--seed", str(seed), "--no-report", "--record", str(record)],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip


def _compared(record: Path, a: str, b: str, environment: dict[str, str]) -> list[dict[str, Any]]:
    across = [] if is_twin(b) else ["--across", "percent"]
    done = subprocess.run(
        [LOADSTONE, "compare", str(record), "--variants", a, b, *across, "--format", "json"],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    if not done.stdout:
        sys.exit(f"{a} and {b} could not be compared")
    return [pair for match in json.loads(done.stdout)["matches"] for pair in match["pairs"]]


def agree() -> None:
    """Two complete default runs agree within their printed intervals on at least 90 % of cells."""
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number in range(2):
            record = Path(folder) / f"{number}.loadstone"
            subprocess.run(
                [LOADSTONE, "run", "--no-report", "--record", str(record)],
                check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            runs.append(read(record))
    for run in runs:
        counts = Counter(result.status for result in run.results)
        print("a default run: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    _agreement(*runs)


def _agreement(first: Run, second: Run) -> None:
    other = {result.cell.key: _interval(result.samples) for result in second.results}
    both = [
        (one, other[result.cell.key])
        for result in first.results
        if (one := _interval(result.samples)) and other.get(result.cell.key)
    ]
    overlap = sum(
        b is not None and a.low <= b.high and b.low <= a.high  # type: ignore[operator]
        for a, b in both
    )
    ratios = sorted(b.value / a.value for a, b in both if b is not None)
    print(f"{overlap} of {len(both)} cells with intervals agree ({overlap / len(both):.0%}); "
          f"must be 90 %; second over first run, middle {ratios[len(ratios) // 2]:.3f}, "
          f"from {ratios[0]:.2f} to {ratios[-1]:.2f}")  # fmt: skip


def _interval(samples: Sequence[Any]) -> Estimate | None:
    if not samples:
        return None
    estimate = Estimate(*interval_of_median([float(sample.elapsed_ns) for sample in samples]))
    return None if estimate.low is None else estimate


def observer() -> None:
    """A short SQLite statement with the counters read around it, as in every sample, and without;
    in turns."""
    import apsw

    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", ((i, i) for i in range(10_000)))
    query = "SELECT v FROM t WHERE k BETWEEN 4000 AND 4100"
    with_ns, without_ns = [], []
    for _ in range(400):
        meter = Meter(())
        with_ns.append(_elapsed_ns(lambda: connection.execute(query).fetchall()))
        meter.read()
        without_ns.append(_elapsed_ns(lambda: connection.execute(query).fetchall()))
    ratio, low, high = interval_of_paired_ratio(with_ns, without_ns)
    print(f"with counters over without: {ratio:.3f} ({low:.3f} … {high:.3f}) "
          f"of {interval_of_median(without_ns)[0] / 1e3:.1f} us")  # fmt: skip


def _elapsed_ns(call: Callable[[], object]) -> float:
    start = clock_ns()
    call()
    return float(clock_ns() - start)


PARTS: dict[str, Callable[[], None]] = {"planted": planted, "agree": agree, "observer": observer}


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
