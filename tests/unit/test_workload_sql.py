"""A user's statement: what it may be, whose tables it reads, and how each engine gets it."""

import pytest

from loadstone import registry
from loadstone.errors import InputError, UnsupportedError
from loadstone.plan.choices import Choices
from loadstone.plan.plan import Plan
from loadstone.plan.written_choices import as_command
from loadstone.run.planned import plan_from
from loadstone.workload import reading, script, sql, sql_for_engine


def order(text: str) -> tuple[tuple[int, ...], bool]:
    return sql.order_of(sql.parsed(text, "", "s"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT a, b FROM t", ((), False)),
        ("SELECT a, b FROM t ORDER BY b DESC, 1", ((1, 0), False)),
        ("SELECT a, sum(b) AS s FROM t GROUP BY a ORDER BY s", ((1,), False)),
        ("SELECT a, sum(b) FROM t GROUP BY a ORDER BY sum(b), a", ((1, 0), False)),
        ("SELECT a FROM t ORDER BY a, c", ((0,), True)),
        ("SELECT a FROM t ORDER BY 7", ((), True)),
        ("SELECT * FROM t ORDER BY a", ((), True)),
        ("SELECT t.*, a FROM t ORDER BY a", ((), True)),
        ("SELECT a FROM t UNION SELECT a FROM u ORDER BY a", ((0,), False)),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) AS x", ((), False)),
        ("WITH x AS (SELECT a FROM t ORDER BY a) SELECT a FROM x", ((), False)),
        ("SELECT a, b AS a FROM t ORDER BY a", ((), True)),
    ],
)
def test_the_order_that_is_asked_for_is_that_of_columns_of_the_answer(text, found) -> None:
    assert order(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE t", "TRUNCATE t", "REPLACE INTO t VALUES (1)", "CREATE TABLE t (a int)", "",
        "DELETE FROM t RETURNING a", "WITH x AS (DELETE FROM t RETURNING a) DELETE FROM u",
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE", "DELETE FROM t; VACUUM",
        "SELECT 1; SELECT 2", "PRAGMA journal_mode", "ATTACH 'x' AS y", "COPY t TO 'x'",
        "CREATE TABLE x AS SELECT 1", "SELECT a INTO x FROM t", "VACUUM", "SET a = 1", "SELECT :x",
        "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x", "(" * 3_000, "SELECT 'a",
        "EXPLAIN SELECT 1", "BEGIN", "\x00\x1b[31m",
    ],
)  # fmt: skip
def test_only_one_query_or_change_is_a_statement(text: str) -> None:
    with pytest.raises(InputError) as caught:
        sql.parsed(text, "", "s")
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("before", ["", "-- a note\n", "/* a note */ ", "; -- a\n /* b */\n"])
@pytest.mark.parametrize("text", ["CREATE TABLE t (a int)", "VACUUM", "set a = 1"])
def test_what_is_no_statement_is_called_by_its_first_word(before: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        sql.parsed(before + text, "", "s")
    assert f"(it begins with {text.split()[0].upper()})" in caught.value.message


CHANGES = [
    "UPDATE t SET a = 1 WHERE b = 2", "DELETE FROM T", "INSERT INTO t (a) VALUES (1)",
    "INSERT INTO t SELECT * FROM u WHERE a IN (SELECT a FROM t)",
    "WITH x AS (SELECT a FROM u) INSERT INTO t SELECT a FROM x",
    "WITH t AS (SELECT 1 AS a) DELETE FROM t WHERE a IN (SELECT a FROM t)",
    "UPDATE t AS x SET a = u.a FROM u WHERE u.b = x.b", "DELETE FROM t USING u WHERE u.a = t.a",
    "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = t.b + excluded.b",
]  # fmt: skip


@pytest.mark.parametrize("text", CHANGES)
def test_a_change_is_of_one_table_and_knows_the_others(text: str) -> None:
    tree = sql.parsed(text, "postgres", "s")
    assert sql.changed_by(tree) == "t"
    assert sql.order_of(tree) == ((), False)
    sql.check_tables(tree, ["t", "u"], "s")
    with pytest.raises(InputError, match="no table of this workload"):
        sql.check_tables(tree, ["u"], "s")
    if "u" in text.replace("UPDATE", "").split():
        with pytest.raises(InputError, match="no table of this workload"):
            sql.check_tables(tree, ["t"], "s")


@pytest.mark.parametrize("text", CHANGES)
def test_a_change_is_of_the_stored_table_and_of_no_other(text: str) -> None:
    found = sql_for_engine.for_engine(
        text, "postgres", "postgres", {"t": "own_t", "u": "own_u"}, [], "s"
    )
    assert (found.kind, found.target) == ("update", "own_t")
    tree = sql.parsed(found.text, "postgres", "s")
    assert sql.changed_by(tree) == "own_t"
    assert {(one.db, one.name) for one in sql.each_table(tree)} <= {("s", "own_t"), ("s", "own_u")}


def test_capitals_of_the_columns_of_an_insertion_are_the_file_s() -> None:
    assert given("INSERT INTO t (name, b) VALUES (1, 2)", "", "postgres", t="t") == (
        'INSERT INTO t ("Name", b) VALUES (1, 2)'
    )
    assert given("UPDATE t SET NAME = 1", "", "postgres", t="t") == 'UPDATE t SET "Name" = 1'


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM T", "WITH x AS (SELECT * FROM t) SELECT * FROM x JOIN t USING (a)",
        "SELECT (SELECT max(a) FROM t) AS m", "SELECT 1 WHERE EXISTS (SELECT * FROM t)",
        "SELECT * FROM generate_series(1, 3)", "SELECT 1",
    ],
)  # fmt: skip
def test_its_own_tables_are_known(text: str) -> None:
    sql.check_tables(sql.parsed(text, "", "s"), ["t"], "s")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM u", "SELECT * FROM t, u", "SELECT * FROM main.t",
        "SELECT 1 WHERE EXISTS (SELECT * FROM u)", "WITH t AS (SELECT * FROM u) SELECT * FROM t",
    ],
)  # fmt: skip
def test_other_tables_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="no table of this workload"):
        sql.check_tables(sql.parsed(text, "", "s"), ["t"], "s")


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE t SET a = 1", "DELETE FROM t", "SELECT nextval('s')",
        "SELECT * FROM dblink('x', 'y')",
        "SELECT pg_catalog.set_config('default_transaction_read_only', 'off', false)",
        "SELECT a FROM t FOR UPDATE", "SELECT SET_CONFIG('a', 'b', true) FROM t",
        "SELECT (SELECT load_extension('x'))", "SELECT lo_unlink(a) FROM t",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["", "postgres", "sqlite", "duckdb"])
def test_a_statement_that_may_write_in_a_users_database_is_refused_before_it_is_sent(
    text: str, dialect: str
) -> None:
    with pytest.raises(InputError, match=r"only read|locks rows"):
        sql.check_reading(sql.parsed(text, dialect, "s"), "s")


def test_a_query_of_tables_as_they_stand_may_name_any() -> None:
    for text in ("SELECT * FROM sales.orders o JOIN x USING (a)", "SELECT count(*) FROM t"):
        sql.check_reading(sql.parsed(text, "postgres", "s"), "s")


COLUMNS = [("big", "id", "int4"), ("big", "x", "text"), ("big", "a", "int4")]


def given(text: str, written_in: str, dialect: str, schema: str = "", **stored: str) -> str:
    return sql_for_engine.for_engine(
        text, written_in, dialect, stored, [("t", "Name", "text")], schema
    ).text


def test_a_text_of_the_engines_own_dialect_is_sent_as_it_is_written() -> None:
    text = "SELECT  a /* as I wrote it */ FROM t -- so"
    assert given(f"{text} ;", "duckdb", "duckdb", t="t").startswith(text[:40])
    assert given("SELECT a FROM t;", "duckdb", "duckdb", t="t") == "SELECT a FROM t"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
def test_a_comment_behind_a_statement_is_not_sent_as_another(dialect: str) -> None:
    assert given("/* a */ SELECT a FROM t; -- b", dialect, dialect) == "/* a */ SELECT a FROM t"
    assert given("SELECT a FROM t; /* b */ ;", "mysql", dialect).startswith("SELECT a FROM t")
    with pytest.raises(InputError, match="is empty"):
        sql.parsed("-- SELECT 1", dialect, "s")


def test_stored_names_take_the_place_of_tables_and_columns_still_find_them() -> None:
    text = "WITH u AS (SELECT t.a FROM t) SELECT u.a FROM u JOIN t ON t.a = u.a"
    assert given(text, "sqlite", "sqlite", t="own_t", u="own_u") == (
        'WITH u AS (SELECT t.a FROM "own_t" AS t) SELECT u.a FROM u JOIN "own_t" AS t ON t.a = u.a'
    )
    assert given("SELECT a FROM t AS x", "postgres", "postgres", "s", t="t") == (
        'SELECT a FROM "s"."t" AS x'
    )


def test_a_translation_writes_capitals_as_the_file_has_them() -> None:
    assert given('SELECT name, x.NAME, "name" FROM t AS x', "", "postgres", t="t") == (
        'SELECT "Name", x."Name", "name" FROM t AS x'
    )


def test_a_statement_without_a_translation_is_a_gap() -> None:
    with pytest.raises(UnsupportedError, match="no translation"):
        given("SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))", "duckdb", "mysql", t="t")
    # Joined twice by UNION, a count would be two.
    with pytest.raises(UnsupportedError, match="no FULL JOIN"):
        given("SELECT count(*) FROM t FULL JOIN t AS u ON t.a = u.a", "postgres", "mysql", t="t")


def test_a_text_that_names_no_dialect_is_not_translated_in_silence() -> None:
    text = "SELECT a DIV 2 AS x FROM t"
    for dialect in ("sqlite", "duckdb"):
        found = sql_for_engine.for_engine(text, "", dialect, {"t": "t"}, [("t", "a", "int4")], "")
        assert found.text == text
    with pytest.raises(UnsupportedError, match="names no dialect, so it is not translated") as gap:
        sql_for_engine.for_engine(text, "", "postgres", {"t": "t"}, [("t", "a", "int4")], "")
    assert "cannot be read" in gap.value.message
    named = sql_for_engine.for_engine(
        text, "duckdb", "postgres", {"t": "t"}, [("t", "a", "int4")], ""
    )
    assert "DIV(a, 2)" in named.text


@pytest.mark.parametrize(
    ("text", "among", "own", "stated"),
    [
        (
            "SELECT 'a' ~ 'b' AS x",
            ("postgres", "sqlite", "duckdb"),
            {"duckdb", "postgres"},
            "to duckdb and postgresql, and translated from duckdb",
        ),
        (
            "SELECT 'a' ~ 'b' AS x",
            ("mysql", "postgres"),
            {"duckdb", "postgres"},
            "to postgresql, and translated from postgresql",
        ),
        ("SELECT 'a' ~ 'b' AS x", ("postgres", "duckdb"), {"duckdb", "postgres"}, ""),
        ("SELECT 1 AS `a`", (), {"sqlite"}, "to sqlite, and translated from sqlite"),
        ("SELECT 1 AS a", (), set(), ""),
        ("SELECT 1 AS a", ("mysql", "postgres"), set(), ""),
    ],
)
def test_a_statement_alone_is_written_as_each_engine_reads_it(
    text, among, own, stated, capsys
) -> None:
    (statement,) = reading.of_one(text, (), may_stand=True, among=among).statements
    as_written = {statement.dialect, *(one.dialect for one in statement.own)} - {""}
    assert as_written == own
    assert statement.dialect in {"", *(among or own)}
    for dialect in own:
        assert statement.texts_for(dialect) == (dialect, (text,))
    said = capsys.readouterr().err
    assert stated in said
    assert bool(said) is bool(stated)


@pytest.mark.parametrize("text", ["SELECT id, p ## l AS x\nFROM t ORDER BY id", "SELECT 1 ### 2"])
@pytest.mark.parametrize(
    "among", [(), ("postgres",), ("postgres", "mysql"), ("mysql", "clickhouse")]
)
def test_an_operator_of_one_dialect_is_no_comment_of_another_s(text: str, among) -> None:
    with pytest.raises(InputError, match="cannot be read") as caught:
        reading.of_one(text, (), may_stand=True, among=among)
    assert "--dialect postgresql" in caught.value.hint
    assert reading.of_one("SELECT 1 # one", (), among=("mysql",)).statements[0].dialect == "mysql"


@pytest.mark.parametrize("text", ["SELECT 1 || 0 AS a", 'SELECT a FROM t WHERE v = "a"'])
def test_mariadb_gets_a_statement_alone_as_it_is_written(text: str) -> None:
    for choices in (
        Choices(sql=text, on=("mariadb://u@h/d",)),
        Choices(sql=text, dialect="mariadb", on=("mariadb://u@h/d", "postgresql://u@h/d")),
    ):
        workload = registry.chosen_benchmark(choices).workload
        assert workload is not None
        ((written_in, (kept,)),) = [one.texts_for("mysql") for one in workload.statements]
        assert given(kept, written_in, "mysql") == text


def test_a_dialect_is_named_of_a_statement_alone_that_is_known() -> None:
    with pytest.raises(InputError, match="--dialect: there is no dialect 'pascal'"):
        registry.chosen_benchmark(Choices(sql="SELECT 1", dialect="pascal"))
    with pytest.raises(InputError, match="needs --sql"):
        registry.chosen_benchmark(Choices(dialect="mysql"))
    plan = plan_from({"sql": "SELECT 1 AS a", "dialect": "duckdb", "on": ("sqlite",)}, None).plan
    assert "--dialect duckdb" in as_command(plan)
    assert Plan.from_json(plan.to_json()) == plan
    without = plan_from({"sql": "SELECT 1 AS a", "on": ("sqlite",)}, None).plan
    assert "dialect" not in without.fields()
    assert Plan.from_json(without.to_json()) == without


def test_the_dialect_of_a_text_is_found() -> None:
    assert sql.dialect_of("SELECT a FROM t", "s") == sql.GENERIC
    assert sql.dialect_of("SELECT `a` FROM `t`", "s") == "sqlite"
    with pytest.raises(InputError, match="cannot be read"):
        sql.dialect_of("SELECT `a` FROM `t`", "s", ("postgres",))
    with pytest.raises(InputError, match="cannot be read"):
        sql.dialect_of("SELECT FROM WHERE", "s")


def test_a_name_in_quotes_stays_the_function_s_own() -> None:
    text = 'SELECT "myFunc"(a), other_Func(a) FROM t'
    given = sql_for_engine.for_engine(
        text, "postgres", "duckdb", {"t": "t"}, [("t", "a", "int4")], ""
    )
    assert given.text == 'SELECT "myFunc"(a), other_Func(a) FROM t'
    tree = sql.parsed("SELECT \"set_config\"('a', 'b', false)", "postgres", "s")
    with pytest.raises(InputError, match="set_config"):
        sql.check_reading(tree, "s")


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("SELECT a, b FROM t", "ORDER BY"),
        ("SELECT a, b FROM t ORDER BY b", "ORDER BY"),
        ("SELECT a FROM t ORDER BY a", "columns"),
        ("SELECT a, b FROM t ORDER BY a", ""),
        ("SELECT * FROM t ORDER BY a", ""),
        ("SELECT a, b FROM t ORDER BY lower(a)", ""),
    ],
)
def test_texts_of_a_statement_ask_for_answers_of_one_form(other: str, reason: str) -> None:
    first = sql.parsed("SELECT a, b FROM t ORDER BY a", "", "s")
    second = sql.parsed(other, "sqlite", "s")
    if not reason:
        sql.check_alike(first, second, "s")
        return
    with pytest.raises(InputError, match=reason):
        sql.check_alike(first, second, "s")
    with pytest.raises(InputError, match=reason):
        sql.check_alike(second, first, "s")


@pytest.mark.parametrize(
    ("text", "dialect", "found"),
    [
        ("SELECT now()", "postgres", True), ("SELECT random()", "duckdb", True),
        ("SELECT a FROM t WHERE b < current_timestamp", "", True),
        ("SELECT datetime('now')", "sqlite", True), ("SELECT gen_random_uuid()", "postgres", True),
        ("SELECT a FROM t USING SAMPLE 3", "duckdb", True), ("SELECT 'later' FROM t", "", False),
        ("SELECT count(*) FROM t WHERE random = 1", "", False),
    ],
)  # fmt: skip
def test_a_text_that_may_give_another_answer_is_known(text: str, dialect: str, found: bool) -> None:
    assert sql.may_be_volatile(sql.parsed(text, dialect, "s")) == found


@pytest.mark.parametrize("text", ["SELECT (", "SELECT 1; SELECT 2", "SELECT :x"])
def test_advice_on_a_statement_alone_names_no_key_of_a_file(text: str) -> None:
    with pytest.raises(InputError) as caught:
        sql.parsed(text, "", sql.ALONE)
    assert caught.value.hint
    assert "dialect =" not in caught.value.hint
    assert "under parameters" not in caught.value.hint
    assert "beside it" not in caught.value.hint


def test_a_script_is_taken_apart_at_its_own_semicolons_alone() -> None:
    text = "begin;\nUPDATE t SET a = ';' WHERE b = 1; -- a; b\nSELECT a FROM t;\nEND ;"
    steps = script.split(text, "postgres", "s")
    assert steps[0] == "BEGIN"
    assert steps[-1] == "COMMIT"
    assert len(steps) == 4
    given = script.for_engine(text, "postgres", "sqlite", {"t": "t"}, [], "")
    assert [gives_rows for _, gives_rows in given.steps] == [False, False, True, False]
    assert given.steps[0][0] == "BEGIN IMMEDIATE"
    only_read = script.for_engine("BEGIN; SELECT a FROM t; END", "postgres", "sqlite", {}, (), "")
    assert only_read.steps[0][0] == "BEGIN"


def test_texts_that_differ_in_values_alone_have_one_shape() -> None:
    texts = ["SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 22", "SELECT c FROM t",
             "SELECT a FROM t WHERE b = '1; DELETE'"]  # fmt: skip
    assert sql.of_each_shape(texts, "", "s") == [texts[0], texts[2]]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, x FROM big ORDER BY x LIMIT 10",
        "SELECT a / 2 AS h FROM big",
        "UPDATE big SET a = a / 2",
        "SELECT \"x\" || 'y' FROM big",
    ],
)
def test_a_text_in_no_dialect_keeps_its_words_on_engines_of_standard_quotes(
    text: str, dialect: str
) -> None:
    """An order with NULLS FIRST uses no index of PostgreSQL's, and a cast divides otherwise."""
    assert (
        sql_for_engine.for_engine(text, sql.GENERIC, dialect, {"big": "big"}, COLUMNS, "").text
        == text
    )
    renamed = sql_for_engine.for_engine(
        text, sql.GENERIC, dialect, {"big": "big__0"}, COLUMNS, ""
    ).text
    for word in ("NULLS", "CAST", "DOUBLE"):
        assert word not in renamed


def test_a_text_in_no_dialect_is_translated_where_names_are_quoted_otherwise() -> None:
    text = 'SELECT "x" FROM big'
    assert (
        sql_for_engine.for_engine(text, sql.GENERIC, "mysql", {"big": "big"}, (), "").text
        == "SELECT `x` FROM big"
    )


def test_columns_with_capitals_are_quoted_in_a_text_in_no_dialect() -> None:
    text = "SELECT Id FROM big"
    found = sql_for_engine.for_engine(
        text, sql.GENERIC, "postgres", {"big": "big"}, [("big", "Id", "int4")], ""
    ).text
    assert found == 'SELECT "Id" FROM big'
    assert (
        sql_for_engine.for_engine(text, sql.GENERIC, "postgres", {"big": "big"}, (), "").text
        == text
    )


CAMELS = [("hits", "UserID", "int4"), ("hits", "url", "text")]


@pytest.mark.parametrize(
    ("dialect", "found"),
    [
        # The rest is as it is written: the engine's own text is not written anew.
        ("postgres", 'SELECT  h."UserID" AS n /* so */ FROM hits h ORDER BY "UserID"'),
        ("duckdb", 'SELECT "h".userid AS "n" /* so */ FROM hits AS "h" ORDER BY UserID'),
        ("clickhouse", 'SELECT "h"."UserID" AS "n" /* so */ FROM hits AS "h" ORDER BY "UserID"'),
    ],
)
def test_a_column_with_capitals_is_found_without_quotes_in_a_named_dialect(
    dialect: str, found: str
) -> None:
    text = "SELECT  h.userid AS n /* so */ FROM hits h ORDER BY UserID"
    given = sql_for_engine.for_engine(text, "postgres", dialect, {"hits": "hits"}, CAMELS, "")
    assert given.text.replace(" NULLS LAST", "") == found


def test_names_that_a_text_gives_are_quoted_in_a_translation_and_tables_are_not() -> None:
    text = "WITH q AS (SELECT url AS Character FROM hits AS at) SELECT character FROM q"
    for dialect, quote in (("duckdb", '"'), ("mysql", "`"), ("sqlite", '"')):
        given = sql_for_engine.for_engine(text, "postgres", dialect, {"hits": "hits"}, CAMELS, "")
        assert given.text.replace(quote, "'") == (
            "WITH 'q' AS (SELECT url AS 'character' FROM hits AS 'at') SELECT 'character' FROM 'q'"
        )


@pytest.mark.parametrize("dialect", ["", "mysql", "postgres"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 /*! INTO OUTFILE '/tmp/x' */",
        "SELECT /*!50000 sleep(9), */ 1",
        "SELECT 1 /*M!100100 INTO OUTFILE '/tmp/x' */",
    ],
)
def test_a_comment_that_mariadb_executes_is_refused(text: str, dialect: str) -> None:
    """The parser sees a comment, and the server a clause that may write a file."""
    with pytest.raises(InputError, match="which MariaDB and MySQL execute"):
        sql.parsed(text, dialect, "the statement")
    assert sql.parsed("SELECT '/*! no comment */' AS a /* one */", dialect, "the statement")
