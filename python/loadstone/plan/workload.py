"""A workload of the user's own in a plan: its tables, by the names, sizes and checksums of their
files, and the texts of its statements. Plan and files together are complete."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any

from msgspec import Meta

from loadstone.text.shape import one_of
from loadstone.text.zone import UTC

TITLE_LETTERS_MAX = 200
NAME_LETTERS_MAX, COLUMNS_MAX = 120, 2_000
Name = Annotated[str, Meta(max_length=NAME_LETTERS_MAX)]
_WORD = re.compile(r"\w+")
Text = Annotated[str, Meta(max_length=1 << 19)]
Names = Annotated[tuple[Name, ...], Meta(max_length=1_000)]
Texts = Annotated[tuple[Text, ...], Meta(max_length=1_000)]
Size = Annotated[int, Meta(ge=0, le=10**15)]

STORED, AGREED, REFERENCE = "stored", "agreed", "of its dialect"
ALONE, DIVIDED = "not compared", "divided"
BASES = (STORED, AGREED, REFERENCE, ALONE, DIVIDED)
"""The bases of an expected answer, the weakest last: the user stored it; several engines give it,
and more than give any other; the engine of the text's dialect gives it, and engines with a
translation give others; only one engine gave an answer; no answer has a majority."""
TRANSLATED_OTHERWISE = "translated otherwise"
"""The kind of label of an answer to our translation of a text that differs from the answer of the
engine in whose dialect the text is written: then the two engines were not asked the same."""
OPEN_ANSWER = "open answer"
"""The kind of label of an answer that its query leaves open: engines may answer differently, and
they agree in what the query determines."""
OTHER_TYPE = "other type"
"""The kind of label of an answer whose values are those of the other engines, in another type: a
date where they have a timestamp at midnight."""
READ_OTHERWISE = "read otherwise"
"""The kind of label of an answer to a text that names no dialect, where it has a form that engines
are known to understand differently."""
UNRANKED = (TRANSLATED_OTHERWISE, READ_OTHERWISE)
"""The kinds of labels of figures that are ranked beside no other."""
Accepted = tuple[Annotated[int, Meta(ge=0, le=10**15)], Annotated[str, Meta(max_length=16)]]
"""(rows, checksum) of an answer."""
FIRST_ROWS = 5
"""Rows of an answer that a record keeps, for people to look at."""
EDITION_LETTERS = 8
DIGITS = 10
"""Significant digits to which numbers with a fraction are compared, by default."""


SPARE = {"spare": True}
"""Marks a field that the plan's JSON has only where it differs from its default. So a workload that
was planned before the field existed keeps its hash."""


def plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a part of a workload as plain values, without the spare ones."""
    found = {each: getattr(value, each.name) for each in fields(value)}
    return {
        each.name: _plain(own)
        for each, own in found.items()
        if not (each.metadata == SPARE and own == each.default)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return plain_fields(value) if is_dataclass(value) else value


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its type, as `engines.capabilities.Attribute` has it."""

    name: Name
    type: Name


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of rows: its path, from the workload's folder on, and its identity."""

    name: Annotated[str, Meta(max_length=4_000)]
    size_bytes: Size
    sha256: Annotated[str, Meta(max_length=64)]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table of the workload, whose rows are those of its files, one after the other, or those
    that the query `sql` makes; then `checksum` is theirs."""

    name: Name
    columns: Annotated[tuple[Column, ...], Meta(max_length=COLUMNS_MAX)]
    files: Annotated[tuple[DataFile, ...], Meta(max_length=10_000)]
    rows: Size
    primary_key: tuple[Name, ...] = ()
    indexes: tuple[tuple[Name, ...], ...] = ()
    sql: Text = field(default="", metadata=SPARE)
    checksum: Annotated[str, Meta(max_length=16)] = field(default="", metadata=SPARE)

    def in_words(self, columns_max: int) -> str:
        """Its name, its files, and its columns with the types in which engines have them."""
        files = ", ".join(one.name for one in self.files[:3])
        more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
        shown = ", ".join(f"{one.name} {one.type}" for one in self.columns[:columns_max])
        if len(self.columns) > columns_max:
            shown += f" and {len(self.columns) - columns_max:,} more"
        return f"{self.name} ({f'{files}{more}' or 'made by its query'}): {shown}"


PUT_BACK = "put back"
"""The place where an operation has the text that takes its change back: the table of a user's
statement gets the rows that it had from its copy."""
COPY_SUFFIX = "__0"
"""Ends the name of a table's copy."""


def copy_of(table: DataTable) -> DataTable:
    """The copy of a table that statements change: its rows alone, from which it gets them back."""
    return replace(table, name=table.name + COPY_SUFFIX, primary_key=(), indexes=())


Bigint = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Value = int | float | str | bool
VALUES_MAX = 100_000
"""Of which one is drawn: they stand in the plan."""
UNIFORM, ZIPF, SEQUENCE, LISTED = "uniform", "zipf", "sequence", "list"
PATTERN, PROGRAM, WITHIN = "pattern", "program", "within"
WORDS_MAX = 10_000
Bounds = Annotated[tuple[Bigint, ...], Meta(max_length=2)]
Values = Annotated[tuple[Value, ...], Meta(max_length=VALUES_MAX)]
DrawnWords = Annotated[
    tuple[Annotated[str, Meta(max_length=4_000)], ...], Meta(max_length=WORDS_MAX)
]


@dataclass(frozen=True, slots=True)
class Draw:
    """The way in which the value of `:name` is drawn: `numbers` are the bounds, or the first and
    the step; `values` those of which one is drawn; `words` an expression of pgbench's, compiled, or
    a text in which each # stands for a random digit. A draw `within` quotes writes the value of the
    draw at the place in `numbers`.
    With `start`, which follows from the workload's seed, a request's number says its value."""

    name: Name
    kind: Annotated[str, one_of((UNIFORM, ZIPF, SEQUENCE, LISTED, PATTERN, PROGRAM, WITHIN))]
    start: Annotated[int, Meta(ge=0)] = field(default=0, metadata=SPARE)
    numbers: Bounds = field(default=(), metadata=SPARE)
    exponent: Annotated[float, Meta(ge=0, le=20)] = field(default=1.0, metadata=SPARE)
    values: Values = field(default=(), metadata=SPARE)
    words: DrawnWords = field(default=(), metadata=SPARE)


WEIGHT_MAX = 2**53


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A text as the user wrote it, whose values concurrent users draw anew for each request, and
    its weight beside others of the same statement."""

    text: Text
    draws: Annotated[tuple[Draw, ...], Meta(max_length=1_000)] = field(default=(), metadata=SPARE)
    weight: Annotated[int, Meta(ge=1, le=WEIGHT_MAX)] = field(default=1, metadata=SPARE)


DrawnTexts = Annotated[tuple[DrawnText, ...], Meta(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class OwnText:
    """The text for engines of one dialect, instead of a translation; `drawn` has it in place of the
    statement's."""

    dialect: Name
    texts: tuple[Text, ...]
    drawn: DrawnTexts = field(default=(), metadata=SPARE)


@dataclass(frozen=True, slots=True)
class WorkloadStatement:
    """A statement of the workload: a query, or one that changes a table.

    `texts` are its variations, written in `dialect` (empty: SQL as most engines have it). Numbers
    with a fraction must agree to `digits` significant digits. `order` are the places of the columns
    by which the answer must be sorted.
    """

    name: Name
    title: Annotated[str, Meta(max_length=TITLE_LETTERS_MAX)]
    dialect: Name
    texts: Annotated[tuple[Text, ...], Meta(max_length=100_000)]
    own: tuple[OwnText, ...] = ()
    digits: Annotated[int, Meta(ge=1, le=15)] = DIGITS
    order: tuple[Size, ...] = ()
    order_unchecked: bool = False
    """Whether the text requests an order of which not all keys are columns of the answer."""
    expected: tuple[tuple[Accepted, ...], ...] = ()
    """The answers that the user stored, of the first variations: the ways of engines to give it."""
    changes: Annotated[str, Meta(max_length=120)] = field(default="", metadata=SPARE)
    """The table that it changes; empty: it is a query, or a script."""
    script: bool = field(default=False, metadata=SPARE)
    """Whether its texts are scripts: one statement or several, of which some are a transaction."""
    script_changes: Names = field(default=(), metadata=SPARE)
    """The tables that a script changes."""
    volatile: Names = field(default=(), metadata=SPARE)
    """`table.column`: columns whose new values are another each time, so that none are compared."""
    same: Texts = field(default=(), metadata=SPARE)
    """Queries whose answers concurrent users of a script leave as they were."""
    grows: Texts = field(default=(), metadata=SPARE)
    """Queries whose one number grows by one with each script that concurrent users complete."""
    drawn: DrawnTexts = field(default=(), metadata=SPARE)
    """Texts for the requests of concurrent users after the first ones, which are `texts`; empty:
    they go round these."""
    drawn_start: Annotated[int, Meta(ge=0)] = field(default=0, metadata=SPARE)
    """Together with a request's number it says which of `drawn` the request gets."""

    @property
    def starts(self) -> tuple[int, ...]:
        """The numbers with which its draws begin, each of 64 bits."""
        texts = (*self.drawn, *(drawn for own in self.own for drawn in own.drawn))
        return (self.drawn_start, *(draw.start for text in texts for draw in text.draws))

    @property
    def names_dialect(self) -> bool:
        """Whether the user named a dialect; without one, each engine reads the text by its own
        rules."""
        return bool(self.dialect) and all(one.texts != self.texts for one in self.own)

    def texts_for(self, dialect: str) -> tuple[str, tuple[str, ...]]:
        """(dialect, texts) for engines of a dialect: their own, or those to be translated."""
        for one in self.own:
            if one.dialect == dialect:
                return dialect, one.texts
        return self.dialect, self.texts

    def drawn_for(self, dialect: str) -> tuple[DrawnText, ...]:
        """The texts that users of engines of a dialect draw, written as `texts_for` says."""
        own = (one.drawn for one in self.own if one.dialect == dialect)
        return next(own, self.drawn)

    def as_planned(self) -> "WorkloadStatement":
        """The same without the texts that users draw: its first requests stay as they are."""
        own = tuple(replace(one, drawn=()) for one in self.own)
        return replace(self, drawn=(), drawn_start=0, own=own)


@dataclass(frozen=True, slots=True)
class Workload:
    """The tables and statements. `folder`, as the user wrote it, is where file names begin."""

    title: Annotated[str, Meta(max_length=TITLE_LETTERS_MAX)]
    folder: Annotated[str, Meta(max_length=4_000)]
    tables: Annotated[tuple[DataTable, ...], Meta(max_length=1_000)]
    statements: Annotated[tuple[WorkloadStatement, ...], Meta(max_length=1_000)]
    timezone: Annotated[str, Meta(max_length=60)] = field(default=UTC, metadata=SPARE)
    """The zone in which every engine reads and writes times."""
    as_it_stands: bool = field(default=False, metadata=SPARE)
    """Whether its queries are asked of the user's own tables, in the databases that the variants
    name: these are opened to be read, and nothing else. Then `tables` is empty."""

    @property
    def edition(self) -> str:
        """A short name of its contents: two of them are equal where tables and statements are,
        wherever they lie, and whatever answers are stored."""
        plain = (replace(one, expected=()) for one in self.statements)
        nameless = replace(self, title="", folder="", statements=tuple(plain))
        text = json.dumps(plain_fields(nameless), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:EDITION_LETTERS]

    def table(self, name: str) -> DataTable:
        """The table of that name."""
        return next(one for one in self.tables if one.name == name)

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the tables that its statements change."""
        one_each = (one.changes for one in self.statements if one.changes)
        many = (name for one in self.statements for name in one.script_changes)
        return tuple(dict.fromkeys((*one_each, *many)))

    def columns_named(self, texts: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
        """(table, column, type) of the columns whose names occur in these texts."""
        words = {word for text in texts for word in _WORD.findall(text.lower())}
        return tuple(
            (table.name, column.name, column.type)
            for table in self.tables
            for column in table.columns
            if {*_WORD.findall(column.name.lower())} <= words
        )

    @property
    def rows(self) -> int:
        """Its scale: the rows of all tables, or 1 where there are none."""
        return max(sum(table.rows for table in self.tables), 1)
