"""The names in records of schemas before 6, and those of now.

The reader translates where it takes rows in: nothing after it knows a name of before. Columns that
were renamed say so themselves (`Column.before`); here are the names among their values.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from loadstone.plan.earlier_names import CHOICES
from loadstone.record.earlier_presentations import SCALE_THEN
from loadstone.text.shape import strict_json

RENAMED = 6
"""The first schema with the names of now."""
QUANTITIES = 13
"""The first schema whose published tables say whether their times are elapsed."""

PLAN_KEYS = CHOICES | {"twin": "aa_control"}


def _operation(name: str) -> str:
    """Operations are called after where their rows go."""
    return f"{name.removesuffix('-host')}-client" if name.endswith("-host") else name


def _title(text: str) -> str:
    return text.replace(" to the host", " to the client")


def _destination(name: str) -> str:
    return "client" if name == "host" else name


def _reason(text: str) -> str:
    return text.replace("the host took", "the hypervisor took")


def _term(key: str) -> str:
    return "client" if key == "host" else key


def _figure(key: str) -> str:
    return f"overhead.{key.removeprefix('floor.')}" if key.startswith("floor.") else key


VALUES: dict[tuple[str, str], Callable[[str], str]] = {
    ("calibration", "key"): _figure,
    ("term", "key"): _term,
    ("operation", "name"): _operation,
    ("operation", "title"): _title,
    ("operation", "destination"): _destination,
    ("input", "operation"): _operation,
    ("cell", "operation"): _operation,
    ("cell", "reason"): _reason,
    ("users", "operation"): _operation,
    ("users", "reason"): _reason,
}
"""(table, column) -> how its values are translated."""


def row_now(table: str, row: dict[str, Any], version: int) -> dict[str, Any]:
    """A row that was checked, in the words of now."""
    if version >= RENAMED:
        return row
    translations = {name: VALUES.get((table, name)) for name in row}
    return {
        name: value if (translate := translations[name]) is None else translate(value)
        for name, value in row.items()
    }


def plan_now(text: str, version: int) -> str:
    """A plan's JSON in the words of now; what is no plan stays what it is. Raises `InputError`
    where it is no JSON."""
    if version >= RENAMED:
        return text
    plan = strict_json(text)
    if not isinstance(plan, dict):
        return text
    plan = {PLAN_KEYS.get(name, name): value for name, value in plan.items()}
    if isinstance(plan.get("operations"), list):
        plan["operations"] = [_text_now(name) for name in plan["operations"]]
    for cell in plan["cells"] if isinstance(plan.get("cells"), list) else ():
        if isinstance(cell, dict) and "operation" in cell:
            cell["operation"] = _text_now(cell["operation"])
    return json.dumps(plan)


def published_now(published: Any, version: int) -> Any:
    """A paper's numbers, their rows beside the operations of now, and each table with its scale;
    changed in place."""
    tables = published.get("tables") if isinstance(published, dict) else None
    if not isinstance(tables, list):
        return published
    if version < QUANTITIES:
        for table in tables:
            if isinstance(table, dict) and "CPU time" in str(table.get("title")):
                table["quantity"] = "cpu"
                table["note"] = _without(str(table.get("note") or ""))
    if version >= RENAMED:
        return published
    for table in tables:
        if isinstance(table, dict) and table.get("scale") is None:
            table["scale"] = SCALE_THEN
        rows = table.get("rows") if isinstance(table, dict) else None
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, list) and len(row) > 1:
                row[1] = _text_now(row[1])
    return published


def _without(note: str) -> str:
    """A note without the sentence that today's figures beside a CPU time are elapsed times: reports
    of now have today's CPU time there."""
    return re.sub(r"(CPU time of \w+; o|O)urs are elapsed times\. ", "", note)


def basis_now(basis: str) -> str:
    """A benchmark's word on today's figures, without the same sentence."""
    said = "; the CPU times of its Tables 2, 6 and 9 stand beside elapsed times of today"
    return basis.replace(said, "")


def _text_now(name: Any) -> Any:
    return _operation(name) if isinstance(name, str) else name
