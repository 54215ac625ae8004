"""Every line of a plan that an engine writes is known, and its operators are called by their names:
else two plans could not be compared."""

from collections.abc import Iterator

import pytest
from engine_kinds import MakeEngine, with_spark
from samples import rows, said, stream, table

from loadstone.analysis.plans.operators import QUADRATIC, read
from loadstone.engines.base import Engine

TABLES = (
    "CREATE TABLE l AS SELECT 1 AS k, 1 AS even, '1' AS s",
    "CREATE TABLE r AS SELECT 1 AS k, 10 AS v, 2 AS g, '1' AS s",
)
EQUAL = "SELECT count(*) AS n FROM l JOIN r ON l.k = r.k"
EITHER = "SELECT count(*) AS n FROM l JOIN r ON l.k = r.k OR l.even = r.g"
GROUPED = "SELECT s, count(*) AS n FROM r GROUP BY s"
ORDERED = "SELECT s FROM r ORDER BY v, s"
CORRELATED = "SELECT k, (SELECT max(v) FROM r WHERE r.k = l.k) AS m FROM l"
WHOLE = "SELECT count(*) AS n, sum(v) AS s FROM r"
STATEMENTS = (
    EQUAL, EITHER, GROUPED, ORDERED, CORRELATED, WHOLE,
    "SELECT * FROM r", "SELECT * FROM r WHERE v > 3 LIMIT 2", "SELECT DISTINCT s FROM r",
    "SELECT count(DISTINCT s) AS n FROM r", "SELECT s FROM r ORDER BY v LIMIT 3",
    "SELECT count(*) AS n FROM l LEFT JOIN r ON l.k = r.k AND l.even = 1",
    "SELECT count(*) AS n FROM l, r WHERE l.k < r.k",
    "SELECT count(*) AS n FROM l, r",
    "SELECT k FROM l UNION ALL SELECT k FROM r", "SELECT k FROM l UNION SELECT k FROM r",
    "SELECT k FROM l WHERE k IN (SELECT k FROM r)", "SELECT k FROM l WHERE k IN (1, 2, 3)",
    "SELECT k FROM l WHERE k NOT IN (SELECT k FROM r)",
    "SELECT k FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k)",
    "SELECT k FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.v > 3)",
    "SELECT k FROM l WHERE k = (SELECT max(k) FROM r)",
    "WITH b AS (SELECT k, v FROM r) SELECT count(*) AS n FROM b AS x JOIN b AS y ON x.k = y.v",
    "SELECT g, n FROM (SELECT g, count(*) AS n FROM r GROUP BY g) AS x JOIN l ON l.k = x.g",
    "SELECT v, row_number() OVER (PARTITION BY g ORDER BY v) AS n FROM r",
    "SELECT g, max(v) AS m FROM r GROUP BY g HAVING max(v) > 3 ORDER BY m", "SELECT 1 AS one",
)  # fmt: skip
HASH = {"hash join"}
NESTED = set(QUADRATIC)
JOINED: dict[str, tuple[set[str], set[str]]] = {
    "sqlite": ({"nested loop over an index made for it"}, NESTED),
    "duckdb": (HASH, NESTED),
    "postgresql": ({*HASH, "merge join"}, NESTED),
    "turso": ({*HASH, "automatic index search"}, {"full scan"}),
    "mariadb": ({*HASH, *NESTED}, NESTED),
    "spark": ({*HASH, "merge join"}, {"nested loop"}),
    "chdb": ({"hash join", "join"}, {"hash join", "join"}),
}
"""How each joins by equal values, and by a condition that is none of equal values."""


@pytest.fixture(params=[one for one in with_spark() if one != "lode"])
def filled(request: pytest.FixtureRequest, resting: dict[str, Engine]) -> Iterator[Engine]:
    engine = resting[request.param]
    engine.start()
    for statement in TABLES:
        engine.run(statement)
    yield engine
    for name in ("l", "r"):
        engine.drop(name)


def test_every_line_of_a_plan_is_known(filled: Engine) -> None:
    for statement in STATEMENTS:
        plan = filled.explain(statement)
        found = read(filled.name, plan)
        assert found.unread == "", f"{statement}\n{plan}"
        assert found.operators, f"{statement}\n{plan}"


def test_operators_have_their_names(filled: Engine) -> None:
    def kinds(statement: str) -> frozenset[str]:
        return read(filled.name, filled.explain(statement)).kinds

    equal, either = JOINED[filled.name]
    assert kinds(EQUAL) & equal
    assert kinds(EITHER) & either
    assert not kinds(WHOLE) & {*HASH, *NESTED, "sort"}
    assert not kinds(CORRELATED) & NESTED, "a correlated subquery is no join"
    assert "sort" in kinds(ORDERED)


def test_an_estimate_is_of_its_own_operator(filled: Engine) -> None:
    expected = read(filled.name, filled.explain(WHOLE)).rows_expected
    assert expected in (None, 1), "its answer has one row"


PROGRAMS = {
    "range of a is t range of b is s retrieve (x = count(a.unique1 where a.unique1 = b.big))": {
        "hash join",
        "nested loop",
        "merge join",
    },
    "range of a is t retrieve (a.string, x = sum(a.unique1 by a.string))": {
        "hash table",
        "sorted rows",
    },
    "range of a is t retrieve unique (a.string)": {"hash table", "sorted rows"},
    "range of a is t retrieve (x = max(a.unique1))": {"aggregate without groups"},
    "range of a is t retrieve into made (a.all) where a.unique1 = 3": {"full scan"},
    "range of a is t delete a where a.unique1 = 3": {"full scan"},
    "range of a is t replace a (big = 1) where a.unique1 < 3": {"full scan"},
}
"""QUEL -> the operators of which lode's plan has one."""


@pytest.mark.parametrize("joins", ["hash", "merge", "nested-loops", "substitution"])
def test_every_line_of_a_plan_of_lode_is_known(make: MakeEngine, joins: str) -> None:
    engine = make("lode", join=joins)
    engine.start()
    for name in ("t", "s"):
        engine.load(table(name), stream(rows()))
    for program, kinds in PROGRAMS.items():
        plan = engine.explain(said(engine, program))
        found = read("lode", plan)
        assert found.unread == "", f"{program}\n{plan}"
        assert found.kinds & {*kinds, "tuple substitution"}, f"{program}\n{plan}"
