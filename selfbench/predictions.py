r"""Two predictions of `docs/explanation/papers.md` that no command of Loadstone measures as a
whole.

    python selfbench/predictions.py break-even    after how many tuples compiling a query pays off
    python selfbench/predictions.py analyze       what ANALYZE does to SQLite's prepared look-ups

Each is measured in rounds: in a round every side once, in a random order. A figure is the median of
the rounds, with its 95 % interval.
"""

import argparse
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import apsw
import pyarrow as pa

from loadstone import _core
from loadstone._core import clock_ns, interval_of_median, interval_of_paired_ratio
from loadstone.analysis.break_even import crossing
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.lode.engine import LodeEngine
from loadstone.plan.variant import Variant
from loadstone.report.break_even_words import crossing_words

EXECUTIONS = ("interpreted", "closures", "compiled", "vectorised")
FEW, MANY = 1, 1_000_000
QUERY = "range of p is parts_{rows} retrieve (p.pnum) where p.qoh < log({number:.9f}) * p.pweight"
"""Query d of 1981. No two texts have the same number: none finds what another compiled."""
LOOK_UPS = 1_000
LINKS = "create table connection(frm integer not null, place integer not null, " \
    "too integer not null, length integer not null, primary key(frm, place)) without rowid;" \
    "create index connection_too on connection(too, frm)"  # fmt: skip
STEP = "select too from connection where frm = ?"


def in_rounds(
    sides: Mapping[str, Callable[[], float]], rounds: int, seed: int
) -> dict[str, list[float]]:
    """The figures of each side in each round, after one that does not count."""
    draw = random.Random(seed)
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name in draw.sample(list(sides), len(sides)):
            value = sides[name]()
            if number:
                found[name].append(value)
    return found


def reported(values: Sequence[float], unit: str) -> str:
    """A median with its interval."""
    typical, low, high = interval_of_median(values)
    bounds = "" if low is None or high is None else f" ({low:,.3g} to {high:,.3g})"
    return f"{typical:,.3g}{bounds} {unit}"


def break_even(rounds: int) -> None:
    """Query d on one tuple and on a million, by each execution: start and cost of a tuple, and the
    number of tuples at which two executions take the same time."""
    with tempfile.TemporaryDirectory() as folder:
        engines = {execution: opened(execution, Path(folder)) for execution in EXECUTIONS}
        numbers = iter(9.5 + 1e-6 * number for number in range(10**6))

        def timed(execution: str, rows: int) -> float:
            text = QUERY.format(rows=rows, number=next(numbers))
            start = clock_ns()
            answer = engines[execution].read(text)
            elapsed_ns = clock_ns() - start
            if rows == MANY and len(answer) != MANY // 14 * 10 + 6:
                raise SystemExit(f"{execution} gives {len(answer)} rows")
            return elapsed_ns

        sides = {
            f"{execution} {rows}": (lambda e=execution, r=rows: timed(e, r))
            for execution in EXECUTIONS
            for rows in (FEW, MANY)
        }
        found = in_rounds(sides, rounds, seed=1981)
        for engine in engines.values():
            engine.remove()
    starts = {e: found[f"{e} {FEW}"] for e in EXECUTIONS}
    slopes = {
        e: [(many - few) / (MANY - FEW) for few, many in zip(starts[e], found[f"{e} {MANY}"],
            strict=True)] for e in EXECUTIONS
    }  # fmt: skip
    for e in EXECUTIONS:
        start = reported([value / 1e3 for value in starts[e]], "us")
        print(f"{e:12} one tuple {start:32} each further one {reported(slopes[e], 'ns')}")
    for slower, faster in pairwise(EXECUTIONS[:3]):
        show_break_even(slower, faster, found)
    show_break_even("interpreted", "compiled", found)
    show_break_even("vectorised", "compiled", found)


def show_break_even(slow: str, fast: str, found: Mapping[str, list[float]]) -> None:
    """Tuples from which on `fast`, which starts later and takes less for each, is ahead."""
    few, many = (
        [b - a for a, b in zip(found[f"{slow} {rows}"], found[f"{fast} {rows}"], strict=True)]
        for rows in (FEW, MANY)
    )
    print(f"{fast} ahead of {slow} after: {crossing_words(crossing(FEW, few, MANY, many))}")


def opened(execution: str, folder: Path) -> LodeEngine:
    """Lode with PARTS in both sizes."""
    scratch = folder / execution
    scratch.mkdir()
    variant = Variant("lode", (("execution", execution),))
    engine = LodeEngine(variant, scratch, "predictions")
    engine.start()
    pairs = _core.attributes("ingres", "large", "parts")
    for rows in (FEW, MANY):
        table = Table(f"parts_{rows}", tuple(Attribute(*pair) for pair in pairs))
        stream = _core.RelationStream("ingres", "large", "parts", rows)
        engine.load(table, pa.RecordBatchReader.from_stream(stream))
    engine.settle([f"parts_{rows}" for rows in (FEW, MANY)])
    return engine


def analyze(rounds: int) -> None:
    """A step of OO1's traversal on SQLite, prepared once and bound a thousand times: without
    statistics, with counts, with samples (STAT4)."""
    if "ENABLE_STAT4" not in apsw.compile_options:
        raise SystemExit("this SQLite is built without STAT4")
    with tempfile.TemporaryDirectory() as folder:
        sides = {
            name: links(Path(folder) / name, statistics)
            for name, statistics in (
                ("none", ""),
                ("counts", "analyze; drop table sqlite_stat4"),
                ("samples", "analyze"),
            )
        }
        found = in_rounds(sides, rounds, seed=1992)
    for name, values in found.items():
        print(f"{name:8} {reported(values, 'us a step')}")
    for name in ("counts", "samples"):
        ratio, low, high = interval_of_paired_ratio(found[name], found["none"])
        bounds = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
        print(f"{name} over none: {ratio:.2f}{bounds}")


def links(path: Path, statistics: str) -> Callable[[], float]:
    """OO1's connections in a file, and the microseconds of a step in it."""
    import pyarrow.compute as pc

    connection = apsw.Connection(str(path))
    connection.execute(LINKS)
    stream = _core.RelationStream("oo1", "1992", "connection", 20_000)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    columns = [table.column(name).to_pylist() for name in ("frm", "too", "length")]
    with connection:
        rows = (
            (frm, number % 3, too, length)
            for number, (frm, too, length) in enumerate(zip(*columns, strict=True))
        )
        connection.executemany("insert into connection values (?, ?, ?, ?)", rows)
    connection.execute(statistics)
    # A session reads the statistics when it opens the file.
    connection.close()
    again = apsw.Connection(str(path))
    parts = pc.unique(table.column("frm")).to_pylist()
    draw = random.Random(1992)

    def steps() -> float:
        asked = draw.sample(parts, LOOK_UPS)
        cursor = again.cursor()
        start = clock_ns()
        for part in asked:
            cursor.execute(STEP, (part,)).fetchall()
        return (clock_ns() - start) / LOOK_UPS / 1e3

    return steps


def main() -> None:
    """The one that is requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("which", choices=("break-even", "analyze"))
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    {"break-even": break_even, "analyze": analyze}[arguments.which](arguments.rounds)


if __name__ == "__main__":
    main()
