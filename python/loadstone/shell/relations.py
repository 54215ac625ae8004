"""The relations of a database as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadstone.errors import InputError
from loadstone.lode import Database
from loadstone.shell.formats import Table


def listed(database: Database) -> str:
    """All relations, a line for each; empty where there are none."""
    rows = [
        (found["name"], found["rows"], found["pages"], _organisation(found), _indexes(found))
        for found in database.relations()
    ]
    return aligned({"relation": "c", "tuples": "i", "pages": "i", "organisation": "c",
                    "indexes": "c"}, rows)  # fmt: skip


def described(database: Database, name: str) -> str:
    """One relation: its storage and its attributes. Raises `InputError` where there is none."""
    relations = {found["name"]: found for found in database.relations()}
    if (found := relations.get(name.lower())) is None:
        there_are = ", ".join(relations) or "none"
        raise InputError(f"there is no relation {name}", hint=f"relations there are: {there_are}")
    lines = [f"relation      {found['name']}", f"tuples        {found['rows']}"]
    lines += [f"pages         {found['pages']}", f"organisation  {_organisation(found)}"]
    if found["indexes"]:
        lines.append(f"indexes       {_indexes(found)}")
    return "\n".join(lines) + "\n\n" + aligned({"attribute": "c", "type": "c"}, found["attributes"])


def aligned(columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Rows below their headings; each column is a text (c) or a number (i)."""
    table = Table(list(columns), list(columns.values()))
    return table.some(rows) if rows else ""


def _organisation(found: Mapping[str, Any]) -> str:
    organisation, key = str(found["organisation"]), ", ".join(found["key"])
    stored = f"{organisation} on {key}" if key else organisation
    return stored if found["layout"] == "rows" else f"{stored}, by {found['layout']}"


def _indexes(found: Mapping[str, Any]) -> str:
    return "; ".join(", ".join(names) for names in found["indexes"])
