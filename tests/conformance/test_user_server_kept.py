"""On a server that is not ours, what others made on ours or in it is kept and named; what a run
made there goes with the run, even if its worker died, and never before its end."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from postgresql_build import RELEASE
from samples import rows, stream, table
from trapped_server import Connect, variant_at
from user_server import UserServer, user_server

from loadstone import registry
from loadstone.engines.capabilities import Attribute, Table, UrlUse, quoted
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.postgresql.schema import Schema
from loadstone.engines.postgresql.session import user_address
from loadstone.errors import EngineError
from loadstone.run import scratch
from loadstone.run.planned import plan_from
from loadstone.run.variant_worker import VariantWorker

pytestmark = [pytest.mark.usefixtures("nothing_sprang"), pytest.mark.slow]


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
def test_objects_that_others_made_on_ours_or_in_it_are_kept_and_named(
    trapped: UserServer, connect: Connect, theirs: tuple[str, str]
) -> None:
    what, make = theirs
    engine = connect(owner="used")
    engine.start()
    engine.load(table(), stream(rows()))
    engine.run('CREATE TABLE "k" (i integer)')
    engine.run('CREATE UNIQUE INDEX "k.i" ON "k" (i)')
    schema = engine.instance.schema.quoted
    with trapped.owner() as connection:
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


# The objects that the owner makes on our table `t` or our schema, and the statements that undo
# them: RESTRICT would take them.
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


@pytest.mark.parametrize("name", ["t", "t" * 50, "t" * 60, "ä" * 31])
def test_a_table_goes_with_all_that_was_made_with_it(
    trapped: UserServer, connect: Connect, name: str
) -> None:
    """Its key, its indexes, and the place of its long values; and what others made as a key is
    not taken for ours."""
    attributes = (Attribute("id", "int4"), Attribute("unique 2", "int4"), Attribute("note", "text"))
    values = pa.table({"id": [1, 2], "unique 2": [1, 1], "note": ["a" * 9000, "b"]})
    short = len(name.encode()) < 60
    indexes = (("unique 2",), ("unique 2", "id"), ("id",)) if short else ()
    one = Table(name, attributes, primary_key=("id", "unique 2"), compound=indexes)
    engine = connect(owner="whole")
    engine.start()
    # The second as the copy that a run puts changed rows back from.
    for each in (one, replace(one, name=f"{name}__0", primary_key=("id",), compound=())):
        engine.load(each, values.to_reader())
    if short:  # as a client calls one
        over = f'{engine.quote(name)} ("id", "note")'
        engine.run(f"CREATE INDEX {quoted(name + '_id')} ON {over}")
    engine.settle([name])
    engine.remove()
    assert list(PostgresqlEngine.sweep(engine.variant)) == []
    engine.start()
    engine.load(replace(one, primary_key=()), values.to_reader())
    table = engine.quote(name)
    with trapped.owner() as connection:
        connection.execute(f"ALTER TABLE {table} ADD PRIMARY KEY (id)".encode())
    if short:
        with pytest.raises(EngineError, match=r"kept whole.*_pkey"):
            engine.remove()
        engine.drop(name)
    engine.remove()
    assert list(PostgresqlEngine.sweep(engine.variant)) == []


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
def test_objects_that_a_drop_would_take_along_are_kept_and_named(
    trapped: UserServer, connect: Connect, kind: str
) -> None:
    if kind == "schema-publication" and RELEASE < 15:
        pytest.skip("it cannot be made before release 15")
    make, undo = TAKEN_ALONG[kind]
    engine = connect(owner="taken")
    engine.start()
    engine.load(table(indexes=("unique1",)), stream(rows()))
    # A name of more than 63 bytes, which the server cuts.
    engine.load(table("t" * 60, organisation="clustered", key="unique2"), stream(rows()))
    schema = engine.instance.schema.quoted
    with trapped.owner() as connection:
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


def test_sessions_that_hold_a_schema_are_ended_and_gone(
    trapped: UserServer, connect: Connect
) -> None:
    engine = connect(owner="ended")
    engine.start()
    PostgresqlEngine.end_sessions(engine.variant, "ended")
    (left,) = PostgresqlEngine.sweep(engine.variant)
    assert not left.alive
    with trapped.owner() as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice'"
        assert connection.execute(query).fetchone() == (0,)


def test_who_looks_at_a_schema_holds_it_no_longer(connect: Connect) -> None:
    engine = connect(owner="seen")
    engine.start()
    engine.stop()
    schema = Schema.of("seen", engine.variant.name)
    assert engine.variant.url is not None
    address = user_address(engine.variant.url)
    with address.connect() as one, address.connect() as other:
        assert not schema.is_held(one)
        assert schema.take(other)
        assert schema.is_held(one)
    engine.start()
    engine.remove()


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
    return VariantWorker((variant,), engine, claim, planned.plan, planned.benchmark)


def test_what_cannot_be_reached_after_a_worker_was_replaced_is_reported(
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
        reported = worker.close()
        assert "may be left" in reported
        assert f"loadstone clean --on {brief.url(secret=None)}" in reported
        with brief.owner() as connection:
            connection.execute("ALTER ROLE alice LOGIN")
        again = crew_of(brief.url(), replace(claim, resumed=True))
        again.open()
        assert again.close() == ""
        assert PostgresqlEngine.sweep(variant_at(brief.url())) == []


def test_a_worker_that_was_given_up_leaves_nothing(
    trapped: UserServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    with scratch.claimed("givenup") as claim:
        worker = crew_of(trapped.url(), claim)
        worker.open()
        assert len(PostgresqlEngine.sweep(variant_at(trapped.url()))) == 1
        worker.abandon()
        assert worker.close() == ""
    assert PostgresqlEngine.sweep(variant_at(trapped.url())) == []


def test_the_engines_and_the_programs_of_a_name_hold_the_same_way() -> None:
    for name in set(registry.engine_names()) & set(registry.client_names()):
        system = registry.load_client(name)
        works = system.capabilities.url is not UrlUse.NONE
        assert works == hasattr(system, "hold"), name
        if works:
            ours = getattr(system.hold, "__func__")  # noqa: B009 - types know of no such thing
            assert ours is getattr(registry.load_engine(name).hold, "__func__")  # noqa: B009
