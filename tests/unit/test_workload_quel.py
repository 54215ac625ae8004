"""A statement in QUEL: each dialect's own translation, lode's text as it is written, and drawn
values at their places in all of them."""

from pathlib import Path

import pytest

from loadstone.errors import InputError
from loadstone.plan.workload import WorkloadStatement
from loadstone.planning.tables import relations, stored
from loadstone.registry import load_engine
from loadstone.run.planned import plan_from
from loadstone.workload.parameters import filled
from loadstone.workload.reading import read_workload

TABLES = """
[data.customer]
sql = "SELECT i::INTEGER AS id, 'n' || i AS name FROM range(20) AS t(i)"
primary_key = "id"
"""
ONE = """
[[statement]]
name = "one"
quel = 'range of c is customer retrieve (c.name, n = c.id / 2) where c.id > :id and c.name != :name'
parameters.id = { uniform = [-9, 9] }
parameters.name = { list = ["n3", "it's", 'a "b" \\\\c'] }
"""


def statements(place: Path, text: str) -> tuple[WorkloadStatement, ...]:
    (place / "workload.toml").write_text(text, encoding="utf-8")
    return read_workload(str(place)).statements


def test_each_dialect_has_its_translation_and_lode_the_text(tmp_path: Path) -> None:
    (one,) = statements(tmp_path, TABLES + ONE)
    assert one.dialect == "duckdb"
    assert [own.dialect for own in one.own] == [
        "sqlite", "postgres", "spark", "mysql", "clickhouse", "quel"
    ]  # fmt: skip
    texts = {
        name: one.texts_for(name)[1][0]
        for name in ("sqlite", "duckdb", "postgres", "mysql", "quel")
    }
    assert texts["quel"].startswith("range of c is customer retrieve (c.name")
    assert "//" in texts["duckdb"] or "TRUNC" in texts["duckdb"].upper()
    assert len({*texts.values()}) == 5


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "quel"])
def test_what_users_draw_is_what_would_be_translated(tmp_path: Path, dialect: str) -> None:
    (one,) = statements(tmp_path, TABLES + ONE)
    (drawn,) = one.drawn_for(dialect)
    assert filled(drawn.text, dialect, drawn.draws, 10, "w") == one.texts_for(dialect)[1]


@pytest.mark.parametrize(
    ("quel", "words"),
    [
        ("retrieve (x.id)", "x"),
        ("range of c is nobody retrieve (c.id)", "no table nobody"),
        ("range of c is customer retrieve (c.city)", "no attribute 'city'"),
        ("range of c is customer delete c", "not one `retrieve`"),
        ("range of c is customer retrieve into t (c.id) retrieve (c.id)", "not one `retrieve`"),
        ("SELECT 1", "statement one"),
    ],
)
def test_what_is_no_query_of_quel_is_refused(tmp_path: Path, quel: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        statements(tmp_path, f"{TABLES}[[statement]]\nname = 'one'\nquel = '''{quel}'''")
    assert words in refused.value.message


def test_it_has_no_other_text_beside_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has sql beside a text in QUEL"):
        statements(tmp_path, f"{TABLES}{ONE}\nsql = 'SELECT 1'")


@pytest.mark.parametrize(
    ("made", "gap"),
    [("i::INTEGER AS id", ""), ("i::DECIMAL(9,2) AS id", "no column of type decimal(9,2)")],
)
def test_lode_has_a_gap_where_it_has_no_such_column(tmp_path: Path, made: str, gap: str) -> None:
    statement = "[[statement]]\nname = 'a'\nquel = 'range of t is t retrieve (t.id)'\n"
    other = "[[statement]]\nname = 'b'\nsql = 'SELECT id FROM t'\n"
    tables = f'[data.t]\nsql = "SELECT {made} FROM range(3) AS r(i)"\n'
    (tmp_path / "workload.toml").write_text(tables + statement + other, encoding="utf-8")
    planned = plan_from(
        {"benchmark": str(tmp_path), "on": ("lode", "sqlite"), "temperature": ("warm",)}, None
    )
    gaps = {cell.operation: cell.gap for cell in planned.plan.cells if cell.variant == "lode"}
    assert gaps["b"] == "lode executes QUEL: it has no SQL"
    assert gap in gaps["a"] and bool(gap) == bool(gaps["a"])


def test_lode_has_a_statement_beside_a_table_that_it_cannot_hold(tmp_path: Path) -> None:
    (tmp_path / "workload.toml").write_text(
        '[data.t]\nsql = "SELECT i::INTEGER AS id FROM range(3) AS r(i)"\n'
        '[data.u]\nsql = "SELECT i::DECIMAL(9,2) AS id FROM range(3) AS r(i)"\n'
        "[[statement]]\nname = 'a'\nquel = 'range of t is t retrieve (t.id)'\n"
        "[[statement]]\nname = 'b'\nquel = 'range of t is t range of u is u retrieve (t.id)'\n",
        encoding="utf-8",
    )
    on = {"benchmark": str(tmp_path), "on": ("lode", "sqlite"), "temperature": ("warm",)}
    planned = plan_from(on, None)
    plan, benchmark = planned.plan, planned.benchmark
    gaps = {cell.operation: cell.gap for cell in plan.cells if cell.variant == "lode"}
    assert gaps == {"a": "", "b": "it has no column of type decimal(9,2), as u.id is"}
    (stage,) = benchmark.stages(plan.edition)
    loaded = {
        name: relations(stored(benchmark, plan, 6, stage, name, load_engine(name).capabilities))
        for name in ("lode", "sqlite")
    }
    assert loaded == {"lode": ["t"], "sqlite": ["t", "u"]}
