"""Real studies, as runs wrote them: what the map, the findings and the page say of each.

Each record in `tests/data` was made on a machine with nothing else to do, by

    loadstone study --on ENGINE --operation select-10%-heap --operation join-AselB-heap \\
        --operation min-partitions-heap --seconds 24 --record study-ENGINE.loadstone --no-report

and packed by `gzip -9`: it holds every sample and every answer, thousands.
"""

import gzip
from pathlib import Path

import pytest

from loadstone.analysis.findings.finding import Grade
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.findings.required import PROCESSES_MIN, reach_of
from loadstone.analysis.measured import WORST
from loadstone.analysis.study_terms import study_terms
from loadstone.analysis.summary import summarise
from loadstone.record import read
from loadstone.record.model import Run
from loadstone.report.html import HtmlReport
from loadstone.studies.view import StudyMap, study_map
from loadstone.text.kinds import STATUSES

DATA = Path(__file__).resolve().parents[1] / "data"
ENGINES = ("duckdb", "lode", "postgresql", "sqlite")
EXPLAINED = {"duckdb": 1, "lode": 3, "postgresql": 0, "sqlite": 1}
"""Findings of each. PostgreSQL's strongest switches change the plan."""
PAGE_BYTES_MAX = 2 << 20
STRONGEST = {
    "duckdb": {
        "join-AselB-heap": "optimizer.filter_pushdown",
        "min-partitions-heap": "optimizer.statistics_propagation",
        "select-10%-heap": "durability",
    },
    "lode": {
        "join-AselB-heap": "execution",
        "min-partitions-heap": "execution",
        "select-10%-heap": "execution",
    },
    "postgresql": {
        "join-AselB-heap": "join",
        "min-partitions-heap": "aggregation",
    },
    "sqlite": {
        "join-AselB-heap": "automatic_index",
        "min-partitions-heap": "durability",
        "select-10%-heap": "durability",
    },
}
"""Operation -> the switch with the largest effect, where one is called an effect."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder, found = tmp_path_factory.mktemp("studies"), {}
    for engine in ENGINES:
        path = folder / f"{engine}.loadstone"
        path.write_bytes(gzip.decompress((DATA / f"study-{engine}.loadstone.gz").read_bytes()))
        found[engine] = read(path)
    return found


def map_of(run: Run) -> StudyMap:
    found = study_map(run)
    assert found is not None
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_study_has_its_six_switches_and_right_answers(engine: str, runs) -> None:
    run = runs[engine]
    assert len(map_of(run).order) == 6
    assert all(answer.right for result in run.results for answer in result.answers)
    assert sum(len(result.answers) for result in run.results) > 300


@pytest.mark.parametrize("engine", ENGINES)
def test_every_switch_reads_back_as_requested(engine: str, runs) -> None:
    switches = study_terms(runs[engine]).switches
    assert len(switches) == 6
    assert all(one.of > 0 and one.read == one.of for one in switches)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_strongest_switch_of_each_operation_is_named(engine: str, runs) -> None:
    strongest = {
        operation.name: operation.acting[0].switch.tactic
        for operation in map_of(runs[engine]).operations
        if operation.acting
    }
    assert strongest == STRONGEST[engine]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_called_explained_holds_all_that_the_grade_claims(engine: str, runs) -> None:
    run = runs[engine]
    operations = {one.name: one for one in map_of(run).operations}
    explained = [
        found for found in learned(summarise(run)).findings if found.grade is Grade.EXPLAINED
    ]
    assert len(explained) == EXPLAINED[engine]
    for found in explained:
        operation = operations[found.operation]
        effect = next(one for one in operation.switches if one.switch.tactic == found.kind)
        assert effect.same_plan and effect.alone is not None and effect.acts_alone
        assert operation.effects.blocks >= PROCESSES_MIN
        reach = reach_of(operation.noise)
        assert reach is not None and max(effect.alone.value, 1 / effect.alone.value) > reach


def test_what_sqlite_s_journal_and_durability_both_set_follows_from_the_two(runs) -> None:
    synchronous = next(
        one for one in study_terms(runs["sqlite"]).changing if one.key == "synchronous"
    )
    assert synchronous.follows == ("durability", "journal")
    changed = {key: one for key, one in synchronous.alone.items() if one != synchronous.base}
    assert changed == {"durability": "OFF", "journal": "EXTRA"}
    (found,) = learned(summarise(runs["sqlite"])).findings
    assert found.terms == ("durability=none synchronous: OFF, not FULL (journal sets it, too)",)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_of_a_study_is_small_and_has_its_map(engine: str, runs) -> None:
    page = HtmlReport().render(runs[engine])
    assert len(page) < PAGE_BYTES_MAX
    for switch in map_of(runs[engine]).order:
        assert switch.tactic.encode() in page


def test_every_status_has_its_place_in_a_sum() -> None:
    """A study's page broke where a statement was ended, which is a status of studies alone."""
    assert {*WORST} == {*STATUSES, "pending"}
