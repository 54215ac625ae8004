"""The ten variations of an operation, and its scaling, as transformations of its tree.

The rules are stated, by number, at the head of `queries-1983.quel` and `queries-1993.quel`; a
comment here names the rule that a function carries out.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.quel import tree
from loadstone.quel.tree import Node

PUBLISHED_ROWS = 10_000
COUNT = 10
"""Variations of each operation, the published one included."""

_BOUNDS = ("=", "<", "<=", ">", ">=")

Tuple = Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class Database:
    """The facts about an edition at a scale that a variation needs."""

    rows: int
    large: tuple[str, str]
    """The two large relations, which odd variations exchange."""
    fixed_rows: Mapping[str, int]
    """Relations whose texts are written for a size of their own, which never scales."""
    strings: Sequence[str]
    """The values of a key of strings, in order; empty where no operation selects by a string."""
    attributes: Callable[[str], Sequence[str]]
    """Attribute names of a relation, in order."""
    tuple_at: Callable[[str, int], Tuple]
    """A relation's tuple in a row, by the names of its first large relation."""
    fresh_tuple: Callable[[int, Tuple], Tuple]
    """The tuple to append for a value of unique1, from the one in the text."""

    def rows_of(self, relation: str) -> int:
        """The size of the domain of a relation's keys, as its texts mean it."""
        return self.fixed_rows.get(relation, self.rows)

    def exchanged(self, relation: str) -> str:
        """The other large relation; a smaller one stays."""
        if relation not in self.large:
            return relation
        return self.large[1 - self.large.index(relation)]


@dataclass(frozen=True, slots=True)
class Variation:
    """Variation `number` of a program on a database."""

    database: Database
    number: int

    def program(self, program: list[Node]) -> list[Node]:
        """The program itself."""
        *ranges, statement = program
        relations = {node["variable"]: node["relation"] for node in ranges}
        kind = statement["kind"]
        if kind == "append":
            statement = self._fresh(statement)
        elif kind == "delete":
            victim = self._victim(relations[statement["variable"]])
            statement = {**statement, "where": _naming(statement["where"], victim)}
        else:
            statement = self._moved(statement, relations, self.database.rows + 1)
        return self._alternated([*ranges, statement])

    def undo(self, program: list[Node], undo: list[Node]) -> list[Node]:
        """The undo of `program`: the transformed `undo`, or for a delete, which needs none in the
        text, the append of the tuple that it deleted."""
        statement = program[-1]
        if statement["kind"] == "delete":
            relation = next(s["relation"] for s in program if s["kind"] == "range")
            return self._alternated([_append(relation, self._victim(relation))])
        relations = {s["variable"]: s["relation"] for s in undo if s["kind"] == "range"}
        fresh = self.database.rows + 1
        if statement["kind"] == "append":
            fresh += self.number
        return self._alternated([*undo[:-1], self._moved(undo[-1], relations, fresh)])

    # --- rule 1: scale --------------------------------------------------------------------

    def _scaled(self, value: int, rows: int) -> int:
        """A constant of a text for 10,000 tuples; that of a relation of fixed size stays."""
        return value * self.database.rows // PUBLISHED_ROWS if rows == self.database.rows else value

    # --- rule 2: move ---------------------------------------------------------------------

    def _start(self, low: int, width: int, rows: int) -> int:
        """The place where a range of `width` values that begins at `low` begins in this
        variation."""
        places = rows - width + 1
        return (low + self.number * places // COUNT) % places

    def _moved(self, statement: Node, relations: Mapping[str, str], fresh: int) -> Node:
        """A statement with its constants scaled and moved; `fresh` stands for 10001."""
        terms = tree.conjuncts(statement["where"])
        tied = self._tied(terms, relations)
        moved: list[Node] = []
        for term in terms:
            bound = _bound(term)
            if bound is None:
                moved += self._moved_string(term, terms)
                continue
            rows = self.database.rows_of(relations[bound.variable])
            if bound.operator == "=":
                moved.append(bound.term("=", self._point(bound.value, fresh, rows)))
            else:
                fixed = (bound.variable, bound.name) in tied
                moved += self._extent(bound, terms, rows, fixed=fixed).terms(bound)
        result = {**statement, "where": tree.conjunction(moved)}
        if "targets" in statement:
            result["targets"] = [self._assigned(target, fresh) for target in statement["targets"]]
        return result

    def _assigned(self, target: Node, fresh: int) -> Node:
        name, value = target.get("name"), target.get("value")
        if name is None or value is None or not _is_key(name) or value["kind"] != "integer":
            return target
        point = self._point(value["value"], fresh, self.database.rows)
        return tree.named(name, tree.integer(point))

    def _point(self, value: int, fresh: int, rows: int) -> int:
        return fresh if value >= PUBLISHED_ROWS else self._start(self._scaled(value, rows), 1, rows)

    def _extent(
        self, bound: "_Bound", terms: Sequence[Node], rows: int, *, fixed: bool
    ) -> "_Extent":
        """The range that all bounds leave of an attribute, scaled, and moved unless `fixed`."""
        low, high, has_low = 0, rows, False
        for other in filter(None, map(_bound, terms)):
            if (other.variable, other.name) != (bound.variable, bound.name):
                continue
            has_low = has_low or other.operator in (">", ">=")
            match other.operator:
                case ">=":
                    low = self._scaled(other.value, rows)
                case ">":
                    low = self._scaled(other.value, rows) + 1
                case "<":
                    high = self._scaled(other.value, rows)
                case "<=":
                    high = self._scaled(other.value + 1, rows)
        start = low if fixed else self._start(low, high - low, rows)
        return _Extent(start, high - low + start, has_low)

    def _tied(self, terms: Sequence[Node], relations: Mapping[str, str]) -> set[tuple[str, str]]:
        """Attributes that the joins make equal to one of a smaller relation."""
        joins = [pair for pair in map(_join, terms) if pair is not None]
        tied = {
            key for pair in joins for key in pair if relations[key[0]] not in self.database.large
        }
        for _ in joins:
            tied.update(key for pair in joins if tied.intersection(pair) for key in pair)
        return tied

    # --- rule 3: strings ------------------------------------------------------------------

    def _moved_string(self, term: Node, terms: Sequence[Node]) -> list[Node]:
        """A bound on a string, its range moved by places in the order of all strings, so that
        every variation selects as many; any other term as it is."""
        if not _is_string_bound(term) or not self.number:
            return [term]
        strings, name = self.database.strings, term["left"]["name"]
        bounds = {
            other["operator"]: other["right"]["value"]
            for other in terms
            if _is_string_bound(other) and other["left"]["name"] == name
        }
        low, high = 0, len(strings)
        for operator, value in bounds.items():
            match operator:
                case ">=":
                    low = bisect_left(strings, value)
                case ">":
                    low = bisect_right(strings, value)
                case "<":
                    high = bisect_left(strings, value)
                case "<=":
                    high = bisect_right(strings, value)
        start = self._start(low, high - low, len(strings))
        if term["operator"] in (">", ">="):
            return [tree.binary(">=", term["left"], tree.text(strings[start]))]
        upper = tree.binary("<=", term["left"], tree.text(strings[start + high - low - 1]))
        if bounds.keys() & {">", ">="}:
            return [upper]
        return [tree.binary(">=", term["left"], tree.text(strings[start])), upper]

    # --- rule 4: the other relation -------------------------------------------------------

    def _alternated(self, program: list[Node]) -> list[Node]:
        """Odd variations exchange the large relations, attributes by position."""
        if self.number % 2 == 0:
            return program
        names: dict[str, Mapping[str, str]] = {}
        exchanged = []
        for statement in program:
            if statement["kind"] == "range":
                names[statement["variable"]] = self._names(statement["relation"])
                relation = self.database.exchanged(statement["relation"])
                exchanged.append({**statement, "relation": relation})
            else:
                exchanged.append(self._exchanged_statement(statement, names))
        return exchanged

    def _exchanged_statement(self, statement: Node, names: Mapping[str, Mapping[str, str]]) -> Node:
        def rename(node: Node) -> Node:
            if node["kind"] != "attribute":
                return node
            return {**node, "name": names[node["variable"]][node["name"]]}

        renamed: Node = tree.rebuild(statement, rename)
        if statement["kind"] == "append":
            relation = statement["relation"]
            renamed["relation"] = self.database.exchanged(relation)
            renamed["targets"] = _renamed_targets(renamed["targets"], self._names(relation))
        elif statement["kind"] == "replace":
            own = names[statement["variable"]]
            renamed["targets"] = _renamed_targets(renamed["targets"], own)
        return renamed

    def _names(self, relation: str) -> Mapping[str, str]:
        """Attribute of a relation -> the attribute in its place in the relation it becomes."""
        mine = self.database.attributes(relation)
        theirs = self.database.attributes(self.database.exchanged(relation))
        return dict(zip(mine, theirs, strict=True))

    # --- rule 5: tuples -------------------------------------------------------------------

    def _fresh(self, statement: Node) -> Node:
        written = {t["name"]: t["value"]["value"] for t in statement["targets"]}
        unique1 = self.database.rows + 1 + self.number
        return _append(statement["relation"], self.database.fresh_tuple(unique1, written))

    def _victim(self, relation: str) -> Tuple:
        """The tuple that a delete takes: in the row of the published 1491."""
        row = self._start(self._scaled(1491, self.database.rows), 1, self.database.rows)
        at = self.database.exchanged(relation) if self.number % 2 else relation
        return self.database.tuple_at(at, row)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A comparison of a key attribute with a constant."""

    variable: str
    name: str
    operator: str
    value: int

    def term(self, operator: str, value: int) -> Node:
        """The same attribute compared with another constant."""
        attribute = tree.attribute(self.variable, self.name)
        return tree.binary(operator, attribute, tree.integer(value))


@dataclass(frozen=True, slots=True)
class _Extent:
    """The values low … high - 1 of a key attribute; `has_low`: the text has a lower bound."""

    low: int
    high: int
    has_low: bool

    def terms(self, bound: _Bound) -> list[Node]:
        """The text in the place of one bound of this range."""
        match bound.operator:
            case ">=":
                return [bound.term(">=", self.low)]
            case ">":
                return [bound.term(">", self.low - 1)]
            case operator:
                upper = bound.term(operator, self.high if operator == "<" else self.high - 1)
        lower_is_missing = self.low > 0 and not self.has_low
        return [bound.term(">=", self.low), upper] if lower_is_missing else [upper]


def _bound(term: Node) -> _Bound | None:
    if term["kind"] != "binary" or term["operator"] not in _BOUNDS:
        return None
    left, right = term["left"], term["right"]
    if left["kind"] != "attribute" or right["kind"] != "integer" or not _is_key(left["name"]):
        return None
    return _Bound(left["variable"], left["name"], term["operator"], right["value"])


def _is_string_bound(term: Node) -> bool:
    is_bound = term["kind"] == "binary" and term["operator"] in _BOUNDS
    return is_bound and term["left"]["kind"] == "attribute" and term["right"]["kind"] == "text"


def _join(term: Node) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """The two attributes that a term makes equal."""
    if term["kind"] != "binary" or term["operator"] != "=":
        return None
    left, right = term["left"], term["right"]
    if left["kind"] != "attribute" or right["kind"] != "attribute":
        return None
    return (left["variable"], left["name"]), (right["variable"], right["name"])


def _is_key(name: str) -> bool:
    """Whether an attribute's domain is 0 … n-1."""
    return "unique" in name


def _naming(where: Node, victim: Tuple) -> Node:
    """The comparison with a key that names this tuple."""
    return {**where, "right": tree.integer(int(victim[where["left"]["name"]]))}


def _append(relation: str, values: Tuple) -> Node:
    def constant(value: Any) -> Node:
        return tree.text(value) if isinstance(value, str) else tree.integer(value)

    targets = [tree.named(name, constant(value)) for name, value in values.items()]
    return {"kind": "append", "relation": relation, "targets": targets, "where": None}


def _renamed_targets(targets: Sequence[Node], names: Mapping[str, str]) -> list[Node]:
    return [
        {**target, "name": names[target["name"]]} if target.get("name") else target
        for target in targets
    ]
