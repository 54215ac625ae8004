"""The IDM tests of Britton Lee, 1983 to 1986: tests 1, 2, 5, 8 and 11.

The operations stand in `queries.quel`, the papers' own numbers in `published.toml`.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from loadstone.benchmarks.base import (
    Benchmark,
    Operation,
    Presentation,
    Published,
    StoredRelation,
)
from loadstone.benchmarks.idm.presentation import PRESENTATION, WITHOUT
from loadstone.benchmarks.programs import Entry, entries_of
from loadstone.benchmarks.published import published_in
from loadstone.errors import InputError

_FOLDER = Path(__file__).parent
_EDITION = "1986"
PUBLISHED_ROWS = 150_000
VARIATIONS = 10
_ASKED = 75_000
"""The number that the texts of the file request."""


class IdmBenchmark(Benchmark):
    """The gain by relation size, indexes, an accelerator and a faster processor."""

    name = "idm"
    title = "IDM tests 1, 2, 5, 8 and 11 (Tossy 1983; Simon 1985, 1986)"
    editions = (_EDITION,)
    default_edition = _EDITION
    year = 1986
    default_scales = (10_000, PUBLISHED_ROWS)
    tuple_s = 0.05e-6
    """Most operations look one tuple up, or work on relations whose size is fixed."""
    study_on = WITHOUT
    study_vary = ("accelerator=off,on,thread", "disk=direct,buffered")
    """The accelerator's gain is seen only where the pages need not come from the disk."""

    def check_scale(self, edition: str, rows: int) -> None:
        """Tests 1 and 2 have 100 to 150,000 tuples; here any number up to 10^9."""
        self.check_edition(edition)
        if not 10 <= rows <= 1_000_000_000:
            raise InputError(
                f"the IDM tests cannot have {rows:,} tuples", hint="choose from 10 to 1e9"
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """The simple relation with both indexes and without, the dictionary by its words, the two
        relations of Wisconsin."""
        self.check_edition(edition)
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
        """The times of tests 1, 2, 5, 8 and 11."""
        return published_in(_FOLDER / "published.toml", self.default_scales[0])


@lru_cache(maxsize=1)
def _entries() -> tuple[Entry, ...]:
    return entries_of(_FOLDER / "queries.quel")


def _operation(entry: Entry, rows: int) -> Operation:
    texts = _texts(entry, rows)
    return entry.operation(texts, (entry.undo,) * len(texts) if entry.undo else ())


def _texts(entry: Entry, rows: int) -> tuple[str, ...]:
    """The programs of an operation: ten where one requests a number, two of two relations, else the
    one."""
    if entry.name == "scan-two":
        # Of two users each begins with another of them.
        return entry.text, entry.text.replace("tenktup", "simple").replace("unique1", "scattered")
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
