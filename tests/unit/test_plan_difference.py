"""Two plans are compared by their operators. The plans are those that DuckDB 1.1.0, 1.3.2, 1.4.0
and 2.0.0, SQLite 3.54, PostgreSQL 19 and lode wrote."""

import pytest

from loadstone.analysis.plans.difference import ORDER, compare, finds_alike
from loadstone.analysis.plans.operators import FOLDER, TOPICS, read, rules_of
from loadstone.engines.duckdb.plans import redrawn, written

BLOCKWISE = """UNGROUPED_AGGREGATE
  Aggregates: count_star(), sum(#0)
  PROJECTION ~20,000 rows
    Projections: v
    BLOCKWISE_NL_JOIN
      Join Type: RIGHT
      Condition: (even AND (k = k))
      SEQ_SCAN ~20,000 rows
        Text: r
        Projections: k, v
      SEQ_SCAN ~20,000 rows
        Text: l
        Projections: k, even"""
HASHED = (
    BLOCKWISE.replace("UNGROUPED_AGGREGATE", "UNGROUPED_AGGREGATE ~1 row")
    .replace("BLOCKWISE_NL_JOIN", "HASH_JOIN ~20,000 rows")
    .replace("Text: ", "Type: Sequential Scan\n        Table: memory.main.")
)
INLINED = """UNGROUPED_AGGREGATE
  Aggregates: count_star(), sum_no_overflow(#0)
  PROJECTION ~40,000 rows
    Projections: v
    UNION
      SEQ_SCAN ~20,000 rows
        Table: r
        Type: Sequential Scan
        Projections: v
      SEQ_SCAN ~20,000 rows
        Table: r
        Type: Sequential Scan
        Projections: v"""
MATERIALISED = """CTE ~1 row
  CTE Name: base
  Table Index: 0
  SEQ_SCAN ~20,000 rows
    Table: r
    Type: Sequential Scan
    Projections: k, v
  UNGROUPED_AGGREGATE
    Aggregates: count_star(), sum(#0)
    PROJECTION ~40,000 rows
      Projections: v
      UNION
        PROJECTION ~20,000 rows
          Projections: v
          CTE_SCAN ~20,000 rows
            CTE Index: 0
        PROJECTION ~20,000 rows
          Projections: v
          CTE_SCAN ~20,000 rows
            CTE Index: 0"""
ARMS = """COMPOUND QUERY
  LEFT-MOST SUBQUERY
    {first} geodetic USING INDEX geodetic_auth_code (auth=? AND code=?)
  UNION ALL
    {second}"""
SEARCHED = ARMS.format(
    first="SEARCH",
    second="SEARCH projected USING INDEX projected_auth_code (auth=? AND code=?)",
)
SCANNED = ARMS.format(first="SEARCH", second="SCAN projected")
CORRELATED = """SCAN l
CORRELATED SCALAR SUBQUERY 1
  SEARCH r USING INDEX r_k (k=?)"""
MERGED = """MERGE (UNION)
  LEFT
    SCAN a
    USE TEMP B-TREE FOR ORDER BY
  RIGHT
    SCAN b
    USE TEMP B-TREE FOR ORDER BY"""
NESTED_15 = """Aggregate  (cost=30052.00..30052.01 rows=1 width=8)
  ->  Nested Loop  (cost=0.00..30047.00 rows=2000 width=0)
        Join Filter: ((l.k = r.k) OR (l.k IS NULL))
        ->  Seq Scan on l  (cost=0.00..29.00 rows=2000 width=4)
        ->  Materialize  (cost=0.00..39.00 rows=2000 width=4)
              ->  Seq Scan on r  (cost=0.00..29.00 rows=2000 width=4)"""


def apart(engines: tuple[str, str], one: str, other: str) -> dict[str, tuple[object, object]]:
    found = compare(read(engines[0], one), read(engines[1], other))
    assert found.unread == ""
    return {each.topic: (each.one, each.other) for each in found.apart}


def test_a_nested_loop_is_told_from_a_hash_join() -> None:
    joins = {"joins": (("blockwise nested loop",), ("hash join",))}
    assert apart(("duckdb", "duckdb"), BLOCKWISE, HASHED) == joins
    found = compare(read("duckdb", BLOCKWISE), read("duckdb", HASHED))
    assert found.pairs and not found.is_same
    assert not compare(read("duckdb", HASHED), read("duckdb", BLOCKWISE)).pairs
    between = apart(("postgresql", "duckdb"), NESTED_15, HASHED)
    assert between == {"joins": (("nested loop",), ("hash join",))}


def test_a_materialised_cte_is_told_from_two_scans() -> None:
    found = apart(("duckdb", "duckdb"), INLINED, MATERIALISED)
    assert found["keeps"] == ((), ("materialised CTE",))


def test_a_filter_in_another_place_is_no_other_way() -> None:
    scan = "SEQ_SCAN ~9 rows\n  Table: t"
    filtered = "FILTER ~9 rows\n  SEQ_SCAN ~9 rows\n    Table: t"
    between = compare(read("duckdb", scan), read("duckdb", filtered))
    assert between.apart and not between.is_another_way
    assert compare(read("duckdb", INLINED), read("duckdb", MATERIALISED)).is_another_way


def test_a_search_is_told_from_a_scan() -> None:
    found = apart(("sqlite", "sqlite"), SEARCHED, SCANNED)
    assert found["reads"][1] == ("full scan of projected",)


def test_an_index_of_fewer_columns_and_another_order_are_differences() -> None:
    fewer = "SEARCH m USING INDEX m_parent (room=?)"
    assert apart(("sqlite", "sqlite"), fewer.replace("=?", "=? AND parent=?"), fewer)
    two = "SCAN a\nSEARCH b USING INDEX i (k=?)"
    turned = "SCAN b\nSEARCH a USING INDEX i (k=?)"
    assert set(apart(("sqlite", "sqlite"), two, turned)) == {"reads"}
    scans = "SCAN a\nSCAN b", "SCAN b\nSCAN a"
    assert set(apart(("sqlite", "sqlite"), *scans)) == {ORDER}


def test_equal_plans_are_the_same_and_costs_are_no_part_of_them() -> None:
    dearer = NESTED_15.replace("30052", "99999").replace("rows=2000", "rows=9")
    assert compare(read("postgresql", NESTED_15), read("postgresql", dearer)).is_same


@pytest.mark.parametrize(
    ("engine", "plan", "named"),
    [("sqlite", "SCAN a\nFLY OVER b", "FLY OVER b"), ("unheard", "Seq Scan", "unheard"),
     ("duckdb", "", "duckdb")],
)  # fmt: skip
def test_a_plan_that_is_not_known_whole_is_not_compared(engine: str, plan: str, named: str) -> None:
    found = compare(read(engine, plan), read("sqlite", "SCAN a"))
    assert not found.is_same and not found.apart and named in found.unread
    assert named in found.words()


@pytest.mark.parametrize(("plan", "rows"), [(BLOCKWISE, None), (HASHED, 1), (MATERIALISED, None)])
def test_an_operator_that_prints_no_estimate_has_not_that_of_its_input(
    plan: str, rows: int | None
) -> None:
    assert read("duckdb", plan).rows_expected == rows


def test_a_correlated_subquery_and_the_arms_of_a_union_are_no_join() -> None:
    for plan in (CORRELATED, MERGED, SEARCHED, "SCAN a\n\nSCAN b"):
        assert not any(one.topic == "joins" for one in read("sqlite", plan).operators), plan
    assert "correlated subquery" in read("sqlite", CORRELATED).kinds


def test_pairs_are_looked_at_only_where_both_sides_have_rows() -> None:
    assert read("sqlite", "SCAN a\nSCAN b").pair_joins == ("nested loop",)
    assert not read("sqlite", "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)\nSCAN b").pair_joins
    assert read("postgresql", NESTED_15).pair_joins
    assert not read("sqlite", "SCAN t\nSCAN json_each VIRTUAL TABLE INDEX 1:").pair_joins
    one_row = NESTED_15.replace("29.00 rows=2000", "29.00 rows=1", 1)
    assert not read("postgresql", one_row).pair_joins


def test_an_index_on_the_inner_side_is_named() -> None:
    inner = """Nested Loop  (cost=0.28..9.00 rows=20 width=8)
  ->  Seq Scan on l  (cost=0.00..2.00 rows=20 width=4)
  ->  Index Scan using p_pkey on p  (cost=0.28..0.30 rows=1 width=8)
        Index Cond: (id = l.k)"""
    kinds = [each.kind for each in read("postgresql", inner).operators]
    assert kinds == ["nested loop over an index", "full scan", "index search"]


@pytest.mark.parametrize(
    ("plan", "kinds"),
    [
        ("1. scan a is t\n   loop scan b is s\n   where a.u = b.u\n   store temp (16 of a)"
         " (about 10 rows)", {"nested loop"}),
        ("1. scan a is t\n   loop look-up b is s by clustered u = a.u\n   rows (a.u)"
         " (about 1 rows)", {"nested loop over an index"}),
        ("1. reformat: scan a is t\n   build table 0 by a.u (16 of a) (about 9 rows)\n"
         "2. substitute: scan a is s\n   probe b is table 0 by a.u\n   rows (a.u) (about 1 rows)",
         {"tuple substitution", "hash join"}),
        ("3. merge a is temporary 0 by a.u with b is temporary 1 by b.u\n   rows (a.u)"
         " (about 1 rows)", {"merge join"}),
        ("1. scan a is t\n   sort temporary 0 by a.h (a.h) (about 9 rows)\n"
         "2. scan a is temporary 0\n   aggregation 0 by a.h (a.h) (about 9 rows)",
         {"sorted rows", "sort"}),
        ("1. scan a is t\n   aggregation 0 by a.h (a.f) (about 9 rows)", {"hash table"}),
        ("1. scan a is t\n   distinct b is (a.h)\n   store temp (b.h) (about 9 rows)",
         {"hash table"}),
    ],
)  # fmt: skip
def test_plans_of_lode_are_read(plan: str, kinds: set[str]) -> None:
    found = read("lode", plan)
    compared = {one.kind for one in found.operators if one.topic not in ("", "reads")}
    assert (found.unread, compared) == ("", kinds)


def test_what_a_join_reads_on_its_own_line_is_read() -> None:
    looped = "1. scan a is t\n   loop look-up b is s by hash k = a.k\n   rows (a.k) (about 1 rows)"
    searched = "SCAN t\nSEARCH s USING INDEX i (k=?)"
    assert apart(("lode", "sqlite"), looped, searched) == {}
    assert {"full scan", "hash join"} == read("turso", "HASH JOIN b").kinds


def test_what_an_engine_does_not_write_is_no_difference() -> None:
    windowed = "WINDOW ~9 rows\n  SEQ_SCAN ~9 rows\n    Table: r"
    sorted_first = "CO-ROUTINE (subquery-2)\n  SCAN r\n  USE TEMP B-TREE FOR ORDER BY"
    assert apart(("duckdb", "sqlite"), windowed, sorted_first) == {}
    # A maximum that no index has is called a search, too.
    scan = "Aggregate  (cost=1.00..2.00 rows=1 width=4)\n  ->  Seq Scan on r  (cost=0.00..1.00"
    assert apart(("sqlite", "postgresql"), "SEARCH r", f"{scan} rows=9 width=4)") == {}


def test_a_statement_and_the_count_of_its_rows_are_found_alike_or_not() -> None:
    assert finds_alike("sqlite", "SCAN t", "SCAN t")
    assert finds_alike("sqlite", "SCAN t", "SCAN t USING COVERING INDEX i") is False
    assert finds_alike("sqlite", "", "SCAN t") is None
    written_down = "CREATE_TABLE_AS\n  SEQ_SCAN ~9 rows\n    Table: t"
    counted = "UNGROUPED_AGGREGATE\n  SEQ_SCAN ~9 rows\n    Table: t"
    assert finds_alike("duckdb", written_down, counted)


def test_json_of_duckdb_becomes_a_line_for_each_operator() -> None:
    scan = '{"name": "SEQ_SCAN ", "children": [], "extra_info": {"Table": "t",'
    scan += ' "Projections": ["a", "b\\nc"], "Estimated Cardinality": "1"}}'
    text = f'[{{"name": "FILTER", "children": [{scan}], "extra_info": {{}}}}]'
    assert written(text) == "FILTER\n  SEQ_SCAN ~1 row\n    Table: t\n    Projections: a, b c"


DRAWN = """
┌───────────────────────────┐
│      UNGROUPED_AGGREGATE  │
│   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─   │
│        count_star()       │
└─────────────┬─────────────┘
┌─────────────┴─────────────┐
│     BLOCKWISE_NL_JOIN     │
│   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─   │
│           INNER           ├──────────────┐
│          (k = k)          │              │
└─────────────┬─────────────┘              │
┌─────────────┴─────────────┐┌─────────────┴─────────────┐
│         SEQ_SCAN          ││         SEQ_SCAN          │
│   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─   ││   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─   │
│             r             ││             l             │
│   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─   ││   ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─   │
│         EC: 20000         ││          EC: 300          │
└───────────────────────────┘└───────────────────────────┘
"""


def test_a_drawing_of_an_older_duckdb_is_read_box_by_box() -> None:
    """Of 1.0.0, which has no other form."""
    plan = read("duckdb", redrawn(DRAWN))
    assert [(one.kind, one.target, one.rows) for one in plan.operators] == [
        ("aggregate without groups", "", None),
        ("blockwise nested loop", "", None),
        ("table scan", "r", 20000),
        ("table scan", "l", 300),
    ]
    assert plan.unread == "" and plan.pair_joins and redrawn("") == redrawn("none") == ""


def test_every_engine_that_has_plans_has_rules_and_topics_that_exist() -> None:
    engines = {path.parent.name for path in FOLDER.glob("*/operators.toml")}
    assert engines >= {
        "sqlite", "duckdb", "postgresql", "mariadb", "turso", "chdb", "spark", "lode"
    }  # fmt: skip
    for engine in engines:
        rules = rules_of(engine)
        assert rules is not None and rules.unwritten <= set(TOPICS)


@pytest.mark.parametrize(
    ("engine", "plan", "kinds"),
    [
        ("mariadb", "id=1 select_type=PRIMARY table=l type=ALL rows=9\n"
         "id=2 select_type=DEPENDENT SUBQUERY table=r type=ref key=rk key_len=9 ref=l.k rows=1",
         ["full scan", "correlated subquery", "index search"]),
        ("mariadb", "id=1 select_type=SIMPLE table=l type=ALL rows=9\n"
         "id=1 select_type=SIMPLE table=r type=hash_ALL key=#hash#$hj key_len=9 ref=l.k rows=9"
         " Extra=Using where; Using join buffer (flat, BNLH join)",
         ["full scan", "full scan", "hash join"]),
        ("mariadb", "id=1 select_type=SIMPLE table=l type=ALL rows=9\n"
         "id=1 select_type=SIMPLE table=p type=eq_ref key=PRIMARY key_len=4 ref=l.k rows=1",
         ["full scan", "nested loop over an index", "index search"]),
        ("chdb", "Output: count()\n\nAggregating\n│  Keys:\n└──Join (JOIN FillRightFirst)\n"
         "   │  Type: inner | Strictness: all | Algorithm: SpillingHashJoin(HashJoin)\n"
         "   ├──ReadFromMergeTree (d.l)\n   └──ReadFromMergeTree (d.r)",
         ["aggregate", "hash join", "table scan", "table scan"]),
        ("spark", "== Physical Plan ==\nAdaptiveSparkPlan (4)\n"
         "+- BroadcastNestedLoopJoin Inner BuildLeft (3)\n   :- BroadcastExchange (2)\n"
         "   :  +- Scan parquet  (1)\n   +- Scan parquet  (4)\n\n\n(1) Scan parquet \nOutput: []",
         ["nested loop", "exchange", "table scan", "table scan"]),
    ],
)  # fmt: skip
def test_plans_of_engines_that_are_not_installed_everywhere_are_read(
    engine: str, plan: str, kinds: list[str]
) -> None:
    """As MariaDB 10.11, chDB 26.9 and Spark 4.0 wrote them."""
    found = read(engine, plan)
    assert (found.unread, [one.kind for one in found.operators]) == ("", kinds)
