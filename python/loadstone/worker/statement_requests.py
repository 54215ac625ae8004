"""The requests to a worker whose engine executes statements."""

from dataclasses import asdict, replace
from typing import Any, ClassVar

from loadstone._core import RelationStream, answer_of_rows, answer_of_stream, clock_ns
from loadstone.engines.base import Attribute, Engine, Table
from loadstone.quel.statement import Statement
from loadstone.worker.block import Block
from loadstone.worker.requests import Requests, not_open
from loadstone.worker.statement_timer import StatementTimer
from loadstone.worker.user_loop import Loop, Request, Users


class StatementRequests(Requests):
    """Tables are loaded from generated relations; a sample is a statement."""

    seam: ClassVar[str] = "engines"

    _statement_timer: StatementTimer | None = None

    @property
    def engine(self) -> Engine:
        """The engine, once opened."""
        if not isinstance(self._system, Engine):
            raise not_open()
        return self._system

    def import_state(self, state: dict[str, Any]) -> dict[str, Any]:
        """Statements need not be translated again."""
        self._timer().translated = {key: Statement(**values) for key, values in state.items()}
        return {}

    def load(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """Generate a relation and load it; the reply holds time and what the engine now has."""
        import pyarrow as pa

        spec = _table(table)
        spec = replace(spec, name=self.engine.stored_name(spec.name))
        stream = RelationStream(**source)
        reader = pa.RecordBatchReader.from_stream(stream)
        start = clock_ns()
        tuples = self.engine.load(spec, reader)
        elapsed_ns = clock_ns() - start
        return {"tuples": tuples, "elapsed_ns": elapsed_ns}

    def settle(self, tables: list[str]) -> dict[str, Any]:
        """Statistics and checkpoint."""
        self.engine.settle([self.engine.stored_name(table) for table in tables])
        return {"size_bytes": self.engine.size_bytes()}

    def contents(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """(rows, checksum) of a table, or None where it does not exist."""
        del source
        stored = self.engine.stored_name(table["name"])
        if stored not in self.engine.tables():
            return {"answer": None}
        return {"answer": contents_of(self.engine, stored)}

    def users(self, block: dict[str, Any], loop: dict[str, Any]) -> dict[str, Any]:
        """Concurrent users on a block's variations."""
        asked = Block(**block)
        statements = self._timer().statements(asked)
        requests = [
            Request(statement, rows, checksum)
            for statement, (*_, rows, checksum) in zip(statements, asked.variations, strict=True)
        ]
        return Users(self.engine, self._mark).work(Loop(**loop), requests)

    def _state(self) -> dict[str, Any]:
        return {key: asdict(statement) for key, statement in self._timer().translated.items()}

    def _timer(self) -> StatementTimer:
        """One from block to block: it knows what it has translated."""
        if self._statement_timer is None or self._statement_timer.engine is not self.engine:
            self._statement_timer = StatementTimer(self.engine, self._mark)
        return self._statement_timer


def contents_of(engine: Engine, table: str) -> tuple[int, str]:
    """(rows, checksum) of a whole table."""
    rows = engine.read(f"SELECT * FROM {engine.quote(table)}")  # noqa: S608 - quoted
    return answer_of_rows(rows) if isinstance(rows, list) else answer_of_stream(rows)


def _table(values: dict[str, Any]) -> Table:
    attributes = tuple(Attribute(*pair) for pair in values.pop("attributes"))
    values["indexes"] = tuple(values["indexes"])
    return Table(attributes=attributes, **values)
