"""chDB's plans: EXPLAIN as a text, and the storage structures that it shows."""

import re
from collections.abc import Iterator, Sequence

_NAME = r"(?:[`\"](?:[^`\"\\]|\\.)+[`\"]|[\w.]+)"
_MADE = re.compile(rf"\s*CREATE\s+TABLE\s+{_NAME}\s+AS\s+", re.IGNORECASE)
_APPENDED = re.compile(
    rf"\s*INSERT\s+INTO\s+{_NAME}(?:\s*\([^)]*\))?\s+(?=SELECT\b)", re.IGNORECASE
)
_DELETED = re.compile(r"\s*DELETE\s+FROM\s+", re.IGNORECASE)
_READS = "ReadFromMergeTree"
_CONDITION = re.compile(r"Condition: (?!true$)")


def query_of(statement: str) -> str:
    """The query that finds the tuples of a statement, which EXPLAIN takes."""
    statement = _APPENDED.sub("", _MADE.sub("", statement, count=1), count=1)
    return _DELETED.sub("SELECT * FROM ", statement, count=1)


def access_paths(plan: str) -> Sequence[str]:
    """The structures by which a plan reaches its tables."""
    return sorted(set(_paths(plan)))


def _paths(plan: str) -> Iterator[str]:
    for step in plan.split(_READS)[1:]:
        # Up to the next table: what the key of this one's parts leaves to be read.
        lines = step.splitlines()
        yield "clustered" if any(map(_CONDITION.search, map(str.rstrip, lines))) else "heap"
