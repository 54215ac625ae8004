"""The requests to a worker whose engine stands behind a calling program."""

from typing import Any, ClassVar

from loadstone._core import intended_starts
from loadstone.errors import EngineError, UnsupportedError
from loadstone.host_watch import HostWatch
from loadstone.hosts.base import Database, HostedEngine
from loadstone.hosts.reportables import reportables
from loadstone.loop_figures import loop_figures, no_figures
from loadstone.meter import Meter
from loadstone.record.model import AnswerCheck
from loadstone.users import Loop
from loadstone.watch import Block
from loadstone.worker_requests import Requests, not_open


class HostRequests(Requests):
    """The program makes its database itself; a sample is a measure."""

    seam: ClassVar[str] = "hosts"

    _doubtful = True
    """Whether the database has to be loaded again before anything is measured in it: a scan, which
    shows that one is there, sees no connection. So another worker's database is doubtful, and one
    that took the place of another: parts are the same with locality and without."""

    @property
    def host(self) -> HostedEngine:
        """The host, once opened."""
        if not isinstance(self._system, HostedEngine):
            raise not_open()
        return self._system

    def open(
        self, variant: dict[str, Any], scratch: str, owner: str, *, heir: bool = False
    ) -> dict[str, Any]:
        """As every worker; the terms have what OO1's Table I asks for, too."""
        reply = super().open(variant, scratch, owner, heir=heir)
        return {**reply, "terms": {**reportables(self.host.name), **reply["terms"]}}

    def load(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """Parts and connections together."""
        del table
        database = Database(**source)
        self.host.expect(database)
        elapsed_ns = self.host.load()
        self._doubtful = False
        return {"tuples": 4 * database.parts, "elapsed_ns": elapsed_ns}

    def settle(self, tables: list[str]) -> dict[str, Any]:
        """The program's database is the only one."""
        del tables
        self.host.settle()
        return {"size_bytes": self.host.size_bytes()}

    def contents(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """What a scan of all parts visits; None where this worker has loaded no such database, or
        one that a failure or a wrong answer casts doubt on."""
        del table
        database = Database(**source)
        self._doubtful |= database != self.host.database
        self.host.expect(database)
        if self._doubtful:
            return {"answer": None}
        try:
            found = self.host.measure("scan", 0)
        except EngineError:
            return {"answer": None}
        return {"answer": (found.visits, found.checksum)}

    def block(self, block: dict[str, Any]) -> dict[str, Any]:
        """As for all; what a failure or a wrong answer leaves is not trusted."""
        self._doubtful = True
        reply = super().block(block)
        self._doubtful = not all(AnswerCheck(**answer).right for answer in reply["answers"])
        return reply

    def users(self, block: dict[str, Any], loop: dict[str, Any]) -> dict[str, Any]:
        """Many users at once on the measure of a block, one part a request."""
        asked = Loop(**loop)
        inserting = Block(**block).variations[0][1].startswith("insert ")
        starts = None
        if asked.model == "open":
            starts = intended_starts(asked.seed, asked.rate_per_s or 0.0, asked.duration_ns)
        meter = Meter(self.host.processes())
        self._doubtful = True
        # The loop has an end of its own, and the runner waits for replies without a limit.
        try:
            elapsed_ns, *tallies = self.host.users(
                *((0, asked.users) if inserting else (asked.users, 0)), asked.duration_ns, starts
            )
        except UnsupportedError as gap:
            self._doubtful = False
            return {**no_figures("gap", gap.message), "host": self.host.host}
        self._doubtful = False
        work = meter.read()
        return {
            **loop_figures(tallies[inserting], 0, closed=starts is None),
            "host": self.host.host,
            "status": "ok",
            "reason": "",
            "elapsed_ns": elapsed_ns,
            "client_cpu_ns": work.client_cpu_ns,
            "server_cpu_ns": work.server_cpu_ns,
        }

    def _watch(self) -> HostWatch:
        return HostWatch(self.host, self._announce)
