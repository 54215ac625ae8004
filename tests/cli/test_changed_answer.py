"""A release or a switch that changes an answer is told first, with both answers and a code of its
own; and it is never a gain. DuckDB's `integer_division` is such a switch in every release."""

import json

import pytest
from desk import Desk

HALF = """
[[statement]]
name = "half"
dialect = "duckdb"
sql = "SELECT 7 / 2 AS h"
text.sqlite = "SELECT 3.5 AS h"
text.postgresql = "SELECT 3.5 AS h"
"""
PLAIN, SWITCHED = "duckdb", "duckdb?set.integer_division=true"
WARM = ("--temperature", "warm", "--repeat", "6", "--repeat-seconds", "0.1", "--no-overhead")


@pytest.fixture
def half(desk: Desk) -> Desk:
    folder = desk.folder / "half"
    folder.mkdir()
    (folder / "workload.toml").write_text(HALF, encoding="utf-8")
    return desk


def first_sentence(text: str) -> str:
    return " ".join(text.split()).partition("./half")[0]


@pytest.mark.slow
def test_a_switch_that_changes_the_answer_is_told_first_and_nobody_is_called_right(half) -> None:
    ran = half.run(
        "run", "./half", "--on", PLAIN, "--on", SWITCHED, *WARM, "--record", "r.loadstone"
    )
    assert ran.returncode == 11, ran.stderr
    told = first_sentence(ran.stdout)
    assert all(part in told for part in ("set.integer_division", "(3.5)", "(3)", "nobody can tell"))
    (run,) = (json.loads(half.run("report", "r.loadstone", "--format", "json").stdout),)
    (changed,) = run["changed_answers"]
    assert (changed["one"]["first_rows"], changed["other"]["first_rows"]) == (["(3.5)"], ["(3)"])
    assert changed["expected"] == ""
    # Two others beside it agree, and are named: no report calls an answer right by that.
    ran = half.run("run", "./half", "--on", SWITCHED, "--on", PLAIN, "--on", "sqlite", *WARM)
    assert ran.returncode == 11 and "nobody can tell" in first_sentence(ran.stdout)
    ran = half.run("run", "./half", "--on", SWITCHED, "--on", PLAIN, "--on", "sqlite", "--on",
                   "postgresql", *WARM)  # fmt: skip
    if ran.returncode != 3:
        assert ran.returncode == 11
        assert f"the answer of {PLAIN} is that of sqlite and postgresql" in first_sentence(
            ran.stdout
        )


@pytest.mark.slow
def test_the_engine_of_the_dialect_tells_which_answer_to_a_translation_is_right(
    desk: Desk,
) -> None:
    order = "duckdb?set.default_null_order=nulls_first"
    text = "SELECT x FROM (SELECT 1 AS x UNION ALL SELECT NULL) AS t ORDER BY x DESC"
    ran = desk.run("run", "--sql", text, "--dialect", "sqlite", "--on", "sqlite", "--on", PLAIN,
                   "--on", order, *WARM)  # fmt: skip
    assert ran.returncode == 11, ran.stdout
    told = " ".join(ran.stdout.split())
    assert "the answer changes with set.default_null_order" in told
    assert f"the answer of {PLAIN} is that of sqlite" in told and "nobody" not in told


@pytest.mark.slow
def test_a_comparison_and_a_study_tell_it_and_report_no_gain(half) -> None:
    compared = half.run("ab", "./half", "--before", PLAIN, "--after", SWITCHED, "--format", "json",
                        "--temperature", "warm", "--repeat-seconds", "0.1",
                        "--record", "ab.loadstone")  # fmt: skip
    assert compared.returncode == 11, compared.stderr
    found = json.loads(compared.stdout)["chapters"][0] if "chapters" in compared.stdout else None
    found = found or json.loads(compared.stdout)
    assert found["outcome"] == "answer changed" and not found["matches"][0]["pairs"]
    again = half.run("compare", "ab.loadstone", "--variants", PLAIN, SWITCHED,
                     "--across", "set.integer_division")  # fmt: skip
    assert again.returncode == 11 and "the answer changes" in again.stdout.splitlines()[0]
    studied = half.run("study", "./half", "--on", PLAIN, "--vary",
                       "set.integer_division=false,true", "--seconds", "1",
                       "--record", "s.loadstone")  # fmt: skip
    assert studied.returncode == 11, studied.stderr
    assert "set.integer_division" in first_sentence(studied.stdout)
    report = json.loads(half.run("report", "s.loadstone", "--format", "json").stdout)
    (operation,) = report["study"]["operations"]
    assert all(each["alone"] is None and each["last"] is None for each in operation["switches"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "switch", "code"),
    [
        # Any three rows may be taken, so other ones are no other answer.
        ("SELECT x FROM t LIMIT 3", "sqlite?set.reverse_unordered_selects=on", 5),
        # 4 and 4.0 are one value.
        ("SELECT sum(x) / 5 AS m FROM t", "duckdb?set.integer_division=true", 5),
        ("SELECT x / 5 AS m, x FROM t ORDER BY x LIMIT 3", "duckdb?set.integer_division=true", 11),
    ],
)
def test_two_records_tell_a_changed_value_and_nothing_that_the_query_leaves_open(
    desk: Desk, text: str, switch: str, code: int
) -> None:
    (desk.folder / "t.csv").write_text("x\n1\n3\n7\n9\n", encoding="utf-8")
    plain = switch.partition("?")[0]
    for variant, record in ((plain, "a.loadstone"), (switch, "b.loadstone")):
        desk.run("run", "--sql", text, "--data", "t.csv", "--on", variant, *WARM,
                 "--record", record)  # fmt: skip
    ran = desk.run("compare", "a.loadstone", "b.loadstone", "--variants", plain, switch)
    assert ran.returncode == code, ran.stdout
    assert ("the answer changes" in ran.stdout) is (code == 11)


@pytest.mark.slow
def test_two_records_tell_an_answer_that_differs_from_the_stored_one_in_a_later_row(
    desk: Desk,
) -> None:
    folder = desk.folder / "half"
    folder.mkdir()
    rows = "SELECT x / 2 AS h FROM (VALUES (2), (4), (6), (8), (10), (12), (13)) AS t(x) ORDER BY x"
    text = f"[[statement]]\nname = 'half'\ndialect = 'duckdb'\nsql = '{rows}'\n"
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    desk.run("run", "./half", "--on", PLAIN, *WARM, "--record", "first.loadstone")
    desk.run("bless", "first.loadstone")
    for variant, record in ((PLAIN, "a.loadstone"), (SWITCHED, "b.loadstone")):
        desk.run("run", "./half", "--on", variant, *WARM, "--record", record)
    ran = desk.run("compare", "a.loadstone", "b.loadstone", "--variants", PLAIN, SWITCHED)
    assert ran.returncode == 11, ran.stdout
    assert f"the answer of {PLAIN} is the stored one" in " ".join(ran.stdout.split())
