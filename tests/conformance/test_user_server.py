"""A server that is not ours: we keep to a schema of our own, keep its secret, touch no more."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from samples import as_rows, rows, stream, table
from user_server import SECRET, UserServer, free_port, user_server

from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.errors import (
    EngineError,
    InputError,
    LoadstoneError,
    RecordError,
    UnsupportedError,
)
from loadstone.plan.variant import parse_variant


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        yield running


Connect = Callable[..., PostgresqlEngine]


@pytest.fixture
def connect(server: UserServer, tmp_path: Path) -> Iterator[Connect]:
    """Make engines on the user's server by URL."""
    made: list[PostgresqlEngine] = []

    def build(tail: str = "", owner: str = "run1", url: str | None = None) -> PostgresqlEngine:
        tactics = frozenset(PostgresqlEngine.capabilities.tactics)
        variant = parse_variant(url or server.url(tail=tail), tactics)
        made.append(PostgresqlEngine(variant, tmp_path, owner))
        return made[-1]

    yield build
    for engine in made:
        engine.remove()


def test_nothing_but_our_schema_is_touched(server: UserServer, connect: Connect) -> None:
    before = server.fingerprint()
    engine = connect("?parallelism=2&durability=none&join=hash")
    engine.start()
    for name in ("customers", "t"):
        engine.load(table(name, indexes=("unique1",)), stream(rows()))
    engine.load(table("c", organisation="clustered", key="unique1"), stream(rows()))
    engine.settle(["customers", "t", "c"])
    assert sorted(as_rows(engine.read("SELECT * FROM customers"))) == sorted(rows())
    engine.run("CREATE TABLE made AS SELECT * FROM customers")
    engine.run("DELETE FROM customers")
    engine.drop("loadstone_mine")
    assert sorted(engine.tables()) == ["c", "customers", "made", "t"]
    assert engine.size_bytes() > 0
    assert server.fingerprint() != before
    assert server.fingerprint()[-3:] == before[-3:]
    engine.remove()
    assert server.fingerprint() == before


def test_a_users_server_is_not_stopped(connect: Connect) -> None:
    engine = connect()
    engine.start()
    assert not engine.can_stop
    engine.load(table(), stream(rows()))
    assert list(engine.stop()) == []
    assert list(engine.files()) == []
    assert list(engine.processes()) == []
    engine.start()
    assert len(as_rows(engine.read("SELECT * FROM t"))) == len(rows())


def test_terms_report_what_the_server_has(connect: Connect) -> None:
    engine = connect("?parallelism=2&durability=none&join=hash")
    engine.start()
    terms = engine.terms()
    assert (terms["parallelism"], terms["durability"], terms["join"]) == ("2", "none", "hash")
    assert terms["cache"] == str(16 * 2**20)


def test_its_cache_is_not_ours_to_set(connect: Connect) -> None:
    with pytest.raises(UnsupportedError, match="cache"):
        connect("?cache=1000000").start()


def test_two_variants_of_a_run_keep_apart(connect: Connect) -> None:
    engines = [connect(), connect("?join=hash")]
    for count, engine in enumerate(engines, 1):
        engine.start()
        engine.load(table(), stream(rows(count)))
    engines[1].remove()
    assert len(as_rows(engines[0].read("SELECT * FROM t"))) == 1


def test_a_schema_without_our_mark_is_refused_and_kept(
    server: UserServer, connect: Connect
) -> None:
    engine = connect(owner="squatted")
    with server.owner() as connection:
        connection.execute(f"CREATE SCHEMA {engine.instance.schema.quoted} AUTHORIZATION alice")
        connection.execute(f"CREATE TABLE {engine.instance.schema.quoted}.t AS SELECT 1 AS i")
    try:
        with pytest.raises(EngineError, match="not marked"):
            engine.start()
        engine.remove()
        with server.owner() as connection:
            kept = connection.execute(f"SELECT i FROM {engine.instance.schema.quoted}.t").fetchall()
        assert kept == [(1,)]
    finally:
        with server.owner() as connection:
            connection.execute(f"DROP SCHEMA {engine.instance.schema.quoted} CASCADE")


def test_a_lost_session_is_an_error_and_comes_back(server: UserServer, connect: Connect) -> None:
    engine = connect()
    engine.start()
    engine.load(table(), stream(rows()))
    with server.owner() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'alice'"
        )
    with pytest.raises(EngineError):
        engine.fetch("SELECT 1")
    engine.start()
    assert len(as_rows(engine.read("SELECT * FROM t"))) == len(rows())


def test_leftovers_are_found_by_their_mark_and_cleared(
    server: UserServer, connect: Connect
) -> None:
    before = server.fingerprint()
    engine = connect(owner="crashed")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.stop()
    (left,) = PostgresqlEngine.sweep(engine.variant)
    assert (left.kind, left.name, left.owner) == ("schema", engine.instance.schema.name, "crashed")
    PostgresqlEngine.clear(engine.variant, left)
    assert list(PostgresqlEngine.sweep(engine.variant)) == []
    assert server.fingerprint() == before


WRONG = {
    "password": ({"secret": SECRET + "x"}, "password"),
    "database": ({"database": "nowhere"}, "createdb"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_is_wrong_is_reported_with_place_and_remedy(
    server: UserServer, connect: Connect, case: str
) -> None:
    changes, remedy = WRONG[case]
    error = _refusal(connect(url=server.url(**changes)))
    assert f"127.0.0.1:{server.port}" in error.message
    assert remedy in error.hint


def test_a_missing_server_is_reported(connect: Connect) -> None:
    port = free_port()
    error = _refusal(connect(url=f"postgresql://alice:{quote(SECRET, safe='')}@127.0.0.1:{port}/x"))
    assert f"127.0.0.1:{port}" in error.message
    assert "pg_isready" in error.hint


def test_a_user_who_may_not_create_is_reported(server: UserServer, connect: Connect) -> None:
    with server.owner() as connection:
        connection.execute("REVOKE CREATE ON DATABASE app FROM alice")
    try:
        error = _refusal(connect(owner="forbidden"))
        assert "GRANT CREATE ON DATABASE" in error.hint
    finally:
        with server.owner() as connection:
            connection.execute("GRANT CREATE ON DATABASE app TO alice")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://alice:geheim@x@127.0.0.1/app",
        "postgresql://alice:geheim@127.0.0.1:70000000/app",
        "postgresql://alice:geheim@127.0.0.1/app?colour=geheim",
        "postgresql://alice@127.0.0.1:1/app?password=geheim",
        "postgresql://alice:geheim@[::1/app",
    ],
)
def test_no_url_however_wrong_shows_its_password(connect: Connect, url: str) -> None:
    with pytest.raises(LoadstoneError) as caught:
        connect(url=url).start()
    _keeps_secret(caught.value, "geheim")


def _refusal(engine: PostgresqlEngine) -> LoadstoneError:
    with pytest.raises(EngineError) as caught:
        engine.start()
    for secret in (SECRET, quote(SECRET, safe=""), SECRET + "x"):
        _keeps_secret(caught.value, secret)
        assert secret not in repr(vars(engine))
    assert caught.value.hint
    return caught.value


def _keeps_secret(error: BaseException | None, secret: str) -> None:
    """Nothing that a handler, a log or a debugger's traceback would print holds the secret."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        shown = f"{error!r} {error} {getattr(error, 'hint', '')}"
        assert secret not in shown
        error = None if error.__suppress_context__ else error.__cause__ or error.__context__


def test_the_password_may_come_from_the_environment(
    server: UserServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    engine = connect(url=server.url(secret=None))
    engine.start()
    assert engine.fetch("SELECT 1") == [(1,)]


def test_the_password_may_come_from_a_file(
    server: UserServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "pgpass"
    escaped = SECRET.replace("\\", "\\\\").replace(":", "\\:")
    file.write_text(f"127.0.0.1:{server.port}:app:alice:{escaped}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    engine = connect(url=server.url(secret=None))
    engine.start()
    assert engine.fetch("SELECT 1") == [(1,)]


def test_the_secret_is_in_no_name_and_no_term(server: UserServer, connect: Connect) -> None:
    engine = connect()
    engine.start()
    shown = (
        f"{engine.variant!r} {engine.variant.name} {engine.terms()} {engine.instance._address!r}"
    )
    for secret in (SECRET, quote(SECRET, safe="")):
        assert secret not in shown
        assert secret not in Path("/proc/self/cmdline").read_text()


def test_a_wrong_parameter_is_reported(connect: Connect) -> None:
    with pytest.raises(InputError, match="paralelism"):
        connect("?paralelism=2").start()


@pytest.mark.parametrize("owner", ["x'; DROP TABLE customers; --", "../x", "", "A", "a" * 33])
def test_an_owner_that_is_no_name_of_a_run_reaches_no_statement(
    server: UserServer, connect: Connect, owner: str
) -> None:
    before = server.fingerprint()
    with pytest.raises(RecordError, match="invalid name of a run"):
        connect(owner=owner).start()
    assert server.fingerprint() == before


OTHERWISE = {
    "TimeZone": "Asia/Tokyo", "DateStyle": "German", "IntervalStyle": "iso_8601",
    "extra_float_digits": "-9", "bytea_output": "escape", "standard_conforming_strings": "off",
    "default_transaction_isolation": "serializable", "statement_timeout": "50ms",
    "lock_timeout": "1ms", "lc_numeric": "C.UTF-8", "array_nulls": "off",
    "transform_null_equals": "on", "default_transaction_deferrable": "on", "search_path": "nowhere",
}  # fmt: skip
"""What a role may have, by which the answers below would be others."""
ANSWERS = (
    "SELECT CAST(TIMESTAMPTZ '2023-09-20 23:30:00+00' AS date)::text",
    "SELECT DATE '2023-09-02'::text",
    "SELECT (INTERVAL '1 day 2 hours')::text",
    "SELECT CAST(0.1234567890123 AS float8)::text",
    r"SELECT CAST('\x41ff' AS bytea)::text",
    r"SELECT length('a\n')",
    "SELECT CAST('{NULL}' AS text[]) IS DISTINCT FROM ARRAY['NULL']",
    "SELECT count(*) FROM (SELECT 1 AS x WHERE NULL = NULL) AS t",
    "SELECT count(*) FROM generate_series(1, 2000000)",
)


@pytest.mark.parametrize("stands", [False, True])
def test_what_a_role_has_otherwise_changes_no_answer(
    server: UserServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, stands: bool
) -> None:
    def answers() -> tuple[list[object], dict[str, str]]:
        engine = connect()
        engine.as_it_stands, engine.users_text = stands, True
        engine.start()
        try:
            return [engine.fetch(one) for one in ANSWERS], dict(engine.terms())
        finally:
            engine.remove()

    plain, before = answers()
    assert plain[0] == [("2023-09-20",)]
    with server.owner() as owner:
        for name, value in OTHERWISE.items():
            owner.execute(f"ALTER ROLE alice SET {name} TO '{value}'")
    monkeypatch.setenv("PGTZ", "America/St_Johns")
    monkeypatch.setenv("PGDATESTYLE", "SQL")
    try:
        otherwise, terms = answers()
    finally:
        with server.owner() as owner:
            owner.execute("ALTER ROLE alice RESET ALL")
    assert otherwise == plain
    assert (terms["timezone"], terms["isolation"]) == ("UTC", "read committed")
    assert terms == before
