"""The requests to a worker whose engine is called by a client program."""

from typing import ClassVar

from loadstone._core import Tally, intended_starts
from loadstone.benchmarks.oo1.database import database_of
from loadstone.clients.base import Client, Database
from loadstone.clients.oo1.table_one import reportables
from loadstone.errors import EngineError, UnsupportedError
from loadstone.protocol import messages
from loadstone.protocol.messages import Done, LoopFigures, StoredAt
from loadstone.worker.client_timer import ClientTimer
from loadstone.worker.loop_result import loop_figures, no_figures
from loadstone.worker.requests import Requests, not_open


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

    def open(self, request: messages.Open) -> messages.Opened:
        """As every worker."""
        self._fresh = True
        return super().open(request)

    def restart(self) -> Done:
        """As every worker; nothing is warm afterwards."""
        self._fresh = True
        return super().restart()

    def terms(self) -> messages.TermsTold:
        """As every worker; the terms include the items of OO1's Table I."""
        return messages.TermsTold({**reportables(self.client.name), **super().terms().terms})

    def load(self, request: messages.Load) -> messages.Loaded:
        """Parts and connections together."""
        database = _database(request.stored)
        self.client.expect(database)
        elapsed_ns = self.client.load()
        self._doubtful = False
        self._fresh = True
        return messages.Loaded(4 * database.parts, elapsed_ns)

    def settle(self, request: messages.Settle) -> messages.Settled:
        """The program's database is the only one."""
        del request
        self.client.settle()
        return messages.Settled(self.client.size_bytes())

    def look_up(self, request: messages.LookUp) -> messages.Found:
        """The visits of a scan of all parts; None if this worker has loaded no such database, or if
        a failure or a wrong answer makes it doubtful."""
        database = _database(request.stored)
        self._doubtful |= database != self.client.database
        self.client.expect(database)
        if self._doubtful:
            return messages.Found(None)
        try:
            found = self.client.measure("scan", 0)
        except EngineError:
            return messages.Found(None)
        return messages.Found((found.visits, found.checksum))

    def take_block(self, request: messages.TakeBlock) -> messages.BlockResult:
        """As for all; after a failure or a wrong answer the database is doubtful."""
        self._doubtful = True
        result = super().take_block(request)
        self._fresh = request.block.temperature == "cold"
        self._doubtful = not all(answer.right for answer in result.answers)
        return result

    def run_loop(self, request: messages.RunLoop) -> messages.LoopResult:
        """Concurrent users on the measure of a block, one part a request; and writers beside
        readers."""
        loop = request.loop
        inserting = request.block.variations[0].text.startswith("insert ")
        starts = None
        if loop.model == "open":
            starts = intended_starts(loop.seed, loop.rate_per_s or 0.0, loop.duration_ns)
        language = self.client.language
        self._doubtful = True
        # The loop has an end of its own, and the runner waits for replies without a limit.
        try:
            served = self.client.users(
                *((0, loop.users) if inserting else (loop.users, loop.writers)),
                loop.duration_ns,
                starts,
            )
        except UnsupportedError as gap:
            self._doubtful = False
            return messages.LoopResult(no_figures("gap", gap.message).but(client=language))
        self._doubtful = False

        def figures(tally: Tally) -> LoopFigures:
            return loop_figures(tally, 0, closed=starts is None).but(
                client=language,
                elapsed_ns=served.elapsed_ns,
                client_cpu_ns=served.work.client_cpu_ns,
                server_cpu_ns=served.work.server_cpu_ns,
                links_checked=served.links_checked if inserting or loop.writers else None,
            )

        return messages.LoopResult(
            figures(served.inserts if inserting else served.lookups),
            beside=figures(served.inserts) if loop.writers else None,
        )

    def _timer(self) -> ClientTimer:
        return ClientTimer(self.client, self._mark, fresh=self._fresh)


def _database(stored: StoredAt) -> Database:
    return database_of(stored.edition, stored.item.relation, stored.rows)
