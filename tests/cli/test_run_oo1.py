"""`loadstone run oo1`: engines behind programs agree, and a run survives what befalls it."""

import os
import signal
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest
from desk import Desk, children, command_line

from loadstone import _core
from loadstone.machine.page_cache import wait_until_dead

PARTS = 200
SMALL = ("run", "oo1", "--rows", "200", "--no-overhead", "--no-limits", "--record", "r.loadstone",
         "--no-report")  # fmt: skip
WARM = ("--temperature", "warm")


def on(*variants: str) -> list[str]:
    return [word for variant in variants for word in ("--on", variant)]


def operations(*names: str) -> list[str]:
    return [word for name in names for word in ("--operation", name)]


@pytest.mark.slow
def test_engines_agree_warm_and_cold(desk: Desk):
    engines = ("sqlite", "lmdb", "postgresql")
    measures = ("lookup", "traversal", "insert")
    done = desk.run(*SMALL, *on(*engines), *operations(*measures), "--repeat", "2",
                    "--repeat-cold", "1", *WARM, "--temperature", "cold")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.pending == ()
    cells = {(r.cell.operation, r.cell.variant, r.cell.temperature) for r in run.results}
    assert cells == {
        (measure, engine, temperature)
        for measure in measures
        for engine in engines
        for temperature in ("warm", "cold")
    }
    assert {(r.status, r.reason) for r in run.results} == {("ok", "")}
    oracle = _core.Oo1Oracle(PARTS)
    seen = defaultdict(set)
    for result in run.results:
        assert len(result.samples) == len(result.answers) == result.cell.samples
        for answer in result.answers:
            assert answer.right
            assert oracle.answer(result.cell.operation, answer.variation + 1) == (
                answer.rows, answer.checksum
            )  # fmt: skip
            seen[result.cell.operation, answer.variation].add((answer.rows, answer.checksum))
        if result.cell.temperature == "cold":
            assert len(result.evidence) == len(result.samples)
            assert all(item.proved or item.reason for item in result.evidence)
            assert all(item.engine_dead and item.files for item in result.evidence)
    assert {len(answers) for answers in seen.values()} == {1}
    clients = {term.variant: term.read_back for term in run.terms if term.key == "client"}
    assert clients == dict.fromkeys(engines, "rust")
    assert desk.leftovers() == []


@pytest.mark.slow
def test_no_tactic_reads_back_other_than_asked(desk: Desk):
    done = desk.run(*SMALL, *WARM, *operations("lookup"), "--repeat", "2",
                    *on("sqlite", "lmdb?durability=none", "postgresql?durability=none",
                        "zodb", "duckdb?hop=join"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = [term for term in desk.read().terms if term.asked is not None]
    assert asked
    assert [term for term in asked if term.read_back != term.asked] == []


@pytest.mark.slow
def test_concurrent_users_ask_from_threads_of_the_program(desk: Desk):
    loops = ("--users", "1", "--users", "2", "--loop-seconds", "0.2")
    done = desk.run(*SMALL, *WARM, *on("sqlite", "postgresql", "zodb"), *operations("lookup"),
                    "--repeat", "2", *loops)  # fmt: skip
    assert done.returncode == 0, done.stderr
    points = desk.read().users
    assert [(p.users, p.variant, p.model) for p in points] == [
        (users, variant, model)
        for users in (1, 2)
        for variant in ("sqlite", "postgresql", "zodb")
        for model in ("closed", "open")
    ]
    many = [point for point in points if point.variant != "zodb"]
    assert {(p.status, p.client, p.failed) for p in many} == {("ok", "rust", 0)}
    assert all(p.completed and p.latency_ns["max"] and p.histogram for p in many)
    alone = {(p.status, p.client, p.reason) for p in points if p.variant == "zodb"}
    assert alone == {("gap", "python", "zodb: one user at a time")}
    assert desk.leftovers() == []


@pytest.mark.slow
def test_users_that_insert_leave_cells_and_overhead_in_order(desk: Desk):
    done = desk.run(*[word for word in SMALL if word != "--no-overhead"], *WARM, *on("sqlite"),
                    *operations("lookup", "insert"), "--repeat", "2", "--users", "3",
                    "--loop-seconds", "0.1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert {result.status for result in run.results} == {"ok"}
    found = {(p.operation, p.variant): p.status for p in run.users}
    assert found["insert", "sqlite"] == found["lookup", "sqlite"] == "ok"
    assert found["insert", "null"] == "gap"


@pytest.mark.slow
def test_a_killed_run_is_resumed_where_it_stopped(desk: Desk):
    measures = ("lookup", "traversal", "insert", "group", "update")
    process = desk.start(*SMALL, *WARM, *on("sqlite", "lmdb"), *operations(*measures),
                         "--repeat", "20")  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    workers = children(process.pid)
    process.kill()
    process.communicate()
    assert workers
    assert wait_until_dead(workers, limit_s=30)
    before = desk.read()
    assert before.results
    assert before.pending
    done = desk.run("run", "--resume", "r.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.pending == ()
    assert run.results[: len(before.results)] == before.results
    assert {result.status for result in run.results} == {"ok"}
    assert len(run.results) == 2 * len(measures)
    assert desk.leftovers() == []


def test_the_database_without_locality_takes_the_place_of_the_other(desk: Desk):
    measures = ("lookup-no-locality", "traversal-no-locality", "insert-no-locality", "traversal")
    done = desk.run(*SMALL, *on("sqlite", "lmdb", "zodb"), *operations(*measures),
                    "--repeat", "2", "--repeat-cold", "1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert {(result.status, result.reason) for result in run.results} == {("ok", "")}
    oracles = {True: _core.Oo1Oracle(PARTS), False: _core.Oo1Oracle(PARTS, locality=False)}
    designs = {text.name: text.design for text in run.operations}
    assert set(designs) == set(measures)
    for result in run.results:
        local = result.cell.operation == "traversal"
        assert designs[result.cell.operation] == ("oo1" if local else "no-locality")
        for answer in result.answers:
            measure = result.cell.operation.removesuffix("-no-locality")
            expected = oracles[local].answer(measure, answer.variation + 1)
            assert (answer.rows, answer.checksum) == expected
    # All that asks the first database, warm and cold, comes before the other is loaded.
    order = [result.cell.operation == "traversal" for result in run.results]
    assert order == sorted(order, reverse=True)
    assert [(load.variant, load.relation) for load in run.loads] == [
        (variant, relation)
        for relation in ("oo1", "oo1-no-locality")
        for variant in ("sqlite", "lmdb", "zodb")
    ]
    with closing(sqlite3.connect(desk.record)) as connection:
        sized = [variant for (variant,) in connection.execute("SELECT variant FROM size")]
    assert sized == ["sqlite", "lmdb", "zodb"]
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_run_killed_on_the_second_database_loads_no_other(desk: Desk):
    measures = ("lookup", "lookup-no-locality", "traversal-no-locality", "insert-no-locality")
    process = desk.start(*SMALL, *WARM, *on("sqlite"), *operations(*measures),
                         "--repeat", "400", "--repeat-most", "400")  # fmt: skip
    assert process.stderr is not None
    while "lookup-no-locality" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    workers = children(process.pid)
    process.kill()
    process.communicate()
    assert wait_until_dead(workers, limit_s=30)
    before = desk.read()
    assert before.pending
    assert [load.relation for load in before.loads] == ["oo1", "oo1-no-locality"]
    done = desk.run("run", "--resume", "r.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.pending == ()
    assert {result.status for result in run.results} == {"ok"}
    assert [load.relation for load in run.loads[2:]] == ["oo1-no-locality"]
    assert run.sizes == before.sizes


def postmasters(desk: Desk) -> list[int]:
    numbers = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [pid for pid in numbers if f"postgres -D {desk.scratch}" in command_line(pid)]


@pytest.mark.slow
def test_a_server_killed_in_the_middle_fails_a_cell_at_most(desk: Desk):
    measures = ("lookup", "traversal", "insert", "range", "group", "lookup-batch")
    process = desk.start(*SMALL, *WARM, *on("sqlite", "postgresql"), *operations(*measures),
                         "--repeat", "10")  # fmt: skip
    assert process.stderr is not None
    reported = process.stderr.readline()
    (pid,) = postmasters(desk)
    os.kill(pid, signal.SIGKILL)
    _, rest = process.communicate(timeout=90)
    reported += rest
    run = desk.read()
    assert run.pending == (), reported
    assert len(run.results) == 2 * len(measures)
    found = [result for result in run.results if result.cell.variant == "postgresql"]
    failed = [result for result in found if result.status == "failed"]
    assert process.returncode == (1 if failed else 0), reported
    assert len(failed) <= 2
    assert all(result.reason and result.samples == () for result in failed)
    # It was in the middle: some cells came before, and the last ones are right again.
    assert [found[0].status, found[-1].status] == ["ok", "ok"]
    assert all(answer.right for result in run.results for answer in result.answers)
    others = [result for result in run.results if result.cell.variant == "sqlite"]
    assert {result.status for result in others} == {"ok"}
    assert "Traceback" not in reported
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_link_changed_behind_the_runs_back_fails_its_cell_and_no_other(desk: Desk):
    measures = ("lookup", "group", "ordered")
    process = desk.start(*SMALL, *WARM, *on("sqlite"), *operations(*measures),
                         "--repeat", "400", "--repeat-most", "400")  # fmt: skip
    assert process.stderr is not None
    reported = process.stderr.readline()
    assert "lookup" in reported
    process.send_signal(signal.SIGSTOP)
    try:
        (file,) = desk.scratch.rglob("program.sqlite")
        change_a_link(file)
    finally:
        process.send_signal(signal.SIGCONT)
    _, rest = process.communicate(timeout=90)
    reported += rest
    assert process.returncode == 1, reported
    results = {result.cell.operation: result for result in desk.read().results}
    assert {name: result.status for name, result in results.items()} == {
        "lookup": "ok", "group": "failed", "ordered": "ok"
    }  # fmt: skip
    spoiled = results["group"]
    assert "wrong answer" in spoiled.reason
    assert "wrong answer" in reported
    assert spoiled.samples == ()
    assert not all(answer.right for answer in spoiled.answers)
    for name in ("lookup", "ordered"):
        assert len(results[name].samples) == 400
        assert all(answer.right for answer in results[name].answers)
    assert desk.leftovers() == []


def change_a_link(file: Path) -> None:
    """Of the part where the first traversal starts, one connection leads to another part."""
    (start,) = _core.oo1_inputs(PARTS, 1, True, "traversal", 1)
    with closing(sqlite3.connect(file)) as connection, connection:
        changed = connection.execute(
            "UPDATE connection SET too = (too + 99) % 200 + 1 WHERE frm = ? AND place ="
            " (SELECT min(place) FROM connection WHERE frm = ?)", (start, start)
        )  # fmt: skip
        assert changed.rowcount == 1


@pytest.mark.parametrize(
    ("arguments", "message", "help_for_it"),
    [
        (("--on", "wisconsinish"), "'wisconsinish'", "postgresql"),
        (("--rows", "100"), "100 parts", "the least is 200"),
        (("--edition", "1984"), "no edition '1984'", "1992-no-locality"),
        (("--operation", "look"), "no operation 'look'", "lookup"),
        (("--on", "sqlite?access=heap"), "'heap'", "rowid, clustered, objects"),
        (("--on", "lmdb:///tmp/x.lmdb"), "database of yours", "--on lmdb"),
        (("--on", "sqlite?statement=text"), "no tactic 'statement'", "access"),
        (("--users", "2", "--operation", "traversal"), "concurrent users", "lookup, insert"),
    ],
)
def test_bad_input_gets_a_clear_error(desk: Desk, arguments, message, help_for_it):
    done = desk.run("run", "oo1", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert message in done.stderr
    assert help_for_it in done.stderr
    assert "Traceback" not in done.stderr
    assert list(desk.folder.iterdir()) == []
