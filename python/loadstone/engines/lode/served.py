"""A database of lode in a process of its own that answers statements: what the engine asks of it,
under the names that a database here has."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone import lode
from loadstone.engines.lode.server import PageServer
from loadstone.errors import EngineError

if TYPE_CHECKING:
    import pyarrow as pa


class ServedDatabase:
    """One private server of statements, and a connection to it."""

    mirror: None = None
    """None: a server does not report the reads of a mirror's copies, so it has no mirror."""

    def __init__(self, path: Path, tactics: Mapping[str, str]) -> None:
        self._path = path
        self._tactics = tactics
        self._server = PageServer(path)
        self._connection: lode.Connection | None = None
        self._start()

    @property
    def pid(self) -> int | None:
        """The server's process while it runs."""
        return self._server.pid

    @property
    def address(self) -> str:
        """The address of its socket, for this process."""
        return self._server.address

    @property
    def tactics(self) -> Mapping[str, str]:
        """The tactics in force in the server."""
        lines = self.connection.request("tactics").splitlines()
        return {name: value for name, _, value in (line.partition(" ") for line in lines)}

    @property
    def connection(self) -> lode.Connection:
        """The way to it."""
        if self._connection is None:
            raise EngineError("the server of lode is stopped", hint="call start() first")
        return self._connection

    def another(self) -> lode.Connection:
        """One more way, for another thread."""
        return lode.Connection(self._server.address)

    def relations(self) -> Sequence[Mapping[str, Any]]:
        """The relations' names."""
        return [{"name": name} for name in self.connection.request("relations").splitlines()]

    def load(
        self, name: str, attributes: Sequence[tuple[str, str]], rows: "pa.RecordBatchReader",
        organisation: str, key: Sequence[str], indexes: Sequence[str],
    ) -> int:  # fmt: skip
        """In this process, which has the files to itself meanwhile."""
        self.close()
        try:
            with lode.Database(self._path, "any", **self._tactics) as database:
                return database.load(name, attributes, rows, organisation, key, indexes)
        finally:
            self._start()

    def settle(self, *names: str) -> None:
        """Gather statistics of relations."""
        self.connection.request("settle", "\n".join(names))

    def checkpoint(self) -> None:
        """Write all changed pages to their places."""
        self.connection.request("checkpoint")

    def destroy(self, name: str) -> bool:
        """Remove a relation; whether there was one."""
        return self.connection.request("remove", name) == "true"

    def explain(self, text: str) -> str:
        """The plan."""
        return self.connection.request("explain", text)

    def access_paths(self, text: str) -> Sequence[str]:
        """The structures that the plan uses."""
        return self.connection.request("access", text).splitlines()

    def used_bytes(self) -> int:
        """Bytes of the pages in use."""
        return int(self.connection.request("size"))

    def counters(self) -> Mapping[str, Mapping[str, int]]:
        """The counts of statements, and their time by phase."""
        pairs = (line.split(" ") for line in self.connection.request("work").splitlines())
        phases = (line.split(" ", 1) for line in self.connection.request("phases").splitlines())
        return {
            "query": {name: int(count) for name, count in pairs},
            "phases_ns": {name: int(ns) for ns, name in phases},
        }

    def cancel(self) -> None:
        """End the statements that run; another connection requests it than the one that waits."""
        other = self.another()
        try:
            other.request("cancel")
        finally:
            other.close()

    def close(self) -> Sequence[int]:
        """Stop the server, which closes the database. Returns the processes ended."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        return self._server.stop()

    def abandon(self) -> None:
        """The same, whatever becomes of the database."""
        self.close()
        self._server.remove()

    def _start(self) -> None:
        self._server.start(self._tactics, statements=True)
        self._connection = lode.Connection(self._server.address)
