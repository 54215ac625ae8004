"""The worker process: owns one engine, executes the runner's requests, holds the stopwatch.

    python -m loadstone.worker REQUESTS REPLIES        (two inherited descriptors)

Requests come one at a time; each gets one reply, errors included. The worker ends when its
requests end, however the runner came to its end, and then removes what its engine made.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadstone import registry
from loadstone._core import RelationStream, answer_of_rows, answer_of_stream, clock_ns
from loadstone.engines.base import Attribute, Engine, Table
from loadstone.errors import EngineError, LoadstoneError
from loadstone.stopwatch import Block, Stopwatch
from loadstone.variant import Variant


class WorkerProcess:
    """The requests a worker understands: one public method each."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The engine, once opened."""
        if self._engine is None:
            raise EngineError("the worker has no engine yet")
        return self._engine

    def open(self, variant: dict[str, Any], scratch: str, owner: str) -> dict[str, Any]:
        """Load exactly this engine's module, start it, and say what it is."""
        variant["tactics"] = tuple((key, value) for key, value in variant["tactics"])
        asked = Variant(**variant)
        kind = registry.load_engine(asked.engine)
        self._engine = kind(asked, Path(scratch), owner)
        self._engine.start()
        return {"versions": dict(kind.versions()), "terms": dict(self._engine.terms())}

    def load(self, table: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
        """Generate a relation and load it; the reply holds time and what the engine now has."""
        import pyarrow as pa

        spec = _table(table)
        stream = RelationStream(**source)
        reader = pa.RecordBatchReader.from_stream(stream)
        start = clock_ns()
        tuples = self.engine.load(spec, reader)
        elapsed_ns = clock_ns() - start
        return {"tuples": tuples, "elapsed_ns": elapsed_ns}

    def settle(self, tables: list[str]) -> dict[str, Any]:
        """Statistics and checkpoint."""
        self.engine.settle(tables)
        return {"size_bytes": self.engine.size_bytes()}

    def contents(self, table: str) -> dict[str, Any]:
        """(rows, checksum) of a table, or None where it does not exist."""
        if table not in self.engine.tables():
            return {"answer": None}
        return {"answer": contents_of(self.engine, table)}

    def block(self, block: dict[str, Any]) -> dict[str, Any]:
        """Take the samples of one block of one cell."""
        watch = Stopwatch(self.engine, self._announce)
        return watch.take(Block(**block))

    def explain(self, block: dict[str, Any]) -> dict[str, Any]:
        """The statements of a block's variations with the plans the engine would use."""
        watch = Stopwatch(self.engine, self._announce)
        return {"statements": [asdict(text) for text in watch.explain(Block(**block))]}

    def remove(self) -> dict[str, Any]:
        """Remove everything the engine made."""
        if self._engine is not None:
            self._engine.remove()
            self._engine = None
        return {}


def contents_of(engine: Engine, table: str) -> tuple[int, str]:
    """(rows, checksum) of a whole table."""
    rows = engine.read(f"SELECT * FROM {engine.quote(table)}")  # noqa: S608 - quoted
    return answer_of_rows(rows) if isinstance(rows, list) else answer_of_stream(rows)


def _table(values: dict[str, Any]) -> Table:
    attributes = tuple(Attribute(*pair) for pair in values.pop("attributes"))
    values["indexes"] = tuple(values["indexes"])
    return Table(attributes=attributes, **values)


def serve(requests: int, replies: int) -> None:
    """Answer requests until they end."""

    def send(message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(replies, data) :]

    process = WorkerProcess(lambda kind: send({"reply": kind}))
    try:
        for request in _lines(requests):
            name = request.pop("request")
            try:
                send({"reply": "done", **getattr(process, name)(**request)})
            except LoadstoneError as error:
                send({"reply": "error", "message": error.message, "hint": error.hint})
            except Exception as error:  # noqa: BLE001 - whatever an engine throws is a result
                send({"reply": "error", "message": f"{type(error).__name__}: {error}"})
    except BrokenPipeError:
        pass  # the runner is gone, in the middle of a request
    finally:
        process.remove()


def _lines(descriptor: int) -> Iterator[dict[str, Any]]:
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        buffer = b""
        while chunk := stream.read(1 << 20):
            buffer += chunk
            while b"\n" in buffer:
                line, _, buffer = buffer.partition(b"\n")
                yield json.loads(line)


def main() -> None:
    """The process's entry."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    main()
