"""A MariaDB server that is somebody's, by URL: a database of our own there, its secret kept, and
nothing else of it touched, also where a worker or the server is killed."""

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from engine_kinds import MARIADB_MISSING
from samples import as_rows, rows, stream, table
from user_server import free_port

from loadstone.errors import EngineError, InputError, LoadstoneError, UnsupportedError
from loadstone.plan.variant import parse_variant

pytestmark = [
    pytest.mark.skipif(bool(MARIADB_MISSING), reason=MARIADB_MISSING or "it is there"),
    pytest.mark.slow,
]

if not MARIADB_MISSING:
    from mysql_server import PROGRAM as MYSQL
    from user_mariadb import GRANTED, SECRET, UserMariadb, launched, user_mariadb

    from loadstone.engines.mariadb import session
    from loadstone.engines.mariadb.engine import MariadbEngine
    from loadstone.engines.mariadb.users_database import UsersDatabase

Connect = Callable[..., "MariadbEngine"]
LONG = "SELECT SLEEP(1000)"
WORKER = """
import sys
from pathlib import Path
from engine_kinds import ENGINES
from samples import rows, stream, table
from loadstone.plan.variant import parse_variant

kind = ENGINES["mariadb"]
engine = kind(parse_variant(sys.stdin.readline().strip(), frozenset()), Path(sys.argv[1]), "killed")
engine.start()
engine.load(table(), stream(rows()))
print("loaded", flush=True)
engine.fetch(sys.argv[2])
"""


@pytest.fixture(scope="module")
def server() -> "Iterator[UserMariadb]":
    with user_mariadb() as running:
        yield running


@pytest.fixture
def connect(server: "UserMariadb", tmp_path: Path) -> Iterator[Connect]:
    """Make engines on the user's server by URL."""
    made: list[MariadbEngine] = []

    def build(tail: str = "", owner: str = "run1", url: str | None = None) -> MariadbEngine:
        known = frozenset(MariadbEngine.capabilities.tactics)
        made.append(
            MariadbEngine(parse_variant(url or server.url(tail=tail), known), tmp_path, owner)
        )
        return made[-1]

    yield build
    for engine in made:
        engine.remove()


def ours(server: "UserMariadb") -> list[object]:
    names = (str(name) for (name,) in server.asked("SHOW DATABASES"))
    return [name for name in names if UsersDatabase.named(name)]


def test_nothing_but_our_database_is_touched(server: "UserMariadb", connect: Connect) -> None:
    before = server.fingerprint()
    engine = connect("?join=nested-loops&set.join_buffer_size=1M")
    engine.start()
    engine.load(table("customers", indexes=("unique1",)), stream(rows()))
    engine.load(table("c", organisation="clustered", key="unique1"), stream(rows()))
    engine.settle(["customers", "c"])
    engine.run("DELETE FROM customers")
    engine.drop("t")
    assert sorted(engine.tables()) == ["c", "customers"]
    assert engine.terms()["set.join_buffer_size"] == "1M: 1048576"
    assert engine.size_bytes() > 0
    assert server.fingerprint() != before
    engine.remove()
    assert server.fingerprint() == before


def test_a_users_server_is_not_stopped(connect: Connect) -> None:
    engine = connect()
    engine.start()
    assert not engine.can_stop
    engine.load(table(), stream(rows()))
    assert list(engine.stop()) == list(engine.files()) == list(engine.processes()) == []
    engine.start()
    assert len(as_rows(engine.contents("t"))) == len(rows())


@pytest.mark.parametrize(
    "asked",
    ["durability=none", "cache=20000000", "disk=direct", "page_size=4096", "volume=one-disk"],
)
def test_what_is_the_servers_own_is_refused_before_the_start(connect: Connect, asked: str) -> None:
    name, _, value = asked.partition("=")
    engine = connect()
    variant = parse_variant(engine.variant.url + f"?{asked}", frozenset({name}))
    with pytest.raises(InputError, match=name):
        MariadbEngine.check(variant)
    assert value


def test_a_setting_of_the_whole_server_is_refused_by_it(connect: Connect) -> None:
    with pytest.raises(EngineError, match="GLOBAL variable") as caught:
        connect("?set.innodb_io_capacity=300").start()
    assert SECRET not in str(caught.value)


def test_two_variants_of_a_run_keep_apart(connect: Connect) -> None:
    engines = [connect(), connect("?join=nested-loops")]
    for count, engine in enumerate(engines, 1):
        engine.start()
        engine.load(table(), stream(rows(count)))
    engines[1].remove()
    assert len(as_rows(engines[0].contents("t"))) == 1


def test_a_database_without_our_mark_is_refused_and_kept(
    server: "UserMariadb", connect: Connect
) -> None:
    engine = connect(owner="squatted")
    name = UsersDatabase.of("squatted", engine.variant.name).name
    server.asked(f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t AS SELECT 1 AS i")
    try:
        with pytest.raises(EngineError, match="not marked"):
            engine.start()
        engine.remove()
        assert server.asked(f"SELECT i FROM {name}.t") == [(1,)]
        assert list(MariadbEngine.sweep(engine.variant)) == []
    finally:
        server.asked(f"DROP DATABASE {name}")


OTHERS = {
    "view": ("CREATE VIEW app.depends AS SELECT * FROM {}.t", "DROP VIEW app.depends"),
    "view-inside": ("CREATE VIEW {}.depends AS SELECT 1 AS one", "DROP VIEW {}.depends"),
    "reference": (
        "CREATE TABLE loadstone_mine.depends"
        " (i smallint, FOREIGN KEY (i) REFERENCES {}.t (unique1))",
        "DROP TABLE loadstone_mine.depends",
    ),
    "trigger": (
        "CREATE TRIGGER {}.depends BEFORE INSERT ON {}.t FOR EACH ROW SET NEW.big = 1",
        "DROP TRIGGER {}.depends",
    ),
    "procedure": ("CREATE PROCEDURE {}.depends() SELECT 1", "DROP PROCEDURE {}.depends"),
    "event": (
        "CREATE EVENT {}.depends ON SCHEDULE EVERY 9 DAY DO SELECT 1", "DROP EVENT {}.depends",
    ),
    "sequence": ("CREATE SEQUENCE {}.depends", "DROP SEQUENCE {}.depends"),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_objects_that_others_made_on_ours_or_in_it_are_kept_and_named(
    server: "UserMariadb", connect: Connect, kind: str
) -> None:
    if MYSQL and kind == "sequence":
        pytest.skip("MySQL has no sequences")
    make, undo = OTHERS[kind]
    engine = connect(owner="used")
    engine.start()
    engine.load(table(indexes=("unique1",)), stream(rows()))
    name = UsersDatabase.of("used", engine.variant.name).name
    server.asked(
        "GRANT ALL ON app.* TO alice@localhost", make.replace("{}", name)
    )  # she sees what is in her own databases
    try:
        with pytest.raises(EngineError, match=r"kept whole.*depends") as caught:
            engine.remove()
        assert "loadstone clean" in caught.value.hint
        engine.start()
        assert len(as_rows(engine.contents("t"))) == len(rows())
    finally:
        server.asked(undo.replace("{}", name))
    engine.remove()
    assert ours(server) == []


def test_a_living_run_keeps_its_database_whichever_run_cleans(
    server: "UserMariadb", connect: Connect
) -> None:
    engine = connect(owner="living")
    hold = MariadbEngine.hold(engine.variant, "living")
    engine.start()
    engine.load(table(), stream(rows()))
    (left,) = MariadbEngine.sweep(engine.variant)
    assert left.alive
    engine.stop()
    (left,) = MariadbEngine.sweep(engine.variant)
    assert (left.alive, left.detail) == (True, "t")
    with pytest.raises(EngineError, match="in use"):
        MariadbEngine.clear(engine.variant, left)
    hold.close()
    while left.alive:  # until the server has seen that its session ended
        (left,) = MariadbEngine.sweep(engine.variant)
    MariadbEngine.clear(engine.variant, left)
    assert ours(server) == []


WRONG = {
    "password": ({"secret": "wr0ng:pass"}, "Access denied", "MYSQL_PWD"),
    "database": ({"database": "nowhere"}, "nowhere", "GRANT ALL"),
    "parameter": ({"tail": "?ssl_mode=s3cr"}, "ssl_mode", "connect_timeout"),
    "value": ({"tail": "?connect_timeout=s3cr"}, "connect_timeout", "anew"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_is_wrong_is_reported_with_place_and_remedy(
    server: "UserMariadb", tmp_path: Path, case: str
) -> None:
    changes, said, remedy = WRONG[case]
    url = server.url(**changes)
    with pytest.raises(LoadstoneError, match=said) as caught:
        MariadbEngine(parse_variant(url, frozenset()), tmp_path, "run1").start()
    assert remedy in caught.value.hint
    shown = f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"
    for secret in (SECRET, quote(SECRET, safe=""), "wr0ng:pass", "s3cr"):
        assert secret not in shown


def test_a_missing_server_is_reported(connect: Connect) -> None:
    port = free_port()
    with pytest.raises(EngineError, match=f"127.0.0.1:{port}/x") as caught:
        connect(url=f"mysql://alice@127.0.0.1:{port}/x").start()
    assert "start the server" in caught.value.hint


def test_a_user_who_may_not_make_databases_is_told_what_to_grant(
    server: "UserMariadb", connect: Connect
) -> None:
    server.asked(GRANTED.replace("GRANT", "REVOKE").replace(" TO ", " FROM "))
    try:
        with pytest.raises(EngineError, match="denied") as caught:
            connect(owner="forbidden").start()
        assert "GRANT ALL ON `loadstone" in caught.value.hint
    finally:
        server.asked(GRANTED)


def test_the_password_may_come_from_the_environment(
    server: "UserMariadb", connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYSQL_PWD", SECRET)
    engine = connect(url=server.url(secret=None))
    engine.start()
    assert engine.fetch("SELECT 1") == [(1,)]


def test_the_secret_is_in_no_name_and_no_term(connect: Connect) -> None:
    engine = connect()
    engine.start()
    shown = f"{engine.variant!r} {engine.variant.name} {engine.terms()} {engine._address!r}"
    for secret in (SECRET, quote(SECRET, safe="")):
        assert secret not in shown


def test_rows_larger_than_a_statement_may_be_go_in_by_several(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loadstone.engines.mariadb import loading

    monkeypatch.setattr(loading, "INSERT_BYTES_MAX", 40)
    engine = connect()
    engine.start()
    assert engine.load(table(), stream(rows())) == len(rows())
    assert sorted(as_rows(engine.contents("t"))) == sorted(rows())


def test_a_query_of_the_users_cannot_write_where_our_tables_are(
    server: "UserMariadb", connect: Connect
) -> None:
    server.asked(
        "SET GLOBAL log_bin_trust_function_creators = ON",
        "CREATE FUNCTION app.writes() RETURNS int READS SQL DATA BEGIN"
        " DELETE FROM app.customers; RETURN 1; END",
        "CREATE FUNCTION app.unsaid() RETURNS int RETURN 1",
    )
    try:
        engine = connect()
        engine.users_text = True
        engine.start()
        engine.load(table(), stream(rows()))
        with pytest.raises(EngineError, match="READ ONLY"):
            engine.fetch("SELECT app.writes()")
        with pytest.raises(EngineError, match="unsaid, which may write"):
            engine.fetch("SELECT app.unsaid()")
        with pytest.raises(EngineError, match="unsaid, which may write"):
            engine.run("DELETE FROM t WHERE app.unsaid() = 1")
        assert "t" in engine.explain("DELETE FROM t")
        assert engine.run("DELETE FROM t") == len(rows())
        assert server.asked("SELECT COUNT(*) FROM app.customers") == [(1000,)]
    finally:
        server.asked("DROP FUNCTION app.writes", "DROP FUNCTION app.unsaid")


def test_a_worker_that_is_killed_leaves_what_clean_finds(
    server: "UserMariadb", connect: Connect, tmp_path: Path
) -> None:
    engine = connect(owner="killed")
    path = os.pathsep.join((str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path))
    command = [sys.executable, "-c", WORKER, str(tmp_path), LONG]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as worker:  # fmt: skip
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(server.url() + "\n")
        worker.stdin.flush()
        assert worker.stdout.readline() == "loaded\n"
        _wait_for(server, LONG)
        worker.kill()
    # Its statement goes on, and its session holds the database.
    (left,) = MariadbEngine.sweep(engine.variant)
    assert left.alive
    MariadbEngine.end_sessions(engine.variant, "killed")
    assert _running(server, LONG) == []
    (left,) = MariadbEngine.sweep(engine.variant)
    assert not left.alive
    MariadbEngine.clear(engine.variant, left)
    assert ours(server) == []


def test_a_statement_is_ended_and_the_session_goes_on(
    server: "UserMariadb", connect: Connect
) -> None:
    engine = connect()
    engine.start()
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            tables = ", ".join(f"app.customers {letter}" for letter in "abcdef")
            engine.fetch(f"SELECT COUNT(*) FROM {tables} WHERE a.name <> b.name")
        except EngineError as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    _wait_for(server, "customers f")
    engine.interrupt()
    thread.join()
    assert "interrupted" in str(ended[0])
    assert engine.fetch("SELECT 1") == [(1,)]


def test_a_server_killed_in_a_statement_is_an_error_and_its_leftovers_are_found(
    tmp_path: Path,
) -> None:
    with user_mariadb() as brief:
        before = brief.fingerprint()
        known = frozenset(MariadbEngine.capabilities.tactics)
        engine = MariadbEngine(parse_variant(brief.url(), known), tmp_path, "run1")
        engine.start()
        engine.load(table(), stream(rows()))
        pid = brief.private.pid
        assert pid is not None
        watched = os.pidfd_open(pid)
        killer = threading.Thread(
            target=lambda: (_wait_for(brief, LONG), os.kill(pid, signal.SIGKILL))
        )
        killer.start()
        with pytest.raises(EngineError, match="Lost connection") as caught:
            engine.fetch(LONG)
        killer.join()
        assert SECRET not in str(caught.value)
        assert select.select([watched], [], [], 20)[0]
        os.close(watched)
        with pytest.raises(EngineError, match=str(brief.port)):
            engine.remove()  # it cannot be reached, and that is said
        brief.private.stop()
        launched(brief.private, brief.port)
        (left,) = MariadbEngine.sweep(engine.variant)
        assert not left.alive
        engine.start()
        assert len(as_rows(engine.contents("t"))) == len(rows())
        engine.remove()
        assert brief.fingerprint() == before


def test_an_idle_session_that_shows_a_living_run_is_not_ended(
    server: "UserMariadb", connect: Connect
) -> None:
    engine = connect()
    engine.start()
    ((_, limit),) = engine.fetch("SHOW SESSION VARIABLES LIKE 'wait_timeout'")
    assert int(limit) == session.IDLE_S_MAX


def _running(server: "UserMariadb", text: str) -> list[object]:
    query = "SELECT info FROM information_schema.processlist WHERE user = 'alice'"
    return [info for (info,) in server.asked(query) if info and text in str(info)]


def _wait_for(server: "UserMariadb", text: str) -> None:
    while not _running(server, text):
        pass


def test_literals_compare_by_bytes_as_columns_do(connect: Connect) -> None:
    engine = connect()
    engine.start()
    assert engine.fetch("SELECT 'a' = 'A', 'a' = 'a ', CAST('a' AS CHAR) = 'A'") == [(0, 0, 0)]


def test_the_join_is_switched_and_read_back(connect: Connect) -> None:
    for tail, join in (("", "auto"), ("?join=nested-loops", "nested-loops")):
        engine = connect(tail)
        engine.start()
        assert engine.terms()["join"] == join
    engine = connect("?join=hash")
    if MYSQL:
        with pytest.raises(UnsupportedError, match="no switch for join=hash"):
            engine.start()
    else:
        engine.start()
        assert engine.terms()["join"] == "hash"


OTHERWISE = {
    "time_zone": "'+09:00'", "lc_time_names": "'de_DE'", "div_precision_increment": "1",
    "default_week_format": "6", "group_concat_max_len": "4", "sql_select_limit": "1",
}  # fmt: skip
"""What a server's files may have, by which the answers below would be others."""
ANSWERS = (
    "SELECT CAST(FROM_UNIXTIME(1695245400) AS CHAR)",
    "SELECT DATE_FORMAT('2023-09-20', '%W %M')",
    "SELECT 1 / 3",
    "SELECT WEEK('2023-01-01')",
    "SELECT GROUP_CONCAT(i ORDER BY i) FROM (SELECT 100 AS i UNION SELECT 200) AS t",
    "SELECT 1 AS i UNION SELECT 2 ORDER BY i",
)


def test_what_a_server_has_otherwise_changes_no_answer(
    server: "UserMariadb", connect: Connect
) -> None:
    def answers() -> tuple[list[object], dict[str, str]]:
        engine = connect()
        engine.users_text = True
        engine.start()
        try:
            return [engine.fetch(one) for one in ANSWERS], dict(engine.terms())
        finally:
            engine.remove()

    plain, terms = answers()
    assert plain[0] == [("2023-09-20 21:30:00",)]
    assert terms["timezone"] == "UTC"
    before = dict(server.asked("SHOW GLOBAL VARIABLES"))
    server.asked(*(f"SET GLOBAL {name} = {value}" for name, value in OTHERWISE.items()))
    try:
        assert answers() == (plain, terms)
    finally:
        server.asked(*(f"SET GLOBAL {name} = '{before[name]}'" if "'" in value
                       else f"SET GLOBAL {name} = {before[name]}"
                       for name, value in OTHERWISE.items()))  # fmt: skip
