"""The files that every tidy test reads: those that are tracked, or would be after `git add`."""

import contextlib
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def tracked() -> dict[str, bytes]:
    """Path from the root -> bytes. A file that is deleted but still in the index is left out."""
    listing = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = sorted({path for path in listing.split("\0") if path and (ROOT / path).is_file()})
    return {path: (ROOT / path).read_bytes() for path in paths}


@pytest.fixture(scope="session")
def texts(tracked: dict[str, bytes]) -> dict[str, str]:
    """The tracked files that are text, decoded; what is not UTF-8 is left out as binary."""
    decoded = {}
    for path, content in tracked.items():
        if b"\0" not in content:
            with contextlib.suppress(UnicodeDecodeError):
                decoded[path] = content.decode("utf-8")
    return decoded
