"""The Wisconsin benchmark of 1983; its scaled edition of 1993, also of skewed data.

The operations stand in `queries-1983.quel` and `queries-1993.quel`, the papers' own numbers in
`published.toml`; `variations` makes the ten programs of each operation at a scale.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from loadstone import _core
from loadstone.benchmarks.base import (
    Benchmark,
    Operation,
    Presentation,
    Published,
    StoredRelation,
)
from loadstone.benchmarks.programs import Entry, entries_of
from loadstone.benchmarks.published import published_in
from loadstone.benchmarks.wisconsin.presentation import PRESENTATION
from loadstone.benchmarks.wisconsin.variations import COUNT, PUBLISHED_ROWS, Database, Variation
from loadstone.errors import InputError
from loadstone.quel import tree

_FOLDER = Path(__file__).parent
_SKEWED = "1993-skewed"
_SCALED = ("1993", _SKEWED)
_LARGE = {
    "1983": ("tenthoustup", "tenthoustup2"),
    **dict.fromkeys(_SCALED, ("tenktup1", "tenktup2")),
}
_SMALL = {"1983": ("thoustup", "tempbprime"), **dict.fromkeys(_SCALED, ("onektup", "bprime"))}
_FIXED_ROWS = {"twothoustup": 2_000}
_PREFIXES = {"thoustup": "one", "tenthoustup2": "two", "tempbprime": "two"}
_THIRD_INDEX = {"1983": "hundred", **dict.fromkeys(_SCALED, "onepercent")}


class WisconsinBenchmark(Benchmark):
    """Selections, projections, joins, aggregates and updates on relations of known content."""

    name = "wisconsin"
    title = "Wisconsin benchmark (Bitton, DeWitt, Turbyfill 1983; DeWitt 1993)"
    editions = ("1983", *_SCALED)
    default_edition = "1993"
    skewed_editions: ClassVar[Mapping[str, str]] = {"zipf": _SKEWED}
    year = 1983
    default_scales = (10_000, 100_000)
    tuple_s = 0.2e-6

    def check_scale(self, edition: str, rows: int) -> None:
        """Check the scale: 1983 is 10,000 tuples and no other, 1993 any number from 100 to 10^9,
        skewed from 10,000. With fewer the rarest of 100 values may have no tuple."""
        self.check_edition(edition)
        if edition == "1983" and rows != PUBLISHED_ROWS:
            raise InputError(
                f"the 1983 edition has {PUBLISHED_ROWS:,} rows, not {rows:,}",
                hint="use --edition 1993, which scales",
            )
        least = 10_000 if edition == _SKEWED else 100
        if not least <= rows <= 1_000_000_000:
            raise InputError(
                f"the {edition} edition cannot have {rows:,} rows",
                hint=f"choose from {least} to 1e9",
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """The large relations and the two small ones as heaps and with the three indexes; in 1983
        the large ones hashed and by their strings, too, and one of 2,000 tuples."""
        self.check_edition(edition)
        relations = (*_LARGE[edition], *_SMALL[edition])
        stored = [StoredRelation(relation, "heap") for relation in relations]
        for relation in relations:
            prefix = _PREFIXES.get(relation, "")
            indexes = (f"{prefix}unique1", prefix + _THIRD_INDEX[edition])
            stored.append(
                StoredRelation(
                    relation,
                    "indexed",
                    organisation="clustered",
                    key=f"{prefix}unique2",
                    tiebreaker=f"{prefix}unique1",
                    indexes=indexes,
                )
            )
        if edition == "1983":
            for relation in _LARGE[edition]:
                prefix = _PREFIXES.get(relation, "")
                key, tiebreaker = f"{prefix}unique2", f"{prefix}unique1"
                stored.append(StoredRelation(relation, "hash", "hash", key, tiebreaker))
                strings = (f"{prefix}stringu2", tiebreaker, (f"{prefix}stringu1",))
                stored.append(StoredRelation(relation, "string", "clustered", *strings))
            stored += [StoredRelation(relation, "heap") for relation in _FIXED_ROWS]
        return stored

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """All operations in the order of the file, each with its ten variations."""
        self.check_scale(edition, rows)
        return _operations(edition, rows)

    def presentation(self) -> Presentation:
        """Its words."""
        return PRESENTATION

    def published(self) -> Published:
        """Tables 1 to 11 of the paper of 1983."""
        return published_in(_FOLDER / "published.toml", PUBLISHED_ROWS)


@lru_cache(maxsize=3)
def _entries(edition: str) -> tuple[Entry, ...]:
    """The operations of an edition's file; the scaled ones differ in their data alone."""
    name = _SCALED[0] if edition in _SCALED else edition
    return entries_of(_FOLDER / f"queries-{name}.quel")


@lru_cache(maxsize=4)
def _operations(edition: str, rows: int) -> tuple[Operation, ...]:
    database = _database(edition, rows)
    return tuple(_operation(entry, database) for entry in _entries(edition))


def _operation(entry: Entry, database: Database) -> Operation:
    program, undo = tree.parse(entry.text), tree.parse(entry.undo)
    variations = [Variation(database, number) for number in range(COUNT)]
    texts = [tree.render(variation.program(program)) for variation in variations]
    if database.rows == PUBLISHED_ROWS:
        texts[0] = entry.text
    takes_back = () if program[-1]["kind"] == "retrieve" else variations
    undone = tuple(tree.render(variation.undo(program, undo)) for variation in takes_back)
    return entry.operation(tuple(texts), undone)


def _database(edition: str, rows: int) -> Database:
    def attributes(relation: str) -> Sequence[str]:
        return [name for name, _ in _core.attributes("wisconsin", edition, relation)]

    def tuple_at(relation: str, row: int) -> Mapping[str, int | str]:
        names = attributes(_LARGE[edition][0])
        return dict(zip(names, _row(edition, relation, rows, row), strict=True))

    def fresh_tuple(unique1: int, written: Mapping[str, int | str]) -> Mapping[str, int | str]:
        if edition == "1983":
            return {**written, "unique1": unique1}
        return _tuple_of_1993(unique1)

    return Database(
        rows=rows,
        large=_LARGE[edition],
        fixed_rows=_FIXED_ROWS,
        strings=_strings(_LARGE[edition][0]) if edition == "1983" else (),
        attributes=attributes,
        tuple_at=tuple_at,
        fresh_tuple=fresh_tuple,
    )


@lru_cache(maxsize=1)
def _strings(relation: str) -> tuple[str, ...]:
    """The values of stringu2 in order; both large relations and stringu1 have the same ones."""
    import pyarrow as pa  # slow to import, and only selections by a string need it

    stream = _core.RelationStream("wisconsin", "1983", relation, PUBLISHED_ROWS)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    return tuple(sorted(table.column("stringu2").to_pylist()))


@lru_cache(maxsize=64)
def _row(edition: str, relation: str, rows: int, row: int) -> tuple[Any, ...]:
    import pyarrow as pa  # slow to import, and only updates need it

    stream = _core.RelationStream("wisconsin", edition, relation, rows, first=row, count=1)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    return tuple(column[0].as_py() for column in table.columns)


def _tuple_of_1993(unique: int) -> Mapping[str, int | str]:
    """The tuple with unique1 = unique2 = `unique`, its other attributes derived as in the paper."""
    percent = unique % 100
    string = _string_of_1993(unique)
    return {
        "unique1": unique,
        "unique2": unique,
        "two": unique % 2,
        "four": unique % 4,
        "ten": unique % 10,
        "twenty": unique % 20,
        "onepercent": percent,
        "tenpercent": unique % 10,
        "twentypercent": unique % 5,
        "fiftypercent": unique % 2,
        "unique3": unique,
        "evenonepercent": percent * 2,
        "oddonepercent": percent * 2 + 1,
        "stringu1": string,
        "stringu2": string,
        "string4": "AHOV"[unique % 4] * 4 + "x" * 48,
    }


def _string_of_1993(value: int) -> str:
    """Seven digits in base 26, `A` for 0, and 45 letters x."""
    letters = ""
    for _ in range(7):
        value, digit = divmod(value, 26)
        letters = chr(ord("A") + digit) + letters
    return letters + "x" * 45
