"""A server that is not ours, and not only friendly: what others made there is neither called nor
dropped, and a run that lives keeps its schema."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql
from samples import rows, stream, table
from trapped_server import Connect, variant_at
from user_server import UserServer, user_server

from loadstone import measuring
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.rust.postgresql import PostgresqlClient
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import parse_variant
from loadstone.record import read
from loadstone.run.planned import plan_from

pytestmark = [pytest.mark.usefixtures("nothing_sprang"), pytest.mark.slow]


def test_functions_that_others_put_in_public_are_never_called(connect: Connect) -> None:
    engine = connect()
    engine.start()
    engine.load(table(indexes=("unique1",)), stream(rows()))
    engine.load(table("c", organisation="clustered", key="unique1"), stream(rows()))
    engine.settle(["t", "c"])
    assert len(list(engine.read('SELECT * FROM "t" WHERE "unique1" = 3'))) == 1
    engine.fetch('SELECT min("unique1") FROM "t"')
    engine.run('DELETE FROM "t"')
    assert engine.size_bytes() > 0
    assert engine.terms()["durability"] == "none"  # this server does not sync
    assert list(engine.tables()) == ["c", "t"]
    with engine.another() as other:
        other.fetch('SELECT count(*) FROM "c"')
    (left,) = PostgresqlEngine.sweep(engine.variant)
    assert left.alive
    engine.remove()


def test_nor_by_the_calling_program(trapped: UserServer, tmp_path: Path) -> None:
    for tail in ("", "?statement=procedure"):
        tactics = frozenset(PostgresqlClient.capabilities.tactics)
        client = PostgresqlClient(parse_variant(trapped.url(tail=tail), tactics), tmp_path, "run2")
        try:
            client.start()
            client.expect(Database(200))
            client.load()
            client.settle()
            for measure in ("lookup", "traversal", "insert", "lookup-batch", "traversal-batch"):
                client.measure(measure, 0)
            client.terms()
            assert client.size_bytes() > 0
        finally:
            client.remove()


def test_two_programs_on_one_server_have_a_schema_each(trapped: UserServer, tmp_path: Path) -> None:
    tactics = frozenset(PostgresqlClient.capabilities.tactics)
    variants = [
        parse_variant(trapped.url(tail=f"?hop={hop}"), tactics) for hop in ("lookup", "join")
    ]
    clients = [PostgresqlClient(variant, tmp_path, "run3") for variant in variants]
    try:
        for client in clients:
            client.start()
        assert len(PostgresqlClient.sweep(variants[0])) == 2
    finally:
        for client in clients:
            client.remove()


@pytest.fixture(scope="module", params=["ddl_command_start", "ddl_command_end"])
def redirected(request: pytest.FixtureRequest) -> Iterator[UserServer]:
    """A server that sends every session to `public` at a definition, where the same role has a
    table of the name of a result."""
    with user_server() as running:
        with running.owner() as connection:
            connection.execute("GRANT ALL ON SCHEMA public TO alice")
            for name in ("tmp", "t", "part", "connection"):
                made = f"CREATE TABLE public.{name} AS SELECT 'precious' AS what"
                connection.execute(made.encode())
                connection.execute(f"ALTER TABLE public.{name} OWNER TO alice".encode())
            connection.execute(
                "CREATE FUNCTION public.redirect() RETURNS event_trigger LANGUAGE plpgsql"
                " AS $$BEGIN PERFORM set_config('search_path', 'public', false); END$$"
            )
            create = f"CREATE EVENT TRIGGER redirect ON {request.param}"
            connection.execute(f"{create} EXECUTE FUNCTION public.redirect()".encode())
        yield running


def of_the_users(server: UserServer) -> list[object]:
    with server.owner() as connection:
        query = (
            "SELECT n.nspname, c.relname, c.relfilenode::text, c.oid::text FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname NOT LIKE 'pg\\_%'"
            " ORDER BY 1, 2"
        )
        return [
            *connection.execute(query.encode()).fetchall(),
            *connection.execute("SELECT what, xmin::text FROM public.tmp").fetchall(),
            *connection.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'public'"
                                "::regnamespace ORDER BY 1").fetchall(),
        ]  # fmt: skip


def test_a_path_that_an_event_trigger_changes_leads_nowhere(
    redirected: UserServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    before = of_the_users(redirected)
    chosen = {
        "rows": [1000],
        "on": [redirected.url()],
        "operations": ["select-10%-heap", "append-indexed", "min-heap", "select-1%-nonclustered"],
        "repeat": 1,
        "repeat_cold": 1,
        "overhead": False,
        "limits": False,
    }
    path = tmp_path / "r.loadstone"
    assert measuring.start(plan_from(chosen, None), path, page=False) == 0
    assert {result.status for result in read(path).results} == {"ok"}
    assert of_the_users(redirected) == before
    assert PostgresqlEngine.sweep(variant_at(redirected.url())) == []


def test_nor_does_the_calling_program_go_there(redirected: UserServer, tmp_path: Path) -> None:
    before = of_the_users(redirected)
    tactics = frozenset(PostgresqlClient.capabilities.tactics)
    for tail in ("", "?statement=procedure"):
        client = PostgresqlClient(
            parse_variant(redirected.url(tail=tail), tactics), tmp_path, "run4"
        )
        try:
            client.start()
            client.expect(Database(200))
            client.load()
            client.settle()
            for measure in ("lookup", "traversal", "insert"):
                client.measure(measure, 0)
            assert client.terms()["setting.schema"].startswith("loadstone_run4_")
        finally:
            client.remove()
        assert of_the_users(redirected) == before


def test_a_schema_that_another_role_made_in_our_name_is_refused(
    trapped: UserServer, connect: Connect
) -> None:
    engine = connect(owner="feigned")
    space = engine.instance.schema
    with trapped.owner() as connection:
        connection.execute(f"CREATE SCHEMA {space.quoted}".encode())
        connection.execute(f"GRANT ALL ON SCHEMA {space.quoted} TO alice".encode())
        note = sql.SQL("COMMENT ON SCHEMA {} IS {}")
        connection.execute(note.format(sql.Identifier(space.name), sql.Literal(space.mark)))
        try:
            with pytest.raises(EngineError, match="another role"):
                engine.start()
        finally:
            connection.execute(f"DROP SCHEMA {space.quoted}".encode())


def test_nobody_else_may_create_in_our_schema(trapped: UserServer, connect: Connect) -> None:
    with trapped.owner() as connection:
        connection.execute("CREATE ROLE mallory")
        grant = "ALTER DEFAULT PRIVILEGES FOR ROLE alice GRANT ALL ON SCHEMAS TO mallory, PUBLIC"
        connection.execute(grant.encode())
        try:
            engine = connect(owner="shared")
            engine.start()
            query = "SELECT has_schema_privilege('mallory', %s, 'CREATE')"
            assert connection.execute(query, (engine.instance.schema.name,)).fetchone() == (False,)
            engine.remove()
        finally:
            connection.execute(grant.replace("GRANT", "REVOKE").replace(" TO ", " FROM ").encode())
            connection.execute("DROP ROLE mallory")
