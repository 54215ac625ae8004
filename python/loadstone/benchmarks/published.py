"""A paper's own numbers, read from the file `published.toml` beside its benchmark.

The file names the paper (`citation`) and its `systems`, each with what it was. What a table does
not have of its own (`systems`, `unit`, `scale`, `edition`) is the file's. A row has a `label`, an
`operation` where one stands for it here, and a value for each system, an empty text where the paper
has none; instead of the first two it may name a `query` of the file, which has both.

A table's `derived` columns are values that the paper computed from two of its systems, by default
the last before and the first after a change; a row has its value under the column's `key`.

A table whose rows name `tuples` is one for each size here; one without any size has relations of
sizes that the paper fixes, whatever the scale.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.plan.published import DerivedColumn, Published, PublishedTable


def published_in(file: Path, scale: int) -> Published:
    """The numbers of a file; `scale` is the tuples of tables whose relations have sizes of their
    own."""
    data = tomllib.loads(file.read_text("utf-8"))
    tables = tuple(table for each in data["table"] for table in _tables(data, each, scale))
    return Published(data["citation"], tables, data["systems"])


def _tables(data: dict[str, Any], table: dict[str, Any], scale: int) -> Iterator[PublishedTable]:
    """A table of the file, or its parts for each size of its rows."""
    sizes = sorted({row["tuples"] for row in table["rows"] if "tuples" in row})
    if not sizes:
        given = table.get("scale", data.get("scale"))
        yield _table(data, table, table["rows"], given or scale, fixed=given is None)
    for size in sizes:
        rows = [row for row in table["rows"] if row["tuples"] == size]
        tuples = "one tuple" if size == 1 else f"{size:,} tuples"
        titled = {**table, "title": f"{table['title']}, {tuples}"}
        yield _table(data, titled, rows, size, fixed=False)


def _table(
    data: dict[str, Any],
    table: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    scale: int,
    *,
    fixed: bool,
) -> PublishedTable:
    systems = tuple(table.get("systems", data["systems"]))
    reported = [(*_named(data, row), _values(systems, row)) for row in rows]
    return PublishedTable(
        number=table["number"],
        title=table["title"],
        unit=table.get("unit", data.get("unit", "s")),
        systems=systems,
        rows=tuple(reported),
        note=table.get("note", ""),
        scale=scale,
        edition=table.get("edition", data.get("edition", "")),
        absent={label: row["absent"] for (label, *_), row in zip(reported, rows, strict=True)
                if "absent" in row},
        only=table.get("only", {}),
        fixed=fixed,
        place=table.get("place", ""),
        requests=table.get("requests", 0),
        quantity=table.get("quantity", "elapsed"),
        derived=tuple(_derived(one, table, reported, rows) for one in table.get("derived", ())),
    )  # fmt: skip


def _derived(
    column: dict[str, Any],
    table: dict[str, Any],
    reported: Sequence[tuple[str, str | None, Mapping[str, float | str]]],
    rows: Sequence[dict[str, Any]],
) -> DerivedColumn:
    """A column of a table: its rows have their values under the column's `key`."""
    printed = {
        label: row[column["key"]]
        for (label, *_), row in zip(reported, rows, strict=True)
        if column["key"] in row
    }
    systems = table["systems"]
    return DerivedColumn(
        name=column["name"],
        kind=column["kind"],
        before=column.get("before", systems[-1]),
        after=column.get("after", systems[0]),
        printed=printed,
        factor=column.get("factor", 1.0),
        functions=tuple(column.get("functions", ())),
    )


def _named(data: dict[str, Any], row: dict[str, Any]) -> tuple[str, str | None]:
    """A row's label and operation."""
    named = data["query"][row["query"]] if "query" in row else row
    return named["label"], named.get("operation")


def _values(systems: Sequence[str], row: dict[str, Any]) -> Mapping[str, float | str]:
    pairs = zip(systems, row["values"], strict=True)
    return {system: value for system, value in pairs if value != ""}
