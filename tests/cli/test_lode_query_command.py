"""`loadstone lode query`: rows as text, files loaded, and how it refuses."""

import json
import signal
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from desk import COMMAND, Desk
from pyarrow import parquet
from serving import serving

from loadstone.diagnostics import ENDINGS, Exit
from loadstone.lode import Database

PARTS = "number,name,weight\n1,wheel,2.5\n2,spoke,0.25\n3,rim é,1\n"
ALL = "range of p is parts retrieve (p.all)"
RANGES = "range of a is n range of b is n range of c is n range of d is n"
ENDLESS = "retrieve (x = count(a.i where a.i + b.i + c.i + d.i < 0))"


@pytest.fixture
def parts(desk: Desk) -> Desk:
    (desk.folder / "parts.csv").write_text(PARTS, encoding="utf-8")
    done = desk.run("lode", "query", "a.lode", "--load", "parts=parts.csv")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "loaded parts: 3 tuples" in done.stderr
    return desk


def asked(desk: Desk, *arguments: str, **options: str) -> str:
    done = desk.run("lode", "query", "a.lode", *arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rows_are_an_aligned_table(parts: Desk):
    done = parts.run("lode", "query", "a.lode", ALL)
    assert done.stdout == (
        "number  name   weight\n"
        "------  -----  ------\n"
        "     1  wheel     2.5\n"
        "     2  spoke    0.25\n"
        "     3  rim é     1.0\n"
    )
    assert (done.returncode, done.stderr) == (0, "3 rows\n")
    done = parts.run("lode", "query", "a.lode", f"{ALL} where p.number = 9")
    assert done.stdout == "number  name  weight\n------  ----  ------\n"


def test_programs_read_csv_and_json(parts: Desk):
    assert asked(parts, ALL, "--format", "csv") == PARTS.replace("rim é,1", "rim é,1.0")
    rows = json.loads(asked(parts, ALL, "--format", "json"))
    assert rows[2] == {"number": 3, "name": "rim é", "weight": 1.0}
    assert json.loads(asked(parts, f"{ALL} where p.number = 9", "--format", "json")) == []


def test_statements_run_one_by_one_and_stop_at_the_first_error(parts: Desk):
    text = """range of p is parts
        replace p (weight = p.weight * 2) where p.number = 1;
        retrieve (p.weight) where p.number = 1
        delete p where p.nothing = 1
        delete p"""
    done = parts.run("lode", "query", "a.lode", "-", stdin=text)
    assert done.returncode == Exit.INPUT
    assert done.stdout == "weight\n------\n   5.0\n"
    changed, one, where, *rest = done.stderr.splitlines()
    assert (changed, one) == ("1 tuple", "1 row")
    assert where == "loadstone: line 4, column 26: `parts` has no attribute `nothing`"
    assert rest[:3] == [
        "  |",
        "4 |         delete p where p.nothing = 1",
        "  |" + " " * 26 + "^" * 7,
    ]
    assert asked(
        parts, "range of p is parts retrieve (x = count(p.number))", "--format", "csv"
    ) == ("x\n3\n")


def test_plans_are_shown_with_and_without_running(parts: Desk):
    remove = "range of p is parts delete p where p.number = 1"
    assert "delete parts (about" in asked(parts, remove, "--explain")
    shown = asked(parts, remove, "--counted", "--tactic", "execution=interpreted&join=hash")
    assert "where a.number = 1 (counted 1)" in shown
    assert "3 tuples, 1 pages, " in shown
    done = parts.run("lode", "query", "a.lode", ALL, "--limit", "1", "--timing")
    assert len(done.stdout.splitlines()) == 3
    limited, time = done.stderr.splitlines()
    assert limited == "1 row shown; there are more"
    assert time.startswith("time: ")


def test_plans_without_running_and_of_what_was_run_are_not_asked_for_together(parts: Desk):
    delete = "range of p is parts delete p"
    done = parts.run("lode", "query", "a.lode", "--explain", "--counted", delete)
    assert (done.returncode, done.stdout) == (Exit.INPUT, "")
    assert "leave out one of the two" in done.stderr
    assert asked(parts, "range of p is parts retrieve (x = any(p.number))").split()[-1] == "1"


def test_json_refuses_columns_of_one_name(parts: Desk):
    twice = "range of p is parts retrieve (p.number, p.number)"
    done = parts.run("lode", "query", "a.lode", "--format", "json", twice)
    assert (done.returncode, done.stdout) == (Exit.INPUT, "")
    assert "two columns are called number" in done.stderr
    assert asked(parts, twice, "--format", "csv").startswith("number,number\n")


def test_a_parquet_file_keeps_its_types(desk: Desk):
    table = pa.table(
        {
            "Small": pa.array([1, 2], pa.int16()),
            "real": pa.array([0.1, 2.0], pa.float32()),
            "flag": [True, False],
            "word": pa.array(["a", "longer"]).dictionary_encode(),
        }
    )
    parquet.write_table(table, desk.folder / "types.parquet")
    assert asked(desk, "range of t is t retrieve (t.all)", "--load", "t=types.parquet", "--format",
                 "csv") == "small,real,flag,word\n1,0.1,1,a\n2,2.0,0,longer\n"  # fmt: skip
    with Database(desk.folder / "a.lode", "read") as database:
        (relation,) = database.relations()
    assert [kind for _, kind in relation["attributes"]] == ["i2", "f4", "i1", "c6"]


def test_a_csv_file_of_reals_may_have_large_whole_ones_and_one_of_integers_the_largest(desk: Desk):
    (desk.folder / "large.csv").write_text(
        "real,whole\n9223372036854775808,9223372036854775807\n1.5,-9223372036854775808\n"
    )
    assert asked(desk, "range of t is t retrieve (t.all)", "--load", "t=large.csv", "--format",
                 "csv") == (
        "real,whole\n9.223372036854776e+18,9223372036854775807\n1.5,-9223372036854775808\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("content", "wish", "words"),
    [
        ("number\n1\n", "parts=parts.csv", "there is a relation parts already"),
        ("number\n1\n", "retrieve=other.csv", "a name that QUEL takes"),
        ("number\n1\n", "other", "write RELATION=FILE"),
        ("number\n1\n", "other=other.txt", "neither .csv nor .parquet"),
        ("number\n1\n", "other=none.csv", "cannot load none.csv: it is not there"),
        ("number\n1\n", "other=folder.csv", "cannot load folder.csv: it is no file"),
        ("number,number\n1,2\n", "other=other.csv", "no attribute can be called 'number'"),
        ("a,b\n1,\n2,3\n", "other=other.csv", "b is empty in 1 row,"),
        ("a\nnan\n1\n-inf\n", "other=other.csv", "a is nan or infinite in 2 rows"),
        ("a\n1\n9223372036854775808\n", "other=other.csv", "a has an integer of more than 8 bytes"),
        ("a\n-9223372036854775809\n", "other=other.csv", "a has an integer of more than 8 bytes"),
        ("day\n2026-01-01\n", "other=other.csv", "no type for day"),
        ("a\n1\n2,3\n", "other=other.csv", "other.csv, line 3"),
        ('a,b\n1,x\n2,"y\n3,z\n', "other=other.csv", "other.csv, line 3, column 2 (b)"),
    ],
)
def test_a_file_that_is_no_relation_is_refused(parts: Desk, content: str, wish: str, words: str):
    (parts.folder / "other.csv").write_text(content)
    (parts.folder / "other.txt").write_text(content)
    (parts.folder / "folder.csv").mkdir()
    done = parts.run("lode", "query", "a.lode", "--load", wish)
    assert (done.returncode, done.stdout) == (Exit.INPUT, "")
    assert words in done.stderr
    assert "internal error" not in done.stderr


def test_what_cannot_be_opened_or_understood_says_why_and_leaves_nothing(desk: Desk):
    (desk.folder / "letter").write_text("dear sir" * 2000)
    Database(desk.folder / "short.lode").close()
    whole = (desk.folder / "short.lode").read_bytes()
    (desk.folder / "short.lode").write_bytes(whole[:5000])
    before = sorted(desk.folder.iterdir())
    for code, words, *arguments in (
        (Exit.ENGINE, "no lode database", "letter", ALL),
        (Exit.ENGINE, "short.lode", "short.lode", ALL),
        (Exit.INPUT, "there is no folder", "none/a.lode", ALL),
        (Exit.INPUT, "there is no database", "new.lode", ALL, "--read-only"),
        (Exit.INPUT, "no relation", "new.lode", ALL),
        (Exit.INPUT, "line 1, column 1", "new.lode", "(" * 100_000),
        (Exit.INPUT, "line 1, column 1", "new.lode", "\x1b[2J"),
        (Exit.INPUT, "no tactic", "new.lode", ALL, "--tactic", "speed=high"),
        (Exit.INPUT, "is not a whole number", "new.lode", ALL, "--limit", "few"),
        (Exit.INPUT, "no statements: give them", "new.lode"),
    ):
        done = desk.run("lode", "query", *arguments)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stderr
        assert sorted(desk.folder.iterdir()) == before


def test_a_database_that_another_process_has_open_is_named(parts: Desk):
    with serving(parts, "a.lode"):
        done = parts.run("lode", "query", "a.lode", ALL)
    assert (done.returncode, done.stdout) == (Exit.ENGINE, "")
    assert "is open already" in done.stderr


def numbers(folder: Path, count: int) -> None:
    with Database(folder / "a.lode") as database:
        database.load("n", [("i", "i4")], pa.table({"i": pa.array(range(count), pa.int32())}))


@pytest.mark.parametrize("number", ENDINGS)
def test_a_signal_cancels_the_statement_and_leaves_the_database_whole(
    desk: Desk, number: signal.Signals
):
    """An update that went on would commit when the command has said that it was interrupted."""
    numbers(desk.folder, 1000)
    with subprocess.Popen(
        [*COMMAND, "lode", "query", "a.lode", "--limit", "1",
         f"{RANGES} retrieve (a.i) delete a where a.i = 1 {ENDLESS}"],
        cwd=desk.folder, env=desk.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        # Only the last statement is left, which is about to begin, or has begun.
        assert "1 row shown" in process.stderr.readline()
        assert process.stderr.readline() == "1 tuple\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert said in (
        "loadstone: interrupted: nothing of it is kept\n",
        "loadstone: interrupted: the next statement was not begun\n",
    )
    with Database(desk.folder / "a.lode", "open") as database:
        assert database.recovery is None
        count = "range of a is n retrieve (x = count(a.i))"
        assert database.query(count).fetch() == [(999,)]


def test_a_reader_that_leaves_ends_a_long_answer(desk: Desk):
    numbers(desk.folder, 20_000)
    product = "range of a is n range of b is n retrieve (a.i, j = b.i)"
    with subprocess.Popen(
        [*COMMAND, "lode", "query", "a.lode", product, "--format", "csv"],
        cwd=desk.folder, env=desk.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "i,j\n"
        process.stdout.close()
        # 400 million rows would take minutes.
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
