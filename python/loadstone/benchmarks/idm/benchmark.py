"""The IDM tests of Britton Lee, 1983 to 1986: tests 1, 2, 5, 8 and 11.

The operations stand in `queries.quel`, the papers' own numbers in `published.toml`.
"""

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from loadstone.benchmarks.base import (
    Benchmark,
    Operation,
    Presentation,
    Published,
    PublishedTable,
    StoredRelation,
)
from loadstone.benchmarks.idm.presentation import PRESENTATION
from loadstone.benchmarks.programs import Entry, entries_of
from loadstone.errors import InputError
from loadstone.quel import tree

_FOLDER = Path(__file__).parent
_EDITION = "1986"
PUBLISHED_ROWS = 150_000
VARIATIONS = 10
_ASKED = 75_000
"""The number that the texts of the file ask for."""


class IdmBenchmark(Benchmark):
    """What relation size, indexes, an accelerator and a faster processor buy."""

    name = "idm"
    title = "IDM tests 1, 2, 5, 8 and 11 (Tossy 1983; Simon 1985, 1986)"
    editions = (_EDITION,)
    default_edition = _EDITION
    default_scales = (10_000, PUBLISHED_ROWS)

    def check_scale(self, edition: str, rows: int) -> None:
        """Tests 1 and 2 have 100 to 150,000 tuples; here any number up to 10^9."""
        _check_edition(edition)
        if not 10 <= rows <= 1_000_000_000:
            raise InputError(
                f"the IDM tests cannot have {rows:,} tuples", hint="choose from 10 to 1e9"
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """The simple relation with both indexes and without, the dictionary by its words, the two
        relations of Wisconsin."""
        _check_edition(edition)
        return [
            StoredRelation("simple", "heap"),
            StoredRelation("simple", "indexed", "clustered", "ordered", indexes=("scattered",)),
            StoredRelation("dictionary", "indexed", "clustered", "word", "length"),
            StoredRelation("tenktup", "indexed", "clustered", "unique2", indexes=("unique1",)),
            StoredRelation("onektup", "heap"),
        ]

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """All operations in the order of the file."""
        self.check_scale(edition, rows)
        return tuple(_operation(entry, rows) for entry in _entries())

    def presentation(self) -> Presentation:
        """Its words."""
        return PRESENTATION

    def published(self) -> Published:
        """The times of tests 2, 5 and 11."""
        return _published()


def _check_edition(edition: str) -> None:
    if edition != _EDITION:
        raise InputError(f"the IDM tests have no edition {edition!r}", hint=f"they have {_EDITION}")


@lru_cache(maxsize=1)
def _entries() -> tuple[Entry, ...]:
    return entries_of(_FOLDER / "queries.quel")


def _operation(entry: Entry, rows: int) -> Operation:
    (*_, statement) = tree.parse(entry.text)
    destination = "update"
    if statement["kind"] == "retrieve":
        destination = "relation" if statement["into"] else "client"
    texts = _texts(entry, rows)
    return Operation(
        name=entry.name,
        title=entry.title,
        group=entry.group,
        query=entry.query,
        design=entry.design,
        storage=entry.storage,
        destination=destination,
        texts=texts,
        undo=(entry.undo,) * len(texts) if entry.undo else (),
        presets=entry.presets,
        concurrent_users=destination == "client",
    )


def _texts(entry: Entry, rows: int) -> tuple[str, ...]:
    """The programs of an operation: ten where one asks for a number, else the one."""
    number = f"= {_ASKED}"
    if number not in entry.text:
        return (entry.text,)
    texts = [
        entry.text.replace(number, f"= {(2 * each + 1) * rows // (2 * VARIATIONS)}")
        for each in range(VARIATIONS)
    ]
    if entry.name == "script":
        # Test 1: a third of the retrieves go by the clustered index.
        texts[2::3] = [text.replace("t.scattered", "t.ordered") for text in texts[2::3]]
    return tuple(texts)


@lru_cache(maxsize=1)
def _published() -> Published:
    data = tomllib.loads(_FOLDER.joinpath("published.toml").read_text("utf-8"))
    return Published(
        data["citation"],
        tuple(table for each in data["table"] for table in _tables(each)),
        data["systems"],
    )


def _tables(table: dict[str, Any]) -> Sequence[PublishedTable]:
    """A table for each of its sizes, or one where the paper fixes the relations' sizes."""
    found = []
    for scale in sorted({row.get("tuples", 0) for row in table["rows"]}):
        title = f"{table['title']}, {scale:,} tuples" if scale else table["title"]
        rows = [row for row in table["rows"] if row.get("tuples", 0) == scale]
        found.append(
            PublishedTable(
                number=table["number"],
                title=title,
                unit=table["unit"],
                systems=tuple(table["systems"]),
                rows=tuple(
                    (
                        row["label"],
                        row["operation"],
                        dict(zip(table["systems"], row["values"], strict=True)),
                    )
                    for row in rows
                ),
                note=table.get("note", ""),
                scale=scale or IdmBenchmark.default_scales[0],
                fixed=not scale,
            )
        )
    return found
