"""OO1: look-up, traversal and insert across the seam between program and database.

An operation is a measure; its ten variations are the ten iterations, whose inputs the iteration's
number draws. The program's loop and the oracle are in `crates/hosts`; the papers' own numbers in
`published.toml`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from loadstone import _core
from loadstone.benchmarks.base import (
    Answer,
    Answers,
    Benchmark,
    Operation,
    Published,
    PublishedTable,
    StoredRelation,
)
from loadstone.errors import InputError

_FOLDER = Path(__file__).parent
ITERATIONS = 10
PARTS_MIN, PARTS_MAX = 200, 100_000_000
DATABASE = "oo1"
"""The one stored relation: parts and connections, in the design that the variant asks for."""

MEASURES = (
    ("lookup", "Look-up: 1,000 random parts", "The measures", "section 4, look-up"),
    ("traversal", "Traversal: 3,280 visits, depth 7", "The measures", "section 4, traversal"),
    ("reverse", "Reverse traversal, as of 3,280", "The measures", "section 4, reverse traversal"),
    ("insert", "Insert 100 parts, 300 links; commit", "The measures", "section 4, insert"),
    ("range", "Range look-up: built in ten days", "Recommended", "section 4, dropped"),
    ("scan", "Sequential scan: x, y of all parts", "Recommended", "section 4, dropped"),
    ("reference", "Reference look-up: 1,000 links", "Recommended", "section 4, dropped"),
    ("group", "Group look-up: links of 1,000 parts", "Recommended", "section 4, dropped"),
    ("update", "Update 100 parts; commit", "Recommended", "section 4, dropped"),
    ("ordered", "Traversal in order of length", "Future work", "section 8"),
    ("lookup-batch", "Look-up in one call", "Future work", "section 8"),
    ("traversal-batch", "Traversal in one call", "Future work", "section 8"),
    ("reverse-batch", "Reverse traversal in one call", "Future work", "section 8"),
    ("nothing", "1,000 calls that do nothing", "The cost ladder", "section 7"),
    ("empty", "1,000 empty statements", "The cost ladder", "section 7"),
    ("constant", "1,000 constants fetched", "The cost ladder", "section 7"),
)  # fmt: skip
COLD = frozenset({"lookup", "traversal", "reverse", "insert"})
QUICK = frozenset({"lookup", "traversal", "insert"})
FULL = frozenset({"reference", "group", "ordered"})
MANY_USERS = frozenset({"lookup", "insert"})
"""One part a request: a user's look-up, or its insert with a commit of its own."""
RUNGS = frozenset({"nothing", "empty", "constant"})


class Oo1Answers:
    """What each iteration must have visited."""

    def __init__(self, database: Mapping[str, Any]) -> None:
        self._database = database
        self._oracle: _core.Oo1Oracle | None = None
        self._known: dict[str, Answer] = {}

    def of(self, operation: Operation, variation: int) -> Answer:
        """(visits, checksum) of an iteration; none for a rung, which sees no part."""
        text = operation.texts[variation]
        if text not in self._known:
            measure, iteration = call_of(text)
            self._known[text] = self._oracle_now().answer(measure, iteration) or (0, "")
        return self._known[text]

    def contents(self, relation: str) -> Answer:
        """(visits, checksum) that show a whole database: its scan."""
        del relation
        if "contents" not in self._known:
            self._known["contents"] = self._oracle_now().answer("scan", 0) or (0, "")
        return self._known["contents"]

    def _oracle_now(self) -> _core.Oo1Oracle:
        if self._oracle is None:
            self._oracle = _core.Oo1Oracle(**self._database)
        return self._oracle


def call_of(text: str) -> tuple[str, int]:
    """The measure and the iteration that an operation's text asks for: `traversal 3`."""
    measure, _, iteration = text.partition(" ")
    return measure, int(iteration)


class Oo1Benchmark(Benchmark):
    """Thousands of small operations a second, mixed with program code."""

    name = "oo1"
    title = "OO1, the engineering database benchmark (Cattell, Skeen 1992)"
    seam = "hosts"
    editions = ("1992", "1992-no-locality")
    default_edition = "1992"
    default_scales = (20_000,)
    default_variants = ("memory", "sqlite", "duckdb", "postgresql", "lmdb")

    def check_scale(self, edition: str, rows: int) -> None:
        """Any number of parts from 200, where the window of the rule is one part wide."""
        if edition not in self.editions:
            raise InputError(
                f"OO1 has no edition {edition!r}", hint=f"it has {' and '.join(self.editions)}"
            )
        if not PARTS_MIN <= rows <= PARTS_MAX:
            raise InputError(
                f"OO1 cannot have {rows:,} parts",
                hint="small is 20,000 parts, large 200,000, huge 2,000,000; the least is 200",
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """Parts and connections are one database."""
        del edition
        return (StoredRelation(DATABASE, DATABASE, organisation=""),)

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """The measures and the rungs of the ladder, in the paper's order."""
        self.check_scale(edition, rows)
        return _operations()

    def request(self, edition: str, item: StoredRelation, rows: int) -> Mapping[str, Any]:
        """The database that the calling program makes."""
        del item
        return {"source": _database(edition, rows), "table": {}}

    def answers(self, edition: str, rows: int, relations: Sequence[str]) -> Answers:
        """By plain evaluation in memory."""
        del relations
        return Oo1Answers(_database(edition, rows))

    def published(self) -> Published:
        """Tables II to VII and appendix A."""
        return _published()


def _database(edition: str, rows: int) -> Mapping[str, Any]:
    return {"parts": rows, "locality": edition == "1992", "seed": 1}


@lru_cache(maxsize=1)
def _operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(
            name=measure,
            title=title,
            group=group,
            query=query,
            design=DATABASE,
            storage=measure,
            destination="host",
            many_users=measure in MANY_USERS,
            texts=tuple(f"{measure} {number + 1}" for number in range(ITERATIONS)),
            panels=frozenset(
                panel
                for panel, members in (("quick", QUICK | RUNGS), ("cold", COLD), ("full", FULL))
                if measure in members
            ),
        )
        for measure, title, group, query in MEASURES
    )


@lru_cache(maxsize=1)
def _published() -> Published:
    data: dict[str, Any] = tomllib.loads((_FOLDER / "published.toml").read_text("utf-8"))
    tables = tuple(
        PublishedTable(
            number=table["number"],
            title=table["title"],
            unit=table.get("unit", "s"),
            systems=tuple(table["systems"]),
            rows=tuple(
                (
                    row["label"],
                    row.get("operation"),
                    {
                        system: value
                        for system, value in zip(table["systems"], row["values"], strict=True)
                        if value != ""
                    },
                )
                for row in table["rows"]
            ),
            note=table.get("note", ""),
            scale=table["scale"],
            edition=table.get("edition", ""),
        )
        for table in data["table"]
    )
    return Published(data["citation"], tables, data["systems"])
