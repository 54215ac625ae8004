"""A server that is not ours, and not only friendly: what others made there is neither called nor
dropped, and a run that lives keeps its schema."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg import sql
from samples import rows, stream, table
from user_server import UserServer, user_server

from loadstone import registry
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.rust.postgresql import PostgresqlClient
from loadstone.engines.base import System
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant, parse_variant
from loadstone.record import read
from loadstone.run import scratch, session
from loadstone.run.session import plan_from
from loadstone.run.variant_worker import VariantWorker

TACTICS = frozenset(PostgresqlEngine.capabilities.tactics)

# Whatever fits the arguments of a call better than what `pg_catalog` has is called in its place.
TRAPS = (
    ("obj_description", "oid, text", "text"),
    ("pg_total_relation_size", "oid", "bigint"),
    ("set_config", "text, text, text", "text"),
    ("starts_with", "name, text", "boolean"),
    ("sum", "integer", "bigint"),
    ("min", "character", "character"),
    ("pg_advisory_lock_shared", "integer", "void"),
    ("version", "", "text"),
    ("current_database", "", "name"),
    ("unnest", "integer[]", "SETOF integer"),
    ("count", "", "bigint"),
)
CASTS = ("integer", "bigint", "numeric", "real")
"""To text: there is none in `pg_catalog`, so one that somebody made goes before a type's output."""
OPERATORS = (("~~", "name", "name"), ("=", "name", "text"), ("||", "text", "text"))


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        with running.owner() as connection:
            connection.execute("CREATE TABLE public.sprung (trap text)")
            connection.execute("GRANT INSERT ON public.sprung TO PUBLIC")
            spring = "BEGIN INSERT INTO public.sprung VALUES ({}); RETURN{}; END"
            for name, arguments, result in TRAPS:
                value = "" if "SETOF" in result or result == "void" else " NULL"
                body = spring.format(f"'{name}({arguments})'", value)
                connection.execute(
                    f"CREATE FUNCTION public.{name}({arguments}) RETURNS {result}"
                    f" LANGUAGE plpgsql AS $${body}$$".encode()
                )
            for number, (name, left, right) in enumerate(OPERATORS):
                body = spring.format(f"'{left} {name} {right}'", " true")
                connection.execute(
                    f"CREATE FUNCTION public.trap{number}({left}, {right}) RETURNS boolean"
                    f" LANGUAGE plpgsql AS $${body}$$".encode()
                )
                connection.execute(
                    f"CREATE OPERATOR public.{name} (LEFTARG = {left}, RIGHTARG = {right},"
                    f" FUNCTION = public.trap{number})".encode()
                )
            for kind in CASTS:
                body = spring.format(f"'{kind}::text'", " 'sprung'")
                connection.execute(
                    f"CREATE FUNCTION public.cast_{kind}({kind}) RETURNS text"
                    f" LANGUAGE plpgsql AS $${body}$$".encode()
                )
                cast = f"CREATE CAST ({kind} AS text) WITH FUNCTION public.cast_{kind}"
                connection.execute(f"{cast} AS IMPLICIT".encode())
        yield running


@pytest.fixture(autouse=True)
def nothing_sprang(server: UserServer) -> Iterator[None]:
    yield
    with server.owner() as connection:
        assert connection.execute("SELECT DISTINCT trap FROM public.sprung").fetchall() == []


Connect = Callable[..., PostgresqlEngine]


@pytest.fixture
def connect(server: UserServer, tmp_path: Path) -> Iterator[Connect]:
    """Make engines on the user's server by URL."""
    made: list[PostgresqlEngine] = []

    def build(owner: str = "run1") -> PostgresqlEngine:
        made.append(PostgresqlEngine(parse_variant(server.url(), TACTICS), tmp_path, owner))
        return made[-1]

    yield build
    for engine in made:
        engine.remove()


def test_what_others_put_in_public_is_never_called(connect: Connect) -> None:
    engine = connect()
    engine.start()
    engine.load(table(indexes=("unique1",)), stream(rows()))
    engine.load(table("c", organisation="clustered", key="unique1"), stream(rows()))
    engine.settle(["t", "c"])
    engine.read('SELECT * FROM "t" WHERE "unique1" = 3')
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


def test_nor_by_the_calling_program(server: UserServer, tmp_path: Path) -> None:
    for tail in ("", "?statement=procedure"):
        tactics = frozenset(PostgresqlClient.capabilities.tactics)
        client = PostgresqlClient(parse_variant(server.url(tail=tail), tactics), tmp_path, "run2")
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


def test_two_programs_on_one_server_have_a_schema_each(server: UserServer, tmp_path: Path) -> None:
    tactics = frozenset(PostgresqlClient.capabilities.tactics)
    variants = [
        parse_variant(server.url(tail=f"?hop={hop}"), tactics) for hop in ("lookup", "join")
    ]
    clients = [PostgresqlClient(variant, tmp_path, "run3") for variant in variants]
    try:
        for client in clients:
            client.start()
        assert len(PostgresqlClient.sweep(variants[0])) == 2
    finally:
        for client in clients:
            client.remove()


@pytest.mark.parametrize(
    "theirs",
    [
        ("VIEW public.depends", "CREATE VIEW public.depends AS SELECT * FROM {}.t"),
        ("TABLE public.depends", "CREATE TABLE public.depends (c {}.t)"),
        ("TABLE public.depends", "CREATE TABLE public.depends (c int REFERENCES {}.k (i))"),
        ("VIEW {}.depends", "CREATE VIEW {}.depends AS SELECT 1 AS one"),
        ("TABLE {}.depends", "CREATE TABLE {}.depends AS SELECT 1 AS one"),
        ("SEQUENCE {}.depends", "CREATE SEQUENCE {}.depends"),
    ],
    ids=["view", "column", "reference", "view-inside", "table-inside", "sequence-inside"],
)
def test_what_others_made_on_ours_or_in_it_is_kept_and_named(
    server: UserServer, connect: Connect, theirs: tuple[str, str]
) -> None:
    what, make = theirs
    engine = connect(owner="used")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.run('CREATE TABLE "k" (i integer)')
    engine.run('CREATE UNIQUE INDEX "k.i" ON "k" (i)')
    schema = engine.instance.schema.quoted
    with server.owner() as connection:
        connection.execute(make.format(schema).encode())
        with pytest.raises(EngineError, match="depends") as caught:
            engine.remove()
        assert "loadstone clean" in caught.value.hint
        assert engine.tables() == ["k", "t"]
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {what.split()[1].format(schema)}".encode())
        connection.execute(f"DROP {what.format(schema)}".encode())
    engine.remove()
    assert list(PostgresqlEngine.sweep(engine.variant)) == []


# What the owner makes on our table `t` or our schema, and what undoes it: RESTRICT would take it.
TAKEN_ALONG = {
    "trigger": (
        "CREATE TRIGGER depends AFTER INSERT ON {}.t FOR EACH ROW"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "DROP TRIGGER depends ON {}.t",
    ),
    "rule": (
        "CREATE RULE depends AS ON DELETE TO {}.t DO INSTEAD NOTHING",
        "DROP RULE depends ON {}.t",
    ),
    "policy": ("CREATE POLICY depends ON {}.t", "DROP POLICY depends ON {}.t"),
    "statistics": (
        "CREATE STATISTICS public.depends ON unique1, unique2 FROM {}.t",
        "DROP STATISTICS public.depends",
    ),
    "publication": (
        "CREATE PUBLICATION depends FOR TABLE {}.t",
        "DROP PUBLICATION depends",
    ),
    "schema-publication": (
        "CREATE PUBLICATION depends FOR TABLES IN SCHEMA {}",
        "DROP PUBLICATION depends",
    ),
    "index": ("CREATE INDEX depends ON {}.t (unique2)", "DROP INDEX {}.depends"),
    "check": (
        "ALTER TABLE {}.t ADD CONSTRAINT depends CHECK (unique1 < 9999999)",
        "ALTER TABLE {}.t DROP CONSTRAINT depends",
    ),
    "unique": (
        "ALTER TABLE {}.t ADD CONSTRAINT depends UNIQUE (unique1)",
        "ALTER TABLE {}.t DROP CONSTRAINT depends",
    ),
    "column-with-default": (
        "ALTER TABLE {}.t ADD COLUMN depends integer DEFAULT 7",
        "ALTER TABLE {}.t DROP COLUMN depends",
    ),
    "owned-sequence": (
        "ALTER TABLE {}.t ADD COLUMN depends integer GENERATED ALWAYS AS IDENTITY",
        "ALTER TABLE {}.t DROP COLUMN depends",
    ),
    "default-privileges": (
        "CREATE ROLE depends;"
        " ALTER DEFAULT PRIVILEGES FOR ROLE alice IN SCHEMA {} GRANT SELECT ON TABLES TO depends",
        "DROP OWNED BY depends; DROP ROLE depends",
    ),
}


def test_a_function_of_the_same_role_is_kept_whatever_it_is_called(connect: Connect) -> None:
    """Ours have the schema as their own path."""
    engine = connect(owner="taken")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.run("CREATE FUNCTION oo1_depends() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    try:
        with pytest.raises(EngineError, match=r"kept whole.*oo1_depends"):
            engine.remove()
        assert len(engine.tables()) == 1
    finally:
        engine.run(f"DROP FUNCTION {engine.instance.schema.quoted}.oo1_depends()")
    engine.remove()


@pytest.mark.parametrize("kind", TAKEN_ALONG)
def test_what_a_drop_would_take_along_is_kept_and_named(
    server: UserServer, connect: Connect, kind: str
) -> None:
    make, undo = TAKEN_ALONG[kind]
    engine = connect(owner="taken")
    engine.start()
    engine.load(table(indexes=("unique1",)), stream(rows()))
    # A name of more than 63 bytes, which the server cuts.
    engine.load(table("t" * 60, organisation="clustered", key="unique2"), stream(rows()))
    schema = engine.instance.schema.quoted
    with server.owner() as connection:
        connection.execute(make.format(schema).encode())
        try:
            with pytest.raises(EngineError, match=r"kept whole.*(depends|privileges)") as caught:
                engine.remove()
            assert "unique1" not in caught.value.message.replace("depends", "")
            assert "loadstone clean" in caught.value.hint
            assert len(engine.tables()) == 2
        finally:
            connection.execute(undo.format(schema).encode())
    engine.remove()
    assert list(PostgresqlEngine.sweep(engine.variant)) == []


@pytest.fixture(params=["ddl_command_start", "ddl_command_end"])
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
    assert session.start(session.plan_from(chosen, None), path, page=False) == 0
    assert {result.status for result in read(path).results} == {"ok"}
    assert of_the_users(redirected) == before
    assert PostgresqlEngine.sweep(_variant(redirected.url())) == []


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


def test_a_living_run_keeps_its_schema_whichever_run_cleans(connect: Connect) -> None:
    engine = connect(owner="living")
    hold = PostgresqlEngine.hold(engine.variant, "living")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.stop()  # as for every cold sample
    (left,) = PostgresqlEngine.sweep(engine.variant)
    assert left.alive
    with pytest.raises(EngineError, match="in use"):
        PostgresqlEngine.clear(engine.variant, left)
    hold.close()
    (left,) = PostgresqlEngine.sweep(engine.variant)
    assert not left.alive
    PostgresqlEngine.clear(engine.variant, left)
    assert list(PostgresqlEngine.sweep(engine.variant)) == []


def test_a_schema_that_another_role_made_in_our_name_is_refused(
    server: UserServer, connect: Connect
) -> None:
    engine = connect(owner="feigned")
    space = engine.instance.schema
    with server.owner() as connection:
        connection.execute(f"CREATE SCHEMA {space.quoted}".encode())
        connection.execute(f"GRANT ALL ON SCHEMA {space.quoted} TO alice".encode())
        note = sql.SQL("COMMENT ON SCHEMA {} IS {}")
        connection.execute(note.format(sql.Identifier(space.name), sql.Literal(space.mark)))
        try:
            with pytest.raises(EngineError, match="another role"):
                engine.start()
        finally:
            connection.execute(f"DROP SCHEMA {space.quoted}".encode())


def test_nobody_else_may_create_in_our_schema(server: UserServer, connect: Connect) -> None:
    with server.owner() as connection:
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


def test_a_table_of_a_run_with_an_odd_name_is_dropped_by_it(connect: Connect) -> None:
    engine = connect()
    engine.start()
    odd = 'a"b.c; DROP SCHEMA public; --'
    engine.run(f"CREATE TABLE {engine.quote(odd)} (i integer)")
    assert list(engine.tables()) == [odd]
    engine.remove()
    assert list(PostgresqlEngine.sweep(engine.variant)) == []


def crew_of(url: str, claim: scratch.Claim, operation: str = "min-heap") -> VariantWorker:
    chosen = {"rows": [1000], "on": [url], "operations": [operation], "overhead": False}
    planned = plan_from(chosen, None)
    ((variant, engine),) = planned.variants.values()
    return VariantWorker(variant, engine, claim, planned.plan, planned.benchmark)


def test_what_cannot_be_reached_after_a_worker_was_replaced_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    with scratch.claimed("lost") as claim, user_server() as brief:
        worker = crew_of(brief.url(), claim)
        worker.open()
        worker.abandon()
        rules = "ALTER ROLE alice NOLOGIN"
        with brief.owner() as connection:
            connection.execute(rules.encode())
        with pytest.raises(EngineError):
            worker.open()
        told = worker.close()
        assert "may be left" in told
        assert f"loadstone clean --on {brief.url(secret=None)}" in told
        with brief.owner() as connection:
            connection.execute("ALTER ROLE alice LOGIN")
        again = crew_of(brief.url(), replace(claim, resumed=True))
        again.open()
        assert again.close() == ""
        assert PostgresqlEngine.sweep(_variant(brief.url())) == []


def test_a_worker_that_was_given_up_leaves_nothing(
    server: UserServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    with scratch.claimed("givenup") as claim:
        worker = crew_of(server.url(), claim)
        worker.open()
        assert len(PostgresqlEngine.sweep(_variant(server.url()))) == 1
        worker.abandon()
        assert worker.close() == ""
    assert PostgresqlEngine.sweep(_variant(server.url())) == []


def _variant(url: str) -> Variant:
    return parse_variant(url, TACTICS)


def test_the_engines_and_the_programs_of_a_name_hold_the_same_way() -> None:
    for name in set(registry.engine_names()) & set(registry.client_names()):
        system = registry.load_client(name)
        own = getattr(system.hold, "__func__")  # noqa: B009 - types know of no such thing
        assert system.takes_url == (own is not vars(System)["hold"].__func__), name
        if system.takes_url:
            assert own is getattr(registry.load_engine(name).hold, "__func__")  # noqa: B009
