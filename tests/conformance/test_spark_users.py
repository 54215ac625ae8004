"""Spark at a user's cluster: by its master's URL, and by that of a server of Spark Connect.

The cluster is one of a master and a worker that knows nothing of Loadstone.
"""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from engine_kinds import SPARK_MISSING
from samples import ROWS as SAMPLE_ROWS
from samples import rows, stream, table

from loadstone._core import RelationStream, answer_of_stream, attributes
from loadstone.engines.capabilities import Attribute, Generated, Table
from loadstone.engines.ownership import Space
from loadstone.engines.spark.engine import SparkEngine
from loadstone.engines.spark.process import JavaProcess, end_all, free_port
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.plan.variant import Variant, parse_variant

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(SPARK_MISSING), reason=SPARK_MISSING or "it is there"),
]

RELATION = ("wisconsin", "1993", "tenktup1")
ROWS = 20_000
HEAP_BYTES = 128 << 20


@dataclass
class Theirs:
    """A user's cluster, the folder that it shares, and an engine of ours at its master."""

    folder: Path
    engine: SparkEngine


def variant(text: str) -> Variant:
    return parse_variant(text, frozenset(SparkEngine.tactics()), takes_settings=True)


@pytest.fixture(scope="module")
def theirs() -> Iterator[Theirs]:
    with tempfile.TemporaryDirectory(prefix="loadstone-test-") as name:
        home = Path(name, "cluster")
        shared = Path(name, "shared")
        scratch = Path(name, "scratch")
        for folder in (home, shared, scratch, home / "work"):
            folder.mkdir()
        (shared / "theirs.txt").write_text("keep me")
        port, web = free_port(), free_port()
        master, worker = JavaProcess(home, "master"), JavaProcess(home, "worker")
        url = f"spark://127.0.0.1:{port}"
        engine = SparkEngine(variant(f"{url}{shared}"), scratch, "run1")
        try:
            master.launch(
                "org.apache.spark.deploy.master.Master",
                ["-h", "127.0.0.1", "--port", str(port), "--webui-port", str(web)],
                HEAP_BYTES,
                {},
            )
            master.listens_at(port)
            worker.launch(
                "org.apache.spark.deploy.worker.Worker",
                ["-h", "127.0.0.1", "--cores", "2", "--memory", "1g", "--webui-port", "0",
                 "--work-dir", str(home / "work"), url],
                HEAP_BYTES,
                {},
            )  # fmt: skip
            with closing(SparkEngine.hold(engine.variant, "run1")):
                engine.start()
                yield Theirs(shared, engine)
                engine.remove()
            assert [path.name for path in shared.iterdir()] == ["theirs.txt"]
            assert list(scratch.iterdir()) == []
            assert master.alive
            assert worker.alive
        finally:
            engine.remove()
            for process in (worker, master):
                process.end(signal.SIGKILL)
            end_all(home)


@pytest.fixture
def connect(theirs: Theirs) -> Iterator[SparkEngine]:
    """An engine at a server of Spark Connect, which is the driver of the other one."""
    cluster = theirs.engine._instance._cluster
    assert cluster is not None
    place = cluster.url.removeprefix("sc://").partition("/;")
    text = f"sc://{place[0]}{theirs.folder}?{place[2]}"
    with tempfile.TemporaryDirectory(prefix="loadstone-test-") as folder:
        engine = SparkEngine(variant(text), Path(folder), "run2")
        try:
            yield engine
        finally:
            engine.remove()


def relation(name: str, **design: object) -> Table:
    own = tuple(Attribute(*pair) for pair in attributes(*RELATION))
    return Table(name, own, **design)  # type: ignore[arg-type]


def expected(rows: int) -> tuple[int, str]:
    return answer_of_stream(RelationStream(*RELATION, rows))


def test_rows_are_made_and_checked_in_a_users_executors(theirs: Theirs) -> None:
    engine = theirs.engine
    assert engine.generate(relation("made"), Generated(*RELATION, ROWS)) == ROWS
    assert engine.checksum("made") == expected(ROWS)
    assert engine.terms()["setting.rows made"] == "in the executors"
    (folder,) = theirs.folder.glob("loadstone_*")
    assert list(folder.glob("warehouse/made/*.parquet"))
    assert not engine.can_stop
    assert list(engine.files()) == []
    engine.drop("made")


def test_a_living_runs_folder_is_spared_and_a_dead_ones_is_removed(theirs: Theirs) -> None:
    (alive,) = SparkEngine.sweep(theirs.engine.variant)
    assert alive.alive
    with pytest.raises(EngineError, match="in use"):
        SparkEngine.clear(theirs.engine.variant, alive)
    SparkEngine.hold(theirs.engine.variant, "run9").close()
    (dead,) = [each for each in SparkEngine.sweep(theirs.engine.variant) if not each.alive]
    assert dead.owner == "run9"
    SparkEngine.clear(theirs.engine.variant, dead)
    assert list(SparkEngine.sweep(theirs.engine.variant)) == [alive]


def test_a_folder_without_our_mark_is_left_alone(theirs: Theirs) -> None:
    space = Space.of("run8", theirs.engine.variant.name)
    (theirs.folder / space.name).mkdir()
    (theirs.folder / space.name / "precious").touch()
    engine = SparkEngine(theirs.engine.variant, theirs.folder, "run8")
    with pytest.raises(EngineError, match="is not this run's"):
        engine.start()
    engine.remove()
    assert (theirs.folder / space.name / "precious").exists()
    (theirs.folder / space.name / "precious").unlink()
    (theirs.folder / space.name).rmdir()


def test_a_server_of_spark_connect_gets_a_database_of_ours_alone(
    theirs: Theirs, connect: SparkEngine
) -> None:
    connect.start()
    assert connect.generate(relation("made"), Generated(*RELATION, ROWS)) == ROWS
    assert connect.checksum("made") == expected(ROWS)
    assert connect.load(table("t"), stream(rows())) == SAMPLE_ROWS
    assert connect.run("CREATE TABLE other AS SELECT * FROM t") == -1
    assert list(connect.tables()) == ["made", "other", "t"]
    with connect.another() as session:
        assert session.fetch("SELECT count(*) FROM other") == [(SAMPLE_ROWS,)]
    assert list(theirs.engine.tables()) == []
    connect.switch(variant(f"{connect.variant.url}&join=merge"))
    assert connect.terms()["join"] == "merge"
    assert connect.terms()["parallelism"] == "unknown"
    connect.remove()
    names = theirs.engine.read("SHOW DATABASES").column(0).to_pylist()
    assert names == ["default"]
    assert len(list(theirs.folder.glob("loadstone_*"))) == 1


def test_a_database_without_our_mark_is_left_alone(theirs: Theirs, connect: SparkEngine) -> None:
    space = Space.of("run2", connect.variant.name)
    theirs.engine.run(f"CREATE DATABASE {space.name} COMMENT 'mine'")
    try:
        with pytest.raises(EngineError, match="is not this run's"):
            connect.start()
        connect.remove()
        names = theirs.engine.read("SHOW DATABASES").column(0).to_pylist()
        assert space.name in names
    finally:
        theirs.engine.run(f"DROP DATABASE {space.name}")


def test_what_a_users_driver_has_started_with_cannot_be_set(connect: SparkEngine) -> None:
    url = str(connect.variant.url)
    with pytest.raises(InputError, match="parallelism"):
        SparkEngine.check(variant(f"{url}&parallelism=2"))
    own = variant(f"{url}&set.spark.memory.fraction=0.5")
    engine = SparkEngine(own, connect.scratch, "run2")
    with pytest.raises(UnsupportedError, match=r"spark\.memory\.fraction"):
        engine.start()
    engine.remove()


def test_nobody_at_the_address_is_said_in_one_line(scratch: Path) -> None:
    for scheme in ("spark", "sc"):
        text = f"{scheme}://127.0.0.1:{free_port()}{scratch}"
        engine = SparkEngine(variant(text), scratch, "run3")
        with pytest.raises(EngineError) as caught:
            engine.start()
        assert "\n" not in caught.value.message
        engine.remove()
