"""Whatever a record holds, it is reported, or refused with a message; nothing else happens.

Mutations of a real record: bytes, pages, lengths, every column's value, rows gone and doubled, the
plan and the paper's numbers. Each is then rendered in every format, compared and asked what is left
to run, and everything beside it must be as it was. The seed of a failure stands in its message:
`--seed N --tries 1` repeats it.
"""

import hashlib
import io
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run, write_record

from loadstone import registry
from loadstone.analysis.compare.compare import compare
from loadstone.diagnostics import Exit, guarded
from loadstone.planning.planner import check_plan
from loadstone.record import Recorder, Run, read
from loadstone.record.schema import TABLES
from loadstone.report.comparison import formats
from loadstone.run import resumption, session

SCALARS = [0, 1, -1, 2, 7, 10**6, 10**9, 10**12, 10**15, 10**18, 2**53, 2**63 - 1, 0.0, 0.5, 1.0,
           1e-300, 1e12, 1e308, float("inf"), float("-inf"), None, "", "x", "null", "a|b", "sqlite",
           "sqlite#2", "cold", "ok", "gap", "failed", "invalid", "disturbed", "../..", "\0",
           "\x1b[31m", b"x" * 5000,
           "'; DROP TABLE run; --", "{{ 7 * 7 }}", "<script>", "\u202e", "9" * 400, "é" * 300,
           "2026-01-01T00:00:00+00:00", "9999-99-99T99:99:99Z", b"", b"\xff\xfe"]  # fmt: skip
JSONS = [
    *(one for one in SCALARS if not isinstance(one, bytes)),
    [],
    {},
    [[]],
    {"a": {}},
    True,
    [1, 2],
    ["x"],
    {"max": 10**18},
]
HEAVY = ("html",)
"""Formats that take long: one try in ten."""


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A small record with rows in every table, and one whose benchmark declares everything."""
    found = []
    for run in (make_run(FEW[:2], repeat=3, scales=(10_000,)), make_oo1_run()):
        path = tmp_path_factory.mktemp("whole") / "r.loadstone"
        write_record(run, path)
        recorder = Recorder.resume(path)
        for event in run.events:
            recorder.event(event)
        recorder.end("complete", 1)
        found.append(path.read_bytes())
    return found


def bytes_changed(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(dice.choice((1, 3, 30))):
        data[dice.choice((dice.randrange(len(data)), dice.randrange(120)))] = dice.randrange(256)
    path.write_bytes(data)


def page_changed(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    pages = len(data) // 4096
    place, other = (4096 * dice.randrange(pages) for _ in range(2))
    data[place : place + 4096] = dice.choice((bytes(4096), bytes(data[other : other + 4096])))
    path.write_bytes(data)


def cut(path: Path, dice: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: dice.randrange(len(data))] + bytes(dice.choice((0, 0, 4096, 100))))


def column_changed(path: Path, dice: random.Random) -> None:
    table = dice.choice(TABLES)
    column = dice.choice(table.columns)
    where = dice.choice(("1", "rowid = 1", "random() % 2"))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA foreign_keys=OFF")
        update = f"UPDATE OR IGNORE {table.name} SET {column.name} = ? WHERE {where}"
        db.execute("SELECT 1")
        try:
            db.execute(update, (dice.choice(SCALARS),))
        except sqlite3.Error:
            return


def rows_changed(path: Path, dice: random.Random) -> None:
    table = dice.choice(TABLES)
    with closing(sqlite3.connect(path)) as db, db:
        if dice.random() < 0.5:
            db.execute(f"DELETE FROM {table.name} WHERE {dice.choice(('1', 'random() % 2'))}")
        else:
            db.execute(f"INSERT OR IGNORE INTO {table.name} SELECT * FROM {table.name}")


def json_changed(path: Path, dice: random.Random) -> None:
    """A value somewhere in the plan, the paper's numbers, the benchmark's declaration or a loop's
    percentiles; the plan's hash is made anew, as a forger would do."""
    with closing(sqlite3.connect(path)) as db, db:
        table, column = dice.choice(
            (
                *(("run", "plan"), ("run", "plan"), ("run", "published")),
                *(("run", "presentation"), ("run", "presentation"), ("users", "latency_ns")),
            )
        )
        row = db.execute(f"SELECT {column} FROM {table}").fetchone()
        value = json.loads(row[0] if row else "")
        forge(value, dice)
        text = json.dumps(value)
        db.execute(f"UPDATE {table} SET {column} = ?", (text,))
        if column == "plan":
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            db.execute("UPDATE run SET plan_hash = ?", (digest,))


def forge(value: object, dice: random.Random) -> None:
    """Change, remove or add one item somewhere below."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = dice.choice(keys)
        if isinstance(value[key], dict | list) and dice.random() < 0.8:
            value = value[key]
            continue
        if dice.random() < 0.2:
            del value[key]
        elif dice.random() < 0.1 and isinstance(value, list):
            value.append(value[key])
        else:
            value[key] = dice.choice(JSONS)
        return


MUTATIONS = (bytes_changed, page_changed, cut, column_changed, column_changed, column_changed,
             rows_changed, json_changed, json_changed)  # fmt: skip


def code_of(action: Callable[[], object]) -> int:
    """The exit code with which the command would end."""

    def command() -> int:
        action()
        return Exit.OK

    return guarded(command)


def used(run: Run, other: Run, dice: random.Random) -> dict[str, int]:
    """Everything that a record is for, with the exit code of each."""
    actions = {
        name: partial(registry.load_report(name)().render, run)
        for name in registry.report_names()
        if name not in HEAVY or dice.random() < 0.1
    }
    for form in formats.FORMATS:
        for a, b in ((run, other), (other, run)):
            actions[f"compare {form} {a is run}"] = partial(compared, a, b, form)
    benchmark = code_of(partial(left_of, run))
    return {name: code_of(action) for name, action in actions.items()} | {"resume": benchmark}


def compared(a: Run, b: Run, form: str) -> None:
    formats.write(compare(a, b, variants=None, threshold=0.03, across=()), form, io.StringIO())


def left_of(run: Run) -> None:
    """Read all that a resumed run reads before it starts anything."""
    benchmark = registry.load_benchmark(run.plan.benchmark)()
    check_plan(run.plan, benchmark)
    resumption.is_left(run, benchmark)
    session._variants_again(run, (), benchmark.seam)


@pytest.mark.slow
@pytest.mark.timeout(0)  # --tries decides how long it takes
def test_whatever_a_record_holds_is_reported_or_refused(wholes, tmp_path, request, capsys, seed):
    tries = int(request.config.getoption("--tries"))
    good, path = tmp_path / "good.loadstone", tmp_path / "r.loadstone"
    good.write_bytes(wholes[0])
    other = read(good)
    refused, wrong = 0, []
    for drawn in range(seed, seed + tries):
        dice = random.Random(drawn)
        path.write_bytes(dice.choice(wholes))
        with suppress(sqlite3.Error, ValueError, TypeError):  # what is damaged stays as it is
            for _ in range(dice.choice((1, 1, 2))):
                dice.choice(MUTATIONS)(path, dice)
        for left in tmp_path.glob("r.loadstone-*"):
            left.unlink()
        before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
        found: list[Run] = []
        code = code_of(partial(lambda found: found.append(read(path)), found))
        ends = used(found[0], other, dice) if found else {}
        reported = capsys.readouterr().err
        if code not in (Exit.OK, Exit.RECORD) or Exit.INTERNAL in ends.values():
            wrong.append((drawn, code, ends, reported))
        assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before, drawn
        refused += code == Exit.RECORD
    assert wrong == []
    assert 0 < refused < tries
