"""The requests to a worker whose engine is called by a client program."""

from typing import Any, ClassVar

from loadstone._core import intended_starts
from loadstone.clients.base import Client, Database
from loadstone.clients.oo1.table_one import reportables
from loadstone.errors import EngineError, UnsupportedError
from loadstone.record.model import AnswerCheck
from loadstone.worker.block import Block
from loadstone.worker.client_timer import ClientTimer
from loadstone.worker.loop_result import loop_figures, no_figures
from loadstone.worker.requests import Requests, not_open
from loadstone.worker.user_loop import Loop


class ClientRequests(Requests):
    """The client makes its database itself; a sample is a measure."""

    seam: ClassVar[str] = "clients"

    _doubtful = True
    """Whether the database must be loaded again before a measurement. A scan, which shows that a
    database exists, does not verify connections; so only a database that this worker loaded itself
    is trusted, and not one that replaced another: parts are the same with locality and without."""

    _fresh = True
    """Whether the engine was started, or loaded, and nothing measured since."""

    @property
    def client(self) -> Client:
        """The client, once opened."""
        if not isinstance(self._system, Client):
            raise not_open()
        return self._system

    def open(
        self, variant: dict[str, Any], scratch: str, owner: str, *, heir: bool = False
    ) -> dict[str, Any]:
        """As every worker."""
        self._fresh = True
        return super().open(variant, scratch, owner, heir=heir)

    def restart(self) -> dict[str, Any]:
        """As every worker; nothing is warm afterwards."""
        self._fresh = True
        return super().restart()

    def terms(self) -> dict[str, Any]:
        """As every worker; the terms include the items of OO1's Table I."""
        told = super().terms()["terms"]
        return {"terms": {**reportables(self.client.name), **told}}

    def load(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """Parts and connections together."""
        del table
        database = Database(**source)
        self.client.expect(database)
        elapsed_ns = self.client.load()
        self._doubtful = False
        self._fresh = True
        return {"tuples": 4 * database.parts, "elapsed_ns": elapsed_ns}

    def settle(self, tables: list[str]) -> dict[str, Any]:
        """The program's database is the only one."""
        del tables
        self.client.settle()
        return {"size_bytes": self.client.size_bytes()}

    def contents(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """The visits of a scan of all parts; None if this worker has loaded no such database, or if
        a failure or a wrong answer makes it doubtful."""
        del table
        database = Database(**source)
        self._doubtful |= database != self.client.database
        self.client.expect(database)
        if self._doubtful:
            return {"answer": None}
        try:
            found = self.client.measure("scan", 0)
        except EngineError:
            return {"answer": None}
        return {"answer": (found.visits, found.checksum)}

    def block(self, block: dict[str, Any]) -> dict[str, Any]:
        """As for all; after a failure or a wrong answer the database is doubtful."""
        self._doubtful = True
        reply = super().block(block)
        self._fresh = Block(**block).temperature == "cold"
        self._doubtful = not all(AnswerCheck(**answer).right for answer in reply["answers"])
        return reply

    def users(self, block: dict[str, Any], loop: dict[str, Any]) -> dict[str, Any]:
        """Concurrent users on the measure of a block, one part a request; and writers beside
        readers, with their figures under `beside`."""
        asked = Loop(**loop)
        inserting = Block(**block).variations[0][1].startswith("insert ")
        starts = None
        both: dict[str, Any]
        if asked.model == "open":
            starts = intended_starts(asked.seed, asked.rate_per_s or 0.0, asked.duration_ns)
        self._doubtful = True
        # The loop has an end of its own, and the runner waits for replies without a limit.
        try:
            served = self.client.users(
                *((0, asked.users) if inserting else (asked.users, asked.writers)),
                asked.duration_ns,
                starts,
            )
        except UnsupportedError as gap:
            self._doubtful = False
            return {**no_figures("gap", gap.message), "client": self.client.language}
        self._doubtful = False
        closed = starts is None
        written = inserting or asked.writers > 0
        both = {"links_checked": served.links_checked if written else None}
        tally = served.inserts if inserting else served.lookups
        if asked.writers:
            both["beside"] = loop_figures(served.inserts, 0, closed=closed)
        return {
            **both,
            **loop_figures(tally, 0, closed=closed),
            "client": self.client.language,
            "status": "ok",
            "reason": "",
            "elapsed_ns": served.elapsed_ns,
            "client_cpu_ns": served.work.client_cpu_ns,
            "server_cpu_ns": served.work.server_cpu_ns,
        }

    def _timer(self) -> ClientTimer:
        return ClientTimer(self.client, self._mark, fresh=self._fresh)
