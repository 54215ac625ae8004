r"""Making and loading a relation with Spark, against two cores that write Parquet alone.

Spark's executors make the rows and write them, and the table is registered; the peer is the same
writer in two processes without any Spark. Each side twice, in turn; the better of each counts.

    python selfbench/spark_loading.py --rows 10000000
"""

import argparse
import multiprocessing
import shutil
import sys
import tempfile
from pathlib import Path

from loadstone import _core
from loadstone._core import RelationStream, answer_of_stream, clock_ns
from loadstone.engines.capabilities import Attribute, Generated, Table
from loadstone.engines.spark.engine import SparkEngine
from loadstone.plan.variant import Variant

GOAL = 0.8
CORES = 2
RELATION = ("wisconsin", "1993", "tenktup1")


def write_part(part: int, rows: int, folder: str) -> None:
    """One of `CORES` parts, as an executor writes it."""
    path = f"{folder}/{part}.parquet"
    _core.export(*RELATION, rows, path, "parquet", part=part, part_count=CORES)


def alone_s(rows: int, scratch: Path) -> float:
    """Two processes, each with a core."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    writers = [
        multiprocessing.Process(target=write_part, args=(part + 1, rows, str(folder)))
        for part in range(CORES)
    ]
    start = clock_ns()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    elapsed_ns = clock_ns() - start
    shutil.rmtree(folder)
    return elapsed_ns / 1e9


def main() -> int:
    """Print both rates and their ratio; 1 where it is below the goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true", help="compare the checksum, too")
    arguments = parser.parse_args()
    rows: int = arguments.rows
    table = Table("made", tuple(Attribute(*pair) for pair in _core.attributes(*RELATION)))
    with tempfile.TemporaryDirectory(prefix="loadstone-spark-") as name:
        scratch = Path(name)
        engine = SparkEngine(Variant("spark"), scratch, "bench")
        try:
            start = clock_ns()
            engine.start()
            print(f"start of the cluster: {(clock_ns() - start) / 1e9:.1f} s")
            # The executors' Python processes and the core are there for the second.
            engine.generate(table, Generated(*RELATION, 200_000))
            ours, peers = [], []
            for _ in range(2):
                start = clock_ns()
                engine.generate(table, Generated(*RELATION, rows))
                ours.append((clock_ns() - start) / 1e9)
                peers.append(alone_s(rows, scratch))
            start = clock_ns()
            found = engine.checksum("made")
            print(f"checksum in the cluster: {rows / ((clock_ns() - start) / 1e3):.2f} M tuples/s")
            if arguments.check:
                assert found == answer_of_stream(RelationStream(*RELATION, rows))
        finally:
            engine.remove()
    for what, times in (("Spark", ours), ("two processes alone", peers)):
        each = ", ".join(f"{one:.2f}" for one in times)
        print(f"{what}: {each} s; {rows / min(times) / 1e6:.2f} M tuples/s")
    ratio = min(peers) / min(ours)
    print(f"ratio: {ratio:.2f} (goal: {GOAL})")
    return int(ratio < GOAL)


if __name__ == "__main__":
    sys.exit(main())
