r"""Where the time of one operation goes, on each engine, and what looking costs.

    python selfbench/time_budget.py                  10^5 tuples, about two minutes
    python selfbench/time_budget.py --operation join-AselB-heap --on lode --rows 10000

Each engine has a process of its own. Blocks with the sampler and without alternate; the observer's
cost is the paired ratio of their medians. A budget is of all samples with the sampler together; it
closes if the sampled CPU time is the kernel's, as far as chance allows.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from loadstone import _core, registry
from loadstone.benchmarks.base import Operation, table_of
from loadstone.engines.components import UNCLASSIFIED
from loadstone.errors import LoadstoneError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import (
    Block,
    BlockResult,
    Load,
    Open,
    Profile,
    Profiled,
    Settle,
    StoredAt,
    TakeBlock,
    Variation,
)
from loadstone.statistics.time_budget import time_budget
from loadstone.worker.statement_requests import StatementRequests

EDITION = "1993"
ENGINES = ("sqlite", "duckdb", "postgresql", "lode")
SHOWN_SHARE_MIN = 0.01


def opened(engine: str, folder: Path, rows: int, design: str) -> StatementRequests:
    """A worker in this process, with the relations of a design."""
    worker = StatementRequests(lambda _: None)
    worker.open(Open(Variant(engine), str(folder), "budget"))
    names = []
    for item in registry.load_benchmark("wisconsin")().stored_relations(EDITION):
        if item.design == design:
            worker.load(Load(StoredAt("wisconsin", EDITION, rows, item)))
            names.append(table_of(item.relation, item.design, rows))
    worker.settle(Settle(tuple(names)))
    return worker


def block_of(operation: Operation, rows: int, times: int) -> Block:
    """Each variation that many times, with the oracle's answers."""
    oracle = _core.Oracle()
    for relation in _core.relations("wisconsin", EDITION):
        oracle.add("wisconsin", EDITION, relation, rows)
    undo = operation.undo or ("",) * len(operation.texts)
    variations = [
        Variation(number, text, undo[number], *oracle.answer(text))
        for number, text in enumerate(operation.texts)
    ]
    return Block(
        benchmark="wisconsin",
        edition=EDITION,
        rows=rows,
        design=operation.design,
        destination=operation.destination,
        temperature="warm",
        variations=tuple(variations * times),
        warm_up=0,
        first_ordinal=0,
        round=0,
    )


def median_ns(result: BlockResult) -> float:
    """Of a block's samples."""
    wrong = [answer for answer in result.answers if not answer.right]
    if wrong:
        raise SystemExit(f"a wrong answer: {wrong[0]}")
    return statistics.median(sample.elapsed_ns for sample in result.samples)


def show(engine: str, operation: str, found: Sequence[Profiled], ratio: str) -> None:
    """One engine's budget, a line a row."""
    samples: Counter[str] = Counter()
    unclassified: Counter[str] = Counter()
    for profiled in found:
        for count in profiled.counts:
            samples[count.component] += count.samples
            if count.component == UNCLASSIFIED:
                unclassified[f"{count.object} {count.function}"] += count.samples
    threads = [thread for profiled in found for thread in profiled.threads]
    waited = [thread.waited_ns for thread in threads]
    stretches = sum(len(profiled.result.samples) for profiled in found)
    budget = time_budget(
        samples,
        found[0].period_ns,
        sum(profiled.elapsed_ns for profiled in found),
        sum(thread.cpu_ns for thread in threads),
        None if None in waited else sum(ns or 0 for ns in waited),
        stretches,
    )
    each, whole = 1e6 * stretches, budget.elapsed_ns
    print(f"\n{engine}, {operation}: {whole / each:.3f} ms, {stretches} samples, {ratio}")
    if found[0].reason:
        print(f"  {found[0].reason}")
    for part in budget.parts:
        if part.ns >= SHOWN_SHARE_MIN * whole or part.component == UNCLASSIFIED:
            print(
                f"  {part.component:34} {part.ns / each:9.3f} ms {part.ns / whole:6.1%}"
                f"  ({part.low_ns / whole:.1%} to {part.high_ns / whole:.1%})"
            )
    for name, ns in (
        ("waiting for a CPU", budget.waited_ns or 0.0),
        ("off the CPU otherwise", budget.slept_ns),
        ("residual", budget.residual_ns),
    ):
        print(f"  {name:34} {ns / each:9.3f} ms {ns / whole:6.1%}")
    chance = budget.residual_ns_max / whole
    lost = sum(profiled.lost for profiled in found)
    verdict = "closes" if budget.closes else "does not close"
    print(f"  {verdict}: chance allows a residual of {chance:.1%}; {lost} lost")
    for name, number in unclassified.most_common(3):
        print(f"    unclassified {number / max(sum(samples.values()), 1):.1%} {name[:80]}")


def measure(engine: str, arguments: argparse.Namespace) -> None:
    """Blocks with the sampler and without, interleaved."""
    rows = arguments.rows
    operations = registry.load_benchmark("wisconsin")().operations(EDITION, rows)
    operation = next((found for found in operations if found.name == arguments.operation), None)
    if operation is None:
        raise SystemExit(f"no operation {arguments.operation}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        scratch = folder / engine
        scratch.mkdir()
        try:
            worker = opened(engine, scratch, rows, operation.design)
        except LoadstoneError as error:
            print(f"{engine}: left out: {error}")
            return
        try:
            block = block_of(operation, rows, arguments.times)
            worker.take_block(TakeBlock(block))
            without, found = [], []
            for number in range(arguments.pairs):
                for watched in (False, True) if number % 2 else (True, False):
                    if watched:
                        found.append(worker.profile(Profile(block, arguments.frequency)))
                    else:
                        without.append(median_ns(worker.take_block(TakeBlock(block))))
            with_ = [median_ns(profiled.result) for profiled in found]
            ratio, low, high = _core.interval_of_paired_ratio(with_, without)
            bounds = f" ({low - 1:+.1%} to {high - 1:+.1%})" if low and high else ""
            show(engine, operation.name, found, f"observer {ratio - 1:+.1%}{bounds}")
        finally:
            worker.remove()


def main() -> None:
    """Each engine in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--on", nargs="*", default=list(ENGINES))
    parser.add_argument("--operation", default="join-ABprime-heap")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=10, help="blocks of each kind")
    parser.add_argument("--times", type=int, default=3, help="samples of a variation in a block")
    parser.add_argument("--frequency", type=int, default=997)
    arguments = parser.parse_args()
    if len(arguments.on) == 1:
        measure(arguments.on[0], arguments)
        return
    own = [option for option in sys.argv[1:] if option not in arguments.on and option != "--on"]
    for engine in arguments.on:
        subprocess.run([sys.executable, __file__, *own, "--on", engine], check=True)


if __name__ == "__main__":
    main()
