"""`loadstone bisect`: what it says before anything runs. (The search is in tests/unit, the releases
of a package in test_releases.py.)"""

import pytest
from desk import Desk


@pytest.fixture
def offline(desk: Desk) -> dict[str, str]:
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(desk.folder),
            "XDG_CACHE_HOME": str(desk.folder / "cache")}  # fmt: skip


@pytest.mark.slow
def test_without_an_index_there_is_what_was_installed_before(desk: Desk, offline):
    done = desk.run("bisect", "duckdb", "--releases", **offline)
    assert done.returncode == 3
    assert "no package index can be reached" in done.stderr
    import sys
    import sysconfig

    tag = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    for release in ("1.4.0", "1.10.0", "1.9.9"):
        (desk.folder / "cache/loadstone/builds" / f"duckdb-{release}-{tag}").mkdir(parents=True)
    done = desk.run("bisect", "duckdb", "--releases", **offline)
    assert done.returncode == 0
    assert done.stdout == "duckdb: 1.4.0, 1.9.9, 1.10.0\n"
    done = desk.run("bisect", "duckdb", "1.4.0..3.0.0", **offline)
    assert done.returncode == 2
    assert "there is no release 3.0.0" in done.stderr


def test_a_range_is_asked_for(desk: Desk, offline):
    (desk.folder / "duckdb-1.0.0-py3-none-any.whl").write_bytes(b"")
    done = desk.run("bisect", "duckdb", **offline)
    assert done.returncode == 2
    assert done.stdout == "duckdb: 1.0.0\n"
    assert "write a range" in done.stderr
