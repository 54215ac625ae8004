"""QUEL to SQL: the text, where the dialects differ, and the reason for a program that has none."""

import duckdb
import pytest

from loadstone.engines.capabilities import Attribute
from loadstone.errors import InputError, UnsupportedError
from loadstone.quel.translate import translate

SCHEMA = [Attribute("k", "int2"), Attribute("s", "char(52)")]


def sql(text, dialect="postgres"):
    program = "range of t is r range of w is r " + text
    return translate(program, dialect, lambda name: f"{name}_heap", lambda _: SCHEMA).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "retrieve into q (t.all, w.all) where t.k = w.k",
            'CREATE TABLE "q_heap" AS SELECT "t".*, "w"."k" AS "w_k", "w"."s" AS "w_s" '
            'FROM "r_heap" AS "t", "r_heap" AS "w" WHERE "t"."k" = "w"."k"',
        ),
        (
            "retrieve (m = min(t.k by t.s))",
            'SELECT MIN("t"."k") AS "m" FROM "r_heap" AS "t" GROUP BY "t"."s"',
        ),
        (
            "retrieve (m = sum(t.k))",
            'SELECT CAST(SUM("t"."k") AS BIGINT) AS "m" FROM "r_heap" AS "t"',
        ),
        (
            'retrieve (t.k) where t.s = "a_*b"',
            'SELECT "t"."k" FROM "r_heap" AS "t" WHERE CAST("t"."s" AS TEXT) '
            "LIKE 'a!_%b' ESCAPE '!'",
        ),
        (
            'retrieve (t.k) where t.s = "[a-c]*"',
            'SELECT "t"."k" FROM "r_heap" AS "t" WHERE CAST("t"."s" AS TEXT) '
            "COLLATE \"C\" ~ '^[a-c].*$'",
        ),
        (
            'retrieve (t.k) where t.s < "b  "',
            'SELECT "t"."k" FROM "r_heap" AS "t" WHERE "t"."s" COLLATE "C" < \'b\'',
        ),
        (
            "retrieve (x = t.k * t.k)",
            'SELECT CAST("t"."k" AS BIGINT) * CAST("t"."k" AS BIGINT) AS "x" FROM "r_heap" AS "t"',
        ),
        (
            'append to r (k = 1, s = "it\'s")',
            'INSERT INTO "r_heap" ("k", "s") VALUES (1, \'it\'\'s\')',
        ),
        ("replace t (k = 2) where t.k = 1", 'UPDATE "r_heap" AS "t" SET "k" = 2 WHERE "t"."k" = 1'),
        ("delete t where t.k = 1", 'DELETE FROM "r_heap" AS "t" WHERE "t"."k" = 1'),
        ("create q (a = i4, b = c30)", 'CREATE TABLE "q_heap" ("a" INT, "b" CHAR(30))'),
        ("destroy q", 'DROP TABLE "q_heap"'),
    ],
)
def test_the_text_of_a_statement(text, expected):
    assert sql(text) == expected


@pytest.mark.parametrize("dialect", ["sqlite", "quel"])
def test_kinds_and_results(dialect):
    def kind(text):
        statement = translate(text, dialect, lambda name: name + "_x", lambda _: SCHEMA)
        return statement.kind, statement.result or statement.target

    assert kind("range of t is r retrieve (t.k)") == ("retrieve", None)
    assert kind("range of t is r retrieve into q (t.k)") == ("into", "q_x")
    assert kind("range of t is r delete t") == ("update", "r_x")
    assert kind("append to r (k = 1)") == ("update", "r_x")
    assert kind("create q (a = i4)") == ("definition", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retrieve (t.k) where t.s = 'a*'", 'retrieve (t.k) where t.s = "a*"'),
        (
            "retrieve into q (t.all, w.all)",
            "retrieve into q_heap (t.all, w_k = w.k, w_s = w.s)",
        ),
        ("append to r (k = 1)", "append to r_heap (k = 1)"),
        ("replace t (k = 2) where t.k = 1", "replace t (k = 2) where t.k = 1"),
        ("create nonclustered index on r (k)", "create nonclustered index on r_heap (k)"),
        ("destroy q, r", "destroy q_heap, r_heap"),
    ],
)
def test_an_engine_that_speaks_quel_is_reported_the_program(text, expected):
    ranges = "range of t is r_heap\nrange of w is r_heap\n"
    assert sql(text, "quel") == ranges + expected


def test_a_name_is_only_a_name():
    hostile = 'x"; DROP TABLE y; --'
    text = translate(
        "range of t is r retrieve (t.k)", "duckdb", lambda _: hostile, lambda _: SCHEMA
    ).text
    with pytest.raises(duckdb.CatalogException, match="DROP TABLE y"):
        duckdb.connect().execute(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("retrieve (t.nosuch)", "no attribute 'nosuch'"),
        ("retrieve (x.k)", "no range variable 'x'"),
        ("retrieve (a = t.k, a = 2)", "two results have the name 'a'"),
        ("retrieve (t.k) retrieve (t.k)", "2 statements"),
        ('retrieve (t.k) where t.k = "1"', "compared"),
        ("retrieve (x = nosuch(t.k))", "no function 'nosuch'"),
        ('retrieve (t.k) where t.s = "[ab"', "never closed"),
        ("append to r (nosuch = 1)", "no attribute 'nosuch'"),
        ("retrieve t.k", "line 1"),
    ],
)
def test_a_program_that_means_nothing(text, message):
    with pytest.raises(InputError, match=message):
        sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "modify r to hash on k",
        "create clustered index on r (k)",
        "delete t where t.k = min(w.k by w.s)",
    ],
)
def test_what_sql_has_no_word_for(text):
    with pytest.raises(UnsupportedError) as raised:
        sql(text)
    assert raised.value.hint


@pytest.mark.parametrize("dialect", ["oracle", ""])
def test_an_unknown_dialect(dialect):
    with pytest.raises(InputError, match="no translation"):
        sql("retrieve (t.k)", dialect)
