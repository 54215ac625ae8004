"""The programs of `make bench` work: nothing else calls them."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "selfbench" / "query.py"


@pytest.mark.slow
def test_every_answer_of_the_query_bench_is_read_and_agrees() -> None:
    """SQLite's results come row by row, DuckDB's as a table; both are read before they go."""
    options = ["--rows", "1000", "--rounds", "3", "--only", "select-1%"]
    peers = ["--beside", "sqlite", "--beside", "duckdb"]
    done = subprocess.run(
        [sys.executable, PROGRAM, *options, *peers], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert " answers " not in done.stdout
    assert "lode / sqlite: geometric mean" in done.stdout
    assert "lode or columns / duckdb: geometric mean" in done.stdout
