"""MariaDB's plans: EXPLAIN as a text, and the storage structures that it shows."""

import re
from collections.abc import Iterator, Sequence

_MADE = re.compile(
    r"\s*CREATE\s+TABLE\s+(?:`(?:[^`]|``)+`|[\w.]+)(?:\s+AS)?\s+(?=SELECT\b|WITH\b|\()",
    re.IGNORECASE,
)
"""The words before the query of a statement that makes a relation."""
_FIELDS = ("id", "select_type", "table", "type", "key", "key_len", "ref", "rows", "Extra")
_COLUMNS = (
    "id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "Extra",
)  # fmt: skip
_COLUMNS_OF_MYSQL = (
    "id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref",
    "rows", "filtered", "Extra",
)  # fmt: skip
_STEP = re.compile(r"\btable=(\S.*?) type=(\S+)(?: key=(.*?) key_len=| ref=| rows=|$)")
_UNSEEN = ("const table", "optimized away")
"""Of a step that says what was read while planning, and not how."""
_PRIMARY = "PRIMARY"


def query_of(statement: str) -> str:
    """The part of a statement that EXPLAIN takes: of one that makes a relation its query."""
    return _MADE.sub("", statement, count=1)


def written(rows: Sequence[Sequence[object]]) -> str:
    """The rows of EXPLAIN, each as one line of its fields; those without a value are left out."""
    return "\n".join(_line(dict(zip(_columns(row), row, strict=True))) for row in rows)


def _columns(row: Sequence[object]) -> Sequence[str]:
    return _COLUMNS if len(row) == len(_COLUMNS) else _COLUMNS_OF_MYSQL


def _line(step: dict[str, object]) -> str:
    return " ".join(f"{name}={step[name]}" for name in _FIELDS if step[name] not in (None, ""))


def access_paths(plan: str) -> Sequence[str] | None:
    """The structures by which a plan reaches its tables; None where it does not say."""
    if any(word in plan for word in _UNSEEN):
        return None
    return sorted(set(_paths(plan)))


def _paths(plan: str) -> Iterator[str]:
    for line in plan.splitlines():
        step = _STEP.search(line)
        # <derived2>, <subquery2>, <union1,2>: results of other steps.
        if step is None or step[1].startswith("<"):
            continue
        way, key = step[2], step[3] or ""
        if way in ("ALL", "hash_ALL") or not key or key.startswith("#hash#"):
            yield "heap"
        elif key != _PRIMARY:
            yield "nonclustered"
        else:
            # All of the primary key's tree is all tuples.
            yield "heap" if way == "index" else "clustered"
