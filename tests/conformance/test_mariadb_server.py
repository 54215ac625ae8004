"""MariaDB beside what the suite asks of every engine: a server of ours, its death, its forms.

Skipped, with the reason, where no server is installed: no wheel brings one.
"""

import os
import select
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from engine_kinds import EVERY_ENGINE, MARIADB_MISSING, MakeEngine
from samples import as_rows, rows, said, stream, table
from test_cold_engines import Count, assert_proved, cold

from loadstone.benchmarks.base import table_of
from loadstone.engines.mariadb.server import end_orphan
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.plan.release import Release
from loadstone.plan.variant import Variant
from loadstone.protocol.parts import Variation
from loadstone.worker.statement_timer import StatementTimer

pytestmark = pytest.mark.skipif(bool(MARIADB_MISSING), reason=MARIADB_MISSING or "it is there")

NEW = "append to t (unique1 = 99, unique2 = 99, big = 99, string = 'committed')"
DEATH_S_MAX = 20.0
MANY = 10_000
ONE = "range of t is t retrieve (t.all) where t.unique1 = 7"
WORKER = """
import sys
from pathlib import Path
from engine_kinds import ENGINES
from samples import rows, said, stream, table
from loadstone.plan.variant import Variant

engine = ENGINES["mariadb"](Variant("mariadb"), Path(sys.argv[1]), "run1")
engine.start()
engine.load(table(), stream(rows()))
engine.run(said(engine, sys.argv[2]))
print(*engine.processes(), flush=True)
sys.stdin.read()
"""


def test_a_commit_outlives_a_server_that_is_killed(make: MakeEngine) -> None:
    engine = make("mariadb")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.run(said(engine, NEW))
    (pid,) = engine.processes()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(EngineError):
        while True:  # until the kernel has ended it
            engine.fetch(said(engine, ONE))
    engine.stop()
    engine.start()
    assert (99, 99, 99, "committed") in as_rows(engine.contents("t"))
    assert len(as_rows(engine.contents("t"))) == len(rows()) + 1


def test_a_server_ends_with_its_worker_and_the_next_one_finds_the_data(
    make: MakeEngine, scratch: Path
) -> None:
    path = os.pathsep.join((str(Path(__file__).parent), *sys.path))
    command = [sys.executable, "-c", WORKER, str(scratch), NEW]
    with Popen(
        command, stdin=PIPE, stdout=PIPE, env=dict(os.environ) | {"PYTHONPATH": path}
    ) as worker:
        assert worker.stdout is not None
        (pid,) = map(int, worker.stdout.readline().split())
        watched = os.pidfd_open(pid)
        worker.kill()
        worker.wait()
    try:
        assert select.select([watched], [], [], DEATH_S_MAX)[0]
    finally:
        os.close(watched)
    assert list(end_orphan(scratch)) == []
    engine = make("mariadb")
    engine.start()
    assert len(as_rows(engine.contents("t"))) == len(rows()) + 1


def test_a_data_folder_that_was_never_finished_is_made_anew(
    make: MakeEngine, scratch: Path
) -> None:
    half = scratch / "mariadb" / "making" / "mysql"
    half.mkdir(parents=True)
    (half / "global_priv.frm").write_text("cut")
    engine = make("mariadb")
    engine.start()
    assert list(engine.tables()) == []
    assert not half.exists()


def test_a_definition_is_not_taken_back(make: MakeEngine) -> None:
    engine = make("mariadb")
    engine.start()
    engine.load(table(), stream(rows()))
    with engine.taken_back():
        assert engine.run(said(engine, "range of t is t delete t")) == len(rows())
        with pytest.raises(UnsupportedError, match="commits"):
            engine.run(said(engine, "range of t is t retrieve into made (t.all)"))
    assert sorted(as_rows(engine.contents("t"))) == sorted(rows())
    assert list(engine.tables()) == ["t"]


def test_tuples_that_keep_their_value_are_counted_too(make: MakeEngine) -> None:
    engine = make("mariadb")
    engine.start()
    engine.load(table(), stream(rows()))
    same = said(engine, "range of t is t replace t (unique2 = t.unique2) where t.unique2 < 10")
    assert engine.run(same) == 10


@pytest.mark.parametrize("form", ["text", "prepared"])
def test_the_form_of_a_statement_is_counted_by_the_server(make: MakeEngine, form: str) -> None:
    engine = make("mariadb", statement=form)
    engine.start()
    engine.load(table(), stream(rows()))
    for _ in range(3):
        assert len(engine.fetch(said(engine, ONE))) == 1
    assert engine.terms()["statement"] == form
    ((_, prepared),) = engine.fetch("SHOW SESSION STATUS LIKE 'Com_prepare_sql'")
    # Of `ONE`, of what `terms` executes, and of this question.
    assert int(prepared) == (3 if form == "prepared" else 0)


JOINED = {"auto": "BNL join", "hash": "BNLH join", "nested-loops": ""}


@pytest.mark.parametrize("join", JOINED)
def test_a_joins_method_shows_in_its_plan(make: MakeEngine, join: str) -> None:
    engine = make("mariadb", join=join)
    engine.start()
    engine.load(table(), stream(rows()))
    engine.load(table("u"), stream(rows()))
    engine.settle(["t", "u"])
    query = "range of t is t range of u is u retrieve (t.big) where t.unique1 = u.unique2"
    plan = engine.explain(said(engine, query))
    buffered = [name for name in ("BNL join", "BNLH join") if name in plan]
    assert buffered == ([JOINED[join]] if JOINED[join] else [])
    assert len(engine.fetch(said(engine, query))) == len(rows())


def test_versions_that_no_session_sees_are_gone_once_they_were_waited_for(
    make: MakeEngine,
) -> None:
    engine = make("mariadb")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.settle(["t"])
    for _ in range(20):
        engine.run(said(engine, "range of t is t replace t (big = t.big + 1)"))
    engine.remove_dead("t", 20 * len(rows()))
    query = (
        "SELECT count FROM information_schema.innodb_metrics WHERE name LIKE 'trx_rseg_history%'"
    )
    assert engine.fetch(query) == [(0,)]


def test_the_beginning_of_a_settings_name_is_answered_with_the_name() -> None:
    """The program itself would take it for the whole, with a warning."""
    variant = Variant("mariadb", (("set.innodb_fill_fact", "80"),))
    with pytest.raises(InputError, match="no setting") as caught:
        EVERY_ENGINE["mariadb"].check(variant)
    assert "innodb_fill_factor" in caught.value.hint


def test_a_failed_start_says_why(make: MakeEngine, scratch: Path) -> None:
    engine = make("mariadb")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.stop()
    ibdata = scratch / "mariadb" / "data" / "ibdata1"
    ibdata.write_bytes(b"\0" * 16384)
    with pytest.raises(EngineError, match="did not start") as caught:
        engine.start()
    assert "server.log" in caught.value.hint


def test_a_deep_scratch_folder_has_its_socket_elsewhere(make: MakeEngine, scratch: Path) -> None:
    deep = scratch / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    engine = EVERY_ENGINE["mariadb"](Variant("mariadb"), deep, "run1")
    try:
        engine.start()
        assert list(engine.tables()) == []
        socket = (deep / "mariadb" / "socket").resolve()
    finally:
        engine.remove()
    assert not socket.exists()


def test_a_folder_without_the_program_is_refused(tmp_path: Path) -> None:
    variant = Variant("mariadb", release=Release(programs=str(tmp_path)))
    with pytest.raises(InputError, match="mariadbd"):
        EVERY_ENGINE["mariadb"].check(variant)


@pytest.mark.slow
@pytest.mark.machine
@pytest.mark.parametrize("disk", ["buffered", "direct"])
def test_cold_is_proved_on_either_way_to_the_disk(make: MakeEngine, disk: str) -> None:
    engine = make("mariadb", disk=disk)
    engine.start()
    many = [(i, i, i, f"{i:012d}") for i in range(MANY)]
    name = table_of("tenktup1", "heap", MANY)
    engine.load(table(name), stream(many, 5000))
    engine.settle([name])
    counted = Count(engine)
    # Of attributes that the benchmark's relation has, too, by which the timer translates.
    query = "range of t is tenktup1 retrieve (t.unique1, t.unique2) where t.unique1 = 7"
    found = cold(StatementTimer(engine, counted), [Variation(0, query, "", 1, "unknown")])
    assert_proved(found, counted)


@pytest.mark.slow
@pytest.mark.machine
def test_pages_that_a_start_takes_into_memory_are_seen(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that reads in at its start what it had in memory at its end, as it does by
    default."""
    from loadstone.engines.mariadb import server

    loads = dict.fromkeys(server._FORGETS, "ON") | {"innodb-buffer-pool-dump-pct": "100"}
    monkeypatch.setattr(server, "_FORGETS", loads)
    engine = make("mariadb", disk="direct")
    engine.start()
    many = [(i, i, i, f"{i:012d}") for i in range(MANY)]
    engine.load(table("tenktup1"), stream(many, 5000))
    engine.settle(["tenktup1"])
    assert engine.cached_bytes() > 100_000
    engine.stop()
    engine.start()
    status = "SHOW STATUS LIKE 'Innodb_buffer_pool_load_status'"
    while "completed" not in engine.fetch(status)[0][1]:
        pass
    assert engine.cached_bytes() > 100_000
