"""`sysbench:NAME` and `pgbench:NAME`: the tables and statements of their documents."""

import re

import pytest

from loadstone.errors import InputError
from loadstone.plan.choices import Choices
from loadstone.run.planned import plan_from
from loadstone.workload.known import entries_of
from loadstone.workload.pgbench import BUILT_IN
from loadstone.workload.reading import known_to_all
from loadstone.workload.script import split

SCRIPTS = ("oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only",
           "oltp_update_index", "oltp_update_non_index", "oltp_insert")  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_statement_over_sysbenchs_table(name: str) -> None:
    found = known_to_all(f"sysbench:{name}", 500)
    (table,) = found.tables
    assert [(column.name, column.type) for column in table.columns] == [
        ("id", "int4"), ("k", "int4"), ("c", "text"), ("pad", "text")
    ]  # fmt: skip
    assert (table.rows, table.primary_key, table.indexes) == (500, ("id",), (("k",),))
    (statement,) = found.statements
    assert (statement.name, len(statement.texts), len(statement.drawn)) == (name, 10, 1)
    assert statement.script == (name != "oltp_point_select")
    changes = name not in ("oltp_point_select", "oltp_read_only")
    assert bool(statement.same or statement.grows) == changes


def test_a_transaction_has_the_statements_that_sysbench_sends() -> None:
    (statement,) = known_to_all("sysbench:oltp_read_write", 500).statements
    sent = split(statement.texts[0], "", "w")
    kinds = [re.sub(r"[0-9]+|'[^']*'", "N", one) for one in sent]
    assert kinds[0] == "BEGIN" and kinds[-1] == "COMMIT"
    assert kinds[1:11] == ["SELECT c FROM sbtestN WHERE id = N"] * 10
    assert len({*sent[1:11]}) > 5
    assert [one.split()[0] for one in kinds[11:-1]] == [
        "SELECT", "SELECT", "SELECT", "SELECT", "UPDATE", "UPDATE", "DELETE", "INSERT"
    ]  # fmt: skip
    deleted, inserted = sent[-3:-1]
    assert re.findall(r"id = (\d+)", deleted)[0] == re.findall(r"VALUES \((\d+)", inserted)[0]
    assert re.search(r"'(\d{11}-){9}\d{11}'", inserted)


@pytest.mark.parametrize("name", BUILT_IN)
def test_pgbenchs_scripts_have_its_tables_at_their_scale(name: str) -> None:
    entries = entries_of(f"pgbench:{name}", 300_000)
    assert [*entries["data"]] == [
        "pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history"
    ]  # fmt: skip
    assert entries["statement"][0]["scale"] == 3


@pytest.mark.parametrize(
    ("choices", "words", "hint"),
    [
        ({"benchmark": "sysbench:oltp_read_wirte"}, "no 'oltp_read_wirte'",
         "did you mean sysbench:oltp_read_write?"),
        ({"benchmark": "sysbench:"}, "no ''", "there are: oltp_point_select"),
        ({"benchmark": "pgbench:select-only", "rows": (5,)}, "no multiple", "--rows 100000"),
        ({"benchmark": "sysbench:oltp_insert", "rows": (5, 6)}, "one scale", "--rows once"),
        ({"benchmark": "sysbanch:oltp_insert"}, "there is no workload", "sysbench:"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_met_with_the_right_one(choices: dict, words: str, hint: str) -> None:
    with pytest.raises(InputError) as refused:
        plan_from({"on": ("sqlite",)} | choices, None)
    assert words in refused.value.message
    assert hint in refused.value.hint


def test_the_default_is_theirs() -> None:
    assert Choices().rows is None
    assert known_to_all("sysbench:oltp_point_select", None).rows == 10_000


@pytest.mark.slow
def test_the_printed_number_of_rows_makes_the_same_plan() -> None:
    plan = plan_from({"benchmark": "pgbench:select-only", "on": ("sqlite",), "rows": (100_000,)},
                     None).plan  # fmt: skip
    assert plan.rows == (100_011,)
    again = plan_from({"benchmark": plan.benchmark, "on": ("sqlite",), "rows": plan.rows}, None)
    assert again.plan.hash == plan.hash
