"""Spark's own: rows made in executors, checksums added up there, settings by name, and processes
that may die. All tests have one cluster, but those that end it.

They need the extra: pip install 'loadstone[spark]', and a Java of 17 or later.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from engine_kinds import SPARK_MISSING

from loadstone._core import RelationStream, answer_of_stream, attributes, cpu_ns
from loadstone.engines.capabilities import Attribute, Generated, Table
from loadstone.engines.private_server import gone_within
from loadstone.engines.spark.engine import SparkEngine
from loadstone.engines.spark.process import of_home
from loadstone.errors import EngineError, InputError, NotInstalledError
from loadstone.plan.variant import Variant

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(SPARK_MISSING), reason=SPARK_MISSING or "it is there"),
]

DEATH_S_MAX = 60.0
WORK_NS = 700_000_000
RELATION = ("wisconsin", "1993", "tenktup1")
ROWS = 100_000
LONG_ROWS = 60_000
LONG = (
    "SELECT count(*) FROM big AS a JOIN big AS b ON a.two = b.two"
    " WHERE (a.unique1 + b.unique1) % 7 = 3"
)
"""It takes seconds, of each of two tasks."""


def long_answer(rows: int) -> int:
    """The answer to `LONG`, by arithmetic: pairs of equal parity with a sum of rest 3 by 7."""
    counts: dict[tuple[int, int], int] = {}
    for value in range(rows):
        kind = (value % 2, value % 7)
        counts[kind] = counts.get(kind, 0) + 1
    return sum(
        many * other
        for (two, rest), many in counts.items()
        for (also, left), other in counts.items()
        if two == also and (rest + left) % 7 == 3
    )


def relation(name: str, **design: object) -> Table:
    own = tuple(Attribute(*pair) for pair in attributes(*RELATION))
    return Table(name, own, **design)  # type: ignore[arg-type]


def expected(rows: int) -> tuple[int, str]:
    return answer_of_stream(RelationStream(*RELATION, rows))


@pytest.fixture(scope="module")
def running() -> Iterator[SparkEngine]:
    with tempfile.TemporaryDirectory(prefix="loadstone-test-") as folder:
        engine = SparkEngine(Variant("spark"), Path(folder), "run1")
        try:
            yield engine
        finally:
            engine.remove()


@pytest.fixture
def spark(running: SparkEngine) -> SparkEngine:
    """A whole cluster, as the engine's defaults have it."""
    running.switch(Variant("spark"))
    if len(running.worker_processes()) < 2:
        running.stop()
    running.start()
    return running


def executors_of(spark: SparkEngine) -> list[int]:
    return [pid for pid in of_home(spark.home) if pid not in spark.processes()]


def test_the_cluster_is_real_and_listens_to_this_machine_alone(spark: SparkEngine) -> None:
    master, *workers, _ = spark.processes()
    assert len(workers) == 2
    inodes = {line.split()[9] for name in ("tcp", "tcp6")
              for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
              if line.split()[3] == "0A" and not at_home(line.split()[1])}  # fmt: skip
    for pid in of_home(spark.home):
        sockets = {name for name in links(pid) if name.startswith("socket:")}
        assert not {f"socket:[{inode}]" for inode in inodes} & sockets
    executors = set(executors_of(spark))
    assert len(executors) == 2
    assert {parent(pid) for pid in executors} == set(workers)
    assert master not in executors


def at_home(address: str) -> bool:
    """Whether an address of /proc/net is 127.x.y.z, also one that is written as one of IPv6."""
    place = address.partition(":")[0]
    return place[-2:] == "7F"


def links(pid: int) -> list[str]:
    folder = Path(f"/proc/{pid}/fd")
    try:
        return [str(one.readlink()) for one in folder.iterdir()]
    except OSError:
        return []


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_rows_made_in_any_number_of_parts_are_the_relation(
    spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part_rows in (ROWS, 30_000, 7_001):
        monkeypatch.setattr("loadstone.engines.spark.engine._PART_ROWS", part_rows)
        assert spark.generate(relation("made"), Generated(*RELATION, ROWS)) == ROWS
        files = [path for path in spark.files() if path.parent.name == "made"]
        assert len([path for path in files if path.suffix == ".parquet"]) >= ROWS // part_rows
        assert spark.checksum("made") == expected(ROWS)
    assert answer_of_stream(spark.contents("made")) == expected(ROWS)


def test_clustered_rows_are_in_key_order_from_file_to_file(
    spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr("loadstone.engines.spark.engine._PART_ROWS", 30_000)
    by = relation("ordered", organisation="clustered", key="unique1", tiebreaker="unique2")
    assert spark.generate(by, Generated(*RELATION, ROWS)) == ROWS
    assert spark.checksum("ordered") == expected(ROWS)
    files = sorted((spark.home / "warehouse" / "ordered").glob("*.parquet"))
    assert len(files) > 1
    keys = pa.concat_arrays(
        [chunk for path in files for chunk in pq.read_table(path).column("unique1").chunks]
    )
    assert keys.equals(pa.array(range(ROWS), keys.type))


def test_a_wrong_tuple_shows_in_the_sum(spark: SparkEngine) -> None:
    spark.generate(relation("made"), Generated(*RELATION, ROWS))
    own = [each.name for each in relation("made").attributes]
    other = ", ".join("`two` + 1" if name == "two" else f"`{name}`" for name in own)
    spark.drop("other")
    spark.run(f"CREATE TABLE other AS SELECT {other} FROM made WHERE unique1 = 7"
              " UNION ALL SELECT * FROM made WHERE unique1 <> 7")  # fmt: skip
    reported = spark.checksum("other")
    assert reported is not None
    assert reported[0] == ROWS
    assert reported[1] != expected(ROWS)[1]


JOINS = {
    "broadcast": "BroadcastHashJoin", "hash": "ShuffledHashJoin", "merge": "SortMergeJoin",
}  # fmt: skip


@pytest.mark.parametrize(
    ("join", "adaptive"),
    [("broadcast", "on"), ("hash", "on"), ("merge", "on"), ("broadcast", "off"), ("merge", "off")],
)
def test_the_join_that_is_asked_for_is_executed(
    spark: SparkEngine, join: str, adaptive: str
) -> None:
    spark.generate(relation("made"), Generated(*RELATION, 10_000))
    spark.switch(Variant("spark", (("adaptive", adaptive), ("join", join))))
    query = "SELECT count(*) FROM made a JOIN made b ON a.unique1 = b.unique2"
    frame = spark._instance.session.spark.sql(query)
    assert frame.toArrow().to_pylist() == [{"count(1)": 10_000}]
    executed = {node.name for node in frame.executionInfo.metrics._metrics}
    assert {each for each in JOINS.values() if each in executed} == {JOINS[join]}
    assert ("AdaptiveSparkPlan" in spark.explain(query)) == (adaptive == "on")


def test_a_join_that_no_setting_chooses_is_refused() -> None:
    with pytest.raises(InputError, match="join=hash"):
        SparkEngine.check(Variant("spark", (("adaptive", "off"), ("join", "hash"))))


def test_code_is_generated_for_the_stages_that_are_asked_for(spark: SparkEngine) -> None:
    spark.generate(relation("made"), Generated(*RELATION, 10_000))
    query = "SELECT sum(unique1 * 2) FROM made WHERE two = 1"
    for execution in ("compiled", "expressions", "interpreted"):
        spark.switch(Variant("spark", (("adaptive", "off"), ("execution", execution))))
        assert spark.fetch(query) == [(2 * sum(range(1, 10_000, 2)),)]
        assert ("WholeStageCodegen" in spark.explain(query) or "[codegen id" in
                spark.explain(query)) == (execution == "compiled")  # fmt: skip


def test_settings_by_name_are_set_read_back_and_forgotten(spark: SparkEngine) -> None:
    named = {
        "set.spark.sql.files.maxPartitionBytes": "1m",
        "set.spark.memory.fraction": "0.5",
    }
    spark.switch(Variant("spark", tuple(sorted(named.items()))))
    terms = spark.terms()
    assert {name: terms[name].partition(":")[0] for name in named} == named
    spark.switch(Variant("spark"))
    assert spark.terms()["setting.spark.sql.files.maxPartitionBytes"] == "134217728b"
    assert not named.keys() & spark.terms().keys()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spark.memory.fractoin", "did you mean spark.memory.fraction"),
        ("spark.sql.nosuch.thing", "no setting"),
        ("spark.cores.max", "parallelism"),
        ("spark.authenticate", "depends on it"),
        ("spark.jars", "depends on it"),
        ("spark.authenticate.secret", "secret"),
    ],
)
def test_a_setting_that_is_none_or_not_ours_to_set_is_refused(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        SparkEngine.check(Variant("spark", ((f"set.{name}", "1"),)))
    assert said in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("victim", ["executor", "worker"])
def test_one_of_two_may_die_in_the_middle_and_the_answer_is_right(
    spark: SparkEngine, victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many files as tasks, so that both executors work.
    monkeypatch.setattr("loadstone.engines.spark.engine._PART_ROWS", LONG_ROWS // 4)
    spark.generate(relation("big"), Generated(*RELATION, LONG_ROWS))
    executors = executors_of(spark)
    pid = executors[0] if victim == "executor" else spark.worker_processes()[0]
    killed, found = threading.Event(), []

    def ask() -> None:
        found.append((spark.fetch(LONG), killed.is_set()))

    asker = threading.Thread(target=ask)
    asker.start()
    wait_for_work(executors)
    os.kill(pid, signal.SIGKILL)
    killed.set()
    assert gone_within(pid, DEATH_S_MAX)
    asker.join()
    assert found == [([(long_answer(LONG_ROWS),)], True)]


def wait_for_work(executors: list[int]) -> None:
    """Until each of the executors has computed for a while: the statement is in its middle."""
    before = {pid: cpu_ns(pid) or 0 for pid in executors}
    never = threading.Event()
    while any((cpu_ns(pid) or 0) < before[pid] + WORK_NS for pid in executors):
        never.wait(0.02)


def test_a_cluster_without_its_master_says_so_and_starts_again(
    spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loadstone.engines.spark.engine._PART_ROWS", LONG_ROWS // 4)
    spark.generate(relation("big"), Generated(*RELATION, LONG_ROWS))
    master = spark.processes()[0]
    reported: list[str] = []

    def ask() -> None:
        try:
            spark.fetch(LONG)
        except EngineError as error:
            reported.append(f"{error.message} {error.hint}")

    executors = executors_of(spark)
    asker = threading.Thread(target=ask)
    asker.start()
    wait_for_work(executors)
    os.kill(master, signal.SIGKILL)
    asker.join()
    assert len(reported) == 1
    assert "the master has ended" in reported[0]
    spark.start()
    assert spark.checksum("big") == expected(LONG_ROWS)


WORKER = """
import sys
from pathlib import Path
from loadstone.engines.spark.engine import SparkEngine
from loadstone.plan.variant import Variant

engine = SparkEngine(Variant("spark"), Path(sys.argv[1]), "run1")
engine.start()
print("ready", flush=True)
sys.stdin.read()
"""


def test_nothing_outlives_a_killed_worker_of_ours(scratch: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(scratch)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        started = of_home(scratch / "spark")
        assert len(started) == 6
        process.kill()
    for pid in started:
        assert gone_within(pid, DEATH_S_MAX)
    assert of_home(scratch / "spark") == []
    assert list(SparkEngine.abandon(scratch)) == []


def test_too_little_memory_is_said_before_anything_starts(scratch: Path) -> None:
    engine = SparkEngine(Variant("spark", (("executor_memory", "1048576"),)), scratch, "run1")
    with pytest.raises((EngineError, InputError), match="executor_memory"):
        engine.start()
    assert of_home(scratch / "spark") == []


def test_no_java_is_said_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    from loadstone.engines.spark.installed import java

    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    java.cache_clear()
    try:
        with pytest.raises(NotInstalledError, match="Java") as caught:
            SparkEngine.check(Variant("spark"))
        assert "JAVA_HOME" in caught.value.hint
    finally:
        java.cache_clear()
