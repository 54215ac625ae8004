"""Answers, plans and dates are the same whatever environment a run is started in."""

from pathlib import Path

import pytest
from desk import Desk

from loadstone.record import Run, read

ON = ("--on", "duckdb", "--on", "postgresql", "--on", "sqlite")
CHOICES = (*ON, "--repeat", "2", "--temperature", "warm", "--no-overhead", "--no-limits",
           "--no-report", "--record")  # fmt: skip
TAKEN = {
    "TZ": "America/St_Johns",
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "tr_TR.UTF-8",
    "PGTZ": "Asia/Tokyo",
    "PGOPTIONS": "-c timezone=Asia/Tokyo -c datestyle=German -c extra_float_digits=-5",
    "PGSERVICE": "nothing",
    "PGHOSTADDR": "192.0.2.1",
    "PYTHONOPTIMIZE": "2",
    "MALLOC_ARENA_MAX": "1",
}
# The rows are made where the run is planned, from moments as that process writes them.
WORKLOAD = '''
{timezone}
[data.reading]
sql = """
SELECT CAST(CAST(a AS TIMESTAMPTZ) AS VARCHAR) AS written, a AS moment, v
FROM (VALUES (TIMESTAMP '2023-09-20 21:30:00', 1), (TIMESTAMP '2023-09-20 22:30:00', 2),
             (TIMESTAMP '2023-10-29 00:30:00', 3), (TIMESTAMP '2023-10-29 01:30:00', 4)) AS t(a, v)
"""
[[statement]]
name = "hours"
dialect = "postgresql"
sql = """
SELECT v, CAST(to_timestamp(1695245400 + 3600 * v) AS TIMESTAMP) AS t FROM reading ORDER BY v
"""
text.sqlite = """
SELECT v, datetime(1695245400 + 3600 * v, 'unixepoch', 'localtime') AS t FROM reading ORDER BY v
"""
[[statement]]
name = "written"
sql = "SELECT v, written FROM reading ORDER BY v"
'''


def measured(desk: Desk, name: str, *more: str, **variables: str) -> Run:
    ran = desk.run("run", "./zone", *CHOICES, name, *more, **variables)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return read(desk.folder / name)


def written(folder: Path, timezone: str = "") -> None:
    (folder / "zone").mkdir(exist_ok=True)
    (folder / "zone/workload.toml").write_text(WORKLOAD.format(timezone=timezone), "utf-8")


@pytest.mark.slow
def test_a_callers_zone_and_language_change_neither_plan_nor_answers(desk: Desk) -> None:
    written(desk.folder)
    plain = measured(desk, "a.loadstone", TZ="UTC")
    assert desk.run("bless", "a.loadstone").returncode == 0
    elsewhere = measured(desk, "b.loadstone", **TAKEN)
    assert elsewhere.plan.workload.edition == plain.plan.workload.edition
    hashes = desk.run("run", "./zone", *ON, "--dry-run", TZ="UTC").stdout
    assert desk.run("run", "./zone", *ON, "--dry-run", **TAKEN).stdout == hashes
    both = [one.answers for run in (plain, elsewhere) for one in run.agreements]
    assert both[: len(both) // 2] == both[len(both) // 2 :]
    zones = {term.read_back for term in elsewhere.terms if term.key == "timezone"}
    assert zones == {"UTC"}
    for session in elsewhere.sessions:
        out = set(str(session.machine["environment.left_out"]).split(", "))
        assert set(TAKEN) <= out
    # What a page says of its day does not depend on its reader.
    pages = [desk.run("report", "a.loadstone", "--format", "md", TZ=zone).stdout
             for zone in ("UTC", "Pacific/Auckland")]  # fmt: skip
    assert pages[0] == pages[1] != ""


@pytest.mark.slow
def test_a_workload_names_its_zone_and_every_engine_has_it(desk: Desk) -> None:
    written(desk.folder)
    utc = measured(desk, "a.loadstone", TZ="UTC")
    written(desk.folder, 'timezone = "Europe/Berlin"')
    there = measured(desk, "b.loadstone", TZ="Pacific/Auckland")
    assert there.plan.hash != utc.plan.hash
    zones = {term.variant: term.read_back for term in there.terms if term.key == "timezone"}
    assert set(zones.values()) == {"Europe/Berlin"}
    assert set(zones) == {"duckdb", "postgresql", "sqlite"}
    hours = {run.agreements[0].answers for run in (utc, there)}
    assert len(hours) == 2, "another zone, another hour"
    assert there.agreements[0].engines == "duckdb, postgresql, sqlite"


def test_a_zone_that_there_is_not_is_refused_with_one_that_there_is(desk: Desk) -> None:
    written(desk.folder, 'timezone = "Europe/Berln"')
    refused = desk.run("run", "./zone", *ON, "--dry-run")
    assert refused.returncode == 2
    assert "Europe/Berlin" in refused.stderr
