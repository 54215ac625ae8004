"""The tuples that an update of a few tuples concerns: those that it names, and those that it makes.

An update that writes a constant, by which its undo then finds what was written, says by itself
where all its changes are to be found: among the tuples that either of the two names.
"""

from dataclasses import dataclass

from loadstone.quel import tree
from loadstone.quel.tree import Node

_VARIABLE = "t"


@dataclass(frozen=True, slots=True)
class NamedTuples:
    """Of an update: its relation, and the query of all tuples that it can concern."""

    relation: str
    query: str
    growth: int
    """By how much the relation grows for each tuple that is changed: 1, 0 or -1."""

    def cardinality(self, attribute: str) -> str:
        """The query that counts all tuples of the relation, by an attribute of it."""
        counted: Node = {
            "kind": "aggregate",
            "function": "count",
            "argument": tree.attribute(_VARIABLE, attribute),
            "by": [],
            "where": None,
        }
        return _retrieve(self.relation, [tree.named("n", counted)], None)


def named_tuples(text: str, undo: str) -> NamedTuples | None:
    """None where the two programs do not say by themselves what they concern: more than one
    relation, all tuples, or a written value that is no constant."""
    update, back = tree.parse(text), tree.parse(undo)
    kinds = (update[-1]["kind"], back[-1]["kind"])
    relations = {_relation(update), _relation(back)}
    if kinds not in _GROWTH or len(relations) != 1 or None in relations:
        return None
    named = [_where(program) for program in (update, back) if program[-1]["kind"] != "append"]
    if None in named or not (kinds[0] == "delete" or _finds(back[-1], update[-1])):
        return None
    where = named[0]
    for other in named[1:]:
        where = tree.binary("or", where or {}, other or {})
    (relation,) = relations
    query = _retrieve(str(relation), [{"kind": "all", "variable": _VARIABLE}], where)
    return NamedTuples(str(relation), query, _GROWTH[kinds])


_GROWTH = {("append", "delete"): 1, ("replace", "replace"): 0, ("delete", "append"): -1}


def _relation(program: list[Node]) -> str | None:
    """The one relation of a program; None where it has more."""
    *ranges, statement = program
    found = {node["relation"] for node in ranges if node["kind"] == "range"}
    if statement["kind"] == "append":
        found.add(statement["relation"])
    return found.pop() if len(found) == 1 and len(ranges) <= 1 else None


def _where(program: list[Node]) -> Node | None:
    """A statement's qualification, with our variable; None without one."""
    where = program[-1]["where"]
    renamed = tree.rebuild(
        where, lambda node: {**node, "variable": _VARIABLE} if "variable" in node else node
    )
    found: Node | None = renamed
    return found


def _finds(back: Node, update: Node) -> bool:
    """Whether the undo finds each tuple that the update wrote: by one attribute, to which the
    update gave that constant."""
    where = back["where"]
    if where is None or where["kind"] != "binary" or where["operator"] != "=":
        return False
    if where["left"]["kind"] != "attribute":
        return False
    written = {target["name"]: target["value"] for target in update["targets"] if "name" in target}
    value = where["right"]
    is_constant = value["kind"] in ("integer", "text")
    return is_constant and written.get(where["left"]["name"]) == value


def _retrieve(relation: str, targets: list[Node], where: Node | None) -> str:
    ranged = {"kind": "range", "variable": _VARIABLE, "relation": relation}
    retrieve = {
        "kind": "retrieve",
        "unique": False,
        "into": None,
        "targets": targets,
        "where": where,
    }
    return tree.render([ranged, retrieve])
