"""The nine INGRES queries of 1981 (UCB/ERL M81/62), at the paper's sizes and any other.

The operations stand in `queries.quel`, the paper's own numbers in `published.toml`, what each
operation isolates in `lessons.toml`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from loadstone.benchmarks.base import (
    Benchmark,
    Operation,
    Presentation,
    Published,
    StoredRelation,
)
from loadstone.benchmarks.ingres.presentation import PRESENTATION
from loadstone.benchmarks.programs import Entry, entries_of
from loadstone.benchmarks.published import published_in
from loadstone.errors import InputError
from loadstone.quel import tree

_FOLDER = Path(__file__).parent
PUBLISHED_ROWS = 3_360
_ROWS_MAX = {"1981": 32_767, "large": 1_000_000_000}
"""As far as part numbers of two and of four bytes go."""
STUDY_ROWS_MAX = 32_760
"""Near the largest of the paper's edition, whole sets of the 14 demonstration parts: where machine
code may have paid off."""
SCANS = frozenset({"b-project", "c-select-any-of-three", "d-select-by-log"})
"""The queries that the paper ran at several sizes, and whose time is a start and a cost a tuple."""


class IngresBenchmark(Benchmark):
    """Scans and keyed joins of PARTS, on which four enhancements of INGRES were tried."""

    name = "ingres"
    title = "INGRES queries a to i (Stonebraker, Woodfill et al. 1981)"
    editions = tuple(_ROWS_MAX)
    default_edition = "1981"
    year = 1981
    default_scales = (PUBLISHED_ROWS, 210, 1)
    study_on = "lode?profile=u-ingres&statement=text"
    study_vary = (
        "execution=interpreted,vectorised,closures,compiled",
        "simd=off,on",
        "statement=text,kept",
    )
    study_scales = (1, STUDY_ROWS_MAX, PUBLISHED_ROWS)

    def check_scale(self, edition: str, rows: int) -> None:
        """1981 has part numbers of two bytes, so up to 32,767 tuples; large up to 10^9."""
        self.check_edition(edition)
        if not 1 <= rows <= _ROWS_MAX[edition]:
            hint = "use --edition large" if edition == "1981" else ""
            raise InputError(
                f"edition {edition} cannot have {rows:,} parts",
                hint=hint or f"choose from 1 to {_ROWS_MAX[edition]:,}",
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """The narrow relation as a heap, the wide one by part number: in order, and hashed."""
        self.check_edition(edition)
        return [
            StoredRelation("parts", "heap"),
            StoredRelation("wideparts", "keyed", organisation="clustered", key="pnum"),
            StoredRelation("wideparts", "hash", organisation="hash", key="pnum"),
        ]

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """All operations in the order of the file, each as printed but for its scale."""
        self.check_scale(edition, rows)
        return tuple(_operation(entry, rows) for entry in _entries())

    def presentation(self) -> Presentation:
        """Its words."""
        return PRESENTATION

    def published(self) -> Published:
        """All tables of the paper; there is no Table 7."""
        return published_in(_FOLDER / "published.toml", PUBLISHED_ROWS)


@lru_cache(maxsize=1)
def _entries() -> tuple[Entry, ...]:
    return entries_of(_FOLDER / "queries.quel")


def _operation(entry: Entry, rows: int) -> Operation:
    text = entry.text if rows == PUBLISHED_ROWS else _scaled(entry.text, rows)
    made = entry.operation((text,), destination="file")
    if rows in IngresBenchmark.study_scales[:2] and entry.name not in SCANS:
        # At these two a study asks what a tuple of a scan costs; they come first, so that a busy
        # machine leaves out what the paper measured at one size.
        made = replace(made, presets=made.presets - {"study"})
    return made


def _scaled(text: str, rows: int) -> str:
    """The program for another scale: the bound 2500 of a range of part numbers follows it."""
    program: Any = tree.parse(text)
    _scale(program, rows)
    return tree.render(program)


def _scale(node: Any, rows: int) -> None:
    """Scale each comparison with the published bound, wherever in a tree it stands."""
    if isinstance(node, list):
        for part in node:
            _scale(part, rows)
    elif isinstance(node, dict):
        if node.get("kind") == "integer" and node.get("value") == 2_500:
            node["value"] = 2_500 * rows // PUBLISHED_ROWS
        for part in node.values():
            _scale(part, rows)
