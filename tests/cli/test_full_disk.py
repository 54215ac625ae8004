"""A run whose engines' disk is full says which disk, and what to do."""

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk

from loadstone.diagnostics import Exit

RUN = ("run", "--rows", "120", "--repeat", "2", "--repeat-most", "2", "--temperature", "warm",
       "--operation", "select-1%-heap", "--no-overhead", "--no-report", "--record",
       "r.loadstone")  # fmt: skip


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "loadstone-test", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk takes root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_an_engine_that_cannot_start_there_names_the_folder(desk: Desk, small: Path):
    done = desk.run(*RUN, "--on", "lode", LOADSTONE_SCRATCH=str(small))
    assert done.returncode == Exit.ENGINE, done.stderr
    assert "lode cannot start, for its disk is full: " in done.stderr
    assert f"free space in {small}, or set LOADSTONE_SCRATCH to another folder" in done.stderr
    assert list(small.iterdir()) == []


def test_a_load_that_fails_there_says_what_to_do(desk: Desk, small: Path):
    done = desk.run(*RUN, "--on", "sqlite", LOADSTONE_SCRATCH=str(small))
    assert done.returncode == Exit.CELLS_FAILED, done.stderr
    said = " ".join(done.stdout.split())
    assert "database or disk is full. To do: free space in the scratch folder, which" in said
    assert list(small.iterdir()) == []


def test_a_release_that_does_not_fit_is_one_message_and_leaves_no_draft(desk: Desk, small: Path):
    about = "duckdb-9.9.9.dist-info"
    with zipfile.ZipFile(desk.folder / "duckdb-9.9.9-py3-none-any.whl", "w") as wheel:
        for place in range(3):
            wheel.writestr(f"duckdb/part{place}.py", "#" * (1 << 17))
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: duckdb\nVersion: 9.9.9\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr(f"{about}/RECORD", "")
    done = desk.run(*RUN, "--on", "duckdb@9.9.9", XDG_CACHE_HOME=str(small), PIP_NO_INDEX="1",
                    PIP_FIND_LINKS=str(desk.folder))  # fmt: skip
    assert done.returncode == Exit.ENGINE, done.stderr
    assert done.stderr.count("No space left on device") == 1
    assert "shutil" not in done.stderr and "XDG_CACHE_HOME" in done.stderr
    assert list((small / "loadstone/builds").iterdir()) == []
