"""Generation against `tpchgen-cli`: the same format, the same compression, one thread each.

Both write to fresh files in the same folder, alternating, so that drift hits both alike. Elapsed
time is a whole process's, for either side. MB/s is given twice: of the file (output), and of the
same rows as CSV text (input), which does not reward a format for compressing badly.
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone._core import clock_ns

GOAL = 2.0

OURS = """
import sys
from loadstone import _core
_core.export("wisconsin", "1993", "tenktup1", int(sys.argv[1]), sys.argv[2], sys.argv[3],
             threads=int(sys.argv[4]), compression=sys.argv[5])
"""


@dataclass(frozen=True, slots=True)
class Round:
    """One process that wrote one file."""

    elapsed_s: float
    cpu_s: float
    bytes: int


def measured(command: Sequence[str], path: Path) -> Round:
    """Run a command that writes `path`; the file is removed afterwards."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started_ns = clock_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    elapsed_s = (clock_ns() - started_ns) / 1e9
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = path.stat().st_size
    path.unlink()
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Round(elapsed_s, cpu_s, size)


def ours(folder: Path, rows: int, suffix: str, threads: int) -> Round:
    """Write tenktup1 of `rows` rows."""
    path = folder / f"ours.{suffix}"
    compression = "snappy" if suffix == "parquet" else "none"
    arguments = [str(rows), str(path), suffix, str(threads), compression]
    return measured([sys.executable, "-c", OURS, *arguments], path)


def peer(folder: Path, scale: float, suffix: str, threads: int) -> Round:
    """Write lineitem at that scale factor; Parquet with its default compression, Snappy."""
    beside = Path(sys.executable).parent / "tpchgen-cli"
    program = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if program is None:
        raise SystemExit("tpchgen-cli is missing: pip install 'tpchgen-cli>=4'")
    command = [program, suffix, "-s", str(scale), "-T", "lineitem", "-n", str(threads),
               "-o", str(folder), "--no-progress", "-q", "--overwrite"]  # fmt: skip
    return measured(command, folder / f"lineitem.{suffix}")


def rates(rounds: Sequence[Round], rows: int, row_bytes: float, threads: int) -> dict[str, float]:
    """Medians of one side."""

    def median(of: Callable[[Round], float]) -> float:
        return statistics.median(of(each) for each in rounds)

    cores = max(threads, 1)
    return {
        "rows/s": median(lambda each: rows / each.elapsed_s),
        "output MB/s": median(lambda each: each.bytes / each.elapsed_s / 1e6) / cores,
        "input MB/s": median(lambda each: rows * row_bytes / each.elapsed_s / 1e6) / cores,
        "output MB/CPU s": median(lambda each: each.bytes / each.cpu_s / 1e6),
        "input MB/CPU s": median(lambda each: rows * row_bytes / each.cpu_s / 1e6),
    }


def compare(
    folder: Path, suffix: str, options: argparse.Namespace, row_bytes: dict[str, float]
) -> float:
    """Print both sides' figures; returns the smallest ratio of MB/s per core."""
    rounds: dict[str, list[Round]] = {"loadstone": [], "tpchgen-cli": []}
    peer_rows = 6_001_215 * options.scale  # exact at scale 1, close below
    for _ in range(options.rounds):
        rounds["loadstone"].append(ours(folder, options.rows, suffix, options.threads))
        rounds["tpchgen-cli"].append(peer(folder, options.scale, suffix, options.threads))
    if suffix == "csv":
        row_bytes["loadstone"] = rounds["loadstone"][0].bytes / options.rows
        row_bytes["tpchgen-cli"] = rounds["tpchgen-cli"][0].bytes / peer_rows
    rows = {"loadstone": options.rows, "tpchgen-cli": peer_rows}
    sides = {
        name: rates(each, rows[name], row_bytes[name], options.threads)
        for name, each in rounds.items()
    }
    print(f"\n{suffix}, {options.threads} thread(s), median of {options.rounds} interleaved rounds")
    print(f"{'':16}  {'loadstone':>12}  {'tpchgen-cli':>12}  {'ratio':>6}")
    ratios = {}
    for what, mine in sides["loadstone"].items():
        theirs = sides["tpchgen-cli"][what]
        ratios[what] = mine / theirs
        print(f"{what:16}  {mine:12,.0f}  {theirs:12,.0f}  {mine / theirs:6.2f}")
    least = min(ratios["output MB/s"], ratios["input MB/s"])
    print(f"goal {GOAL:g}x in MB/s per core: {'reached' if least >= GOAL else 'MISSED'}")
    return least


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison; 0 where both formats reach the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000, help="rows of tenktup1")
    parser.add_argument("--scale", type=float, default=1, help="TPC-H scale factor")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to write; default: a temporary folder")
    options = parser.parse_args(argv)
    row_bytes: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        least = min(
            compare(Path(name), suffix, options, row_bytes) for suffix in ("csv", "parquet")
        )
    return 0 if least >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
