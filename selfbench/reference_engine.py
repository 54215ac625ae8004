"""lode beside plain structures in memory, LMDB and the bare disk: what is left of each. Plain
structures that prefetch are beside the lode that does, and those that do not beside the other.

Every side is a program of its own (`oo1_speed`, the examples of `crates/lode`); they alternate.
"""

import os
import statistics
import subprocess
from collections.abc import Mapping
from pathlib import Path

from clients import PARTS, PARTS_HUGE, ROOT, interval, output, verdict

from loadstone import _core
from loadstone._core import clock_ns, interval_of_paired_ratio

PARTS_LARGE = 200_000
ROUNDS = 9
ITERATIONS = 40
SIDES: Mapping[str, tuple[str, ...]] = {
    "memory": (),
    "memory prefetch": ("prefetch=on",),
    "lmdb": (),
    "lmdb links": ("access=links",),
    "lode": ("swizzle=on",),
    "lode prefetch": ("swizzle=on", "prefetch=on"),
    "lode links": ("access=links", "swizzle=on"),
    "lode links prefetch": ("access=links", "swizzle=on", "prefetch=on"),
    "lode hash": ("access=hash", "swizzle=on"),
    "lode btree": ("access=btree",),
}
GOALS = (
    ("lode", "visit_ns", "memory", 1.5),
    ("lode prefetch", "visit_ns", "memory prefetch", 1.5),
    ("lode", "lookup_ns", "memory", 1.5),
    ("lode", "visit_ns", "lmdb", 1 / 20),
    ("lode", "lookup_ns", "lmdb", 1 / 5),
    ("lode links", "visit_ns", "memory", 3.0),
    ("lode links prefetch", "visit_ns", "memory prefetch", 3.0),
    ("lode btree", "visit_ns", "lmdb links", 1.0),
    ("lode btree", "visit_ns", "lmdb", 1.0),
)
INSERT_GOAL = 2.0
INSERT_ROUNDS = 40
SYNC_BYTES = 8192
CACHE_CAP = 40 << 20

Cost = Mapping[str, float]


def warm_loops(folder: Path, programs: Path, parts: int) -> None:
    """Look-ups and visits of the traversal, warm, and each goal as a ratio of pairs."""
    rounds = [
        {name: _costs(name, folder, programs, parts) for name in SIDES} for _ in range(ROUNDS)
    ]
    print(f"{parts:,} parts, ns{'look-up':>26} {'visit':>9}")
    for name in SIDES:
        lookup, visit = (
            statistics.median(one[name][key] for one in rounds) for key in ("lookup_ns", "visit_ns")
        )
        print(f"{name:24} {lookup:17.1f} {visit:9.1f}")
    for name, key, peer, goal in GOALS:
        ours, theirs = ([one[side][key] for one in rounds] for side in (name, peer))
        ratio, low, high = interval_of_paired_ratio(ours, theirs)
        what = "look-up" if key == "lookup_ns" else "visit"
        print(f"{name + ' / ' + peer:37} {what:8} {ratio:8.3f} {interval(low, high)}"
              f"  target {goal:g} {verdict(ratio <= goal)}", flush=True)  # fmt: skip


def _costs(name: str, folder: Path, programs: Path, parts: int) -> Cost:
    engine, path = name.partition(" ")[0], folder / f"{name}-{parts}".replace(" ", "-")
    load = [] if engine == "memory" or path.exists() else ["load"]
    command = [str(programs / "oo1_speed"), engine, str(path), str(parts), str(ITERATIONS)]
    costs: Cost = output([*command, *load, *SIDES[name]])
    return costs


def durable_inserts(folder: Path) -> None:
    """OO1's insert measure with its commit, beside one append and sync of a plain file."""
    client = _core.oo1_client("lode", str(folder / "insert"), [("durability", "full")], PARTS)
    client.load()
    ours, syncs = [], []
    plain = os.open(folder / "plain", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for iteration in range(INSERT_ROUNDS):
            ours.append(float(client.measure("insert", iteration)[0]))
            start_ns = clock_ns()
            os.write(plain, bytes(SYNC_BYTES))
            os.fdatasync(plain)
            syncs.append(float(clock_ns() - start_ns))
    finally:
        os.close(plain)
    ratio, low, high = interval_of_paired_ratio(ours, syncs)
    print(f"insert of 100 parts and 300 links, durable {statistics.median(ours) / 1e3:8.0f} us,"
          f" one append and fdatasync {statistics.median(syncs) / 1e3:6.0f} us: {ratio:.2f}"
          f" {interval(low, high)}  target {INSERT_GOAL:g} {verdict(ratio <= INSERT_GOAL)}",
          flush=True)  # fmt: skip


def cliff(folder: Path) -> None:
    """One traversal and 1,000 look-ups of each size, under a cache of 40 MiB: where the database no
    longer fits it, the paper's cliff."""
    for parts in (PARTS, PARTS_LARGE, PARTS_HUGE):
        path = folder / f"cliff-{parts}"
        client = _core.oo1_client("lode", str(path), [("cache", str(CACHE_CAP))], parts)
        load_s = client.load() / 1e9
        for iteration in range(2):
            lookup, traversal = (
                client.measure(name, iteration) for name in ("lookup", "traversal")
            )
        print(f"{parts:>9,} parts under 40 MiB: {client.size_bytes() / 2**20:5.0f} MiB, loaded in"
              f" {load_s:5.1f} s; {lookup[0] / lookup[2] / 1e3:7.2f} us a look-up,"
              f" {traversal[0] / traversal[2] / 1e3:7.2f} us a visit", flush=True)  # fmt: skip
        del client
        for left in folder.glob(f"{path.name}*"):
            left.unlink()


def disk(folder: Path) -> None:
    """Scans over the disk's own bandwidth; bytes that a cold traversal reads; what finding and
    logging a change is made of, beside the table of Rhino's paper."""
    for name in ("scan_bandwidth", "cold_objects", "primitives"):
        command = ["cargo", "run", "--release", "--quiet", "--locked", "-p", "lode", "--example",
                   name, "--", str(folder)]  # fmt: skip
        subprocess.run(command, cwd=ROOT, check=True)


def main(folder: Path, programs: Path) -> None:
    """All of it."""
    warm_loops(folder, programs, PARTS)
    warm_loops(folder, programs, PARTS_LARGE)
    durable_inserts(folder)
    disk(folder)
    cliff(folder)
