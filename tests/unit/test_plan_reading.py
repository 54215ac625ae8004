"""The way in which a plan joins and groups is read from each engine's own words."""

import pytest

from loadstone.analysis.findings.plan_reading import operators

LOOP = """1. scan a is tenthoustup
   loop scan b is tempbprime
   where a.unique2 = b.twounique2
   store temp (16 of a) (about 1030 rows)
"""
INDEX = LOOP.replace("loop scan b is tempbprime", "loop look-up b is t by clustered u = a.u")
SUBSTITUTION = """1. reformat: scan a is tenthoustup
   build table 0 by a.unique2 (16 of a) (about 10000 rows)
2. substitute: scan a is tempbprime
   probe b is table 0 by a.twounique2
"""
HASH = SUBSTITUTION.replace("reformat: ", "").replace("substitute: ", "")
MERGE = """3. merge a is temporary 0 by a.unique2 with b is temporary 1 by b.twounique2
   store temp (16 of a) (about 1030 rows)
"""
SORTED = """1. scan a is tenthoustup
   sort temporary 0 by a.hundred (a.hundred) (about 10000 rows)
2. scan a is temporary 0
   aggregation 0 by a.hundred (a.hundred) (about 10000 rows)
"""
UNIQUE = SORTED.replace("sort temporary", "sort unique temporary").partition("2.")[0]
HASHED = "1. scan a is t\n   aggregation 0 by a.hundred (a.fivethous) (about 100 rows)\n"
DISTINCT = "1. scan a is t\n   distinct b is (a.hundred)\n   store temp (b.hundred)\n"
SCALAR = "1. scan a is t\n   aggregation 0 (a.fivethous) (about 1 rows)\n"


@pytest.mark.parametrize(
    ("plan", "joins", "groups"),
    [
        (LOOP, "nested loops", None),
        (INDEX, "nested loops over an index", None),
        (SUBSTITUTION, "tuple substitution", None),
        (HASH, "a hash join", None),
        (MERGE, "a merge join", None),
        (HASH + LOOP, "nested loops", None),
        (SORTED, None, "sorted rows"),
        (UNIQUE, None, "sorted rows"),
        (HASHED, None, "a hash table"),
        (DISTINCT, None, "a hash table"),
        (SCALAR, None, None),
    ],
)
def test_plans_of_lode_are_read(plan: str, joins: str | None, groups: str | None) -> None:
    found = operators(plan)
    assert found.get("joins by") == joins
    assert found.get("groups by") == groups
