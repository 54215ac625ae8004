"""Testing the instrument: differences that are there are found, others are not invented.

    make calibrate                          everything, about an hour
    python selfbench/calibrate.py planted   one part: planted, studies, shares, …
    … studies --runs 4 --kept FILE          four runs of the ten, their counts in FILE: a next call
                                            with more goes on with the fifth
    … shares --engine lode                  of one engine, some three minutes
    … planted --engine fixed --runs 1       one run of the ten, some two minutes

planted   on the engine whose truth is known, and on a real one, interleaved: the same variant twice
          (A/A) and the variant with every statement made 5 % longer, 100 comparisons of each at the
          defaults; 20 with every statement made 1 % longer; fewer on two more engines
studies   on the engine whose time follows from switches by a known rule: 100 studies of four of
          them, whose effects, interactions and shares are held against the rule
late      by how much the engine of these studies exceeds its planted times
shares    on real engines: shares by both ends beside those of all combinations of four switches
agree     two complete default runs, one after the other: whose intervals overlap
observer  what the counters around each sample do to a short statement
sampler   what the sampler of a time budget does to statements whose work is known

Not a test: nothing here fails on a busy machine; it prints what it found beside what must hold.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import planted_studies
import sampler_cost
import slowed
import two_ended_shares

from loadstone._core import clock_ns, interval_of_median, interval_of_paired_ratio
from loadstone.analysis.cell_summary import cell_summary
from loadstone.machine.counters import Meter
from loadstone.plan.variant import is_aa_control
from loadstone.record import CellResult, Run, read
from loadstone.statistics.drift import Speeds
from loadstone.statistics.estimate import Estimate

LOADSTONE = str(Path(sys.executable).parent / "loadstone")
OPERATIONS = (
    "select-1%-heap", "select-10%-heap", "select-1%-clustered", "select-1%-nonclustered",
    "select-1%-clustered-client", "min-heap", "min-partitions-heap", "join-ABprime-clustered",
    "project-1%", "select-10%-clustered",
)  # fmt: skip
RUNS, RUNS_SMALL = 10, 2
"""Of ten operations each; so many with the difference that may be too small to be found."""
OTHERS, OTHER_RUNS = ("duckdb", "postgresql"), 1
"""Engines whose processes differ among themselves, too: two servers of the same kind may lie 20 %
apart for as long as they live. What is found on them is stated, and nothing is demanded."""
WANTED = 100


def planted(engines: Sequence[str] = (), most: int = RUNS) -> None:
    """A/A at most 5 false alarms of 100; planted 5 %: at least 95 of 100 found; 1 %: as it is."""
    must = {"the same twice": "at most 5 called different", "5 % slower": "at least 95 slower",
            SMALL: "stated, whatever it is"}  # fmt: skip
    all_of = {"fixed": RUNS, "sqlite": RUNS, **dict.fromkeys(OTHERS, OTHER_RUNS)}
    for engine in engines or all_of:
        runs = min(most, all_of[engine])
        for kind, pairs in _verdicts(engine, runs).items():
            wanted = must[kind] if runs == RUNS else "stated, whatever it is"
            _print_verdicts(f"{engine}, {kind}", pairs[:WANTED], wanted)


SMALL = "1 % slower"


def _kinds(engine: str) -> tuple[str, str, dict[str, str]]:
    """The variant that is compared, the tactic that slows it, and the kinds of others."""
    if engine == "fixed":
        base = "fixed?time_us=1000"
        return base, "time_us", {"the same twice": f"{base}#2", "5 % slower": "fixed?time_us=1050",
                                 SMALL: "fixed?time_us=1010"}  # fmt: skip
    slow = f"slowed-{engine}?percent="
    return engine, "percent", {"the same twice": f"{engine}#2", "5 % slower": f"{slow}5",
                               SMALL: f"{slow}1"}  # fmt: skip


def _verdicts(engine: str, runs: int) -> dict[str, list[dict[str, Any]]]:
    """The pairs of each kind of comparison."""
    base, tactic, kinds = _kinds(engine)
    verdicts: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": slowed.register(Path(folder))}
        for number in range(runs):
            small = [{SMALL: kinds[SMALL]}] if number < RUNS_SMALL else []
            large = {kind: variant for kind, variant in kinds.items() if kind != SMALL}
            for place, beside in enumerate((large, *small)):
                record = Path(folder) / f"{number}-{place}.loadstone"
                _run(record, [base, *beside.values()], number, environment)
                for kind, variant in beside.items():
                    verdicts[kind] += _compared(record, base, variant, tactic, environment)
            print(f"{engine}: run {number + 1} of {runs}", file=sys.stderr, flush=True)
    return verdicts


def _print_verdicts(name: str, pairs: Sequence[dict[str, Any]], must: str) -> None:
    if not pairs:
        print(f"{name:<27} nothing could be compared: too busy a machine?")
        return
    counts = Counter(pair["verdict"] for pair in pairs)
    ratio, low, high = interval_of_median([pair["ratio"]["value"] for pair in pairs])
    found = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    bounds = "" if low is None or high is None else f" ({low:.4f} … {high:.4f})"
    print(f"{name:<27} {len(pairs)} comparisons: {found}; median ratio {ratio:.4f}{bounds}; {must}",
          flush=True)  # fmt: skip


def _run(record: Path, variants: Sequence[str], seed: int, environment: dict[str, str]) -> None:
    options = [part for name in variants for part in ("--on", name)]
    options += [part for name in OPERATIONS for part in ("--operation", name)]
    subprocess.run(
        [LOADSTONE, "run", *options, "--rows", "10000", "--temperature", "warm", "--no-overhead",
         "--seed", str(seed), "--no-report", "--record", str(record)],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip


def _compared(
    record: Path, a: str, b: str, tactic: str, environment: dict[str, str]
) -> list[dict[str, Any]]:
    across = [] if is_aa_control(b) else ["--across", tactic]
    done = subprocess.run(
        [LOADSTONE, "compare", str(record), "--variants", a, b, *across, "--format", "json"],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    if not done.stdout:
        sys.exit(f"{a} and {b} could not be compared")
    return [pair for match in json.loads(done.stdout)["matches"] for pair in match["pairs"]]


def studies(runs: int = RUNS, kept: Path | None = None) -> None:
    """Effects lie within their intervals; interactions are found, and few effects invented."""
    planted_studies.count(OPERATIONS, runs, kept).show()


def late() -> None:
    """The planted engine exceeds all of its times by the same, within a tenth of a microsecond."""
    planted_studies.show_lateness()


def shares(engines: Sequence[str] = ()) -> None:
    """Shares by both ends lie within 5 points of those of all combinations, or are taken apart."""
    two_ended_shares.count(tuple(engines or two_ended_shares.SWITCHES))


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
    """Of all cells with intervals; and of those that nothing disturbed in either run, since a
    disturbed one's interval is wide enough to agree with much."""
    intervals: list[dict[str, Estimate | None]] = []
    for run in (first, second):
        speeds = Speeds(run)
        intervals.append({result.cell.key: _interval(result, speeds) for result in run.results})
        print(f"  speed probe: a miniature of an engine's work {speeds.least_ns / 1e3:.0f} to "
              f"{speeds.most_ns / 1e3:.0f} us")  # fmt: skip
    in_order = [{r.cell.key for r in run.results if r.status == "ok"} for run in (first, second)]
    _print_agreement("cells with intervals", intervals)
    calm = [{key: one[key] for key in in_order[0] & in_order[1]} for one in intervals]
    _print_agreement("cells in order in both runs", calm)


def _print_agreement(what: str, intervals: Sequence[Mapping[str, Estimate | None]]) -> None:
    first, second = intervals
    both = [(one, second[key]) for key, one in first.items() if one and second.get(key)]
    if not both:
        print(f"no {what}: too busy a machine?")
        return
    overlap = sum(
        b is not None and a.low <= b.high and b.low <= a.high  # type: ignore[operator]
        for a, b in both
    )
    ratios = sorted(b.value / a.value for a, b in both if b is not None)
    print(f"{overlap} of {len(both)} {what} agree ({overlap / len(both):.0%}); must be 90 %; "
          f"second over first run, median {ratios[len(ratios) // 2]:.3f}, "
          f"from {ratios[0]:.2f} to {ratios[-1]:.2f}")  # fmt: skip


def _interval(result: CellResult, speeds: Speeds) -> Estimate | None:
    """As the report prints it."""
    elapsed_ns = cell_summary(result.cell, result, speeds=speeds).elapsed_ns
    return elapsed_ns if elapsed_ns and elapsed_ns.low is not None else None


def observer() -> None:
    """A short SQLite statement with the counters read around it, as in every sample, and without;
    alternately."""
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


def sampler() -> None:
    """The time of a statement with the sampler over that without; at the budget's frequency, the
    first, at most 1.02."""
    sampler_cost.report()


def _elapsed_ns(call: Callable[[], object]) -> float:
    start = clock_ns()
    call()
    return float(clock_ns() - start)


PARTS: dict[str, Callable[[], None]] = {
    "planted": planted,
    "studies": studies,
    "late": late,
    "shares": shares,
    "agree": agree,
    "observer": observer,
    "sampler": sampler,
}


def main(arguments: Sequence[str]) -> None:
    """Run the parts named, or all."""
    parser = argparse.ArgumentParser(description="Test the instrument.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=RUNS, help="of ten studies or comparisons each")
    parser.add_argument("--kept", type=Path, help="the studies' counts so far, and these")
    known = ("fixed", *two_ended_shares.SWITCHES)
    parser.add_argument("--engine", action="append", default=[], choices=known,
                        help="of planted and shares: this one alone; repeatable")  # fmt: skip
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name in chosen.parts or PARTS:
        print(f"\n== {name}: {(PARTS[name].__doc__ or '').splitlines()[0]}", flush=True)
        if name == "studies":
            studies(chosen.runs, chosen.kept)
        elif name == "planted":
            planted(chosen.engine, chosen.runs)
        elif name == "shares":
            shares(chosen.engine)
        else:
            PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
