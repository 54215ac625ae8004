"""The vocabulary of each benchmark: the one place where a report knows benchmarks apart.

A record names its benchmark and nothing more; a benchmark that is not here counts tuples.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary of one benchmark.

    `scale`, `answer` and `stored` name the units of a scale, an answer and a load. `visits` are the
    operations whose number of visits varies with the start, and the number that their times are
    scaled to. `basis` is a note on today's figures beside the paper's; the re-implemented systems
    map a system of the paper to a variant. `apart` are the designs that replace the database of
    which sizes and loads are reported; `writes` are the client's measures that commit, `harness`
    those that call no engine: their rows are not ranked.
    """

    title: str
    scale: str = "tuples"
    answer: str = "tuples"
    stored: str = "tuples"
    visits: Mapping[str, int] = field(default_factory=dict)
    basis: str = ""
    reimplemented: Mapping[str, str] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    harness: frozenset[str] = frozenset()


KNOWN: Mapping[str, Words] = {
    "oo1": Words(
        title="OO1",
        scale="parts",
        answer="visits",
        stored="records",
        visits={"reverse": 3280, "reverse-batch": 3280},
        basis="A reverse traversal's times are scaled to 3,280 visits. A total is the sum of three "
        "medians. The paper's warm is the limit of ten iterations, today's a median.",
        reimplemented={
            "INDEX": "lode?access=links",
            "INDEX with B-trees (Table VII)": "lode?access=btree",
            "OODBMS": "lode",
        },
        apart=frozenset({"no-locality"}),
        writes=frozenset({"insert", "update"}),
        harness=frozenset({"nothing"}),
    ),
    "wisconsin": Words(
        title="Wisconsin",
        basis="The paper's temperature lay between cold and warm: its relations were larger than "
        "the buffers, at most 1 MB for 1.8 MB, and queries alternated between two of them. The "
        "edition of 1993 asks for relations of at least five times the buffers. Today's warm "
        "figures come from caches that hold the relations whole, unless a variant says otherwise, "
        "as sqlite?cache=364000 does for a fifth of 10,000 tuples. The paper's tuples had 182 "
        "bytes; those of the edition of 1993 have 208.",
    ),
}
VISITS_FEW = 100
"""Below this number of visits a normalised time is mostly that of the start; the paper has no
bound."""


def words_of(benchmark: str) -> Words:
    """The vocabulary of a benchmark, by its name."""
    return KNOWN.get(benchmark) or Words(benchmark.capitalize())
