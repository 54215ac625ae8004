"""Concurrent users on one operation: threads of this worker, each with a session of its own; in
Rust where the engine has such users, else in Python, whose interpreter they share.

    sessions -> every user checks each answer in full -> CLOCK loop CLOCK -> one tally of them all

In a closed loop a user asks again when answered: the loop slows down with the engine, and requests
that would have come meanwhile are never counted. In an open loop requests are due by a fixed
schedule; the next free user takes the next request, and its latency counts from when it was due.
Every figure names its model.
"""

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any

from loadstone._core import ClientError, StatementUsers, Tally, Timeline, UsersAsked, clock_ns
from loadstone.engines.abilities import RustUsers
from loadstone.engines.base import Engine
from loadstone.errors import InputError, LoadstoneError, UnsupportedError
from loadstone.machine.counters import Meter
from loadstone.protocol.parts import Loop, SqlText
from loadstone.quel.statement import Statement
from loadstone.record.users import LoopFigures
from loadstone.statistics import validity
from loadstone.text.numbers import plural
from loadstone.worker.drawing import DrawnRequests
from loadstone.worker.due_times import due_times, interval_of
from loadstone.worker.loop_result import loop_figures, no_figures
from loadstone.worker.statement_timer import checksum_of, determined_of

SPIN_NS = 200_000
"""The time before a request is due at which a sleeping thread wakes: about twice a timer's lateness
here. It polls the clock for the rest."""
GRACE_NS_MAX = 1_000_000_000
"""Requests that were due in an open loop may begin for this time after its end, or for as long as
the loop was if that is less; later ones are skipped."""
RUST = "rust"
KEPT_MAX, KEPT_EACH = 64, 97
"""A user keeps the number of rows of its first drawn request and of one of so many, up to so many:
to be asked again, alone."""
NO_ANSWER = "no request was answered in time"
LEAD_NS = 20_000_000
"""Between the start of the threads and the loop's begin, so that all of them begin together."""


@dataclass(frozen=True, slots=True)
class Request:
    """A variation of the operation as sent to the engine, and its expected answer."""

    statement: str
    rows: int
    checksum: str
    sql: SqlText | None = None
    """The way in which its answer is summed up."""
    steps: tuple[tuple[str, bool], ...] = ()
    """Of a script: its statements, each with whether it gives rows."""
    determined: tuple[int, str] | None = None
    """As `protocol.parts.Variation` has it."""
    refused: str = ""
    """Why it could not be drawn."""

    @property
    def counts(self) -> bool:
        """Whether the number of rows that it gives is known."""
        opening = self.sql.opening if self.sql is not None else None
        return not self.changes and not (opening is not None and opening.everything)

    def agrees(self, rows: Sequence[tuple[Any, ...]]) -> bool:
        """Whether an answer is the expected one, at least in what the query determines."""
        if checksum_of(self.sql, rows) == (self.rows, self.checksum):
            return True
        return self.determined is not None and determined_of(self.sql, rows) == self.determined

    @property
    def changes(self) -> bool:
        """Whether it changes tables: then its answer follows from what others did."""
        return self.sql is not None and bool(self.sql.changed)

    def ask(self, session: Engine) -> Sequence[tuple[Any, ...]]:
        """Request it in a session; all rows of its answer."""
        if self.refused:
            raise InputError(f"the client failed while drawing a value: {self.refused}")
        if not self.steps:
            return session.fetch(self.statement)
        from loadstone.worker.script import play

        return play(session, Statement("script", self.statement, steps=self.steps))


class Clock:
    """Reads and awaits times of the core's clock. A test has one of its own."""

    def now_ns(self) -> int:
        """The time."""
        return clock_ns()

    def wait_until(self, due_ns: int) -> int:
        """Wait; returns the CPU time in ns of the last stretch, spent polling the clock."""
        ahead_ns = due_ns - clock_ns() - SPIN_NS
        if ahead_ns > 0:
            time.sleep(ahead_ns / 1e9)  # noqa: TID251 - the event waited for is a time
        if clock_ns() >= due_ns:
            return 0
        before_ns = _thread_cpu_ns()
        while clock_ns() < due_ns:
            # Not to sleep, but to let go of the interpreter: another user's answer may be there.
            time.sleep(0)  # noqa: TID251
        return _thread_cpu_ns() - before_ns


class Users:
    """Runs concurrent users on an engine."""

    def __init__(
        self, engine: Engine, mark: Callable[..., None], clock: Clock | None = None
    ) -> None:
        self._engine = engine
        self._mark = mark
        self._clock = clock or Clock()

    def work(
        self, loop: Loop, requests: Sequence[Request], drawn: DrawnRequests | None = None
    ) -> LoopFigures:
        """Run one loop. A loop with a wrong answer has no times. After the requests come those that
        are `drawn`, if any are."""
        # The stack outlives the pool: no session is closed under a thread that uses it.
        with ExitStack() as stack, ThreadPoolExecutor(loop.users) as pool:
            try:
                users = self._users(loop, requests, drawn, stack)
            except UnsupportedError as error:
                return no_figures("gap", error.message)
            for _ in pool.map(lambda user: user.check(self._mark), users):
                pass
            self._mark("end")
            if _wrong(users):
                return no_figures("failed", _wrong(users))
            if not isinstance(self._engine, RustUsers):
                return self._timed(loop, users, pool, drawn)
            stack.close()  # the engine may have to let go of its database
            figures = self._in_rust(loop, requests, drawn, self._engine.users())
            if figures is not None:
                return figures
            return self._timed(loop, self._users(loop, requests, drawn, stack), pool, drawn)

    def _users(
        self,
        loop: Loop,
        requests: Sequence[Request],
        drawn: DrawnRequests | None,
        stack: ExitStack,
    ) -> Sequence["_User"]:
        """Threads of Python, each with a session."""
        sessions = [stack.enter_context(self._engine.another()) for _ in range(loop.users)]
        checked = self._engine.capabilities.answers
        timeline = Timeline(interval_of(loop))
        return [
            _User(
                session, self._clock, Wanted(requests, drawn, n, loop.users), timeline,
                checked=checked,
            )
            for n, session in enumerate(sessions)
        ]  # fmt: skip

    def _in_rust(
        self,
        loop: Loop,
        requests: Sequence[Request],
        drawn: DrawnRequests | None,
        users: AbstractContextManager[StatementUsers],
    ) -> LoopFigures | None:
        """The loop with users in Rust, in place of those that have checked every answer; None where
        there turn out to be none."""
        servers = list(self._engine.processes())
        starts_ns = None
        if loop.model == "open":
            starts_ns = due_times(loop)
        last_ns = loop.duration_ns + min(GRACE_NS_MAX, loop.duration_ns)
        texts = [
            (
                [text for text, _ in request.steps] or [request.statement],
                request.rows if request.counts else None,
            )
            for request in requests
        ]
        try:
            with users as found:
                self._mark("start", loop.duration_ns)
                served = found.ask(
                    loop.users, texts, loop.duration_ns, interval_of(loop), starts_ns,
                    last_ns, servers, drawn.drawing if drawn else None,
                )  # fmt: skip
                self._mark("end")
        except (UnsupportedError, ClientError):
            return None
        if served.wrong is not None:
            return no_figures("failed", _reported(*served.wrong)).but(client=RUST)
        kept = served.kept if drawn is not None and requests[0].counts else []
        wrong = self._other_alone(drawn, kept)
        if wrong:
            return no_figures("failed", wrong).but(client=RUST)
        return self._of_rust(loop, served, served.compared + len(kept))

    def _of_rust(self, loop: Loop, served: UsersAsked, compared: int) -> LoopFigures:
        failed = plural(served.failed, "request")
        reason = f"{failed} failed: {served.reason}" if served.failed else ""
        answered = served.tally.completed > 0
        return loop_figures(served.tally, served.failed, closed=loop.model == "closed").but(
            client=RUST,
            status="ok" if answered else "failed",
            reason=reason if answered else reason or NO_ANSWER,
            elapsed_ns=served.elapsed_ns,
            client_cpu_ns=served.work[0],
            server_cpu_ns=served.work[2],
            compared=compared,
            interval_ns=interval_of(loop),
            intervals=tuple(served.intervals),
        )

    def _other_alone(self, drawn: DrawnRequests | None, kept: Sequence[tuple[int, int]]) -> str:
        """Ask requests that were drawn, and their numbers of rows kept, again and alone; the first
        whose answer has another number of rows then."""
        for number, rows in kept if drawn else ():
            statement = drawn.of(number)  # type: ignore[union-attr]
            self._mark("start")
            alone = len(Request(statement.text, rows, "", steps=statement.steps).ask(self._engine))
            self._mark("end")
            if alone != rows:
                return (
                    f"wrong answer: {plural(rows, 'tuple')} beside other users, {alone:,} alone:"
                    f" {statement.text[:200]}"
                )
        return ""

    def _timed(
        self,
        loop: Loop,
        users: Sequence["_User"],
        pool: ThreadPoolExecutor,
        drawn: DrawnRequests | None,
    ) -> LoopFigures:
        meter = Meter(self._engine.processes())
        # The loop's own time is no statement's. From its end on, whatever hangs is one.
        self._mark("start", LEAD_NS + loop.duration_ns)
        begin_ns = self._clock.now_ns() + LEAD_NS
        end_ns = begin_ns + loop.duration_ns
        if loop.model == "closed":
            started = [pool.submit(user.closed, begin_ns, end_ns) for user in users]
        else:
            due = iter(due_times(loop))
            last_ns = end_ns + min(GRACE_NS_MAX, loop.duration_ns)
            started = [pool.submit(user.open, due, begin_ns, last_ns) for user in users]
        for each in started:
            each.result()
        self._mark("end")
        work = meter.read()
        kept = [each for user in users for each in user.kept]
        wrong = _wrong(users) or self._other_alone(drawn, kept)
        if wrong:
            return no_figures("failed", wrong)
        elapsed_ns = max(end_ns, *(user.ended_ns for user in users)) - begin_ns
        busy_ns = work.client_cpu_ns
        if busy_ns is not None:
            busy_ns -= sum(user.waiting_cpu_ns for user in users)
        status, reason = self._judged(loop, users, busy_ns, elapsed_ns)
        failed = sum(user.failed for user in users)
        return loop_figures(_tally(users), failed, closed=loop.model == "closed").but(
            status=status,
            reason=reason,
            elapsed_ns=elapsed_ns,
            client_cpu_ns=work.client_cpu_ns,
            server_cpu_ns=work.server_cpu_ns,
            compared=sum(user.compared for user in users) + len(kept),
            interval_ns=interval_of(loop),
            intervals=tuple(users[0].timeline.intervals()),
        )

    def _judged(
        self, loop: Loop, users: Sequence["_User"], busy_ns: int | None, elapsed_ns: int
    ) -> tuple[str, str]:
        """Status and reason."""
        failed = sum(user.failed for user in users)
        first = next((user.reason for user in users if user.reason), "")
        reason = f"{plural(failed, 'request')} failed: {first}" if failed else ""
        if not any(user.tally.completed for user in users):
            return "failed", reason or NO_ANSWER
        # One user of an embedded engine shares its interpreter with nobody: the work is the
        # engine's. And of an artificial engine nothing but the client is measured.
        embedded = not self._engine.processes() and self._engine.can_stop
        exempt = (embedded and loop.users == 1) or not self._engine.capabilities.answers
        if loop.limits and not exempt and busy_ns is not None:
            beyond = validity.of_client(busy_ns / elapsed_ns)
            if beyond:
                return "invalid", "; ".join(filter(None, (beyond, reason)))
        return "ok", reason


class Wanted:
    """The requests of one of some users. Without drawn ones it goes round the known ones, from one
    of its own on; else its requests have the numbers of all users' requests in turn."""

    def __init__(
        self, known: Sequence[Request], drawn: DrawnRequests | None, user: int, users: int
    ) -> None:
        self.known = known
        self._drawn = drawn
        self._numbers = (user, 1) if drawn is None else (user, users)

    def __iter__(self) -> Iterator[tuple[int | None, Request]]:
        """Each request, and its number if it is drawn."""
        for number in count(*self._numbers):
            if self._drawn is None or number < len(self.known):
                yield None, self.known[number % len(self.known)]
            else:
                yield number, self._of(self._drawn, number)

    def _of(self, drawn: DrawnRequests, number: int) -> Request:
        asked = self.known[0].sql
        try:
            statement = drawn.of(number)
        except ValueError as error:
            return Request("", 0, "", asked, refused=str(error))
        return Request(statement.text, 0, "", asked, statement.steps)


class _User:
    """One user: a thread's session, and the results of its requests."""

    def __init__(
        self,
        session: Engine,
        clock: Clock,
        requests: Wanted,
        timeline: Timeline,
        *,
        checked: bool,
    ) -> None:
        self.tally = Tally()
        self.compared = 0
        self.kept: list[tuple[int, int]] = []
        self.timeline = timeline
        self._begin_ns = 0
        self.failed = 0
        self.reason = ""
        self.wrong = ""
        self.ended_ns = 0
        self.waiting_cpu_ns = 0
        self._session = session
        self._clock = clock
        self._requests = requests
        self._checked = checked

    def check(self, mark: Callable[[str], None]) -> None:
        """Request every variation once, outside the clock, and check the whole answer."""
        for request in self._requests.known:
            if request.changes:
                continue  # alone, it was asked and checked before
            mark("start")
            rows = request.ask(self._session)
            if not self._checked or self.wrong:
                continue
            if not request.agrees(rows):
                self.wrong = _difference(len(rows), request)

    def closed(self, begin_ns: int, end_ns: int) -> None:
        """Ask, and again when answered, until the time is over."""
        self._begin_ns = begin_ns
        self._clock.wait_until(begin_ns)
        for number, request in self._requests:
            now_ns = self._clock.now_ns()
            self._ask(number, request, now_ns, now_ns)
            if self.wrong or self._clock.now_ns() >= end_ns:
                return

    def open(self, due: Iterator[int], begin_ns: int, last_ns: int) -> None:
        """Take the next request that is due and wait for its time; skip those due too long ago.
        `due` is shared by all users."""
        self._begin_ns = begin_ns
        for offset_ns, (number, request) in zip(due, self._requests, strict=False):
            self.waiting_cpu_ns += self._clock.wait_until(begin_ns + offset_ns)
            now_ns = self._clock.now_ns()
            if now_ns > last_ns or self.wrong:
                self.tally.skip()
            else:
                self._ask(number, request, begin_ns + offset_ns, now_ns)

    def _ask(self, number: int | None, request: Request, intended_ns: int, started_ns: int) -> None:
        try:
            rows = request.ask(self._session)
        except LoadstoneError as error:
            self.failed += 1
            self.timeline.add(max(self._clock.now_ns() - self._begin_ns, 0))
            self.reason = self.reason or error.message
            return
        self.ended_ns = self._clock.now_ns()
        self.tally.add(intended_ns, started_ns, self.ended_ns)
        latency_ns = self.ended_ns - min(intended_ns, started_ns)
        self.timeline.add(max(self.ended_ns - self._begin_ns, 0), latency_ns)
        if not self._checked or not request.counts:
            return
        if number is not None:
            if len(self.kept) < KEPT_MAX and (not self.kept or number % KEPT_EACH == 0):
                self.kept.append((number, len(rows)))
            return
        self.compared += 1
        if len(rows) != request.rows:
            self.wrong = _difference(len(rows), request)


def _difference(rows: int, request: Request) -> str:
    if rows != request.rows:
        return _reported(rows, request.rows)
    return f"wrong answer: {plural(rows, 'tuple')}, with wrong contents"


def _reported(rows: int, expected: int) -> str:
    return f"wrong answer: {plural(rows, 'tuple')}, {expected:,} expected"


def _wrong(users: Sequence[_User]) -> str:
    return next((user.wrong for user in users if user.wrong), "")


def _thread_cpu_ns() -> int:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return round((used.ru_utime + used.ru_stime) * 1e9)


def _tally(users: Sequence[_User]) -> Tally:
    tally = Tally()
    for user in users:
        tally.merge(user.tally)
    return tally
