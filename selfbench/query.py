r"""Every query of Wisconsin 1993 on lode, beside DuckDB, SQLite and PostgreSQL, warm.

    python selfbench/query.py                     10^5 tuples, two to three minutes
    python selfbench/query.py --rows 1000000 --rounds 5 --only join

All engines have one thread, one cache size, one length of the log until a checkpoint (read back
from each, and printed) and the same variations in the same order; they alternate within a round. A
ratio is our median time over theirs. Against what keeps its promises on a disk lode does, too;
against DuckDB in memory it does not sync either. DuckDB, which stores columns, is compared with the
faster of lode's two layouts for each operation (`*` marks those by columns), the engines that store
rows with lode's rows. An engine whose answer differs from lode's is named, and its time is not
compared.
"""

import argparse
import math
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from loadstone import _core, registry
from loadstone._core import answer_of_rows, answer_of_stream, clock_ns
from loadstone.benchmarks.base import Operation, StoredRelation, table_of
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.errors import LoadstoneError
from loadstone.plan.variant import Variant
from loadstone.quel.statement import Statement
from loadstone.quel.translate import translate

EDITION = "1993"
GROUPS = ("selections", "joins", "projections", "aggregates")
CACHE_BYTES_MIN = 256 << 20
CACHE_BYTES_PER_ROW = 3072
"""The large relations in both designs, and the largest result, fit."""
CHECKPOINT_MIB = 256
"""lode's own default."""
SQLITE_PAGE_BYTES = 4096
OPERATION_S = 4.0
"""After so long an operation has no more rounds, once it has three."""


class DuckdbInMemory(DuckdbEngine):
    """DuckDB without a file."""

    path = Path(":memory:")


@dataclass(frozen=True, slots=True)
class Side:
    """One engine as it is measured. `ours` are the sides of lode of which the fastest is compared
    with it, `goal` the geometric mean of the ratios that we want."""

    name: str
    engine: str
    tactics: tuple[tuple[str, str], ...] = ()
    ours: tuple[str, ...] = ()
    goal: float = 0.0


COLUMNS = ("layout", "columns")
NO_SYNC = ("durability", "none")
SIDES = (
    Side("lode", "lode"),
    Side("columns", "lode", (COLUMNS,)),
    Side("no sync", "lode", (NO_SYNC,)),
    Side("col, no sync", "lode", (COLUMNS, NO_SYNC)),
    Side("duckdb", "duckdb", ours=("lode", "columns"), goal=0.7),
    Side("duckdb memory", "memory", ours=("no sync", "col, no sync"), goal=0.7),
    Side("sqlite", "sqlite", ours=("lode",), goal=0.3),
    Side("postgresql", "postgresql", ours=("lode",), goal=0.3),
)

Times = dict[str, list[float]]


def checkpoint_of(engine: str, mib: int) -> tuple[str, str]:
    """The setting by which an engine's log becomes so long before a checkpoint."""
    return {
        "lode": ("checkpoint", str(mib << 20)),
        "duckdb": ("set.checkpoint_threshold", f"{mib}MiB"),
        "sqlite": ("set.wal_autocheckpoint", str((mib << 20) // SQLITE_PAGE_BYTES)),
        "postgresql": ("set.max_wal_size", f"{mib}MB"),
    }[engine]


@dataclass(slots=True)
class Runner:
    """One side with its relations."""

    side: Side
    engine: Engine
    rows: int
    statements: dict[tuple[str, str], Statement] = field(default_factory=dict)

    def load(self, relations: Sequence[StoredRelation]) -> None:
        """Generate and load, gather statistics."""
        self.engine.start()
        names = []
        for item in relations:
            names.append(self.engine.stored_name(table_of(item.relation, item.design, self.rows)))
            stream = _core.RelationStream("wisconsin", EDITION, item.relation, self.rows)
            table = Table(names[-1], attributes(item.relation), item.organisation, item.key,
                          item.tiebreaker, item.indexes)  # fmt: skip
            self.engine.load(table, pa.RecordBatchReader.from_stream(stream))
        self.engine.settle(names)

    def prepared(self, operation: Operation, variation: int) -> Statement:
        """The statement in the engine's language."""
        text = operation.texts[variation]
        key = (operation.design, text)
        if key not in self.statements:

            def stored(relation: str) -> str:
                known = relation in _core.relations("wisconsin", EDITION)
                name = table_of(relation, operation.design, self.rows) if known else relation
                return self.engine.stored_name(name)

            self.statements[key] = translate(
                text, self.engine.dialect, stored, attributes, self.engine.schema
            )
        return self.statements[key]

    def run(self, operation: Operation, variation: int) -> tuple[float, Any]:
        """Milliseconds of one statement, and the rows that came to the client."""
        statement = self.prepared(operation, variation)
        is_client = operation.destination == "client"
        execute: Callable[[str], Any] = self.engine.fetch if is_client else self.engine.run
        start = clock_ns()
        outcome = execute(statement.text)
        return (clock_ns() - start) / 1e6, outcome

    def answer(self, operation: Operation, variation: int) -> tuple[int, str]:
        """Rows and checksum of an operation that runs for it."""
        _, outcome = self.run(operation, variation)
        if operation.destination == "client":
            return answer_of_rows(outcome)
        rows = self.engine.contents(self.prepared(operation, variation).result or "")
        is_stream = hasattr(rows, "__arrow_c_stream__")
        # Rows may still be on their way: they are read before their relation goes.
        answer = answer_of_stream(rows) if is_stream else answer_of_rows(rows)
        self.clear(operation, variation)
        return answer

    def clear(self, operation: Operation, variation: int) -> None:
        """Drop the result."""
        result = self.prepared(operation, variation).result
        if result is not None:
            self.engine.drop(result)


def attributes(relation: str) -> tuple[Attribute, ...]:
    """The relation's."""
    return tuple(Attribute(*pair) for pair in _core.attributes("wisconsin", EDITION, relation))


def opened(
    side: Side, folder: Path, rows: int, checkpoint_mib: int = CHECKPOINT_MIB
) -> Runner | None:
    """A side with its relations loaded; None where the machine does not have it."""
    benchmark = registry.load_benchmark("wisconsin")()
    cache = max(CACHE_BYTES_MIN, CACHE_BYTES_PER_ROW * rows)
    engine = side.engine if side.engine != "memory" else "duckdb"
    checkpoint = checkpoint_of(engine, checkpoint_mib)
    variant = Variant(engine, (*side.tactics, ("cache", str(cache)), checkpoint))
    cls = DuckdbInMemory if side.engine == "memory" else registry.load_engine(side.engine)
    scratch = folder / side.name.replace(" ", "-").replace(",", "")
    scratch.mkdir()
    runner = Runner(side, cls(variant, scratch, "bench"), rows)
    start = clock_ns()
    try:
        runner.load(benchmark.stored_relations(EDITION))
    except LoadstoneError as error:
        print(f"{side.name}: left out: {error}")
        runner.engine.remove()
        return None
    elapsed_s = (clock_ns() - start) / 1e9
    terms = {term.split(".", 1)[-1]: value for term, value in runner.engine.terms().items()}
    name = checkpoint[0].removeprefix("set.")
    print(f"{side.name:14} loaded in {elapsed_s:6.2f} s, {name} {terms.get(name)}", flush=True)
    return runner


def measured(operation: Operation, runners: Sequence[Runner], rounds: int) -> Times:
    """Times of each side with the right answer; the sides alternate, each round begins with another
    one."""
    answers = {runner.side.name: runner.answer(operation, 0) for runner in runners}
    expected = answers["lode"]
    wrong = {name for name, answer in answers.items() if answer != expected}
    for name in sorted(wrong):
        print(f"{operation.name}: {name} answers {answers[name]}, lode {expected}")
    right = [runner for runner in runners if runner.side.name not in wrong]
    times: Times = {runner.side.name: [] for runner in right}
    start = clock_ns()
    for number in range(rounds):
        for at in range(len(right)):
            runner = right[(at + number) % len(right)]
            variation = number % len(operation.texts)
            elapsed_ms, _ = runner.run(operation, variation)
            runner.clear(operation, variation)
            times[runner.side.name].append(elapsed_ms)
        if number >= 2 and (clock_ns() - start) / 1e9 > OPERATION_S:
            break
    return times


def table(operations: Sequence[Operation], runners: Sequence[Runner], rounds: int) -> None:
    """One line for each operation: our times, and each peer's ratio."""
    peers = [runner.side for runner in runners if runner.side.ours]
    ours = [runner.side.name for runner in runners if not runner.side.ours]
    print(f"\n{'ms, and ours over theirs':34}" + "".join(f" {name:>12}" for name in ours)
          + "".join(f" {peer.name:>14}" for peer in peers))  # fmt: skip
    ratios: Mapping[str, list[tuple[float, str]]] = {peer.name: [] for peer in peers}
    for operation in operations:
        median = {name: statistics.median(times) for name, times in
                  measured(operation, runners, rounds).items()}  # fmt: skip
        cells = ""
        for peer in peers:
            own = [name for name in peer.ours if name in median]
            if own and peer.name in median:
                best = min(own, key=median.__getitem__)
                ratio = median[best] / median[peer.name]
                ratios[peer.name].append((ratio, operation.name))
                cells += f" {ratio:13.3f}{'*' if best.startswith('col') else ' '}"
            else:
                cells += f" {'-':>14}"
        times = "".join(f" {median.get(name, math.nan):12.3f}" for name in ours)
        print(f"{operation.name:34}{times}{cells}", flush=True)
    print()
    for peer in peers:
        summary(peer, ratios[peer.name])


def summary(peer: Side, ratios: Sequence[tuple[float, str]]) -> None:
    """The geometric mean beside its goal, and the worst operation."""
    if not ratios:
        print(f"{peer.name}: no operation to compare")
        return
    mean = statistics.geometric_mean(ratio for ratio, _ in ratios)
    worst, where = max(ratios)
    print(f"{' or '.join(peer.ours)} / {peer.name}: geometric mean {mean:.3f}, target {peer.goal:g}"
          f" {'reached' if mean <= peer.goal else 'MISSED'}; worst {worst:.2f} ({where});"
          f" faster in {sum(ratio < 1 for ratio, _ in ratios)} of {len(ratios)}")  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="tuples of tenktup1")
    parser.add_argument("--rounds", type=int, default=11)
    help_text = "MiB of log after which each engine makes a checkpoint"
    parser.add_argument("--checkpoint", type=int, default=CHECKPOINT_MIB, help=help_text)
    parser.add_argument("--only", default="", help="operations whose name has this")
    parser.add_argument("--beside", action="append", choices=[s.name for s in SIDES if s.ours])
    options = parser.parse_args(argv)
    benchmark = registry.load_benchmark("wisconsin")()
    operations = [
        operation
        for operation in benchmark.operations(EDITION, options.rows)
        if operation.group in GROUPS and options.only in operation.name
    ]
    sides = [s for s in SIDES if not (s.ours and options.beside) or s.name in options.beside]
    with tempfile.TemporaryDirectory(prefix="loadstone-", dir="/var/tmp") as name:
        folder = Path(name)
        # A server that drops to another account has to pass through.
        folder.chmod(0o755)
        runners: list[Runner] = []
        try:
            print(f"{options.rows:,} tuples, medians of at most {options.rounds} rounds")
            open_side = partial(opened, folder=folder, rows=options.rows,
                                checkpoint_mib=options.checkpoint)  # fmt: skip
            runners += [runner for runner in map(open_side, sides) if runner is not None]
            table(operations, runners, options.rounds)
        finally:
            for runner in runners:
                runner.engine.remove()


if __name__ == "__main__":
    main()
