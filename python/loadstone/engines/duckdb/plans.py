"""DuckDB's plans as a text: an operator on a line, what describes it below, and then the operators
that it gets its rows from.

EXPLAIN's own drawing cuts names in wide plans, and is another one from release to release.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_ROWS = "Estimated Cardinality"


def written(explained: str) -> str:
    """The answer of EXPLAIN (FORMAT JSON) as such a text."""
    return "\n".join(line for node in json.loads(explained) for line in _lines(node, ""))


def _lines(node: Mapping[str, Any], indent: str) -> Iterator[str]:
    described = dict(node["extra_info"])
    rows = described.pop(_ROWS, None)
    plural = "" if rows == "1" else "s"
    estimate = f" ~{int(rows):,} row{plural}" if rows is not None else ""
    yield f"{indent}{node['name'].strip()}{estimate}"
    for name, value in described.items():
        words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{indent}  {name}: {' '.join(words.split())}"
    for child in node["children"]:
        yield from _lines(child, indent + "  ")
