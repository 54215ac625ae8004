r"""Joins, sorts and sets larger than their memory: lode beside DuckDB under the same limit.

The relations are made in a process of their own, and each side runs each question in another, with
one thread, and reads every row. lode has `memory` for what statements keep and `cache` for pages,
which together are DuckDB's `memory_limit`. Printed are the least elapsed time of the rounds, what
lode spilled, and the largest resident set of the process that asked, of which Python and its
libraries are some 100 MB before any question.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from loadstone import lode
from loadstone._core import clock_ns

GOAL = 1.3
MIB = 1 << 20
CACHE_PART = 4
"""The part of the memory that is lode's page cache."""

RANGES = "range of a is a range of b is b "
QUESTIONS = {
    "join": (
        "retrieve (a.k, b.v) where a.k = b.k",
        "select a.k, b.v from a join b on a.k = b.k",
        {"join": "hash"},
    ),
    "merge join": (
        "retrieve (a.k, b.v) where a.k = b.k",
        "select a.k, b.v from a join b on a.k = b.k",
        {"join": "merge"},
    ),
    "sort": (
        "retrieve unique (a.k, a.v)",
        "select k, v from a order by k, v",
        {"distinct": "sort"},
    ),
    "distinct": (
        "retrieve unique (a.k, a.v)",
        "select distinct k, v from a",
        {"distinct": "hash"},
    ),
}


def resident_bytes_max() -> int:
    """The largest resident set of this process.

    `getrusage` has that of the program that started it, too: a new one takes over the figure of the
    one whose place it takes.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def counted(batches: Iterable[pa.RecordBatch]) -> int:
    """The number of rows."""
    return sum(batch.num_rows for batch in batches)


def prepare(folder: Path, rows: int) -> None:
    """Both databases with the same relations: a permuted key, and it again in eight bytes."""
    import duckdb

    with duckdb.connect(str(folder / "duckdb")) as peer:
        database = lode.Database(folder / "lode", "any")
        for name, factor in (("a", 7_919), ("b", 104_729)):
            key = f"made.number * {factor} % {rows}"
            peer.execute(
                f"create table {name} as"
                f" select ({key})::integer k, ({key})::bigint v from range({rows}) made (number)"
            )
            data = peer.sql(f"select k, v from {name}").to_arrow_table()
            database.load(name, [("k", "i4"), ("v", "i8")], data)
        database.settle("a", "b")
        database.close()


def ours(folder: Path, question: str, memory_bytes: int) -> dict[str, int]:
    """One question to lode."""
    text, _, tactics = QUESTIONS[question]
    cache_bytes = memory_bytes // CACHE_PART
    limits = {"cache": str(cache_bytes), "memory": str(memory_bytes - cache_bytes)}
    database = lode.Database(folder / "lode", "any", **limits, **tactics)
    start_ns = clock_ns()
    rows = counted(pa.RecordBatchReader.from_stream(database.query(RANGES + text)))
    elapsed_ns = clock_ns() - start_ns
    spilled = dict(database.counters())["query"]["spilled_bytes"]
    database.close()
    return {"elapsed_ns": elapsed_ns, "rows": rows, "spilled_bytes": spilled}


def theirs(folder: Path, question: str, memory_bytes: int) -> dict[str, int]:
    """One question to DuckDB."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory_bytes}B",
        "threads": 1,
        "temp_directory": str(folder / "spilled"),
        "preserve_insertion_order": False,
    }
    with duckdb.connect(str(folder / "duckdb"), config=settings) as peer:
        start_ns = clock_ns()
        answer = peer.sql(QUESTIONS[question][1]).to_arrow_reader(65_536)
        rows = counted(answer)
        elapsed_ns = clock_ns() - start_ns
    return {"elapsed_ns": elapsed_ns, "rows": rows, "spilled_bytes": -1}


def command_of(part: str, folder: Path) -> list[str]:
    """A part of this program as a process of its own."""
    return [sys.executable, __file__, "--part", part, "--folder", str(folder)]


def reported(side: str, folder: Path, question: str, memory_bytes: int) -> dict[str, int] | str:
    """The counts of a process of its own, or its last line where it failed."""
    command = [*command_of(side, folder), "--question", question, "--memory", str(memory_bytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no word"])[-1]
    found: dict[str, int] = json.loads(done.stdout)
    return found


def compare(folder: Path, rows: int, memory_bytes: int, rounds: int) -> None:
    """Print a line for each question and side."""
    subprocess.run([*command_of("prepare", folder), "--rows", str(rows)], check=True)
    for question in QUESTIONS:
        least: dict[str, float] = {}
        for side in ("lode", "duckdb"):
            found = [reported(side, folder, question, memory_bytes) for _ in range(rounds)]
            failed = [one for one in found if isinstance(one, str)]
            if failed:
                print(f"{question:10} {side:6} failed: {failed[0]}")
                continue
            done = [one for one in found if not isinstance(one, str)]
            least[side] = min(one["elapsed_ns"] for one in done) / 1e6
            if any(one["rows"] != rows for one in done):
                raise SystemExit(f"{side} gave {done[0]['rows']} rows of {rows}: {question}")
            resident = max(one["resident_bytes"] for one in done) / MIB
            before = max(one["before_bytes"] for one in done) / MIB
            spilled = done[0]["spilled_bytes"] / MIB
            print(
                f"{question:10} {side:6} {least[side]:9.1f} ms, resident {resident:.0f} MiB "
                f"(before {before:.0f})" + (f", spilled {spilled:.0f} MiB" if spilled >= 0 else "")
            )
        if len(least) == 2:
            ratio = least["lode"] / least["duckdb"]
            print(f"{question:10} ratio {ratio:.2f}, goal {GOAL}")


def main() -> None:
    """Compare, or be one side of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=16 * MIB, help="in bytes")
    parser.add_argument("--rounds", type=int, default=3)
    parts = ("prepare", "lode", "duckdb")
    parser.add_argument("--part", choices=parts, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--question", choices=tuple(QUESTIONS), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part is None:
        with tempfile.TemporaryDirectory() as folder:
            compare(Path(folder), asked.rows, asked.memory, asked.rounds)
        return
    if asked.part == "prepare":
        prepare(asked.folder, asked.rows)
        return
    before_bytes = resident_bytes_max()
    one_side = ours if asked.part == "lode" else theirs
    found = one_side(asked.folder, asked.question, asked.memory)
    memory = {"resident_bytes": resident_bytes_max(), "before_bytes": before_bytes}
    print(json.dumps(found | memory))


if __name__ == "__main__":
    main()
