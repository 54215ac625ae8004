"""A run in somebody's database leaves it as it was, and its password nowhere."""

import os
import signal
from collections.abc import Iterator

import psycopg
import pytest
from desk import Desk, children, command_line
from user_server import SECRET, UserServer, user_server
from workload_fixture import QUICK, with_statement

CHOICES = ("--rows", "1000", "--repeat", "2", "--repeat-cold", "1", "--no-overhead", "--no-limits",
           "--operation", "select-1%-heap", "--operation", "append-indexed",
           "--record", "r.loadstone")  # fmt: skip


# Schemas that are not ours: by name, by comment or by both they look as if they were.
LOOK_ALIKES = {
    "loadstone_deadbeef_fake": "loadstone run deadbeef",
    "loadstone_deadbeef_0a0b0c0d": None,
    "loadstone_cafebabe_0a0b0c0d": "loadstone run deadbeef",
    "loadstone_notes": "loadstone run by Bob, see the wiki",
    '"; DROP SCHEMA public CASCADE; --': "loadstone run deadbeef",
    "Überschrift %s %I": None,
}
HOSTILE_TABLES = ("t", '"; DROP TABLE customers; --', "it's", "tenktup1_heap_1000", "tmp")
HOSTILE_VALUE = "'; DROP TABLE t; --"


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        with running.owner() as connection:
            for schema, comment in LOOK_ALIKES.items():
                name, reported = psycopg.sql.Identifier(schema), psycopg.sql.Literal(comment)
                make = psycopg.sql.SQL("CREATE SCHEMA {} AUTHORIZATION alice").format(name)
                note = psycopg.sql.SQL("COMMENT ON SCHEMA {} IS {}").format(name, reported)
                connection.execute(make)
                connection.execute(note)
                for table in HOSTILE_TABLES:
                    fill = psycopg.sql.SQL("CREATE TABLE {} AS SELECT {}::text AS a")
                    value = psycopg.sql.Literal(HOSTILE_VALUE)
                    connection.execute(fill.format(psycopg.sql.Identifier(schema, table), value))
        yield running


def fingerprint(server: UserServer) -> list[object]:
    """The server's, and the rows of every table in the schemas that look like ours."""
    with server.owner() as connection:
        rows = [
            connection.execute(
                psycopg.sql.SQL("SELECT t::text, xmin FROM {} t").format(
                    psycopg.sql.Identifier(schema, table)
                )
            ).fetchall()
            for schema in LOOK_ALIKES
            for table in HOSTILE_TABLES
        ]
    return [*server.fingerprint(), *rows]


@pytest.mark.slow
def test_a_run_leaves_everything_else_as_it_was(desk: Desk, server: UserServer):
    before = fingerprint(server)
    done = desk.run("run", "--on", server.url(), *CHOICES)
    assert done.returncode == 0, done.stderr
    assert fingerprint(server) == before
    results = desk.read().results
    assert {result.status for result in results} == {"ok"}
    cold = {r.temperature_shown for r in results if r.cell.temperature == "cold"}
    assert cold == {"unproved"}
    written = b"".join(path.read_bytes() for path in desk.folder.rglob("*") if path.is_file())
    for reported in (done.stdout, done.stderr, written.decode(errors="replace")):
        assert SECRET not in reported
        assert "p%2520ss" not in reported


@pytest.mark.slow
def test_a_workload_with_keys_indexes_and_changes_leaves_nothing(desk: Desk, server: UserServer):
    before = fingerprint(server)
    with_statement(
        desk,
        'primary_key = "id"\nindexes = ["city", ["city", "id"]]\n[[statement]]\nname = "count"\n'
        'sql = "SELECT count(*) AS n FROM customer"\n[[statement]]\nname = "credit"\n'
        "sql = \"UPDATE customer SET credit = 1 WHERE city = 'Oslo'\"\n",
    )
    done = desk.run("run", "./shop", "--on", server.url(), *QUICK[4:])
    assert done.returncode == 0, done.stderr
    sides = ("--before", server.url(), "--after", server.url(tail="?join=hash"))
    judged = desk.run("ab", "./shop", *sides, "--repeat", "8", "--no-limits", "--fail-on", "900%",
                      "--record", "ab.loadstone")  # fmt: skip
    assert judged.returncode in (0, 6, 9), judged.stderr  # as quiet as the machine is
    assert fingerprint(server) == before


@pytest.mark.slow
def test_a_run_without_a_figure_leaves_all_else_as_it_was(desk: Desk, server: UserServer):
    before = fingerprint(server)
    done = desk.run("run", "--on", server.url(), *CHOICES, "--time-limit", "0.00001")
    # A statement may be over before its server hears that it is to end: then there is a figure, or
    # its cell has failed since others were within the limit.
    assert done.returncode in (0, 1, 8), done.stderr
    assert "censored" in {result.status for result in desk.read().results}
    assert fingerprint(server) == before


@pytest.mark.slow
def test_possible_leftovers_decide_the_exit_code_whatever_the_cells_are(
    desk: Desk, server: UserServer
):
    """Somebody makes a sequence in our schema as soon as there is one: the schema stays."""
    with server.owner() as connection:
        connection.execute(
            "CREATE FUNCTION public.squat() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN"
            " EXECUTE format('CREATE SEQUENCE %s.squatter', object_identity)"
            " FROM pg_event_trigger_ddl_commands() WHERE object_type = 'schema'; END$$"
        )
        connection.execute(
            "CREATE EVENT TRIGGER squat ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA')"
            " EXECUTE FUNCTION public.squat()"
        )
    try:
        done = desk.run("run", "--on", server.url(), *CHOICES, "--time-limit", "0.00001")
    finally:
        with server.owner() as connection:
            connection.execute("DROP EVENT TRIGGER squat")
            connection.execute("DROP FUNCTION public.squat()")
            row = connection.execute(
                "SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'squatter'"
            ).fetchone()
            assert row is not None
            connection.execute(f"DROP SEQUENCE {row[0]}.squatter".encode())
    assert "censored" in {result.status for result in desk.read().results}
    assert "may be left" in done.stderr
    assert done.returncode == 7, done.stderr
    assert desk.run("clean", "--on", server.url(), "--yes").returncode == 0


@pytest.mark.slow
def test_a_killed_run_is_swept_by_clean_and_shows_no_secret(desk: Desk, server: UserServer):
    before = fingerprint(server)
    secret = {"PGPASSWORD": SECRET}
    desk.environment.update(secret)
    process = desk.start("run", "--on", server.url(secret=None), *CHOICES)
    assert process.stderr is not None
    process.stderr.readline()
    workers = children(process.pid)
    shown = "".join(map(command_line, [process.pid, *workers]))
    for pid in [*workers, process.pid]:  # the workers too: nobody is left to tidy up
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    server.wait_for_sessions()
    assert SECRET not in shown
    assert fingerprint(server) != before
    url = server.url(secret=None)
    asked = desk.run("clean", "--on", url, COLUMNS="200")
    assert desk.read().run_id in asked.stdout
    assert not any(theirs in asked.stdout for theirs in LOOK_ALIKES)
    assert fingerprint(server) != before
    done = desk.run("clean", "--on", url, "--yes")
    assert done.returncode == 0, done.stderr
    assert fingerprint(server) == before
    assert desk.leftovers() == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://alice:wr0ng@127.0.0.1:{port}/app", "password"),
        ("postgresql://alice:wr0ng@127.0.0.1:1/app", "127.0.0.1:1"),
        ("postgresql://alice:wr0ng@127.0.0.1:{port}/app?sslmode=perhaps", "sslmode"),
    ],
)
def test_what_cannot_be_reached_is_named_without_its_password(
    desk: Desk, server: UserServer, url: str, message: str
):
    done = desk.run("run", "--on", url.format(port=server.port), *CHOICES)
    assert done.returncode == 3, done.stderr
    assert message in done.stderr
    assert "wr0ng" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not desk.record.exists()
    assert desk.leftovers() == []
