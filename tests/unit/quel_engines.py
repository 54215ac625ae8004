"""Two SQL engines in memory that hold a benchmark's relations under their own names, and run what
a QUEL program is translated to. The engines proper have their own suite, in `conformance/`."""

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import duckdb
import pyarrow as pa

from loadstone import _core
from loadstone.engines.capabilities import Attribute
from loadstone.quel import tree
from loadstone.quel.statement import Statement
from loadstone.quel.translate import translate

Answer = tuple[int, str]

DUCKDB_TYPES = {"int2": "smallint", "int4": "integer", "int8": "bigint"}


class InMemory:
    """The part common to both engines: relations of one edition at one scale."""

    dialect: str

    def __init__(
        self, edition: str, relations: Iterable[str], rows: int, benchmark: str = "wisconsin"
    ) -> None:
        self.benchmark, self.edition = benchmark, edition
        self.relations = tuple(relations)
        for relation in self.relations:
            stream = _core.RelationStream(benchmark, edition, relation, rows)
            self.load(relation, pa.RecordBatchReader.from_stream(stream))

    def load(self, relation: str, rows: pa.RecordBatchReader) -> None:
        raise NotImplementedError

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def changed(self, sql: str) -> int:
        """Run an update; the tuples that it changed."""
        raise NotImplementedError

    def attributes(self, relation: str) -> Sequence[Attribute]:
        pairs = _core.attributes(self.benchmark, self.edition, relation)
        return [Attribute(*pair) for pair in pairs]

    def translated(self, text: str) -> Statement:
        return translate(text, self.dialect, lambda name: name, self.attributes)

    def answer_of(self, sql: str) -> Answer:
        """(rows, checksum) of a query."""
        return _core.answer_of_rows(self.rows(sql))

    def contents(self, relation: str) -> Answer:
        return self.answer_of(f'SELECT * FROM "{relation}"')

    def answer(self, text: str) -> Answer:
        """The program's answer, in the terms of `Oracle.answer`; a result relation is dropped, and
        an update stays."""
        statement = self.translated(text)
        if statement.kind == "retrieve":
            return self.answer_of(statement.text)
        if statement.kind == "into":
            self.rows(statement.text)
            answer = self.contents(str(statement.result))
            self.rows(f'DROP TABLE "{statement.result}"')
            return answer
        changed = self.changed(statement.text)
        return changed, self.contents(updated(text))[1]


def updated(text: str) -> str:
    """The relation that a program's last statement changes."""
    *ranges, last = tree.parse(text)
    relations = {node["variable"]: node["relation"] for node in ranges}
    return str(last.get("relation") or relations[last["variable"]])


class Sqlite(InMemory):
    dialect = "sqlite"

    def __init__(self, *relations: Any, **options: str) -> None:
        self.connection = apsw.Connection(":memory:")
        super().__init__(*relations, **options)

    def load(self, relation: str, rows: pa.RecordBatchReader) -> None:
        columns = [f'"{a.name}" {_sqlite_type(a)}' for a in self.attributes(relation)]
        self.connection.execute(f'CREATE TABLE "{relation}" ({", ".join(columns)})')
        insert = f'INSERT INTO "{relation}" VALUES ({",".join("?" * len(columns))})'
        with self.connection:
            for batch in rows:
                values = (column.to_pylist() for column in batch.columns)
                self.connection.executemany(insert, zip(*values, strict=True))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return list(self.connection.execute(sql))

    def changed(self, sql: str) -> int:
        self.connection.execute(sql)
        return self.connection.changes()


class Duckdb(InMemory):
    dialect = "duckdb"

    def __init__(self, *relations: Any, **options: str) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        super().__init__(*relations, **options)

    def load(self, relation: str, rows: pa.RecordBatchReader) -> None:
        columns = [
            f'"{a.name}" {DUCKDB_TYPES.get(a.type, "text")}' for a in self.attributes(relation)
        ]
        self.connection.execute(f'CREATE TABLE "{relation}" ({", ".join(columns)})')
        self.connection.register("source", rows.read_all())
        self.connection.execute(f'INSERT INTO "{relation}" FROM source')
        self.connection.unregister("source")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def answer_of(self, sql: str) -> Answer:
        return _core.answer_of_stream(self.connection.sql(sql).to_arrow_reader())

    def changed(self, sql: str) -> int:
        return int(self.rows(sql)[0][0])


ENGINES: dict[str, type[InMemory]] = {"sqlite": Sqlite, "duckdb": Duckdb}


def _sqlite_type(attribute: Attribute) -> str:
    return "INTEGER" if attribute.type.startswith("int") else "TEXT"
