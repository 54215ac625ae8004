"""OO7 on Ladybug: a node table for each class, a relationship table for each reference, in Cypher.

A bag of references is a relationship table, in which a repeated one is there again. Primary keys
are indexed and nothing else can be: dates are found by a scan, titles by one of the documents.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from loadstone.benchmarks.oo7.database import Database
from loadstone.clients.oo7.driver import OWN, Driver, Row
from loadstone.clients.oo7.driver import rows as generated
from loadstone.clients.python.ladybug_session import Session
from loadstone.errors import UnsupportedError

OBJECT = "id INT32 PRIMARY KEY, type STRING, builddate INT32"
NODES = {
    "module": f"{OBJECT}, root INT32",
    "manual": "id INT32 PRIMARY KEY, title STRING, textlen INT32, text STRING",
    "complexassembly": f"{OBJECT}, module INT32",
    "baseassembly": f"{OBJECT}, module INT32",
    "compositepart": f"{OBJECT}, rootpart INT32",
    "document": "id INT32 PRIMARY KEY, title STRING, composite INT32, text STRING",
    "atomicpart": f"{OBJECT}, x INT32, y INT32, docid INT32",
}
RELATIONSHIPS = {
    "subcomplex": "FROM complexassembly TO complexassembly",
    "subbase": "FROM complexassembly TO baseassembly",
    "componentpriv": "FROM baseassembly TO compositepart",
    "componentshar": "FROM baseassembly TO compositepart",
    "documentation": "FROM compositepart TO document",
    "parts": "FROM compositepart TO atomicpart",
    "connection": "FROM atomicpart TO atomicpart, type STRING, length INT32",
}
SCHEMA = (
    *(f"CREATE NODE TABLE {name}({columns})" for name, columns in NODES.items()),
    *(f"CREATE REL TABLE {name}({ends})" for name, ends in RELATIONSHIPS.items()),
)
PART = "p.id, p.type, p.builddate, p.x, p.y, p.docid"
STATEMENTS = {
    "root": "MATCH (m:module {id: $id}) RETURN m.root",
    "complex_below": "MATCH (:complexassembly {id: $id})-[:subcomplex]->(c:complexassembly) "
    "RETURN c.id ORDER BY c.id",
    "bases_below": "MATCH (:complexassembly {id: $id})-[:subbase]->(b:baseassembly) "
    "RETURN b.id ORDER BY b.id",
    "components": "MATCH (:baseassembly {id: $id})-[:componentpriv]->(c:compositepart) RETURN c.id",
    "shared_components": "MATCH (:baseassembly {id: $id})-[:componentshar]->(c:compositepart) "
    "RETURN c.id",
    "root_part": "MATCH (c:compositepart {id: $id}) RETURN c.rootpart",
    "part": f"MATCH (p:atomicpart {{id: $id}}) RETURN {PART}",
    "connected": "MATCH (:atomicpart {id: $id})-[:connection]->(p:atomicpart) RETURN p.id",
    "connected_parts": f"MATCH (:atomicpart {{id: $id}})-[:connection]->(p:atomicpart) "
    f"RETURN {PART}",
    "dated": f"MATCH (p:atomicpart) WHERE p.builddate >= $low AND p.builddate <= $high "
    f"RETURN {PART}",
    "scan": f"MATCH (p:atomicpart) RETURN {PART}",
    "composite_of": "MATCH (:atomicpart {id: $id})<-[:parts]-(c:compositepart) RETURN c.id",
    "composite": "MATCH (c:compositepart {id: $id}) RETURN c.id, c.type, c.builddate",
    "users": "MATCH (:compositepart {id: $id})<-[:componentpriv]-(b:baseassembly) RETURN b.id",
    "base": "MATCH (b:baseassembly {id: $id})<-[:subbase]-(c:complexassembly) "
    "RETURN b.id, b.type, b.builddate, c.id",
    "complex": "MATCH (b:complexassembly {id: $id}) "
    "OPTIONAL MATCH (b)<-[:subcomplex]-(c:complexassembly) "
    "RETURN b.id, b.type, b.builddate, c.id",
    "bases": "MATCH (b:baseassembly) RETURN b.id",
    "older": "MATCH (b:baseassembly)-[:componentpriv]->(c:compositepart) "
    "WHERE c.builddate > b.builddate RETURN DISTINCT b.id, b.type, b.builddate",
    "titled": "MATCH (d:document) WHERE d.title = $title RETURN d.composite",
    "document": "MATCH (:compositepart {id: $id})-[:documentation]->(d:document) RETURN d.text",
    "manual": "MATCH (m:manual {id: $id}) RETURN m.text",
    "documents_of_parts": "MATCH (p:atomicpart), (d:document) WHERE d.id = p.docid "
    "RETURN p.id, d.title",
    # One clause of SET sees what the one before it set: the part is read once more beside.
    "swap": "MATCH (p:atomicpart {id: $id}), (q:atomicpart {id: $id}) SET p.x = q.y, p.y = q.x",
    "toggle_date": "MATCH (p:atomicpart {id: $id}) SET p.builddate = "
    "p.builddate + CASE WHEN p.builddate % 2 = 0 THEN -1 ELSE 1 END",
    "rewrite": "MATCH (:compositepart {id: $id})-[:documentation]->(d:document) SET d.text = $text",
    "add_composite": "CREATE (:compositepart {id: $id, type: $type, builddate: $date, "
    "rootpart: $root})",
    "add_document": "MATCH (c:compositepart {id: $composite}) CREATE (c)-[:documentation]->"
    "(:document {id: $id, title: $title, composite: $composite, text: $text})",
    "add_part": "MATCH (c:compositepart {id: $composite}) CREATE (c)-[:parts]->(:atomicpart "
    "{id: $id, type: $type, builddate: $date, x: $x, y: $y, docid: $document})",
    "add_connection": "MATCH (f:atomicpart {id: $id}), (t:atomicpart {id: $to}) "
    "CREATE (f)-[:connection {type: $type, length: $length}]->(t)",
    "add_private": "MATCH (b:baseassembly {id: $id}), (c:compositepart {id: $composite}) "
    "CREATE (b)-[:componentpriv]->(c)",
    "delete_parts": "MATCH (:compositepart {id: $id})-[:parts]->(p:atomicpart) DETACH DELETE p",
    "delete_document": "MATCH (:compositepart {id: $id})-[:documentation]->(d:document) "
    "DETACH DELETE d",
    "delete_composite": "MATCH (c:compositepart {id: $id}) DETACH DELETE c",
}
DELETIONS = ("delete_parts", "delete_document", "delete_composite")
CONTENTS = {
    "module": "MATCH (m:module) RETURN m.id, m.type, m.builddate, m.root",
    "manual": "MATCH (m:manual) RETURN m.id, m.title, m.textlen, m.text",
    "complexassembly": "MATCH (b:complexassembly) "
    "OPTIONAL MATCH (b)<-[:subcomplex]-(c:complexassembly) "
    "RETURN b.id, b.type, b.builddate, coalesce(c.id, cast(0, 'INT32')), b.module",
    "baseassembly": "MATCH (b:baseassembly)<-[:subbase]-(c:complexassembly) "
    "RETURN b.id, b.type, b.builddate, c.id, b.module",
    "componentpriv": "MATCH (b:baseassembly)-[:componentpriv]->(c:compositepart) RETURN b.id, c.id",
    "componentshar": "MATCH (b:baseassembly)-[:componentshar]->(c:compositepart) RETURN b.id, c.id",
    "compositepart": "MATCH (c:compositepart) RETURN c.id, c.type, c.builddate, c.rootpart",
    "document": "MATCH (c:compositepart)-[:documentation]->(d:document) "
    "RETURN d.id, d.title, c.id, d.text",
    "atomicpart": f"MATCH (c:compositepart)-[:parts]->(p:atomicpart) RETURN {PART}, c.id",
    "connection": "MATCH (f:atomicpart)-[c:connection]->(t:atomicpart) "
    "RETURN f.id, t.id, c.type, c.length",
}


class LadybugDriver(Session, Driver):
    """OO7's statements. A handle is an id; of an atomic part its row, with `hop=join`."""

    schema = SCHEMA

    def __init__(self, path: Path, tactics: Mapping[str, str]) -> None:
        if tactics["statement"] != "path":
            raise UnsupportedError("ladybug: statement: OO7's program requests no path in one call")
        super().__init__(path, tactics)

    def texts(self) -> Mapping[str, str]:
        """All of them."""
        return STATEMENTS

    def copy(self, database: Database) -> None:
        """COPY from Arrow: nodes, then relationships."""
        stored = {name: generated(database, name) for name in (*NODES, "connection")}
        above = {
            "subcomplex": [(row[3], row[0]) for row in stored["complexassembly"] if row[3]],
            "subbase": [(row[3], row[0]) for row in stored["baseassembly"]],
        }
        for name in ("complexassembly", "baseassembly"):
            stored[name] = [(*row[:3], row[4]) for row in stored[name]]
        above["documentation"] = [(row[2], row[0]) for row in stored["document"]]
        above["parts"] = [(row[6], row[0]) for row in stored["atomicpart"]]
        stored["atomicpart"] = [row[:6] for row in stored["atomicpart"]]
        for name in ("componentpriv", "componentshar"):
            above[name] = generated(database, name)
        for name, table in (stored | above).items():
            columns = [pa.array(column, _kind(column)) for column in zip(*table, strict=True)]
            names = [f"column{place}" for place in range(len(columns))]
            self.ask(f"COPY {name} FROM $rows", rows=pa.table(columns, names))

    def _one(self, name: str, number: int) -> Any:
        """The one row for an id."""
        found = self.rows(name, {"id": number})
        if not found:
            raise KeyError(number)
        return found[0]

    def _numbers(self, name: str, number: int) -> list[int]:
        return [found for (found,) in self.rows(name, {"id": number})]

    def design_root(self, module: int) -> Any:
        """A number of the module's."""
        return self._one("root", module)[0]

    def subassemblies(self, complex_assembly: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """One statement where there are complex ones below, and two where there are none."""
        below = self._numbers("complex_below", complex_assembly)
        return below, [] if below else self._numbers("bases_below", complex_assembly)

    def components(self, base: Any) -> Iterable[Any]:
        """One statement."""
        return self._numbers("components", base)

    def shared_components(self, base: Any) -> Iterable[Any]:
        """One statement."""
        return self._numbers("shared_components", base)

    def root_part(self, composite: Any) -> Any:
        """One statement, and one for its attributes where a hop brings those."""
        number: int = self._one("root_part", composite)[0]
        return self.find(number) if self.joins else number

    def part_id(self, part: Any) -> int:
        """Of the handle."""
        number: int = part[0] if self.joins else part
        return number

    def read(self, part: Any) -> Row:
        """The row that the hop brought, or a look-up."""
        row: Row = part if self.joins else self._one("part", part)
        return row

    def connected(self, part: Any) -> Iterable[Any]:
        """One statement."""
        if self.joins:
            return self.rows("connected_parts", {"id": part[0]})
        return self._numbers("connected", part)

    def find(self, number: int) -> Any:
        """By the primary key's hash index; an id is found when it is read."""
        return self._one("part", number) if self.joins else number

    def dated(self, first: int, last: int) -> Iterable[Row]:
        """A scan."""
        return self.rows("dated", {"low": first, "high": last})

    def scan(self) -> Iterable[Row]:
        """All columns."""
        return self.rows("scan", {})

    def composite_of(self, part: Any) -> Any:
        """Against the relationship."""
        return self._one("composite_of", self.part_id(part))[0]

    def composite(self, composite: Any) -> Row:
        """By the primary key."""
        row: Row = self._one("composite", composite)
        return row

    def users(self, composite: Any) -> Iterable[Any]:
        """Against the relationship."""
        return self._numbers("users", composite)

    def base(self, base: Any) -> tuple[Row, Any]:
        """With the assembly above, by one hop."""
        row = self._one("base", base)
        return row[:3], row[3]

    def complex(self, complex_assembly: Any) -> tuple[Row, Any]:
        """With the assembly above, if there is one."""
        row = self._one("complex", complex_assembly)
        return row[:3], row[3]

    def bases(self) -> Iterable[Any]:
        """All nodes of the table."""
        return [number for (number,) in self.rows("bases", {})]

    def older_bases(self) -> Iterable[Row]:
        """One statement."""
        return self.rows("older", {})

    def titled(self, title: str) -> Any:
        """A scan of the documents."""
        found = self.rows("titled", {"title": title})
        if not found:
            raise KeyError(title)
        return found[0][0]

    def document(self, composite: Any) -> str:
        """One hop."""
        text: str = self._one("document", composite)[0]
        return text

    def manual(self, module: int) -> str:
        """By the primary key."""
        text: str = self._one("manual", module)[0]
        return text

    def documents_of_parts(self) -> Iterable[Row]:
        """A join by values."""
        return self.rows("documents_of_parts", {})

    def _change(self, name: str, **parameters: Any) -> None:
        self.execute(self.statements[name], parameters)

    def swap(self, part: Any) -> None:
        """In one statement."""
        self._change("swap", id=self.part_id(part))

    def toggle_date(self, part: Any) -> None:
        """In one statement; there is no index to maintain."""
        self._change("toggle_date", id=self.part_id(part))

    def rewrite(self, composite: Any, text: str) -> None:
        """In one statement."""
        self._change("rewrite", id=composite, text=text)

    def insert(self, database: Database, composite: int, receiver: int) -> None:
        """A statement for each node with the relationship to it, and for each connection."""
        own, documents, parts, connections = (generated(database, name, composite) for name in OWN)
        for number, kind, date, root in own:
            self._change("add_composite", id=number, type=kind, date=date, root=root)
        for number, title, _, text in documents:
            self._change("add_document", id=number, title=title, composite=composite, text=text)
        for number, kind, date, x, y, document, _ in parts:
            self._change(
                "add_part",
                id=number, type=kind, date=date, x=x, y=y, document=document, composite=composite,
            )  # fmt: skip
        for origin, target, kind, length in connections:
            self._change("add_connection", id=origin, to=target, type=kind, length=length)
        self._change("add_private", id=receiver, composite=composite)

    def delete(self, composite: int) -> None:
        """Three statements, which take relationships with their nodes."""
        for name in DELETIONS:
            self._change(name, id=composite)

    def contents(self, relation: str) -> Iterable[Row]:
        """One statement, outside every clock."""
        return self.ask(CONTENTS[relation])

    def habits(self) -> Mapping[str, str]:
        """The tactic `hop`, from the statements sent; nothing for an empty database."""
        if not self.statements:
            return {}
        ends = list(self.connected(self.find(1)))
        before = self.executed
        for end in ends:
            self.read(end)
        return {"hop": "lookup" if self.executed > before else "join"}


def _kind(column: Sequence[Any]) -> pa.DataType:
    return pa.string() if isinstance(column[0], str) else pa.int32()
