r"""The cost of machine code in lode: every query of Wisconsin 1993, each text met once.

    python selfbench/compiling.py                  10^4 tuples, a minute

A query's pipelines are functions; Cranelift makes them. The target of a query with one to three of
them is a millisecond.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from query import EDITION, GROUPS, Runner, Side, opened

from loadstone import registry
from loadstone.benchmarks.base import Operation
from loadstone.engines.abilities import CountsWork

FUNCTIONS = range(1, 4)
TARGET_MS = 1.0
COMPILED = Side("compiled", "lode", (("execution", "compiled"),))


def compiled(runner: Runner, operation: Operation) -> tuple[int, list[float]]:
    """The functions of a query, and the milliseconds that making them took: of each variation that
    was compiled at all, since what comes again finds its code."""
    engine = runner.engine
    if not isinstance(engine, CountsWork):
        raise SystemExit("this engine does not count its work")
    functions, took_ms = 0, []
    for variation in range(len(operation.texts)):
        before = engine.work()
        runner.run(operation, variation)
        after = engine.work()
        runner.clear(operation, variation)
        work = after.since(before)
        if work.functions_compiled:
            functions = max(functions, work.functions_compiled)
            took_ms.append(work.compile_ns / 1e6)
    return functions, took_ms


def main(argv: Sequence[str] | None = None) -> None:
    """Print each query's functions and the median time to make them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000, help="tuples of tenktup1")
    options = parser.parse_args(argv)
    benchmark = registry.load_benchmark("wisconsin")()
    medians = {}
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as name:
        runner = opened(COMPILED, Path(name), options.rows)
        if runner is None:
            raise SystemExit("lode does not start")
        try:
            for operation in benchmark.operations(EDITION, options.rows):
                if operation.group not in GROUPS:
                    continue
                functions, took_ms = compiled(runner, operation)
                if took_ms:
                    medians[operation.name] = functions, statistics.median(took_ms)
                    show(operation.name, functions, took_ms)
        finally:
            runner.engine.remove()
    small = [typical for functions, typical in medians.values() if functions in FUNCTIONS]
    reached = "reached" if max(small) <= TARGET_MS else "MISSED"
    print(f"{len(small)} of {len(medians)} queries have one to three functions: median"
          f" {statistics.median(small):.3f} ms, worst {max(small):.3f}, target {TARGET_MS:g}"
          f" {reached}")  # fmt: skip


def show(name: str, functions: int, took_ms: Sequence[float]) -> None:
    """A query's line."""
    typical = statistics.median(took_ms)
    print(f"{name:34} functions {functions} texts {len(took_ms):2} median {typical:6.3f} ms,"
          f" most {max(took_ms):6.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
