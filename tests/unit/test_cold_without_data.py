"""A cold cell whose plan reads no relation is a gap with that reason; one that read nothing though
its plan reads a relation stays a contradiction."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from loadstone import measuring
from loadstone.engines.duckdb.stored_blocks import reads_blocks
from loadstone.machine import facts, page_cache
from loadstone.record import CellResult, read
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText
from loadstone.run.planned import plan_from
from loadstone.statistics import validity

PROVED = ColdEvidence(0, True, "", "cachestat", 1, 4096, 1, 0, True, 0, 0, 0, 0, 4096)
RIGHT = AnswerCheck(0, 0, 1, "a", 1, "a")


def sample(read_bytes: int | None) -> Sample:
    return Sample(ordinal=0, round=0, variation=0, started_ns=1, elapsed_ns=1,
                  client_cpu_ns=None, server_cpu_ns=None, read_bytes=read_bytes,
                  written_bytes=None, commit_ns=None)  # fmt: skip


@pytest.mark.parametrize(
    ("read_bytes", "access", "reported"),
    [(0, "", True), (0, "heap", False), (0, None, False), (4096, "", False), (None, "", False)],
)
def test_only_a_plan_without_relations_explains_that_nothing_was_read(
    read_bytes: int | None, access: str | None, *, reported: bool
) -> None:
    statements = [StatementText(0, "SELECT 1", "a plan", access)]
    found = validity.without_data([sample(read_bytes)], [RIGHT], [PROVED], statements)
    assert found == (validity.NO_RELATION if reported else "")
    assert not validity.without_data([sample(0)], [RIGHT], [PROVED], [])


def test_a_plan_without_relations_explains_an_answer_without_tuples_too() -> None:
    """Of one tuple query c keeps none, and DuckDB's plan is `Empty Result`."""
    none = AnswerCheck(0, 0, 0, "a", 0, "a")
    statement = [StatementText(0, "SELECT 1", "a plan", "")]
    asked = validity.without_data
    assert asked([sample(0)], [none], [PROVED], statement) == validity.NO_RELATION
    assert not asked([sample(4096)], [none], [PROVED], statement)
    assert not asked([sample(0)], [], [PROVED], statement), "nobody asked"
    unproved = replace(PROVED, proved=False)
    assert not asked([sample(0)], [none], [unproved], statement)


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ("SELECT qoh FROM one WHERE pnum < 2500", False),
        ("SELECT p.qoh, q.qoh FROM one AS p, one AS q WHERE p.pnum = q.pnum", False),
        ("SELECT qoh FROM one WHERE pname = 'black'", False),
        ("INSERT INTO many VALUES (0)", False),
        ("SELECT count(*) FROM many", False),
        ("SELECT pname FROM one", True),
        ("SELECT pnum FROM many", True),
        ("SELECT pnum FROM many WHERE pnum >= 0", True),
        ("SELECT one.qoh FROM one, many WHERE one.pnum = many.pnum", True),
        ("SELECT pnum FROM unstored", True),
        ('SELECT pnum FROM "a.b"', True),
    ],
)
def test_duckdb_reads_blocks_of_columns_that_have_any(tmp_path: Path, query: str, reads: bool):
    with duckdb.connect(str(tmp_path / "stored.duckdb")) as db:
        db.execute("CREATE TABLE one (pnum SMALLINT, pname VARCHAR, qoh SMALLINT)")
        db.execute("INSERT INTO one VALUES (1, 'central processor', 1)")
        db.execute("CREATE TABLE many AS SELECT i::SMALLINT AS pnum FROM range(210) AS t(i)")
        db.execute('CREATE TABLE "a.b" AS SELECT 1 AS pnum')
        db.execute("CHECKPOINT")
        db.execute("CREATE TABLE unstored AS SELECT 1 AS pnum")
        assert reads_blocks(db, query) is reads


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        mount = facts.mount_of(Path(name))
        if mount is None or mount.type not in page_cache.PAGE_CACHED:
            pytest.skip("no file system with a page cache")
        monkeypatch.setenv("LOADSTONE_SCRATCH", f"{name}/scratch")
        yield Path(name)


@pytest.mark.machine
@pytest.mark.slow
def test_a_count_that_the_catalog_answers_is_a_gap_and_others_are_cold(folder: Path) -> None:
    choices = {
        "benchmark": "idm", "on": ["duckdb", "sqlite"], "rows": [1000], "temperature": ["cold"],
        "operations": ["count-words", "count-long", "append-word"], "repeat_cold": 1,
        "overhead": False, "limits": False,
    }  # fmt: skip
    measuring.start(plan_from(choices, None), folder / "r.loadstone", page=False)
    results = read(folder / "r.loadstone").results
    found = {(result.cell.operation, result.cell.variant): result for result in results}

    def cold(result: CellResult) -> bool:
        return result.status == "ok" and result.temperature_shown == "cold"

    ingres = {**choices, "benchmark": "ingres", "rows": [210, 1], "on": ["duckdb"]}
    ingres["operations"] = ["b-project", "c-select-any-of-three", "e-range-isam", "g-join-few-isam"]
    measuring.start(plan_from(ingres, None), folder / "i.loadstone", page=False)
    for result in read(folder / "i.loadstone").results:
        if result.cell.rows == 1:
            assert (result.status, result.reason) == ("gap", validity.NO_RELATION), result.cell
        else:
            assert cold(result), result.cell
    count = found["count-words", "duckdb"]
    assert (count.status, count.reason) == ("gap", validity.NO_RELATION)
    append = found["append-word", "duckdb"]
    assert (append.status, append.reason) == ("gap", validity.NO_RELATION)
    assert cold(found["count-words", "sqlite"])
    assert cold(found["count-long", "duckdb"])
