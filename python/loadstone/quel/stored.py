"""QUEL to QUEL: a program for an engine that speaks the language, with the names of stored
relations in place of the papers'."""

from collections.abc import Sequence

from loadstone.quel import tree
from loadstone.quel.expressions import Scope
from loadstone.quel.queries import result_names
from loadstone.quel.statement import Statement
from loadstone.quel.tree import Node

_UPDATES = ("append", "replace", "delete")


def stored(program: Sequence[Node], scope: Scope) -> Statement:
    """A program that ends in its only statement besides `range of`."""
    renamed = [_renamed(node, scope) for node in program if node["kind"] != "go"]
    statement = next(node for node in renamed if node["kind"] != "range")
    text = tree.render(renamed).rstrip("\n")
    if statement["kind"] == "retrieve":
        into = statement["into"]
        return Statement("into" if into else "retrieve", text, result=into)
    if statement["kind"] in _UPDATES:
        return Statement("update", text, target=_target(statement, renamed))
    return Statement("definition", text)


def _renamed(node: Node, scope: Scope) -> Node:
    """A statement with the names of tables."""
    changed: Node = dict(node)
    for key in ("relation", "into"):
        if changed.get(key):
            changed[key] = scope.table_of(changed[key])
    if "relations" in changed:
        changed["relations"] = [scope.table_of(name) for name in changed["relations"]]
    if node["kind"] == "retrieve" and node["into"]:
        changed["targets"] = _named_apart(node["targets"], scope)
    return changed


def _named_apart(targets: Sequence[Node], scope: Scope) -> list[Node]:
    """The targets under the names that their attributes have on every engine."""
    named = result_names(targets, scope)
    return [value if name is None else tree.named(name, value) for name, value in named]


def _target(statement: Node, program: Sequence[Node]) -> str:
    if "relation" in statement:
        return str(statement["relation"])
    ranges = {node["variable"]: node["relation"] for node in program if node["kind"] == "range"}
    return str(ranges[statement["variable"]])
