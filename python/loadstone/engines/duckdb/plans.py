"""DuckDB's plans as a text: an operator on a line, what describes it below, and then the operators
that it gets its rows from.

EXPLAIN's own drawing cuts names in wide plans, and is another one from release to release. Those
before 1.1 have no other: their boxes are read.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
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


_ESTIMATE = re.compile(r"EC: (\d+)")
_RULE = re.compile(r"[─ ]+")
"""Between the parts of a box."""


def redrawn(drawing: str) -> str:
    """A plan that DuckDB drew as such a text."""
    levels: list[dict[int, list[str]]] = []
    ends: dict[int, int] = {}
    for line in drawing.splitlines():
        if "┌" in line:
            starts = [at for at, letter in enumerate(line) if letter == "┌"]
            ends = {at: line.find("┐", at) for at in starts}
            levels.append({at: [] for at in starts})
        for at, end in ends.items():
            if line[at : at + 1] == "│" and line[end : end + 1] in "│├":
                levels[-1][at].append(line[at + 1 : end].strip())
    tops = levels[0] if levels else {}
    return "\n".join(line for at in tops for line in _lines(_node(levels, 0, at), ""))


def _node(levels: Sequence[Mapping[int, list[str]]], depth: int, at: int) -> dict[str, Any]:
    """A box as EXPLAIN (FORMAT JSON) has it. Its inputs stand below it, or to the right of that,
    up to the next box of its level."""
    name, *words = levels[depth][at] or [""]
    parts = list(filter(None, words))
    estimates = [found[1] for part in parts if (found := _ESTIMATE.fullmatch(part))]
    said = [one for one in parts if not (_RULE.fullmatch(one) or _ESTIMATE.fullmatch(one))]
    info = {"Text": said[:1], "Other": said[1:], _ROWS: estimates[0] if estimates else None}
    until = min((other for other in levels[depth] if other > at), default=None)
    below = levels[depth + 1] if depth + 1 < len(levels) else {}
    inputs = [one for one in below if at <= one and (until is None or one < until)]
    return {
        "name": name,
        "extra_info": {key: value for key, value in info.items() if value},
        "children": [_node(levels, depth + 1, one) for one in inputs],
    }
