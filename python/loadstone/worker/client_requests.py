"""The requests to a worker whose engine is called by a client program."""

from typing import ClassVar

from loadstone import registry
from loadstone._core import Tally
from loadstone.benchmarks.base import Benchmark, ProgramDatabase
from loadstone.clients.base import Client
from loadstone.errors import EngineError, UnsupportedError
from loadstone.protocol import messages
from loadstone.protocol.messages import Done
from loadstone.protocol.parts import StoredAt
from loadstone.record.users import LoopFigures
from loadstone.worker.client_timer import ClientTimer
from loadstone.worker.due_times import due_times
from loadstone.worker.loop_result import loop_figures, no_figures
from loadstone.worker.requests import Requests, not_open


class ClientRequests(Requests):
    """The client makes its database itself; a sample is a measure. Which database and which
    measures, the benchmark says that each request names."""

    seam: ClassVar[str] = "clients"

    _doubtful = True
    """Whether the database must be loaded again before a measurement. A scan, which shows that a
    database exists, does not verify how its records are connected; so only a database that this
    worker loaded itself is trusted, and not one that replaced another."""

    _expected: ProgramDatabase | None = None
    """The database of the latest request."""

    _stored: StoredAt | None = None
    """The same, as it was requested."""

    _fresh = True
    """Whether the engine was started, or loaded, and nothing measured since."""

    @property
    def client(self) -> Client:
        """The client, once opened."""
        if not isinstance(self._system, Client):
            raise not_open()
        return self._system

    def interrupt(self) -> None:
        """A client's program comes to its end: it has no means to end earlier."""

    def open(self, request: messages.Open) -> messages.Opened:
        """As every worker."""
        self._fresh = True
        return super().open(request)

    def restart(self) -> Done:
        """As every worker; nothing is warm afterwards."""
        self._fresh = True
        return super().restart()

    def terms(self) -> messages.TermsReported:
        """As every worker; the terms include what is documented of the engine."""
        return messages.TermsReported({**self.client.documented(), **super().terms().terms})

    def import_state(self, request: messages.ImportState) -> Done:
        """The program of the same database: a block does not name it."""
        if request.state.stored is not None:
            self._expect(request.state.stored)
        return Done()

    def load(self, request: messages.Load) -> messages.Loaded:
        """The whole database at once."""
        database = self._expect(request.stored)
        elapsed_ns = self.client.load()
        self._doubtful = False
        self._fresh = True
        return messages.Loaded(database.tuples, elapsed_ns)

    def settle(self, request: messages.Settle) -> messages.Settled:
        """The program's database is the only one."""
        del request
        self.client.settle()
        return messages.Settled(self.client.size_bytes())

    def look_up(self, request: messages.LookUp) -> messages.Found:
        """The answer of the measure that reads the whole database; None if this worker has loaded
        no such database, or if a failure or a wrong answer makes it doubtful."""
        before = self._expected
        self._doubtful |= self._expect(request.stored) != before
        if self._doubtful:
            return messages.Found(None)
        try:
            found = self.client.measure(_benchmark(request.stored.benchmark).contents, 0)
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
        """Concurrent users on the measure of a block, one thing a request; and writers beside
        readers."""
        loop = request.loop
        measure = request.block.variations[0].text.partition(" ")[0]
        benchmark = _benchmark(request.block.benchmark)
        mixed = benchmark.mixed or (measure, measure)
        writing = measure in benchmark.presentation().writes
        starts = None
        if loop.model == "open":
            starts = due_times(loop)
        language = self.client.language
        self._doubtful = True
        # The loop has an end of its own, and the runner waits for replies without a limit.
        try:
            served = self.client.users(
                *((0, loop.users) if writing else (loop.users, loop.writers)),
                loop.duration_ns,
                starts,
                (mixed[0], measure) if writing else (measure, mixed[1]),
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
                links_checked=served.links_checked if writing or loop.writers else None,
            )

        return messages.LoopResult(
            figures(served.writes if writing else served.reads),
            beside=figures(served.writes) if loop.writers else None,
        )

    def _expect(self, stored: StoredAt) -> ProgramDatabase:
        database = _benchmark(stored.benchmark).database(
            stored.edition, stored.item.relation, stored.rows
        )
        self.client.expect(database)
        self._expected, self._stored = database, stored
        return database

    def _state(self) -> messages.State:
        return messages.State(stored=self._stored)

    def _timer(self) -> ClientTimer:
        return ClientTimer(self.client, self._mark, fresh=self._fresh)


def _benchmark(name: str) -> Benchmark:
    return registry.load_benchmark(name)()
