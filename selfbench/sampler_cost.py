"""The effect of a time budget's sampler on statements whose work is known, and whether its samples
report their time.

    pair = a block of statements with the sampler, and the same block without, in a random order

The engine is artificial: a statement is a fixed number of checksums, so that what interrupts it
makes it longer (an engine that spins until a time is over would hide that). Times are CPU times of
its thread, in which interrupts count and other programs do not.
"""

import random
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from time import thread_time_ns
from typing import Any, NamedTuple

from loadstone._core import interval_of_paired_ratio
from loadstone.engines.calibration.artificial import ArtificialEngine
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Profile, Profiled, TakeBlock
from loadstone.protocol.parts import Block, Variation
from loadstone.run.budget_blocks import FREQUENCY_HZ
from loadstone.worker.statement_requests import StatementRequests

TEXT = "range of t is tenktup1 retrieve into tmp (t.all) where t.unique2 < 9"
DATA = bytes(4096)
LENGTHS_NS = (50_000, 1_000_000, 20_000_000)
FREQUENCIES_HZ = (FREQUENCY_HZ, 997, 9973)
PAIRS = 60
BLOCK_NS = 40_000_000
"""The statements of a block together, about."""


class Checksums(ArtificialEngine):
    """Every statement computes so many checksums of the same bytes."""

    name = "checksums"
    times = 1
    spent_ns = 0
    """CPU time of all statements so far."""

    def run(self, statement: str) -> int:
        """The checksums, whatever is asked."""
        del statement
        begun_ns = thread_time_ns()
        for _ in range(self.times):
            zlib.crc32(DATA)
        self.spent_ns += thread_time_ns() - begun_ns
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """As `run`."""
        self.run(statement)
        return []


class Cost(NamedTuple):
    """Of one length and frequency."""

    statement_ns: float
    ratio: tuple[float, float | None, float | None]
    """Of the times of a statement with the sampler and without."""
    sample_ns: float
    """The time that is added, over the samples."""
    reported: float
    """The CPU time that the samples stand for, over that of the threads; 0: they do not report."""


def costs() -> Iterator[tuple[int, int, Cost]]:
    """(wanted length, frequency, what was found)."""
    with tempfile.TemporaryDirectory() as folder:
        worker = StatementRequests(lambda _: None)
        engine = Checksums(Variant("checksums"), Path(folder), "calibration")
        worker._system = engine  # noqa: SLF001 - no entry point: nobody else may run it
        each_ns = _checksum_ns(engine)
        for length_ns in LENGTHS_NS:
            engine.times = max(1, round(length_ns / each_ns))
            for frequency_hz in FREQUENCIES_HZ:
                yield length_ns, frequency_hz, _cost(worker, engine, length_ns, frequency_hz)


def _checksum_ns(engine: Checksums) -> float:
    engine.times = 20_000
    engine.run("")
    begun_ns = engine.spent_ns
    engine.run("")
    return (engine.spent_ns - begun_ns) / engine.times


def _cost(worker: StatementRequests, engine: Checksums, length_ns: int, frequency_hz: int) -> Cost:
    block = _block(max(1, BLOCK_NS // length_ns))
    dice = random.Random(1983)
    taken: dict[str, list[float]] = {"watched": [], "unwatched": []}
    samples = sampled_ns = cpu_ns = 0
    for _ in range(PAIRS):
        for kind in dice.sample(list(taken), 2):
            begun_ns = engine.spent_ns
            if kind == "unwatched":
                worker.take_block(TakeBlock(block))
            else:
                found = worker.profile(Profile(block, frequency_hz))
                samples += sum(count.samples for count in found.counts)
                sampled_ns += found.sampled_ns or 0
                cpu_ns += _cpu_ns(found)
            taken[kind].append((engine.spent_ns - begun_ns) / len(block.variations))
    watched, unwatched = taken.values()
    added_ns = (sum(watched) - sum(unwatched)) * len(block.variations)
    return Cost(
        sum(unwatched) / PAIRS,
        interval_of_paired_ratio(watched, unwatched),
        added_ns / max(samples, 1),
        sampled_ns / max(cpu_ns, 1),
    )


def _cpu_ns(found: Profiled) -> int:
    """Of all threads, but for what reading the clock took."""
    return sum(thread.cpu_ns for thread in found.threads) - found.reading_ns


def _block(statements: int) -> Block:
    variation = Variation(0, TEXT, "", 0, "")
    return Block("wisconsin", "1993", 1000, "heap", "relation", "warm",
                 (variation,) * statements, 0, 0, 0)  # fmt: skip


def report() -> None:
    """Print one line for each length and frequency."""
    for _, frequency_hz, cost in costs():
        ratio, low, high = cost.ratio
        print(f"{cost.statement_ns / 1e3:9.0f} us, {frequency_hz:5} Hz: {ratio:.4f}"
              f" ({low or 0:.4f} … {high or 0:.4f}) of its time, {cost.sample_ns / 1e3:.0f} us a"
              f" sample; samples show {cost.reported:.3f} of the CPU time")  # fmt: skip


if __name__ == "__main__":
    report()
