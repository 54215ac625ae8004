"""Benchmarks' declarations, for records of before schema 6, which keep none.

A copy of what the reports of then knew. It never grows: whatever a benchmark declares now is in its
records.
"""

from loadstone.plan.presentation import (
    CALLS,
    STATEMENTS,
    VALUES,
    CostLadder,
    Presentation,
    Step,
    Total,
    Varying,
    Whole,
)

_OO1_LADDER = CostLadder(
    steps=(
        Step("nothing", 1000, "a call that does nothing", "call", CALLS),
        Step("empty", 1000, "an empty statement", "wire and statement", STATEMENTS),
        Step("constant", 1000, "a constant fetched", "transfer of a value", VALUES),
        Step("lookup", 1000, "a part looked up", "access and materialisation"),
        Step("traversal", 3280, "a step of a traversal", "link"),
        Step(
            "insert",
            100,
            "a part inserted, with 3 links and its share of the commit",
            "writing",
        ),
    ),
    wholes=(
        Whole("a look-up", "lookup", "access and materialisation", batch="lookup-batch"),
        Whole(
            "a step of a traversal",
            "traversal",
            "access and materialisation",
            batch="traversal-batch",
        ),
        Whole(
            "a part inserted",
            "insert",
            "writing",
            commit="its share of the commit of 100 parts",
        ),
    ),
    totals=(
        Total("a look-up", ("lookup",)),
        Total("the total", ("lookup", "traversal", "insert")),
    ),
    paper="In the paper (section 8) the relational system's cold total was about 5,000 calls of "
    "20 ms: 100 s of its 143 s.",
)

_OO1 = Presentation(
    title="OO1",
    scale="parts",
    answer="visits",
    stored="records",
    basis="A reverse traversal's times are scaled to 3,280 visits. A total is the sum of three "
    "medians. The paper's warm is the limit of ten iterations, today's a median.",
    reimplemented={
        "INDEX": "lode?access=links",
        "INDEX with B-trees (Table VII)": "lode?access=btree",
        "OODBMS": "lode",
    },
    apart=("no-locality",),
    writes=("insert", "update"),
    harness=("nothing",),
    varying=Varying(
        nominal={"reverse": 3280, "reverse-batch": 3280},
        least=100,
        few="some traversal visited fewer than 100 parts",
        own="the parts it visited",
    ),
    ladder=_OO1_LADDER,
)

_WISCONSIN = Presentation(
    title="Wisconsin",
    basis="The paper's temperature lay between cold and warm: its relations were larger than the "
    "buffers, at most 1 MB for 1.8 MB, and queries alternated between two of them. The edition of "
    "1993 asks for relations of at least five times the buffers. Today's warm figures come from "
    "caches that hold the relations whole, unless a variant says otherwise, as sqlite?cache=364000 "
    "does for a fifth of 10,000 tuples. The paper's tuples had 182 bytes; those of the edition of "
    "1993 have 208.",
)

_KNOWN = {"oo1": _OO1, "wisconsin": _WISCONSIN}
SCALE_THEN = 10_000
"""Of a table of a paper that names none: the size of the Wisconsin paper's large relations."""


def presentation_then(benchmark: str) -> Presentation:
    """The declarations that a benchmark would have made; of another than ours its name alone."""
    return _KNOWN.get(benchmark) or Presentation(benchmark.capitalize()[:200])
