"""`loadstone bisect`: what it says before anything runs, and a slowdown of DuckDB's that it finds.
(The search is in tests/unit, the releases of a package in test_releases.py.)"""

import json

import pytest
from desk import Desk
from workload_fixture import slowdown_of_duckdb


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


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_slowdown_of_duckdbs_is_found_by_the_documented_workload(desk: Desk):
    """The releases come from the package index, once; without one there is nothing to find."""
    slowdown_of_duckdb(desk.folder)
    command = ("bisect", "duckdb", "1.1.3..1.2.0", "--benchmark", "./messages", "--format", "json")
    done = desk.run(*command, "--repeat-seconds", "1", "--fail-on", "50%", "--no-limits",
                    "--no-report")  # fmt: skip
    if done.returncode == 3 or "can be installed" in done.stderr:
        pytest.skip("DuckDB 1.1.3 and 1.2.0 cannot be installed here")
    # Five times as long: other programs may keep that undecided, and cannot turn it.
    verdict = {1: "slower", 9: "undecided"}[done.returncode]
    (step,) = json.loads(done.stdout)["steps"]
    assert (step["before"], step["after"]) == ("duckdb@1.1.3", "duckdb@1.2.0")
    assert (step["verdict"], step["ratio"] > 2) == (verdict, True)
