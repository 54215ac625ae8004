"""A workload of the user's own as a plan keeps it: its tables, by the names, sizes and checksums of
their files, and its statements' texts. With the files beside it, it is complete."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from loadstone.text.shape import Most, OneOf, Within
from loadstone.text.zone import UTC

TITLE_LETTERS_MAX = 200
NAME_LETTERS_MAX, COLUMNS_MAX = 120, 2_000
Name = Annotated[str, Most(NAME_LETTERS_MAX)]
_WORD = re.compile(r"\w+")
Text = Annotated[str, Most(1 << 19)]
Size = Annotated[int, Within(0, 10**15)]

STORED, AGREED, REFERENCE = "stored", "agreed", "of its dialect"
ALONE, DIVIDED = "not compared", "divided"
BASES = (STORED, AGREED, REFERENCE, ALONE, DIVIDED)
"""The bases of an expected answer, the weakest last: the user stored it; several engines give it
and no as large a number another; the engine of the text's dialect gives it, and translations give
others; one engine alone gave one; no answer has most engines."""
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
Accepted = tuple[Annotated[int, Within(0, 10**15)], Annotated[str, Most(16)]]
"""(rows, checksum) of an answer."""
FIRST_ROWS = 5
"""Rows of an answer that a record keeps, for people to look at."""
EDITION_LETTERS = 8
DIGITS = 10
"""Significant digits to which numbers with a fraction are compared, by default."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its type, as `engines.capabilities.Attribute` has it."""

    name: Name
    type: Name


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of rows: its path, from the workload's folder on, and its identity."""

    name: Annotated[str, Most(4_000)]
    size_bytes: Size
    sha256: Annotated[str, Most(64)]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table of the workload, whose rows are those of its files, one after the other, or those
    that the query `sql` makes; then `checksum` is theirs."""

    name: Name
    columns: Annotated[tuple[Column, ...], Most(COLUMNS_MAX)]
    files: Annotated[tuple[DataFile, ...], Most(10_000)]
    rows: Size
    primary_key: tuple[Name, ...] = ()
    indexes: tuple[tuple[Name, ...], ...] = ()
    sql: Text = ""
    checksum: Annotated[str, Most(16)] = ""

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
"""Behind a table's name, the name of its copy."""


def copy_of(table: DataTable) -> DataTable:
    """The copy of a table that statements change: its rows alone, from which it gets them back."""
    return dataclasses.replace(table, name=table.name + COPY_SUFFIX, primary_key=(), indexes=())


Bigint = Annotated[int, Within(-(2**63), 2**63 - 1)]
Value = int | float | str | bool
VALUES_MAX = 100_000
"""Of which one is drawn: they stand in the plan."""
UNIFORM, ZIPF, SEQUENCE, LISTED = "uniform", "zipf", "sequence", "list"
PATTERN, PROGRAM, WITHIN = "pattern", "program", "within"
WORDS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Draw:
    """The way in which the value of `:name` is drawn: `numbers` are the bounds, or the first and
    the step; `values` those of which one is drawn; `words` an expression of pgbench's, compiled, or
    a text in which each # stands for a random digit. A draw `within` quotes writes the value of the
    draw at the place in `numbers`.
    With `start`, which follows from the workload's seed, a request's number says its value."""

    name: Name
    kind: Annotated[str, OneOf((UNIFORM, ZIPF, SEQUENCE, LISTED, PATTERN, PROGRAM, WITHIN))]
    start: Annotated[int, Within(0, 2**64 - 1)] = 0
    numbers: Annotated[tuple[Bigint, ...], Most(2)] = ()
    exponent: Annotated[float, Within(0, 20)] = 1.0
    values: Annotated[tuple[Value, ...], Most(VALUES_MAX)] = ()
    words: Annotated[tuple[Annotated[str, Most(4_000)], ...], Most(WORDS_MAX)] = ()


WEIGHT_MAX = 2**53


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A text as the user wrote it, whose values concurrent users draw anew for each request, and
    its weight beside others of the same statement."""

    text: Text
    draws: Annotated[tuple[Draw, ...], Most(1_000)] = ()
    weight: Annotated[int, Within(1, WEIGHT_MAX)] = 1


@dataclass(frozen=True, slots=True)
class OwnText:
    """The text for engines of one dialect, instead of a translation; `drawn` has it in place of the
    statement's."""

    dialect: Name
    texts: tuple[Text, ...]
    drawn: Annotated[tuple[DrawnText, ...], Most(1_000)] = ()


@dataclass(frozen=True, slots=True)
class WorkloadStatement:
    """A statement of the workload: a query, or one that changes a table.

    `texts` are its variations, written in `dialect` (empty: SQL as most engines have it). Numbers
    with a fraction must agree to `digits` significant digits. `order` are the places of the columns
    by which the answer must be sorted.
    """

    name: Name
    title: Annotated[str, Most(TITLE_LETTERS_MAX)]
    dialect: Name
    texts: Annotated[tuple[Text, ...], Most(100_000)]
    own: tuple[OwnText, ...] = ()
    digits: Annotated[int, Within(1, 15)] = DIGITS
    order: tuple[Size, ...] = ()
    order_unchecked: bool = False
    """Whether the text requests an order of which not all keys are columns of the answer."""
    expected: tuple[tuple[Accepted, ...], ...] = ()
    """The answers that the user stored, of the first variations: the ways of engines to give it."""
    changes: Annotated[str, Most(120)] = ""
    """The table that it changes; empty: it is a query, or a script."""
    script: bool = False
    """Whether its texts are scripts: one statement or several, of which some are a transaction."""
    script_changes: Annotated[tuple[Name, ...], Most(1_000)] = ()
    """The tables that a script changes."""
    volatile: Annotated[tuple[Name, ...], Most(1_000)] = ()
    """`table.column`: columns whose new values are another each time, so that none are compared."""
    same: Annotated[tuple[Text, ...], Most(1_000)] = ()
    """Queries whose answers concurrent users of a script leave as they were."""
    grows: Annotated[tuple[Text, ...], Most(1_000)] = ()
    """Queries whose one number grows by one with each script that concurrent users complete."""
    drawn: Annotated[tuple[DrawnText, ...], Most(1_000)] = ()
    """Texts for the requests of concurrent users after the first ones, which are `texts`; empty:
    they go round these."""
    drawn_start: Annotated[int, Within(0, 2**64 - 1)] = 0
    """With a request's number, it says which of `drawn` it has."""

    @property
    def names_dialect(self) -> bool:
        """Whether its user named a dialect: else engines read the one text by their own rules."""
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
        """The same without what users draw: of its first requests, this changes none."""
        own = tuple(dataclasses.replace(one, drawn=()) for one in self.own)
        return dataclasses.replace(self, drawn=(), drawn_start=0, own=own)


@dataclass(frozen=True, slots=True)
class Workload:
    """The tables and statements. `folder`, as the user wrote it, is where file names begin."""

    title: Annotated[str, Most(TITLE_LETTERS_MAX)]
    folder: Annotated[str, Most(4_000)]
    tables: Annotated[tuple[DataTable, ...], Most(1_000)]
    statements: Annotated[tuple[WorkloadStatement, ...], Most(1_000)]
    timezone: Annotated[str, Most(60)] = UTC
    """The zone in which every engine reads and writes times."""
    as_it_stands: bool = False
    """Whether its queries are asked of the user's own tables, in the databases that the variants
    name: these are opened to be read, and nothing else. Then `tables` is empty."""

    @property
    def edition(self) -> str:
        """A short name of its contents: two of them are equal where tables and statements are,
        wherever they lie, and whatever answers are stored."""
        plain = (dataclasses.replace(one, expected=()) for one in self.statements)
        reported = workload_fields(
            dataclasses.replace(self, title="", folder="", statements=tuple(plain))
        )
        text = json.dumps(reported, sort_keys=True, separators=(",", ":"))
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


_LATER: dict[str, dict[str, Any]] = {
    "statements": {
        "changes": "",
        "script": False,
        "script_changes": (),
        "volatile": (),
        "same": (),
        "grows": (),
        "drawn": (),
        "drawn_start": 0,
    },
    "tables": {"sql": "", "checksum": ""},
}
"""By list, the fields that workloads of earlier releases lack, with the values that theirs have."""
_LATER_OF_ALL = {"timezone": UTC, "as_it_stands": False}
"""The same of the workload itself."""


def workload_fields(reported: Workload) -> dict[str, Any]:
    """Its fields as plain values, those of later releases only where they say something: so what
    was written before them is equal to itself, and has the hash that it had."""
    plain = _without(dataclasses.asdict(reported), _LATER_OF_ALL)
    for key, later in _LATER.items():
        plain[key] = [_without(one, later) for one in plain[key]]
    for one in plain["statements"]:
        _shorten(one)
    return plain


def statement_fields(reported: WorkloadStatement) -> dict[str, Any]:
    """As `workload_fields`, of one statement."""
    found = _without(dataclasses.asdict(reported), _LATER["statements"])
    _shorten(found)
    return found


_SHORT: dict[str, Any] = {
    "drawn": (), "start": 0, "numbers": (), "exponent": 1.0, "values": (), "words": (),
    "draws": (), "weight": 1,
}  # fmt: skip
"""Of the texts in other dialects, and of what is drawn, the fields that say nothing."""


def _shorten(statement: dict[str, Any]) -> None:
    statement["own"] = [_without(one, _SHORT) for one in statement["own"]]
    for each in (statement, *statement["own"]):
        for drawn in each.get("drawn", ()):
            drawn["draws"] = [_without(draw, _SHORT) for draw in drawn["draws"]]
        if "drawn" in each:
            each["drawn"] = [_without(drawn, _SHORT) for drawn in each["drawn"]]


def _without(plain: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Fields without those that have these values."""
    return {
        name: value for name, value in plain.items() if name not in later or value != later[name]
    }
