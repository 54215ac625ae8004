"""Ladybug, an embedded graph database: parts are nodes, connections relationships, queried in
Cypher.

Statements are prepared once. A hop is one statement, which fetches the parts it leads to (tactic
`hop=join`), or their ids for a look-up each.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import ladybug

from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.declared import capabilities, own_tactics
from loadstone.clients.oo1.loops import BUILD_SUM_S, DEPTH, PLACE_MAX, Driver, NewPart, Row
from loadstone.clients.python.embedded import PythonClient, connection_table, part_table
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.ladybug.settings import in_common_words

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


class LadybugDriver(Driver):
    """One connection. A handle is a part's row, or its id with `hop=lookup`."""

    def __init__(self, path: Path, tactics: Mapping[str, str]) -> None:
        self._path = path
        self._tactics = tactics
        self._joins = tactics["hop"] == "join"
        self._spans = tactics["transaction"] == "measure"
        self._levels = tactics["statement"] == "levels"
        self._executed = 0
        self._open()

    def _open(self) -> None:
        threads = int(self._tactics["parallelism"])
        self._database = ladybug.Database(
            self._path, buffer_pool_size=int(self._tactics["cache"]), max_num_threads=threads
        )
        self._connection = ladybug.Connection(self._database, num_threads=threads)
        self._statements: dict[str, ladybug.PreparedStatement] = {}
        if self.ask("CALL show_tables() RETURN name"):
            self._prepare()

    def _prepare(self) -> None:
        texts = STATEMENTS | ({} if self._joins else IDS)
        if self._levels:
            for back in (False, True):
                for count in range(1, DEPTH + 1):
                    texts[_level(count, back=back)] = hops(count, back=back)
        else:
            texts = texts | PATHS
        for name, text in texts.items():
            statement = ladybug.PreparedStatement(self._connection, text)
            if not statement.is_success():
                raise RuntimeError(statement.get_error_message())
            self._statements[name] = statement

    def _execute(
        self, what: "str | ladybug.PreparedStatement", parameters: dict[str, Any] | None = None
    ) -> Any:
        """Every statement goes this way, and is counted."""
        self._executed += 1
        return self._connection.execute(what, parameters)

    def sent(self) -> int:
        """The statements counted."""
        return self._executed

    def ask(self, text: str, **parameters: Any) -> list[Any]:
        """The rows of a statement that is not prepared."""
        return self._all(text, parameters)

    def _all(self, what: str | ladybug.PreparedStatement, parameters: dict[str, Any]) -> list[Any]:
        # Several results come of several statements in one text, which no text here has.
        result: Any = self._execute(what, parameters)
        rows: list[Any] = result.get_all()
        return rows

    def _rows(self, name: str, parameters: dict[str, Any]) -> list[Any]:
        try:
            statement = self._statements[name]
        except KeyError:
            raise RuntimeError("the database is empty; load it first") from None
        return self._all(statement, parameters)

    def close(self) -> None:
        """Close connection and database, which writes its log back."""
        self._statements.clear()
        self._connection.close()
        self._database.close()

    def load(self, database: Database) -> None:
        """COPY from Arrow into a new file."""
        self.close()
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()
        self._open()
        for statement in SCHEMA:
            self.ask(statement)
        self.ask("COPY part FROM $rows", rows=part_table(database))
        self.ask("COPY connection FROM $rows", rows=connection_table(database))
        self._prepare()

    def begin(self) -> None:
        """A read transaction, if the tactics have one around a measure."""
        if self._spans:
            self._execute("BEGIN TRANSACTION READ ONLY")

    def end(self) -> None:
        """Its end."""
        if self._spans:
            self._execute("COMMIT")

    def find(self, number: int) -> tuple[Any, Row]:
        """By the primary key's hash index."""
        rows = self._rows("find", {"id": number})
        if not rows:
            raise KeyError(number)
        row: Row = rows[0]
        return (row if self._joins else number), row

    def read(self, handle: Any) -> Row:
        """The row that the hop brought, or a look-up."""
        if self._joins:
            row: Row = handle
            return row
        return self.find(handle)[1]

    def _hop(self, name: str, handle: Any) -> list[Any]:
        if self._joins:
            return self._rows(name, {"id": handle[0]})
        return [number for (number,) in self._rows(name, {"id": handle})]

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
        return self._rows("range", {"low": first_s, "high": end_s})

    def scan(self) -> Iterable[Row]:
        """Two columns."""
        return self._rows("scan", {})

    def reference(self, origin: int, target: int) -> Row:
        """By way of the relationship."""
        rows = self._rows("reference", {"id": origin, "to": target})
        if not rows:
            raise KeyError((origin, target))
        row: Row = rows[0]
        return row

    def group(self, number: int) -> Iterable[Row]:
        """The relationships of a node."""
        return self._rows("group", {"id": number})

    def begin_write(self) -> None:
        """One writer at a time."""
        self._execute("BEGIN TRANSACTION")

    def insert(self, new: NewPart) -> None:
        """A node, and three relationships: four statements."""
        number, x, y, kind, build_s, links = new
        self._execute(
            self._statements["insert"],
            {"id": number, "type": kind, "x": x, "y": y, "build": build_s},
        )
        for target, length, link_kind in links:
            self._execute(
                self._statements["connect"],
                {"id": number, "to": target, "type": link_kind, "length": length},
            )

    def update(self, number: int) -> None:
        """In one statement."""
        self._execute(self._statements["update"], {"id": number})

    def remove(self, first: int, last: int) -> None:
        """Node by node, with its relationships."""
        for number in range(first, last + 1):
            self._execute(self._statements["remove"], {"id": number})

    def commit(self) -> None:
        """The log is synced."""
        self._execute("COMMIT")

    def rollback(self) -> None:
        """Nothing is left to roll back after an error that already did."""
        with suppress(RuntimeError):
            self._execute("ROLLBACK")

    def find_batch(self, numbers: Sequence[int]) -> Iterable[Row]:
        """One statement over a list."""
        return self._rows("find_batch", {"ids": numbers})

    def traverse_batch(self, start: int, depth: int, *, back: bool) -> Iterable[Row]:
        """The start, and one path of any length to the depth, or one statement a level."""
        if depth != DEPTH:
            raise ValueError(f"statements are prepared for depth {DEPTH}, not for {depth}")
        found = self._rows("find", {"id": start})
        at = {"id": start}
        if not self._levels:
            return found + self._rows("path_back" if back else "path", at)
        for count in range(1, depth + 1):
            found += self._rows(_level(count, back=back), at)
        return found

    def constant(self) -> int:
        """Of the least statement that it takes."""
        value: int = self._rows("constant", {})[0][0]
        return value

    def settle(self) -> None:
        """Write the log back into the file."""
        self.ask("CHECKPOINT")

    def terms(self) -> Mapping[str, str]:
        """Settings as the engine gives them back."""

        def setting(name: str) -> str:
            return str(self.ask(f"CALL current_setting('{name}') RETURN *")[0][0])

        within = self._spans_measure()
        return {
            **self._habits(),
            "version": str(self.ask("CALL db_version() RETURN *")[0][0]),
            "transaction": "measure" if within else "call",
            "read transaction": "one measure" if within else "one call",
            **in_common_words(str(self.ask("CALL bm_info() RETURN *")[0][0]), setting("threads")),
            "setting.access": ", ".join(
                f"{kind.lower()} on {table} ({', '.join(columns)})"
                for table, _, kind, columns, *_ in self.ask("CALL show_indexes() RETURN *")
            ),
            "setting.recursive_pattern_semantic": setting("recursive_pattern_semantic"),
            "setting.auto_checkpoint": setting("auto_checkpoint"),
            "setting.checkpoint_threshold": setting("checkpoint_threshold"),
        }

    def _spans_measure(self) -> bool:
        """Whether a transaction is open after `begin`."""
        self.begin()
        try:
            self._execute("COMMIT")
        except RuntimeError:
            return False
        return True

    def _habits(self) -> Mapping[str, str]:
        """The tactics `hop` and `statement`, from the statements sent; nothing for an empty
        database."""
        if not self._statements or not self.ask("MATCH (p:part) RETURN p.id LIMIT 1"):
            return {}
        handle, _ = self.find(FIRST)
        ends = list(self.links(handle))
        before = self._executed
        for end in ends:
            self.read(end)
        hop = "lookup" if self._executed > before else "join"
        before = self._executed
        list(self.traverse_batch(FIRST, DEPTH, back=False))
        # The start is a statement of its own either way.
        levels = self._executed - before > 2
        return {"hop": hop, "statement": "levels" if levels else "path"}


def _level(count: int, *, back: bool) -> str:
    return f"level {'-' if back else ''}{count}"


class LadybugClient(PythonClient):
    """A node table and a relationship table, by prepared Cypher."""

    name: ClassVar[str] = "ladybug"
    file: ClassVar[str] = "program.lbug"
    failures: ClassVar[tuple[type[Exception], ...]] = (RuntimeError, OSError)
    capabilities: ClassVar[Capabilities] = capabilities(
        "ladybug", {"empty": "its least statement returns a constant"}, own_tactics("ladybug")
    )

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Engine and driver are one package."""
        return {"ladybug": metadata.version("ladybug")}

    def connect(self) -> Driver:
        """Open the file, or make it."""
        tactics = {name: self.tactic(name) for name in self.capabilities.tactics}
        return LadybugDriver(self.path, tactics)
