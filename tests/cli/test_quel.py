"""`loadstone quel` and `loadstone benchmarks`: what they show, and how they refuse."""

import pytest
from typer.testing import CliRunner

from loadstone.cli import app
from loadstone.errors import InputError

SELECT = "range of t is tenktup1 retrieve (t.unique1) where t.unique2 < 100"


def shown(*arguments, stdin=None):
    result = CliRunner().invoke(app, list(arguments), input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert isinstance(result.exception, InputError), result.output
    return result.exception


def test_a_program_is_shown_from_tree_to_answer():
    text = shown("quel", SELECT, "--on", "sqlite")
    parts = [text.index(part) for part in ("program\n", "\nQUEL\n", "\nSQL for sqlite", "\nAnswer")]
    assert parts == sorted(parts)
    assert 'SELECT "t"."unique1" FROM "tenktup1" AS "t" WHERE "t"."unique2" < 100' in text
    assert "100 rows, checksum " in text


def test_stdin_and_file_give_the_same(tmp_path):
    file = tmp_path / "select.quel"
    file.write_text(SELECT, encoding="utf-8")
    by_argument = shown("quel", SELECT, "--on", "sqlite")
    assert shown("quel", "-", "--on", "sqlite", stdin=SELECT) == by_argument
    assert shown("quel", "--file", str(file), "--on", "sqlite") == by_argument


def test_the_engines_asked_for_are_shown_and_no_other():
    text = shown("quel", SELECT, "--on", "duckdb", "--on", "sqlite")
    assert [line for line in text.splitlines() if line.startswith("SQL for")] == [
        "SQL for duckdb",
        "SQL for sqlite",
    ]


def test_scale_and_edition_choose_the_relations():
    assert "50 rows" in shown("quel", SELECT.replace("100", "50"), "--rows", "1k", "--on", "sqlite")
    assert "at n = 1,000" in shown("quel", SELECT, "--rows", "1k", "--on", "sqlite")
    old = SELECT.replace("tenktup1", "tenthoustup")
    assert "100 rows" in shown("quel", old, "--edition", "1983", "--on", "sqlite")


def test_an_update_reports_what_it_changes():
    text = shown("quel", "range of t is tenktup1 delete t where t.unique1 = 5", "--on", "sqlite")
    assert "1 tuple changed" in text


def test_a_definition_has_no_answer():
    text = shown("quel", "modify tenktup1 to hash on unique2", "--on", "sqlite")
    assert "-- none: SQL has no statement for `modify`" in text
    assert "none: the program has no retrieve or update" in text


@pytest.mark.parametrize(
    ("benchmark", "text", "edition"),
    [
        ("ingres", "range of p is parts retrieve (p.pnum)", "1981 at n = 3,360"),
        ("oo1", "range of p is part retrieve (p.id)", "1992 at n = 20,000"),
        ("idm", "retrieve (x = 1)", "1986 at n = 10,000"),
    ],
)
def test_every_benchmark_has_an_edition_and_a_scale_of_its_own_by_default(benchmark, text, edition):
    assert f"Answer of {benchmark} {edition}" in shown("quel", text, "--benchmark", benchmark)


def test_a_mistake_keeps_its_line_and_caret():
    error = refused("quel", "range of t is tenktup1 retreive (t.all)")
    assert "^^^^^^^^" in error.message
    assert "line 1, column 24" in error.message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one program"),
        ((SELECT, "--file", "x"), "give one program"),
        ((SELECT, "--edition", "1990"), "1990; there is: wisconsin 1983, wisconsin 1993"),
        ((SELECT, "--on", "nosuch"), "no engine 'nosuch'"),
        ((SELECT, "--rows", "many"), "not a whole number"),
        ((SELECT.replace("tenktup1", "nosuch"),), "no relation"),
    ],
)
def test_a_wrong_argument(arguments, message):
    assert message in refused("quel", *arguments).message


def test_benchmarks_are_listed():
    text = shown("benchmarks")
    assert "wisconsin" in text
    assert "1993 (default)" in text


def test_operations_are_listed_under_their_whole_names():
    text = shown("benchmarks", "wisconsin", "--edition", "1993")
    for name in ("select-1%-heap", "join-AselB-nonclustered-literal", "modify-nonkey-indexed"):
        assert name in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nosuch",), "no benchmark 'nosuch'"),
        (("wisconsin", "--edition", "77"), "no edition '77'"),
        (("--edition", "1993"), "needs a benchmark"),
    ],
)
def test_a_benchmark_that_is_not_there(arguments, message):
    assert message in refused("benchmarks", *arguments).message
