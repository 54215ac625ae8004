"""OO1 on Ladybug: parts are nodes, connections relationships, queried in Cypher.

Statements are prepared once. A hop is one statement, which fetches the parts it leads to (tactic
`hop=join`), or their ids for a look-up each.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.oo1.driver import BUILD_SUM_S, DEPTH, PLACE_MAX, Driver, NewPart, Row
from loadstone.clients.oo1.relations import connection_table, part_table
from loadstone.clients.python.ladybug_session import Session

FIRST = 1
"""A part that every database has, and that leads to three others."""
SCHEMA = (
    "CREATE NODE TABLE part(id INT32 PRIMARY KEY, type STRING, x INT32, y INT32, build INT64)",
    "CREATE REL TABLE connection(FROM part TO part, type STRING, length INT32)",
)
PART = "p.id, p.x, p.y, p.type"
AT = "MATCH (:part {id: $id})"
TO, FROM = "-[:connection]->", "<-[:connection]-"
STATEMENTS = {
    "find": f"MATCH (p:part {{id: $id}}) RETURN {PART}",
    "links": f"{AT}{TO}(p:part) RETURN {PART}",
    "links_back": f"{AT}{FROM}(p:part) RETURN {PART}",
    "links_in_order": f"{AT}-[c:connection]->(p:part) RETURN {PART} ORDER BY c.length, p.id",
    "range": f"MATCH (p:part) WHERE p.build >= $low AND p.build < $high RETURN {PART}",
    "scan": "MATCH (p:part) RETURN p.x, p.y",
    # Filtered behind WITH, it stays a hop: a key on both ends is planned as a join.
    "reference": f"{AT}{TO}(p:part) WITH p.id AS id, p.x AS x, p.y AS y, p.type AS kind "
    "WHERE id = $to RETURN id, x, y, kind",
    "group": "MATCH (f:part {id: $id})-[c:connection]->(p:part) "
    "RETURN f.id, p.id, c.length, c.type",
    "insert": "CREATE (:part {id: $id, type: $type, x: $x, y: $y, build: $build})",
    "connect": "MATCH (f:part {id: $id}), (t:part {id: $to}) "
    "CREATE (f)-[:connection {type: $type, length: $length}]->(t)",
    "update": f"MATCH (p:part {{id: $id}}) SET p.x = {PLACE_MAX} - p.x, "
    f"p.y = {PLACE_MAX} - p.y, p.build = {BUILD_SUM_S} - p.build",
    "remove": "MATCH (p:part {id: $id}) DETACH DELETE p",
    "find_batch": f"UNWIND $ids AS number MATCH (p:part {{id: number}}) RETURN {PART}",
    "constant": "RETURN 1",
}
PATHS = {
    "path": f"{AT}-[:connection*1..{DEPTH}]->(p:part) RETURN {PART}",
    "path_back": f"{AT}<-[:connection*1..{DEPTH}]-(p:part) RETURN {PART}",
}
"""`*0..7` leaves the start out as `*1..7` does, which says so: the start is looked up beside."""
IDS = {name: STATEMENTS[name].replace(PART, "p.id") for name in ("links", "links_back")} | {
    "links_in_order": f"{AT}-[c:connection]->(p:part) WITH p.id AS id, c.length AS length "
    "RETURN id ORDER BY length, id",
}


def hops(count: int, *, back: bool) -> str:
    """The parts at the end of so many connections."""
    arrow = FROM if back else TO
    return f"{AT}{f'{arrow}(:part)' * (count - 1)}{arrow}(p:part) RETURN {PART}"


class LadybugDriver(Session, Driver):
    """OO1's statements. A handle is a part's row, or its id with `hop=lookup`."""

    schema = SCHEMA

    def __init__(self, path: Path, tactics: Mapping[str, str]) -> None:
        self._levels = tactics["statement"] == "levels"
        super().__init__(path, tactics)

    def texts(self) -> Mapping[str, str]:
        """By the tactics."""
        texts = STATEMENTS | ({} if self.joins else IDS)
        if not self._levels:
            return texts | PATHS
        for back in (False, True):
            for count in range(1, DEPTH + 1):
                texts[_level(count, back=back)] = hops(count, back=back)
        return texts

    def copy(self, database: Database) -> None:
        """COPY from Arrow."""
        self.ask("COPY part FROM $rows", rows=part_table(database))
        self.ask("COPY connection FROM $rows", rows=connection_table(database))

    def find(self, number: int) -> tuple[Any, Row]:
        """By the primary key's hash index."""
        rows = self.rows("find", {"id": number})
        if not rows:
            raise KeyError(number)
        row: Row = rows[0]
        return (row if self.joins else number), row

    def read(self, handle: Any) -> Row:
        """The row that the hop brought, or a look-up."""
        if self.joins:
            row: Row = handle
            return row
        return self.find(handle)[1]

    def _hop(self, name: str, handle: Any) -> list[Any]:
        if self.joins:
            return self.rows(name, {"id": handle[0]})
        return [number for (number,) in self.rows(name, {"id": handle})]

    def links(self, handle: Any) -> Iterable[Any]:
        """One statement."""
        return self._hop("links", handle)

    def links_back(self, handle: Any) -> Iterable[Any]:
        """Relationships lie in both directions."""
        return self._hop("links_back", handle)

    def links_in_order(self, handle: Any) -> Iterable[Any]:
        """Sorted by the engine."""
        return self._hop("links_in_order", handle)

    def range(self, first_s: int, end_s: int) -> Iterable[Row]:
        """A scan: it has indexes on primary keys only."""
        return self.rows("range", {"low": first_s, "high": end_s})

    def scan(self) -> Iterable[Row]:
        """Two columns."""
        return self.rows("scan", {})

    def reference(self, origin: int, target: int) -> Row:
        """By way of the relationship."""
        rows = self.rows("reference", {"id": origin, "to": target})
        if not rows:
            raise KeyError((origin, target))
        row: Row = rows[0]
        return row

    def group(self, number: int) -> Iterable[Row]:
        """The relationships of a node."""
        return self.rows("group", {"id": number})

    def insert(self, new: NewPart) -> None:
        """A node, and three relationships: four statements."""
        number, x, y, kind, build_s, links = new
        self.execute(
            self.statements["insert"],
            {"id": number, "type": kind, "x": x, "y": y, "build": build_s},
        )
        for target, length, link_kind in links:
            self.execute(
                self.statements["connect"],
                {"id": number, "to": target, "type": link_kind, "length": length},
            )

    def update(self, number: int) -> None:
        """In one statement."""
        self.execute(self.statements["update"], {"id": number})

    def remove(self, first: int, last: int) -> None:
        """Node by node, with its relationships."""
        for number in range(first, last + 1):
            self.execute(self.statements["remove"], {"id": number})

    def find_batch(self, numbers: Sequence[int]) -> Iterable[Row]:
        """One statement over a list."""
        return self.rows("find_batch", {"ids": numbers})

    def traverse_batch(self, start: int, depth: int, *, back: bool) -> Iterable[Row]:
        """The start, and one path of any length to the depth, or one statement a level."""
        if depth != DEPTH:
            raise ValueError(f"statements are prepared for depth {DEPTH}, not for {depth}")
        found = self.rows("find", {"id": start})
        at = {"id": start}
        if not self._levels:
            return found + self.rows("path_back" if back else "path", at)
        for count in range(1, depth + 1):
            found += self.rows(_level(count, back=back), at)
        return found

    def constant(self) -> int:
        """Of the least statement that it takes."""
        value: int = self.rows("constant", {})[0][0]
        return value

    def habits(self) -> Mapping[str, str]:
        """The tactics `hop` and `statement`, from the statements sent; nothing for an empty
        database."""
        if not self.statements or not self.ask("MATCH (p:part) RETURN p.id LIMIT 1"):
            return {}
        handle, _ = self.find(FIRST)
        ends = list(self.links(handle))
        before = self.executed
        for end in ends:
            self.read(end)
        hop = "lookup" if self.executed > before else "join"
        before = self.executed
        list(self.traverse_batch(FIRST, DEPTH, back=False))
        # The start is a statement of its own either way.
        levels = self.executed - before > 2
        return {"hop": hop, "statement": "levels" if levels else "path"}


def _level(count: int, *, back: bool) -> str:
    return f"level {'-' if back else ''}{count}"
