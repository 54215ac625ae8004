"""A worker over a whole run, of one variant, or of several that share its data: opened, loaded,
switched, and replaced when it dies.

A dead or hung worker is a result of the cell it was in, never the end of the run: a new worker
checks the tables, reloads those that differ, and goes on.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from loadstone.benchmarks.base import Benchmark, StoredRelation
from loadstone.benchmarks.expected import Answers
from loadstone.engines import abilities
from loadstone.engines.ownership import Hold
from loadstone.engines.system import System
from loadstone.errors import (
    EngineError,
    LoadstoneError,
    TimeLimitError,
    UnsupportedError,
    WorkerDiedError,
    is_of_full_disk,
)
from loadstone.machine import volume
from loadstone.plan.plan import Plan
from loadstone.plan.variant import Variant, naming, release_of, tactics_of
from loadstone.protocol import environment, messages
from loadstone.protocol.messages import Reply, Request
from loadstone.protocol.parts import StoredAt
from loadstone.protocol.pipe import Worker
from loadstone.record import Load, Recorder
from loadstone.record.model import Event, Term
from loadstone.record.writer import now
from loadstone.run.builds import environment_of
from loadstone.run.outcome import Outcome
from loadstone.run.scratch import Claim
from loadstone.text.zone import UTC

REPLACEMENTS_MAX = 20
"""A variant whose worker died this often is given up: its other cells fail with that reason."""

OPEN_S_MAX = 600.0
"""A worker that has not started its engine by then hangs: the slowest, Spark's cluster, gives up
after 300 s for each of its processes."""
STATEMENT_S_MAX = 0.5
"""An interrupted run waits so long for a statement that cannot be ended, where it leaves nothing
behind."""

R = TypeVar("R", bound=Reply)


class VariantWorker:
    """Keeps an engine running and its tables right; passes requests on. It is one of its variants
    at a time."""

    def __init__(
        self,
        variants: Sequence[Variant],
        engine: type[System],
        claim: Claim,
        plan: Plan,
        benchmark: Benchmark,
    ) -> None:
        """`variants`: they differ in nothing that needs other tables; it begins as the first."""
        self.variant = variants[0]
        self.engine = engine
        self.given_up = ""
        self.unkept: dict[str, Outcome] = {}
        """The user's tables that the engine cannot keep, with the reason: what reads them has it as
        its outcome, and all else is measured."""
        self._variants = {variant.name: variant for variant in variants}
        self._scratch = claim.path / self.variant.slug
        self._log = claim.path / f"{self.variant.slug}.log"
        self._claim = claim
        self._plan = plan
        self._benchmark = benchmark
        self._worker: Worker | None = None
        self._spare: Worker | None = None
        """A process without an engine yet: the next one."""
        self._replacements = 0
        self._versions: dict[str, str] = {}
        self._terms: dict[str, dict[str, str]] = {}
        """By variant."""
        self._hold = Hold()
        self._remain: list[int] = []
        self._gone = False
        self._left = ""
        """The result of `close`, for `kill` after an interruption."""
        self._switched = False
        """Whether the engine is what `variant` says."""
        self._has_predecessor = claim.resumed

    def open(self) -> None:
        """Start a worker and its engine, as the first of its variants: an engine may have named its
        data after that."""
        self.variant = next(iter(self._variants.values()))
        self._scratch.mkdir(parents=True, exist_ok=True)
        owner = self._claim.path.name
        # Anew each time: a server that came back has forgotten who held what.
        users = abilities.users_database(self.engine)
        hold = users.hold(self.variant, owner) if users and not self._as_it_stands else Hold()
        self._hold, before = hold, self._hold
        before.close()
        held = self._held
        spare, self._spare = self._spare, None
        self._worker = spare or self._new(held)
        has_predecessor, self._has_predecessor = self._has_predecessor, True
        stands, users_text = self._as_it_stands, self._plan.workload is not None
        request = messages.Open(
            self._plain,
            str(self._scratch),
            owner,
            has_predecessor,
            stands,
            users_text,
            self._timezone,
        )
        try:
            with naming(self.variant):
                opened = self._worker.ask(request, untimed_s=OPEN_S_MAX)
        except TimeLimitError as error:
            raise EngineError(
                f"the worker of {self.variant.name} hangs: its engine did not start within"
                f" {OPEN_S_MAX:g} s",
                hint=f"its last output: {self._worker.last_words()}; see whether its folder's disk"
                f" and its programs answer: {self._scratch}",
            ) from error
        except EngineError as error:
            raise self._named(error) from error
        self._versions, self._terms[self.variant.name] = opened.versions, opened.terms
        self._switched = True

    def _named(self, error: EngineError) -> EngineError:
        """An engine's error, of a full disk with the folder that is on it."""
        if not is_of_full_disk(f"{error.message} {error.hint}"):
            return error
        return EngineError(
            f"{self.variant.engine} cannot start, for its disk is full: {error.message}",
            hint=f"free space in {self._claim.path.parent}, or set LOADSTONE_SCRATCH to another"
            " folder",
        )

    def _new(self, held: Sequence[int]) -> Worker:
        seam, name = self._benchmark.seam, self.variant.name
        made = environment.made(os.environ, url=self.variant.url is not None)
        found_by = environment_of(self.variant, self.engine)
        return Worker(name, seam, self._log, held, {**made, **found_by})

    def variant_named(self, name: str) -> Variant:
        """One of its variants."""
        return self._variants[name]

    def admit(self, variant: Variant) -> bool:
        """Make a variant one of its own, if its data serve that one, too."""
        if not self.engine.same_data(self.variant, variant):
            return False
        self._variants[variant.name] = variant
        return True

    @property
    def _held(self) -> tuple[int, ...]:
        """The descriptors that a worker inherits."""
        return (self._claim.lock, *self._hold.descriptors)

    @property
    def _as_it_stands(self) -> bool:
        """Whether the user's own tables are read: then nothing of ours is in their database."""
        workload = self._plan.workload
        return self.variant.url is not None and workload is not None and workload.as_it_stands

    @property
    def _timezone(self) -> str:
        """The zone in which its engine reads and writes times."""
        return UTC if self._plan.workload is None else self._plan.workload.timezone

    @property
    def _has_ours(self) -> bool:
        """Whether tables of ours may be in a user's database."""
        return self.variant.url is not None and self._has_predecessor and not self._as_it_stands

    @property
    def _plain(self) -> Variant:
        """Its present variant. An A/A control is the same once more: its worker has no need to know
        that it is one."""
        return replace(self.variant, aa_control=False)

    def become(self, name: str) -> None:
        """Make the engine another of its variants, on the same data."""
        if self._switched and name == self.variant.name:
            return
        self.variant, self._switched = self._variants[name], False
        with naming(self.variant):
            self._terms[name] = self.ask(messages.Switch(self._plain)).terms
        self._switched = True

    @property
    def dialect(self) -> str:
        """The language of the engine's statements; empty where it has none."""
        return getattr(self.engine, "dialect", "")

    @property
    def reforkable(self) -> bool:
        """Whether the engine is ours to stop, and keeps its data over a stop."""
        return self.engine.capabilities.stoppable and self.variant.url is None

    def refork(self, *, ahead: bool = False) -> None:
        """Replace the process of the engine and keep its data: two processes of the same program
        differ by some percent for as long as they live. `ahead`: where that takes a process to be
        started, start the next one, too, on the processor that has nothing to do meanwhile."""
        state = self.ask(messages.ExportState())
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        spare = None
        if ahead and self._spare is None:
            spare = self._new(self._held)
        try:
            self.open()
            self.ask(messages.ImportState(state))
        finally:
            self._spare = spare
        if spare is not None:
            # It has no terms to report; that it says so shows that it sleeps before anything is
            # measured.
            with suppress(LoadstoneError):
                spare.ask(messages.ReportTerms())

    def terms(self, name: str) -> list[Term]:
        """Every tactic of a variant as asked, and as the engine read it back: when it was last
        loaded or made that variant or, if it was neither, when it was opened."""
        asked = self.engine.values_of(self._variants[name])
        read = {**self._versions, **self._terms.get(name, {})}
        if release_of(name):
            # A release without some mechanism gets no value of it unless it is named.
            named = {*tactics_of(name), *read}
            asked = {key: value for key, value in asked.items() if key in named}
        keys = dict.fromkeys([*read, *asked])
        return [Term(name, key, asked.get(key), read.get(key)) for key in keys]

    def load(
        self,
        items: Sequence[StoredRelation],
        rows: int,
        answers: Answers,
        recorder: Recorder,
        on_status: Callable[[str], None],
        *,
        sized: bool,
    ) -> None:
        """Load every table of a stage that is missing or wrong; `sized`: record the variant's
        size."""
        for item in items:
            on_status(f"{self.variant.name}: loading {item.relation} ({item.design}, n = {rows:,})")
            load = self._ensure(item, rows, answers)
            if load is not None:
                recorder.load(load)
        settled = self._settle(items, rows)
        # The structures of a database can be read only now that there is one.
        self._terms[self.variant.name] = self.ask(messages.ReportTerms()).terms
        if sized:
            recorder.size(self.variant.name, rows, settled.size_bytes)

    def _settle(self, items: Sequence[StoredRelation], rows: int) -> messages.Settled:
        tables = [
            self._stored(item, rows).table for item in items if item.relation not in self.unkept
        ]
        return self.ask(messages.Settle(tuple(tables)))

    def _stored(self, item: StoredRelation, rows: int) -> StoredAt:
        return StoredAt(self._benchmark.name, self._plan.edition, rows, item)

    def _ensure(self, item: StoredRelation, rows: int, answers: Answers) -> Load | None:
        """Load a table unless it is there and right, or cannot be kept. Raises `EngineError` if it
        cannot be loaded."""
        if item.relation in self.unkept:
            return None
        stored = self._stored(item, rows)
        expected = answers.contents(item.relation)
        checks = self.engine.capabilities.answers
        if checks and self.ask(messages.LookUp(stored)).answer == expected:
            return None
        try:
            loaded = self.ask(messages.Load(stored))
        except UnsupportedError as error:
            if item.data is None:
                raise
            self.unkept[item.relation] = Outcome("gap", error.message)
            return None
        right = not checks or self.ask(messages.LookUp(stored)).answer == expected
        if not right:
            if item.data is not None:
                reason = f"{stored.table}, read back, does not hold the rows of its file"
                self.unkept[item.relation] = Outcome("failed", reason)
                return None
            raise EngineError(
                f"{self.variant.name}: {stored.table} does not hold the rows that were loaded",
                hint="its rows differ from the generated ones: engine or driver is at fault",
            )
        return Load(self.variant.name, rows, item.relation, item.design, loaded.tuples,
                    loaded.elapsed_ns, right)  # fmt: skip

    def ask(self, request: Request[R]) -> R:
        """Pass a request to the worker, held to the plan's time limit for each statement."""
        if self.given_up or self._worker is None:
            raise WorkerDiedError(self.given_up or f"{self.variant.name} has no worker")
        return self._worker.ask(request, limit_s=self._plan.time_limit_s)

    def replace(
        self,
        items: Sequence[StoredRelation],
        rows: int,
        answers: Answers,
        recorder: Recorder,
        failure: LoadstoneError,
    ) -> None:
        """Replace a worker after `failure` and make its tables right again. Where that cannot be,
        the variant is given up, and its files are removed: other variants may need their room."""
        if self.given_up:
            return  # the record has the reason
        hung = isinstance(failure, TimeLimitError)
        kind = "time limit" if hung else "worker lost"
        message = f"a statement took {failure.message}" if hung else failure.message
        recorder.event(Event(now(), kind, self.variant.name, message))
        self._replacements += 1
        if self._replacements > REPLACEMENTS_MAX:
            self.given_up = f"given up after {REPLACEMENTS_MAX} lost workers, the last: {message}"
        before = dict(self._terms)
        while not self.given_up:
            self.abandon()
            doing = "could not be started again: "
            try:
                self.open()
                doing = ""
                for item in items:
                    self._ensure(item, rows, answers)
                self._settle(items, rows)
                # As after loading: opened anew it has reported those of an empty database.
                self._terms[self.variant.name] = self.ask(messages.ReportTerms()).terms
                return
            except LoadstoneError as error:
                self._replacements += 5
                if self._replacements > REPLACEMENTS_MAX:
                    self.given_up = doing + error.message
                    recorder.event(Event(now(), "given up", self.variant.name, self.given_up))
        self.abandon()
        self._terms = before
        if self.variant.url is None:
            self._swept()

    def mend(self, items: Sequence[StoredRelation], rows: int, answers: Answers) -> None:
        """After a wrong answer: reload every table that differs from the generated one."""
        for item in items:
            self._ensure(item, rows, answers)

    def abandon(self) -> None:
        """End the worker at once, and any server it left behind."""
        self._drop_spare()
        if self._worker is not None:
            self._remain += self._worker.kill()
            self._worker = None
        abilities.processes_ended(self.engine, self._scratch)
        if self._has_ours:
            # A server works on for a client that is gone, and its successor would wait for it.
            hold, self._hold = self._hold, Hold()
            hold.close()
            with suppress(LoadstoneError):
                abilities.end_sessions(self.engine, self.variant, self._claim.path.name)

    def strike(self) -> None:
        """Kill the worker for which another thread is waiting, and the one ahead of it."""
        for worker in (self._worker, self._spare):
            if worker is not None:
                worker.strike()

    def kill(self) -> str:
        """End the worker at once, and any server it left behind; its tables in a user's database
        stay there. Returns as `close`."""
        self._drop_spare()
        if self._gone:
            return self._left
        if self._worker is not None:
            self._remain += self._worker.kill()
            self._worker = None
        reported = self._swept()
        self._hold.close()
        if self._has_ours:
            reported.append(self._may_be_left("it was ended at once"))
        return "; ".join(reported)

    def close(self) -> str:
        """Let the engine remove its data and the worker end. Returns a message for the user: empty,
        or that something of ours may be left in their database."""
        removed = False
        self._drop_spare()
        if self._worker is not None:
            try:
                # Where the run was interrupted, a statement is in flight that the engine may be
                # unable to end. Where nothing is to be removed, there is nothing to wait for.
                self._worker.cut_short()
                limit_s = STATEMENT_S_MAX if self._as_it_stands else self._plan.time_limit_s
                self._worker.ask(messages.Remove(), limit_s=limit_s)
                self._remain += self._worker.close()
                removed = True
            except LoadstoneError:
                self._remain += self._worker.kill()
            self._worker = None
        reported = self._swept()
        hold, self._hold = self._hold, Hold()
        hold.close()
        if not removed and self._has_ours:
            reported += self._removed_from_here(hold.name)
        self._left, self._gone = "; ".join(reported), True
        return self._left

    def _drop_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            self._remain += spare.kill()

    def _swept(self) -> list[str]:
        """End processes that the worker left running, and remove its files. Returns those that did
        not end."""
        reported = []
        try:
            abilities.processes_ended(self.engine, self._scratch)
        except LoadstoneError as error:
            reported.append(f"{self.variant.name}: {error.message}")
        volume.sweep(self._scratch)
        shutil.rmtree(self._scratch, ignore_errors=True)
        if self._remain:
            pids = ", ".join(map(str, self._remain))
            reported.append(f"{self.variant.name}: these processes could not be ended: {pids}")
        return reported

    def _removed_from_here(self, name: str) -> list[str]:
        """Remove the tables that no worker removed from the user's database. Returns a message for
        the user."""
        engine = abilities.users_database(self.engine)
        if engine is None:
            return []
        try:
            abilities.end_sessions(self.engine, self.variant, self._claim.path.name)
            for left in engine.sweep(self.variant):
                if left.name == name or (not name and left.owner == self._claim.path.name):
                    engine.clear(self.variant, left)
        except LoadstoneError as error:
            return [self._may_be_left(error.message)]
        return []

    def _may_be_left(self, reason: str) -> str:
        return (
            f"{self.variant.name}: tables of this run may be left there ({reason}); list"
            f" and remove them with: loadstone clean --on {shlex.quote(self.variant.bare_url)}"
        )
