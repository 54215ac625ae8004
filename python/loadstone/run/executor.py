"""Executes what an interleaved group decides: a block, a restart, a fork, an explanation, a loop of
users. Each comes back as an outcome, and a failure of the engine is one, too.

The executor knows the engines and their tables: it replaces a lost worker and reloads a damaged
table, so that the next request finds a working engine. It knows no cell's state.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from loadstone import _core
from loadstone.benchmarks.base import StoredRelation
from loadstone.errors import (
    InputError,
    LoadstoneError,
    TimeLimitError,
    UnsupportedError,
    WorkerDiedError,
)
from loadstone.plan.plan import Cell
from loadstone.plan.statement_ladder import rungs_of
from loadstone.plan.workload import WorkloadStatement
from loadstone.planning.study import combined
from loadstone.protocol import messages, parts
from loadstone.protocol.messages import BlockResult, LoopResult, R, Request
from loadstone.record.model import AnswerCheck
from loadstone.record.users import LoopFigures
from loadstone.run.blocks import Blocks
from loadstone.run.context import Context
from loadstone.run.in_parallel import in_parallel
from loadstone.run.outcome import Outcome
from loadstone.run.variant_worker import VariantWorker
from loadstone.text.numbers import duration, plural
from loadstone.workload.agreement import VOLATILE, AgreedAnswers
from loadstone.workload.sql_opening import tables_of_statement

RESTART_NS_MAX = 50_000_000
"""An engine that takes longer to restart is restarted only if operations are named."""
FIRST_S_MAX = 5.0
"""A first execution may take longer by so much than a warm one: it is translated and planned, and
finds the caches empty of data that were loaded just before."""
SAMPLING_SHARE_MAX = 0.002
"""Of the CPU time that a time budget samples: so much of it all samples together may take, by what
one takes of a checksum. An engine loses some four times that with each, since the interrupt empties
caches that a checksum does not need."""


class Executor:
    """The steps of one stage's cells, on its tables."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._plan = context.plan
        self._workers = context.workers
        self._answers = context.answers
        self._blocks = Blocks(context)
        self._loaded: set[VariantWorker] = set()
        self._restart_ns: dict[str, int] = {}
        self._restarted: set[str] = set()
        """Variants whose engine has executed nothing since its restart: its memory is empty."""

    def ask(self, cell: Cell, request: Request[R], outcome: Callable[[R], Outcome]) -> Outcome:
        """Have the engine of a cell answer a request as the cell's variant, and make an outcome of
        the reply. A failure of the engine is an outcome, too, and is repaired at once."""
        return self._attempt(cell, lambda worker: outcome(worker.ask(request)))

    def _attempt(
        self,
        cell: Cell,
        step: Callable[[VariantWorker], Outcome],
        *,
        remembers: bool = False,
        doing: str = "",
    ) -> Outcome:
        """`remembers`: a statement that is ended in this step is not tried cold."""
        self.context.listener.on_status(
            f"{cell.operation} on {cell.variant} ({doing or cell.temperature})"
        )
        worker = self._workers[cell.variant]
        try:
            worker.become(cell.variant)
            return step(worker)
        except LoadstoneError as error:
            outcome = self._failure(worker, error)
        if remembers and outcome.status == "censored" and not outcome.partly:
            self.context.overdue[cell.operation, cell.variant] = outcome.reason
        return outcome

    def load(self, variant: str, *, sized: bool) -> None:
        """Load a variant's tables, unless it shares them with one that is loaded; `sized`: its size
        is recorded."""
        worker = self._workers[variant]
        try:
            worker.become(variant)
            if worker in self._loaded:
                return
            self._loaded.add(worker)
            stage = self.context
            worker.load(stage.stored[variant], stage.rows, self._answers, stage.recorder,
                        stage.listener.on_status, sized=sized)  # fmt: skip
        except LoadstoneError as error:
            self._replace(worker, error)

    def take(
        self,
        cell: Cell,
        ordinals: range,
        number: int,
        *,
        warm: bool,
        limit_ns: int = 0,
        checked: int | None = None,
    ) -> Outcome:
        """Take the samples with these ordinals as one block of round `number`. `warm`: the caches
        are full, unless the engine was restarted. A wrong answer is a failure; a statement that
        takes longer than `limit_ns`, unless that is 0, is ended, and its cell censored. `checked`:
        of so many samples the answer is checked; None: of all."""
        warm = warm and cell.variant not in self._restarted
        self._restarted.discard(cell.variant)
        block = self._blocks.of(
            cell, ordinals, number, warm=warm, limit_ns=limit_ns, checked=checked
        )

        def step(worker: VariantWorker) -> Outcome:
            request = messages.TakeBlock(block)
            result = self._ask_at_most_twice(worker, request, first=cell.temperature != "cold")
            if result.ended and self.context.operations[cell.operation].undo:
                # A change that was ended may be there or not; and it had no second try.
                self._mend(worker)
                result = worker.ask(request)
                if result.ended:
                    self._mend(worker)
            if not result.ended:
                return self._taken(cell, result)
            longer = f"> {duration(limit_ns)}"
            return Outcome("censored", longer, answers=result.answers, longer_than_ns=limit_ns)

        # Of a later block, an earlier sample of this cell ended in time.
        return self._attempt(cell, step, remembers=not ordinals.start)

    def give_answers(self, cell: Cell) -> Outcome:
        """The answers to a cell's statement, each variation once, unmeasured. None of an engine
        that gives no answers. One that was ended already, here or in a session before, is not
        executed again."""
        worker = self._workers[cell.variant]
        operation = self.context.operations[cell.operation]
        if not worker.engine.capabilities.answers:
            return Outcome()
        if longer := self.context.overdue.get((cell.operation, cell.variant)):
            return Outcome("censored", longer)
        statement = operation.statement
        for table in sorted(tables_of_statement(statement)) if statement and worker.unkept else ():
            if table in worker.unkept:
                return worker.unkept[table]
        request = messages.GiveAnswers(self._blocks.of(cell, range(operation.sampled), 0))

        def step(worker: VariantWorker) -> Outcome:
            reply = self._ask_at_most_twice(worker, request, first=True)
            return Outcome(
                given=reply.answers, first_rows=reply.first_rows, determined=reply.determined
            )

        return self._attempt(cell, step, remembers=True)

    def asked(self, cell: Cell) -> tuple[str, WorkloadStatement | None]:
        """The dialect of a cell's engine, and the user's statement that it was asked."""
        statement = self.context.operations[cell.operation].statement
        return self._workers[cell.variant].dialect, statement

    def show_rows(
        self, cell: Cell, variation: int, bytes_max: int, *, uncut: bool = False
    ) -> str | None:
        """The rows of a variation as `workload.answers.read` takes them; None where they are
        longer, or the engine does not give them. `uncut`: those without LIMIT and OFFSET."""
        whole = self._blocks.of(cell, range(variation, variation + 1), 0)
        block = whole.uncut() if uncut else whole
        if block is None:
            return None
        request = messages.ShowRows(block, bytes_max)
        return self.ask(cell, request, lambda reply: Outcome(rows=reply.rows)).rows

    def refused(self, cell: Cell) -> Outcome | None:
        """The outcome of a cell that is not measured: asked before, its engine gave no answer, or
        another one than is agreed; or its statement was ended already when it was warm."""
        longer = self.context.overdue.get((cell.operation, cell.variant))
        if longer is not None and cell.temperature == "cold":
            return Outcome("spared", f"warm it took {longer}")
        if not isinstance(self._answers, AgreedAnswers):
            return None
        if failed := self._answers.failed(cell.operation, cell.variant):
            limit_ns = round(self._plan.time_limit_s * 1e9)
            return Outcome(*failed, longer_than_ns=limit_ns if failed[0] == "censored" else None)
        odd = self._answers.odd(cell.operation, cell.variant)
        if odd is None:
            return self._nothing_to_study(cell, self._answers.divided(cell.operation, cell.variant))
        check = AnswerCheck(0, odd.variation, *odd.expected, *odd.found)
        return Outcome("failed", f"not the expected answer: {odd.words}", answers=[check])

    def _nothing_to_study(self, cell: Cell, divided: str) -> Outcome | None:
        """The outcome of a study's cell where a switch changes the answer, and nobody knows which
        one is right: no effect on its time would count, and a run's cells are invalid then."""
        if self._plan.study is None or not divided:
            return None
        answers = self._workers[cell.variant].engine.capabilities.answers
        return Outcome("failed", divided) if answers else None

    def watch(
        self,
        cell: Cell,
        ordinals: range,
        number: int,
        frequency_hz: int,
        share_max: float = SAMPLING_SHARE_MAX,
        *,
        warm: bool,
        checked: int | None = None,
    ) -> Outcome:
        """As `take`, of a warm or hot cell, with the sampler beside it: at most so many times a
        second, and for such a share of a CPU."""
        block = self._blocks.of(cell, ordinals, number, warm=warm, checked=checked)
        return self.ask(
            cell,
            messages.Profile(block, frequency_hz, share_max),
            lambda reply: replace(self._taken(cell, reply.result), profiled=reply),
        )

    def climb(self, cell: Cell, ordinals: range, number: int, rungs: Sequence[str]) -> Outcome:
        """Take samples of rungs of a cell's ladder of statements, in this order."""
        block = self._blocks.of(cell, ordinals, number, warm=True)
        request = messages.Climb(block, tuple(rungs))
        return self.ask(cell, request, lambda reply: Outcome(rungs=reply.rungs))

    def report_rungs(self, cell: Cell) -> Outcome:
        """The texts that the rungs of a cell's ladder send to the engine, of its first variation,
        and what the engine's own timers report of that."""
        request = messages.ReportRungs(self._blocks.of(cell, range(1), 0), self.rungs(cell))
        return self.ask(
            cell,
            request,
            lambda reply: Outcome(rung_texts=reply.rungs, own_times=reply.own_times),
        )

    def rungs(self, cell: Cell) -> tuple[str, ...]:
        """The rungs of a cell's ladder of statements, the lowest first; none where it has no
        statements."""
        destination = self.context.operations[cell.operation].destination
        return tuple(each.rung for each in rungs_of(destination))

    def _taken(self, cell: Cell, result: BlockResult) -> Outcome:
        """A block's result as an outcome: a wrong answer is a failure."""
        wrong = next((answer for answer in result.answers if not answer.right), None)
        if wrong is not None:
            self._mend(self._workers[cell.variant])
        return Outcome(
            status="ok" if wrong is None else "failed",
            reason="" if wrong is None else self._contradiction(cell, wrong),
            samples=result.samples,
            answers=result.answers,
            evidence=result.evidence,
        )

    def _contradiction(self, cell: Cell, wrong: AnswerCheck) -> str:
        """The reason of a sample with another answer than expected. Where that is only the
        variant's own, it is volatile, and none of its cells is measured."""
        agreed = self._answers
        if not isinstance(agreed, AgreedAnswers) or not agreed.holds_to_itself(
            cell.operation, cell.variant
        ):
            return _wrong(wrong)
        agreed.fail(cell.operation, cell.variant, "failed", VOLATILE)
        return VOLATILE

    def restart(self, cell: Cell, *, quick: bool) -> Outcome:
        """Restart the engine in its process; if `quick`, only one that was quick the last time."""
        worker = self._workers[cell.variant]
        slow = self._restart_ns.get(cell.variant, 0) > RESTART_NS_MAX
        if not worker.reforkable or (quick and slow):
            return Outcome()
        start_ns = _core.clock_ns()
        outcome = self.ask(cell, messages.Restart(), lambda _: Outcome())
        if outcome.status == "ok":
            self._restarted.add(cell.variant)
            self._restart_ns[cell.variant] = _core.clock_ns() - start_ns
        return outcome

    def reopen(self, taken: Sequence[tuple[Cell, range]]) -> Sequence[Outcome]:
        """Make the engines of cold cells ready for their blocks with these ordinals, all in
        parallel, since nothing is measured meanwhile. One outcome a cell. Cells of one worker are
        made cold by their own blocks, one after the other."""
        workers = [self._workers[cell.variant] for cell, _ in taken]
        if len({*workers}) < len(workers) or len(workers) < 2:
            return [Outcome() for _ in taken]
        requests = [messages.Reopen(self._blocks.of(cell, block, 0)) for cell, block in taken]
        opened = in_parallel(
            {
                worker: partial(_asked, worker, cell.variant, request)
                for worker, (cell, _), request in zip(workers, taken, requests, strict=True)
            },
            strikes=[worker.strike for worker in workers],
        )
        return [self._awaited(worker, opened[worker].result) for worker in workers]

    def fork(self, cells: Sequence[Cell]) -> Sequence[Outcome]:
        """Give each cell's engine a new process, all in parallel, since nothing is measured
        meanwhile; an engine that cannot be stopped keeps its own. One outcome a cell."""
        workers = dict.fromkeys(self._workers[cell.variant] for cell in cells)
        able = [worker for worker in workers if worker.reforkable]
        if not able:
            return [Outcome() for _ in cells]
        # Several of them have no idle processor beside them.
        ahead = len(able) == 1 and self._plan.study is not None
        forked = in_parallel(
            {worker: partial(worker.refork, ahead=ahead) for worker in able},
            strikes=[worker.strike for worker in able],
        )
        return [
            self._awaited(worker, forked[worker].result) if worker in forked else Outcome()
            for worker in (self._workers[cell.variant] for cell in cells)
        ]

    def _awaited(self, worker: VariantWorker, result: Callable[[], object]) -> Outcome:
        """The outcome of what was done to a worker beside others."""
        try:
            result()
        except LoadstoneError as error:
            return self._failure(worker, error)
        return Outcome()

    def admit(self, like: Cell, flipped: tuple[str, ...]) -> Cell | None:
        """A cell as this one, of a combination that the plan's study does not list. None where no
        worker has loaded the data that it needs, or the engine takes no such variant."""
        worker, study = self._workers[like.variant], self._plan.study
        if study is None:
            return None
        try:
            variant = combined(worker.variant_named(like.variant), worker.engine, study, flipped)
            worker.engine.check(variant)
        except InputError:
            return None
        for each in dict.fromkeys(self._workers.values()):
            if variant.name not in self._workers and each.admit(variant):
                self.context.stored[variant.name] = self.context.stored[each.variant.name]
                self._workers[variant.name] = each
        return replace(like, variant=variant.name) if variant.name in self._workers else None

    def explain(self, cell: Cell, *, briefly: bool = False) -> Outcome:
        """The statements of a cell's first variations, with the engine's plans. `briefly`: nothing
        that would execute one."""
        variations = min(cell.samples, self.context.operations[cell.operation].sampled)
        block = self._blocks.of(cell, range(min(variations, 2)), 0, limit_ns=1 if briefly else 0)
        request = messages.Explain(block)
        return self.ask(cell, request, lambda reply: Outcome(statements=reply.statements))

    def run_loop(self, cell: Cell, loop: parts.Loop) -> LoopResult:
        """Run a loop of users on a cell's operation; not where the engine gave no answer."""
        if isinstance(self._answers, AgreedAnswers):
            failed = self._answers.failed(cell.operation, cell.variant)
            if failed is not None:
                return _no_loop(*failed)
        variations = range(len(self.context.operations[cell.operation].texts))
        found: list[LoopResult] = []

        def step(worker: VariantWorker) -> Outcome:
            block = self._blocks.of(cell, variations, 0, whole=True)
            request = messages.RunLoop(block, self._blocks.drawing(cell, loop))
            found.append(worker.ask(request))
            if found[0].figures.status == "failed":
                self._mend(worker)
            return Outcome()

        outcome = self._attempt(
            cell, step, doing=f"{plural(loop.users, 'user')}, {loop.model} loop"
        )
        return found[0] if found else _no_loop(outcome.status, outcome.reason)

    def _ask_at_most_twice(self, worker: VariantWorker, request: Request[R], *, first: bool) -> R:
        """Pass a request on. `first`: it begins with an execution that fills the caches. Where that
        one is ended after a short limit, or on data that nobody has just loaded, a warm one may be
        shorter: so it is executed once more, and only what is ended twice has a bound."""
        try:
            return worker.ask(request)
        except TimeLimitError as error:
            workload = self._plan.workload
            stands = workload is not None and workload.as_it_stands
            counts = not (stands or self._plan.time_limit_s <= FIRST_S_MAX)
            if not first or counts or not error.of_statement or error.hung or error.partly:
                raise
        self._mend(worker)
        return worker.ask(request)

    def _failure(self, worker: VariantWorker, error: LoadstoneError) -> Outcome:
        """A failure of the engine as an outcome; the next cell finds a working engine."""
        if isinstance(error, UnsupportedError):
            return Outcome("gap", error.message)
        overdue = error if isinstance(error, TimeLimitError) else None
        if isinstance(error, WorkerDiedError) or (overdue and overdue.hung):
            self._replace(worker, error)
        else:
            # Also after a change that was ended, which may be there or not.
            self._mend(worker)
        if overdue and overdue.of_statement:
            limit_ns = round(overdue.limit_s * 1e9)
            return Outcome(
                "censored", error.message, longer_than_ns=limit_ns, partly=overdue.partly
            )
        return Outcome("failed", error.message)

    def _mend(self, worker: VariantWorker) -> None:
        try:
            worker.mend(self._stored(worker), self.context.rows, self._answers)
        except LoadstoneError as error:
            self._replace(worker, error)

    def _replace(self, worker: VariantWorker, error: LoadstoneError) -> None:
        stage = self.context
        worker.replace(self._stored(worker), stage.rows, self._answers, stage.recorder, error)

    def _stored(self, worker: VariantWorker) -> Sequence[StoredRelation]:
        return self.context.stored[worker.variant.name]


def _asked(worker: VariantWorker, variant: str, request: messages.Reopen) -> None:
    worker.become(variant)
    worker.ask(request)


def _no_loop(status: str, reason: str) -> LoopResult:
    status = "failed" if status == "censored" else status
    return LoopResult(LoopFigures(client="", status=status, reason=reason))


def _wrong(answer: AnswerCheck) -> str:
    if answer.rows != answer.expected_rows:
        return f"wrong answer: {plural(answer.rows, 'tuple')}, {answer.expected_rows:,} expected"
    return f"wrong answer: {plural(answer.rows, 'tuple')}, but not the right ones"
