"""OO7 on lode beside plain structures, LMDB and SQLite: T1 warm and cold, what updates log and
take beside what they are made of, loading.

Every side is a program of its own (`oo7_speed`); the sides alternate. What an update is made of is
measured by `primitives`, in the same part of the run.
"""

import mmap
import os
import random
import statistics
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from clients import ROOT, interval, output, verdict

from loadstone import _core
from loadstone._core import clock_ns, interval_of_paired_ratio

SMALL = (10_000, 3)
MEDIUM = (100_000, 9)
"""Atomic parts, and connections that leave each."""
PAGE_BYTES = 4096
ROUNDS = 9
COLD_ROUNDS = 6
LOAD_ROUNDS = 3
ITERATIONS = 20
ITERATIONS_SQL = 3
WARM: Mapping[str, tuple[str, ...]] = {
    "memory": (), "lode": ("swizzle=on",), "lmdb": (), "sqlite": (),
}  # fmt: skip
WARM_GOALS = (("memory", 1.5), ("lmdb", 1 / 10), ("sqlite", 1 / 50))
DETECTIONS = {
    "explicit": "",
    "sigsegv": "fault by signal, bare",
    "kernel": "fault in the kernel, bare",
}
"""With the primitive by which each learns of a store."""
FAULTS = ("fault by signal", "fault by signal, every other", "fault in the kernel")
"""Detections of which the primitives compare lode's with the barest."""
DETECTION_GOAL = 1.2
XY_BYTES = 8
PARTS_OF_A_COMPOSITE = 20
PAGE_RECORD_BYTES = 4128
COMMIT_BYTES = 32
LOG_GOAL = 1.15
TIME_GOAL = 1.3
EXTENT = "extent=32"
"""Pages that a file gets together, and a miss brings."""
COLD: Mapping[str, tuple[str, ...]] = {
    "page by page": ("swizzle=on", "disk=direct", "readahead=off"),
    "readahead": ("swizzle=on", "disk=direct", "readahead=on"),
}
COLD_GOAL = 1.2
BANDWIDTH_GOAL = 0.8
READERS = 32
LOAD_GOALS_S = {SMALL: 1.0, MEDIUM: 10.0}

Costs = Mapping[str, Any]


def run(
    programs: Path, side: tuple[str, Path], size: tuple[int, int], operations: str,
    more: Sequence[str], iterations: int = ITERATIONS,
) -> Costs:  # fmt: skip
    """The costs of operations on an engine's database, loaded where there is none."""
    engine, path = side
    load = [] if engine == "memory" or path.exists() else ["load"]
    numbers = [str(number) for number in (*size, iterations)]
    command = [str(programs / "oo7_speed"), engine, str(path), *numbers, operations]
    costs: Costs = output([*command, *load, *more])
    return costs


def warm(folder: Path, programs: Path, size: tuple[int, int] = SMALL) -> None:
    """T1 warm, ns a visit, and lode over each of the others."""
    rounds = [
        {
            name: run(programs, (name, folder / f"{name}-{size[0]}"), size, "T1", tactics,
                      ITERATIONS_SQL if name == "sqlite" else ITERATIONS)["T1"]
            for name, tactics in WARM.items()
        }
        for _ in range(ROUNDS)
    ]  # fmt: skip
    print(f"T1 warm, {size[0]:,} atomic parts{'ns a visit':>20}")
    for name in WARM:
        ns = statistics.median(one[name]["elapsed_ns"] / one[name]["visits"] for one in rounds)
        print(f"{name:24} {ns:19.1f}")
    for peer, goal in WARM_GOALS:
        ours, theirs = ([float(one[side]["elapsed_ns"]) for one in rounds]
                        for side in ("lode", peer))  # fmt: skip
        _print_ratio(f"T1 warm, lode / {peer}", ours, theirs, goal)


def _print_ratio(
    name: str, ours: Sequence[float], theirs: Sequence[float], goal: float, at_least: bool = False
) -> None:
    ratio, low, high = interval_of_paired_ratio(ours, theirs)
    reached = ratio >= goal if at_least else ratio <= goal
    print(f"{name:46} {ratio:8.3f} {interval(low, high)}  target {goal:g} {verdict(reached)}",
          flush=True)  # fmt: skip


def swaps_left() -> int:
    """Composite parts of the small database that T2a leaves other than they were: those that are
    used privately an odd number of times."""
    rows = _core.oo7_rows(*SMALL, 1, "componentpriv")
    uses = Counter(row[1] for row in rows)
    return sum(count % 2 for count in uses.values())


def primitives(folder: Path) -> Mapping[str, float]:
    """Nanoseconds of each part of a change, alone."""
    command = ["cargo", "run", "--release", "--quiet", "--locked", "-p", "lode", "--example",
               "primitives", "--", str(folder)]  # fmt: skip
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = {}
    for line in printed.splitlines():
        fault, is_ratio, ratio = line.partition(", lode over bare: ")
        name, figure = line[:40].strip(), line[40:].split()
        if is_ratio:
            found[fault] = float(ratio.split()[0])
        elif figure and figure[0].replace(".", "").isdigit():
            found[name] = float(figure[0])
    return found


def detection(costs: Mapping[str, float]) -> None:
    """The cost of lode's detection of the first store to a page over the barest one."""
    for fault in FAULTS:
        if fault not in costs:
            print(f"{fault}: not here")
            continue
        name = f"{fault}, lode / bare"
        print(f"{name:46} {costs[fault]:8.3f}  target {DETECTION_GOAL:g}"
              f" {verdict(costs[fault] <= DETECTION_GOAL)}")  # fmt: skip


def updates(folder: Path, programs: Path) -> None:
    """T2a to T2c under page-diff: bytes logged over bytes changed; and what T2a and T2c take beyond
    T1, over the sum of what they are made of: as it is, and with what the exchanges themselves take
    on plain structures."""
    costs = primitives(folder)
    detection(costs)
    swaps = swaps_left()
    changed_bytes = {
        "T2a": swaps * XY_BYTES, "T2b": swaps * PARTS_OF_A_COMPOSITE * XY_BYTES, "T2c": 0,
    }  # fmt: skip
    touched = touched_pages(folder, programs)
    plain = run(programs, ("memory", folder / "plain"), SMALL, "T1,T2a,T2c", (), ITERATIONS)
    for detect, fault in DETECTIONS.items():
        if fault and fault not in costs:
            print(f"detect={detect}: not here")
            continue
        side = ("lode", folder / f"updates-{detect}")
        tactics = ("swizzle=on", "log=page-diff", "durability=full", f"detect={detect}")
        operations = ",".join(("T1", *changed_bytes))
        rounds = [run(programs, side, SMALL, operations, tactics, 5) for _ in range(COLD_ROUNDS)]
        for name, changed in changed_bytes.items():
            logged = statistics.median(one[name]["log_bytes"] for one in rounds)
            ratio = f"{logged / changed:.2f}" if changed else "nothing changed"
            print(f"{name} {detect:9} logs {logged:,.0f} bytes, {changed:,} changed: {ratio}"
                  f"  target {LOG_GOAL:g} {verdict(logged <= LOG_GOAL * changed)}")  # fmt: skip
            if name not in touched:
                continue
            sum_ns = parts_of_an_update_ns(costs, fault, touched[name], touched["T2c"], changed > 0)
            taken = [float(one[name]["elapsed_ns"] - one["T1"]["elapsed_ns"]) for one in rounds]
            _print_ratio(f"{name} {detect}: beyond T1 / sum of {sum_ns / 1e3:,.0f} us", taken,
                         [sum_ns] * len(taken), TIME_GOAL)  # fmt: skip
            sum_ns += max(plain[name]["elapsed_ns"] - plain["T1"]["elapsed_ns"], 0)
            _print_ratio(f"{name} {detect}: with the exchanges, {sum_ns / 1e3:,.0f} us", taken,
                         [sum_ns] * len(taken), TIME_GOAL)  # fmt: skip


def parts_of_an_update_ns(
    costs: Mapping[str, float], fault: str, touched: float, mapped: float, syncs: bool
) -> float:
    """The sum of what an update of so many pages is made of: a copy and a comparison of each page,
    a fault where pages are mapped, of which all have to be copied before, and the sync."""
    sum_ns = touched * costs["page compare, a word differs"]
    if fault:
        sum_ns += touched * costs[fault]
        sum_ns += mapped * (costs["page copy"] + costs["first store to new memory"])
    else:
        sum_ns += touched * costs["page copy"]
    if syncs:
        sum_ns += costs["commit, 8 bytes, durable"] - costs["commit, 8 bytes, not synced"]
    return sum_ns


def touched_pages(folder: Path, programs: Path) -> Mapping[str, float]:
    """Pages that T2a and T2c store to, as the log of whole pages has them."""
    costs = run(programs, ("lode", folder / "grain"), SMALL, "T2a,T2c",
                ("log=page-grain", "durability=none"), 1)  # fmt: skip
    return {
        name: (costs[name]["log_bytes"] - COMMIT_BYTES) / (2 * PAGE_RECORD_BYTES)
        for name in ("T2a", "T2c")
    }


def cold(folder: Path, programs: Path) -> None:
    """T1 cold on medium-9: device bytes over the pages that hold it, and their rate over the
    disk's with as many random reads under way."""
    path = folder / "medium"
    run(programs, ("lode", path), MEDIUM, "T6", ("swizzle=on", EXTENT), 1)
    bytes_read: dict[str, list[float]] = {name: [] for name in COLD}
    rates, bare = [], []
    for _ in range(COLD_ROUNDS):
        for name, tactics in COLD.items():
            cost = run(programs, ("lode", path), MEDIUM, "T1", (*tactics, EXTENT, "cold"), 1)["T1"]
            bytes_read[name].append(float(cost["read_bytes"]))
        rates.append(cost["read_bytes"] / cost["elapsed_ns"])
        bare.append(random_read_rate(path, int(bytes_read["page by page"][-1]) // PAGE_BYTES))
    pages = statistics.median(bytes_read["page by page"]) / PAGE_BYTES
    ours_mb, bare_mb = (statistics.median(each) * 1e3 for each in (rates, bare))
    print(f"T1 cold, {MEDIUM[0]:,} atomic parts of {MEDIUM[1]} connections: {pages:,.0f} pages,"
          f" {ours_mb:,.0f} MB/s, random reads {bare_mb:,.0f} MB/s")  # fmt: skip
    _print_ratio("device bytes / pages that hold it", bytes_read["readahead"],
                 bytes_read["page by page"], COLD_GOAL)  # fmt: skip
    _print_ratio("rate with readahead / random reads'", rates, bare, BANDWIDTH_GOAL, at_least=True)


def random_read_rate(path: Path, pages: int) -> float:
    """Bytes a ns of random reads of single pages of a file, past the system's cache."""
    everything = range(path.stat().st_size // PAGE_BYTES)
    wanted = random.Random(1).sample(everything, min(pages, len(everything)))
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)

    def read(share: Sequence[int]) -> None:
        with mmap.mmap(-1, PAGE_BYTES) as page:
            for number in share:
                os.preadv(file, [page], number * PAGE_BYTES)

    try:
        with ThreadPoolExecutor(READERS) as readers:
            start_ns = clock_ns()
            list(readers.map(read, (wanted[place::READERS] for place in range(READERS))))
            return len(wanted) * PAGE_BYTES / (clock_ns() - start_ns)
    finally:
        os.close(file)


def loads(folder: Path, programs: Path) -> None:
    """Seconds until the database is there, generated and loaded."""
    for size, goal_s in LOAD_GOALS_S.items():
        found: dict[str, list[float]] = {name: [] for name in ("lode", "lmdb", "sqlite")}
        for _ in range(LOAD_ROUNDS):
            for name, seconds in found.items():
                path = folder / f"load-{name}"
                seconds.append(run(programs, (name, path), size, "Q1", (), 1)["load_ns"] / 1e9)
                for left in folder.glob(f"{path.name}*"):
                    left.unlink()
        medians = {name: statistics.median(seconds) for name, seconds in found.items()}
        print(f"load of {size[0]:,} atomic parts of {size[1]} connections: "
              + ", ".join(f"{name} {median:.2f} s" for name, median in medians.items())
              + f"  target of lode {goal_s:g} s {verdict(medians['lode'] <= goal_s)}",
              flush=True)  # fmt: skip


def main(folder: Path, programs: Path) -> None:
    """All of it."""
    warm(folder, programs)
    updates(folder, programs)
    cold(folder, programs)
    loads(folder, programs)
