"""The effect of a time budget's sampler on statements of real engines, at several frequencies.

    python selfbench/sampler_on_engines.py [ENGINE …]   five seconds for each of six operations

A block of a statement with the sampler at each frequency, and without, in a random order; of each
block the time that two thirds of its statements exceed, since what else happens only adds to it.
At 1 Hz there are no samples: what is left is the kernel's timer, set anew whenever a thread sleeps,
and the reading of clocks beside each statement.
"""

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from loadstone import registry
from loadstone._core import clock_ns, interval_of_paired_ratio
from loadstone.benchmarks.base import Operation
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Load, Open, Profile, Settle, TakeBlock
from loadstone.protocol.parts import Block, StoredAt, Variation
from loadstone.worker.statement_requests import StatementRequests

EDITION, ROWS = "1993", 100_000
OPERATIONS = ("select-10%-heap", "min-heap", "project-1%", "join-AselB-heap",
              "select-1%-clustered", "select-1%-clustered-client")  # fmt: skip
FREQUENCIES_HZ = (1, 97, 140, 220)
SECONDS = 5
BLOCK_NS = 50_000_000
STATEMENTS_MAX = 16
BLOCKS_LEAST = 8


def report(engine: str) -> None:
    """Print a line for each operation."""
    benchmark = registry.load_benchmark("wisconsin")()
    operations = {one.name: one for one in benchmark.operations(EDITION, ROWS)}
    chosen = [operations[name] for name in OPERATIONS]
    designs = {one.design for one in chosen}
    items = [one for one in benchmark.stored_relations(EDITION) if one.design in designs]
    stored = [StoredAt("wisconsin", EDITION, ROWS, item) for item in items]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # a server's account enters it
        worker = StatementRequests(lambda _: None)
        worker.open(Open(Variant(engine), folder, "calibration"))
        try:
            for each in stored:
                worker.load(Load(each))
            worker.settle(Settle(tuple(each.table for each in stored)))
            for operation in chosen:
                _report(worker, engine, operation)
        finally:
            worker.remove()


def _report(worker: StatementRequests, engine: str, operation: Operation) -> None:
    first = worker.take_block(TakeBlock(_block(operation, BLOCKS_LEAST))).samples
    each_ns = min(sample.elapsed_ns for sample in first)
    block = _block(operation, max(1, min(STATEMENTS_MAX, BLOCK_NS // each_ns)))
    taken: dict[int, list[float]] = {hz: [] for hz in (0, *FREQUENCIES_HZ)}
    dice, end_ns = random.Random(1983), clock_ns() + SECONDS * 10**9
    while clock_ns() < end_ns or len(taken[0]) < BLOCKS_LEAST:
        for hz in dice.sample([*taken], len(taken)):
            result = worker.profile(Profile(block, hz)).result if hz else (
                worker.take_block(TakeBlock(block))
            )  # fmt: skip
            times = sorted(sample.elapsed_ns for sample in result.samples)
            taken[hz].append(float(times[len(times) // 3]))
    said = []
    for hz in FREQUENCIES_HZ:
        ratio, low, high = interval_of_paired_ratio(taken[hz], taken[0])
        said.append(f"{hz} Hz {ratio:.3f} ({low or 0:.3f} … {high or 0:.3f})")
    print(f"{engine}, {operation.name}, {each_ns / 1e3:.0f} us: {'; '.join(said)}", flush=True)


def _block(operation: Operation, statements: int) -> Block:
    texts = operation.texts[: operation.sampled]
    numbers = (place % len(texts) for place in range(statements))
    variations = tuple(Variation(number, texts[number], "", 0, "") for number in numbers)
    return Block("wisconsin", EDITION, ROWS, operation.design, operation.destination, "warm",
                 variations, 0, 0, 0, storage=operation.storage, checked=0)  # fmt: skip


def main(engines: Sequence[str]) -> None:
    """Of these engines."""
    for engine in engines or ("sqlite", "duckdb", "postgresql"):
        report(engine)


if __name__ == "__main__":
    main(sys.argv[1:])
