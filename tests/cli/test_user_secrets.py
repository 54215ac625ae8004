"""A password that was typed, wherever libpq takes one, is used and found nowhere afterwards."""

import random
import signal
import string
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from desk import Desk, children, command_line
from user_server import UserServer, user_server

from loadstone import registry

CHOICES = ("--rows", "1000", "--repeat", "1", "--repeat-cold", "1", "--no-overhead", "--no-limits",
           "--operation", "select-1%-heap", "--record", "r.loadstone")  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[UserServer]:
    with user_server() as running:
        yield running


@pytest.fixture(scope="module")
def password(server: UserServer, seed: int) -> str:
    """One that must be encoded in a URL, quoted in a string and escaped in a file."""
    letters = string.ascii_letters + "@:/?#&%=+'\\\" {}"
    drawn = "S" + "".join(random.Random(seed).choices(letters, k=24)) + "Z"
    with server.owner() as connection:
        literal = psycopg.sql.Literal(drawn)
        connection.execute(psycopg.sql.SQL("ALTER ROLE alice PASSWORD {}").format(literal))
    return drawn


def everything(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


def absent(password: str, *texts: str) -> None:
    for form in (password, quote(password, safe=""), quote(password)):
        for text in texts:
            assert form not in text


PLACES = {
    "userinfo": "postgresql://alice:{encoded}@127.0.0.1:{port}/app",
    "query": "postgresql://alice@127.0.0.1:{port}/app?password={encoded}",
    "encoded-key": "postgresql://alice@127.0.0.1:{port}/app?p%61ssword={encoded}&sslpassword={encoded}",
    "leading-tab": "\tpostgresql://alice:{encoded}@127.0.0.1:{port}/app",
}


@pytest.mark.slow
@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_run_leaves_no_trace_of_its_password(
    desk: Desk, server: UserServer, password: str, place: str
):
    url = PLACES[place].format(encoded=quote(password, safe=""), port=server.port)
    process = desk.start("run", "--on", url, *CHOICES, announced=False)
    assert process.stderr is not None
    reported = process.stderr.readline()
    assert "PGPASSWORD" in reported  # a warning, and then the program starts again without it
    reported += process.stderr.readline() + process.stderr.readline()
    process.send_signal(signal.SIGSTOP)
    pids = [process.pid, *children(process.pid)]
    absent(password, *map(command_line, pids), everything(desk.folder))
    assert str(server.port) in command_line(process.pid)
    process.send_signal(signal.SIGCONT)
    reported += process.communicate()[1]
    assert process.returncode == 0, reported
    absent(password, reported, everything(desk.folder))
    # A report knows the record alone, so those of one place stand for all.
    names = registry.report_names() if place == "userinfo" else ()
    shown = [desk.run("report", "r.loadstone", "--format", name) for name in names]
    absent(password, *(f"{done.stdout}{done.stderr}" for done in shown), everything(desk.folder))


SOURCES = ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "passfile", "plan")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "benchmark"),
    [*((source, "wisconsin") for source in SOURCES), ("PGSERVICEFILE", "oo1"), ("plan", "oo1")],
)
def test_what_libpq_finds_by_itself_is_used_and_not_kept(
    desk: Desk, server: UserServer, password: str, source: str, benchmark: str
):
    port = server.port
    private = desk.folder.parent / f"{desk.folder.name}-private"
    private.write_text("")
    private.chmod(0o600)
    url = f"postgresql://alice@127.0.0.1:{port}/app"
    on = ["--on", url]
    if source == "PGPASSWORD":
        desk.environment[source] = password
    elif source in ("PGPASSFILE", "passfile"):
        escaped = password.replace("\\", "\\\\").replace(":", "\\:")
        private.write_text(f"127.0.0.1:{port}:app:alice:{escaped}\n")
        if source == "PGPASSFILE":
            desk.environment[source] = str(private)
        else:
            on = ["--on", f"{url}?passfile={private}"]
    elif source == "PGSERVICEFILE":
        lines = ("host=127.0.0.1", f"port={port}", "user=alice", "dbname=app")
        private.write_text("\n".join(["[ours]", *lines, f"password={password}", ""]))
        desk.environment[source] = str(private)
        on = ["--on", "postgresql:///?service=ours"]
    else:
        typed = f"postgresql://alice:{quote(password, safe='')}@127.0.0.1:{port}/app"
        private.write_text(f'on = ["{typed}"]\n')
        on = ["--plan", str(private)]
    operation = {"wisconsin": "select-1%-heap", "oo1": "lookup"}[benchmark]
    rows = {"wisconsin": "1000", "oo1": "200"}[benchmark]
    choices = ("--rows", rows, "--repeat", "1", "--no-overhead", "--no-limits", "--operation",
               operation, "--temperature", "warm", "--record", "r.loadstone",
               "--no-report")  # fmt: skip
    try:
        done = desk.run("run", benchmark, *on, *choices)
        assert done.returncode == 0, done.stderr
        absent(password, done.stdout, done.stderr, everything(desk.folder))
    finally:
        private.unlink()


WRONG = (
    ("quel", "--on", "postgresql://u:{}@h/db", "range of t is tenktup1 retrieve (t.unique1)"),
    ("run", "--on", "postgresql:/u:{}@127.0.0.1:1/db"),
    ("run", "--on", "postgresql://u@127.0.0.1:1/db?p%61ssword={}"),
    ("run", "--on", "password = '{}'"),
    ("run", "--on=host=h password='{}'"),
    ("run", "--on", "u:{}@h/db"),
    ("run", "postgresql://u:{}@h/db"),
    ("run", "--onn", "postgresql://u:{}@h/db"),
    ("run", "--onn=postgresql://u:{}@h/db"),
    ("clean", "postgresql://u:{}@h/db"),
    ("clean", "--on", "postgresql://u:{}@127.0.0.1:1/db?colour={}"),
    ("clean", "--on", "postgresql://u:{}@127.0.0.1:1/db?sslmode={}"),
    ("run", "--on", "postgresql://u@127.0.0.1:1/db?options=-c%20a.b%3D{}"),
    ("run", "--on", "mysql://u:{}@h/db"),
    ("run", "--on", "sqlite://u:{}@h/db"),
    ("run", "--on", "postgresql://u:{}@h1:1,h2:2/db"),
    ("run", "--resume", "postgresql://u:{}@h/db"),
    ("run", "--record", "postgresql://u:{}@h/db", "--on", "nothing"),
    ("report", "postgresql://u:{}@h/db"),
    ("compare", "postgresql://u:{}@h/db", "b"),
    ("postgresql://u:{}@h/db",),
)


@pytest.mark.parametrize("arguments", WRONG, ids=lambda given: " ".join(given)[:40])
def test_a_mistake_does_not_show_the_password_either(desk: Desk, arguments: tuple[str, ...]):
    for word in ("hunter2hunter2", "hun/ter2 @hunter2:x"):
        done = desk.run(*(text.replace("{}", word) for text in arguments))
        if "--on" not in arguments or arguments[0] != "quel":
            assert done.returncode in (2, 3, 4), done.stderr
        assert "Traceback" not in done.stderr
        for text in (done.stdout, done.stderr, everything(desk.folder)):
            assert "ter2" not in text
    assert desk.leftovers() == []


@pytest.mark.slow
def test_the_second_start_hands_no_descriptor_on(desk: Desk, server: UserServer, password: str):
    url = server.url(password)
    process = desk.start("run", "--on", url, *CHOICES, announced=False)
    assert process.stderr is not None
    for _ in ("a warning", "what is about to run", "its first cells"):
        process.stderr.readline()
    process.send_signal(signal.SIGSTOP)
    for pid in [process.pid, *children(process.pid)]:
        open_files = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()]
        assert not any("memfd" in name for name in open_files)
    process.send_signal(signal.SIGCONT)
    process.communicate()
    assert process.returncode == 0
