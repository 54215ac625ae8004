"""`loadstone lode serve`: a database for several processes, until it is instructed to end; and a
run that has one of its variants' databases served."""

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from desk import Desk, command_line
from serving import serving

from loadstone import lode
from loadstone.diagnostics import Exit
from loadstone.errors import LodeError
from loadstone.machine.page_cache import wait_until_dead

DEADLINE_S = 60
CHANGES = """
import sys
from loadstone.lode import connect

with connect(sys.argv[1]) as remote:
    for number in range(int(sys.argv[2])):
        with remote.writing() as writing:
            writing.btree("numbers").put(number.to_bytes(8, "big"), b"there")
        print(number, flush=True)
"""


def numbers(transaction: lode.Transaction) -> list[int]:
    return [int.from_bytes(key, "big") for key, _ in transaction.btree("numbers").range()]


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, reported = process.communicate(timeout=DEADLINE_S)
    return process.returncode, reported


def test_the_documents_command_serves_its_example(desk: Desk):
    text = (
        (Path(__file__).parents[2] / "docs/reference/lode.md")
        .read_text()
        .partition("## Serving")[2]
    )
    command = shlex.split(re.findall(r"^loadstone lode serve .*$", text, re.MULTILINE)[0])
    example = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    with serving(desk, *command[3:]) as (_, at):
        assert f"serving {command[3]} at {Path(at).name}" in text
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=desk.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE_S,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0


def test_a_database_that_cannot_be_served_is_not_left_behind(desk: Desk):
    nowhere = str(desk.folder / "no such folder" / "socket")
    done = desk.run("lode", "serve", "a.lode", "--create", "--listen", nowhere)
    assert done.returncode == Exit.ENGINE and "no such folder" in done.stderr, done.stderr
    assert not list(desk.folder.glob("a.lode*"))


def test_several_processes_read_and_write_one_database(desk: Desk):
    with serving(desk, "a.lode", "--create", "--tactic", "locks=page&durability=group") as (_, at):
        with lode.connect(at, cache=1 << 20) as remote:
            assert remote.tactics["cache"] == str(1 << 20)
            assert (remote.tactics["locks"], remote.tactics["durability"]) == ("page", "group")
            with remote.writing() as writing:
                writing.btree("numbers").put((99).to_bytes(8, "big"), b"ours")
            other = subprocess.run(
                [sys.executable, "-c", CHANGES, at, "20"], check=True, timeout=DEADLINE_S
            )
            assert other.returncode == 0
            with remote.reading() as reading:
                assert numbers(reading) == [*range(20), 99]
            assert remote.counters()["traffic"]["round_trips"] > 0
        with pytest.raises(LodeError, match="is open already"):
            lode.Database(desk.folder / "a.lode")


@pytest.mark.parametrize(
    ("order", "code"), [(signal.SIGTERM, Exit.OK), (signal.SIGINT, Exit.INTERRUPTED)]
)
def test_it_closes_the_database_when_it_is_reported_to_end(desk: Desk, order, code):
    with serving(desk, "a.lode", "--create", "--listen", "localhost:0") as (process, at):
        remote = lode.connect(at)
        with remote.writing() as writing:
            writing.btree("numbers").put(bytes(8), b"there")
        begun = remote.writing()
        begun.btree("numbers").put(bytes(7) + b"\1", b"never committed")
        process.send_signal(order)
        assert ended(process) == (code, "")
        with pytest.raises(LodeError, match="is gone"):
            begun.commit()
    with lode.Database(desk.folder / "a.lode", "open") as database, database.reading() as reading:
        assert database.recovery is None
        assert numbers(reading) == [0]


@pytest.mark.parametrize(
    ("order", "code"), [(signal.SIGTERM, Exit.OK), (signal.SIGINT, Exit.INTERRUPTED)]
)
def test_it_executes_the_statements_of_other_programs_until_it_is_reported_to_end(
    desk: Desk, order, code
):
    with serving(desk, "a.lode", "--create", "--statements") as (process, at):
        connection = lode.Connection(at)
        connection.execute("create parts (number = i4)")
        connection.execute("append to parts (number = 7)")
        assert connection.place().split("/")[0] == str(process.pid)
        process.send_signal(order)
        assert ended(process) == (code, "")
        assert not Path(at).exists()
        with pytest.raises(LodeError, match="does not answer"):
            connection.query("range of p is parts retrieve (p.all)")
    with lode.Database(desk.folder / "a.lode", "open") as database:
        assert database.recovery is None
        assert database.query("range of p is parts retrieve (p.all)").fetch() == [(7,)]


def test_a_database_whose_statements_cannot_be_served_is_not_left_behind(desk: Desk):
    nowhere = str(desk.folder / "no such folder" / "socket")
    done = desk.run("lode", "serve", "a.lode", "--create", "--statements", "--listen", nowhere)
    assert done.returncode == Exit.ENGINE and "no such folder" in done.stderr, done.stderr
    assert not list(desk.folder.glob("a.lode*"))


def test_statements_are_not_served_at_a_port(desk: Desk):
    asked = ("lode", "serve", "a.lode", "--create", "--statements")
    done = desk.run(*asked, "--listen", "127.0.0.1:0")
    assert done.returncode == 2
    assert "Unix socket alone" in done.stderr
    assert not [*desk.folder.glob("*lode*"), *desk.folder.glob("127*")]


def test_killed_it_loses_nothing_that_was_committed(desk: Desk):
    with serving(desk, "a.lode", "--create") as (process, at):
        with subprocess.Popen(
            [sys.executable, "-c", CHANGES, at, "1000000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as other:
            assert other.stdout is not None
            for _ in range(30):
                other.stdout.readline()
            process.kill()
            reported = [int(line) for line in other.stdout.read().split()]
            assert other.wait(DEADLINE_S) != 0
        assert ended(process)[0] == -signal.SIGKILL
    committed = reported[-1] if reported else 29
    # Again at the same place: the killed one's socket is in nobody's way.
    with serving(desk, "a.lode") as (_, again), lode.connect(again) as remote:
        assert again == at
        with remote.reading() as reading:
            found = numbers(reading)
    # Of the last one nobody was reported.
    assert found in ([*range(committed + 1)], [*range(committed + 2)])


def test_a_killed_client_leaves_no_lock(desk: Desk):
    holding = f"{CHANGES}\nremote = connect(sys.argv[1])\nkept = remote.writing()\n"
    holding += "kept.btree('numbers').put(bytes(8), b'')\nprint('holding', flush=True)\ninput()\n"
    with serving(desk, "a.lode", "--create") as (_, at):
        with subprocess.Popen(
            [sys.executable, "-c", holding, at, "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() + other.stdout.readline() == "0\nholding\n"
            other.kill()
        with lode.connect(at) as remote, remote.writing() as writing:
            assert writing.btree("numbers").get(bytes(8)) == b"there"


def test_a_file_in_the_way_is_reported(desk: Desk):
    for name in ("no.lode", "no.lode-log"):
        (desk.folder / name).write_text("something else")
    (desk.folder / "file").write_text("mine")
    lode.Database(desk.folder / "b.lode").close()
    with serving(desk, "a.lode", "--create", "--listen", "127.0.0.1:0") as (_, at):
        for code, hint, *arguments in (
            (Exit.INPUT, "--create", "none.lode"),
            (Exit.INPUT, "full, group, none", "b.lode", "--tactic", "durability=often"),
            (Exit.INPUT, "tactics lode", "b.lode", "--tactic", "durabilty=full"),
            (Exit.ENGINE, "no lode database", "no.lode"),
            (Exit.ENGINE, "is open already", "a.lode", "--listen", "other"),
            (Exit.ENGINE, "stop that one, or name another", "b.lode", "--listen", at),
            (Exit.ENGINE, "that file is no socket", "b.lode", "--listen", "file"),
            (Exit.ENGINE, "loopback", "b.lode", "--listen", "0.0.0.0:0"),
        ):
            done = desk.run("lode", "serve", *arguments)
            assert (done.returncode, done.stdout) == (code, ""), arguments
            assert hint in done.stderr, arguments
            assert "Traceback" not in done.stderr
    assert (desk.folder / "file").read_text() == "mine"
    assert not (desk.folder / "none.lode").exists()
    assert not (desk.folder / "other").exists()
    # A database that could not be served was closed.
    with lode.Database(desk.folder / "b.lode", "open") as database:
        assert database.recovery is None


def test_the_socket_is_its_owners_alone_and_goes_with_the_server(desk: Desk):
    with serving(desk, "a.lode", "--create") as (process, at):
        assert at == str(desk.folder / "a.lode-socket")
        assert Path(at).stat().st_mode & 0o777 == 0o600
        process.terminate()
        assert ended(process) == (Exit.OK, "")
    assert sorted(path.name for path in desk.folder.iterdir()) == ["a.lode", "a.lode-log"]


RUN = ("run", "oo1", "--rows", "200", "--no-overhead", "--no-limits", "--record", "r.loadstone",
       "--no-report", "--on", "lode?place=server")  # fmt: skip


def test_a_run_has_the_same_answers_from_a_server(desk: Desk):
    done = desk.run(*RUN, "--on", "lode", *("--operation", "traversal"), *("--operation", "insert"),
                    "--repeat", "2", "--repeat-cold", "1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    cells = [(r.cell.variant, r.cell.operation, r.cell.temperature) for r in run.results]
    assert len(set(cells)) == len(cells) == 8
    for result in run.results:
        assert (result.status, result.reason) == ("ok", "")
        assert result.answers
        assert all(answer.right for answer in result.answers)
        assert all(item.engine_dead and item.files for item in result.evidence)
    places = {term.variant: term.read_back for term in run.terms if term.key == "place"}
    assert places == {"lode": "embedded", "lode?place=server": "server"}
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_server(desk: Desk):
    process = desk.start(*RUN, "--operation", "lookup", "--temperature", "warm",
                         "--repeat", "4000", "--repeat-most", "4000")  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()
    serving = [int(name) for name in desk.leftovers() if name.isdigit()]
    servers = [pid for pid in serving if " lode serve " in command_line(pid)]
    assert len(servers) == 1
    process.kill()
    process.communicate()
    assert wait_until_dead(servers, limit_s=DEADLINE_S)
