"""The tree of a QUEL program, as the core parses it: plain JSON objects, tagged by `kind`.

The shape is stated in `crates/quel/src/tree.rs`. Trees are never changed in place: a
transformation builds a new one with `rebuild`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from loadstone import _core
from loadstone.errors import InputError

Node = dict[str, Any]


def parse(text: str) -> list[Node]:
    """The statements of a program. Raises `InputError` with the line and a caret."""
    try:
        program: list[Node] = json.loads(_core.quel_parse(text))
    except _core.QuelError as error:
        raise InputError(str(error), hint="docs/reference/quel.md shows the language") from None
    return program


def render(program: Sequence[Node]) -> str:
    """The canonical QUEL text of a program."""
    return _core.quel_format(json.dumps(program))


def walk(node: Any, *, into_aggregates: bool = True) -> Iterator[Node]:
    """Every node under `node`, itself first, in the order of the text.

    Without `into_aggregates` an aggregate is yielded and not entered: its variables are its own.
    """
    if isinstance(node, Mapping):
        if "kind" in node:
            yield dict(node)
            if node["kind"] == "aggregate" and not into_aggregates:
                return
        for child in node.values():
            yield from walk(child, into_aggregates=into_aggregates)
    elif isinstance(node, list | tuple):
        for child in node:
            yield from walk(child, into_aggregates=into_aggregates)


def rebuild(node: Any, change: Callable[[Node], Any]) -> Any:
    """A copy of `node` in which each tagged object is replaced by what `change` makes of it,
    children first."""
    if isinstance(node, Mapping):
        copy = {key: rebuild(child, change) for key, child in node.items()}
        return change(copy) if "kind" in copy else copy
    if isinstance(node, list | tuple):
        return [rebuild(child, change) for child in node]
    return node


def variables(node: Any, *, into_aggregates: bool = True) -> list[str]:
    """Names of the range variables used under `node`, each once, in the order of the text."""
    found: dict[str, None] = {}
    for part in walk(node, into_aggregates=into_aggregates):
        if part["kind"] in ("attribute", "all"):
            found.setdefault(part["variable"])
    return list(found)


def aggregates(node: Any) -> list[Node]:
    """The outermost aggregates under `node`."""
    return [part for part in walk(node, into_aggregates=False) if part["kind"] == "aggregate"]


def conjuncts(where: Node | None) -> list[Node]:
    """The terms of a qualification that are joined by `and`."""
    if where is None:
        return []
    if where["kind"] == "binary" and where["operator"] == "and":
        return [*conjuncts(where["left"]), *conjuncts(where["right"])]
    return [where]


def conjunction(terms: Sequence[Node]) -> Node | None:
    """The qualification that joins `terms` by `and`; None for no terms."""
    where: Node | None = None
    for term in terms:
        where = term if where is None else binary("and", where, term)
    return where


def binary(operator: str, left: Node, right: Node) -> Node:
    """A binary expression."""
    return {"kind": "binary", "operator": operator, "left": left, "right": right}


def attribute(variable: str, name: str) -> Node:
    """An attribute of a range variable."""
    return {"kind": "attribute", "variable": variable, "name": name}


def integer(value: int) -> Node:
    """An integer constant; below zero it is the negation of one, as the language writes it."""
    if value < 0:
        return {"kind": "unary", "operator": "-", "operand": integer(-value)}
    return {"kind": "integer", "value": value}


def text(value: str) -> Node:
    """A string constant."""
    return {"kind": "text", "value": value}


def named(name: str | None, value: Node) -> Node:
    """A target with a value."""
    return {"kind": "named", "name": name, "value": value}
