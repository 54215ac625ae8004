"""The requests to a worker whose engine executes statements."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from loadstone._core import RelationStream, attributes, built_and_late, clock_ns
from loadstone.engines.abilities import Distributed, Interruptible
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Generated, Table
from loadstone.errors import LoadstoneError, UnsupportedError
from loadstone.protocol import messages, parts
from loadstone.protocol.messages import Done
from loadstone.protocol.parts import StoredAt
from loadstone.quel.dialect import is_quel
from loadstone.quel.statement import is_control
from loadstone.record.users import LoopFigures
from loadstone.worker.affinity import placed
from loadstone.worker.loop_result import no_figures
from loadstone.worker.requests import Requests, not_open
from loadstone.worker.statement_timer import StatementTimer, contents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from loadstone.quel.statement import Statement
    from loadstone.worker.drawing import DrawnRequests
    from loadstone.worker.ladder_timer import LadderTimer
    from loadstone.worker.user_loop import Request as UserRequest
    from loadstone.worker.user_loop import Users

PLANS_MAX, PLANS_LETTERS_MAX = 100, 1 << 20
"""Statements of a loop that a record keeps with their plans, and their letters together."""
_LATE = "late"
"""The relation that holds the rows to be inserted while they are."""


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

    def interrupt(self) -> None:
        """By the engine's own means, where it has any."""
        if isinstance(self.engine, Interruptible):
            self.engine.interrupt()

    def import_state(self, request: messages.ImportState) -> Done:
        """Statements need not be translated again."""
        self._timer().translated = dict(request.state.translated)
        return Done()

    def load(self, request: messages.Load) -> messages.Loaded:
        """Generate a relation and load it."""
        import pyarrow as pa

        stored = request.stored
        table = _table(stored, self.engine.stored_name(stored.table))
        if stored.item.data is not None:
            from loadstone.workload import data

            rows = data.stream(stored.item.data, stored.item.folder)
            if is_quel(self.engine.dialect):
                again = data.stream(stored.item.data, stored.item.folder)
                table = _with_widths(table, again)
            start = clock_ns()
            tuples = self.engine.load(table, rows)
            return messages.Loaded(tuples, clock_ns() - start)
        relation = (stored.benchmark, stored.edition, stored.item.relation, stored.rows)
        built, late = built_and_late(*relation)
        start = clock_ns()
        made = None
        if isinstance(self.engine, Distributed) and not late:
            made = self.engine.generate(table, Generated(*relation))
        if made is not None:
            return messages.Loaded(made, clock_ns() - start)
        first = RelationStream(*relation, count=built)
        start = clock_ns()
        tuples = self.engine.load(table, pa.RecordBatchReader.from_stream(first))
        if late:
            rest = RelationStream(*relation, first=built)
            tuples += self._insert(table, pa.RecordBatchReader.from_stream(rest))
        elapsed_ns = clock_ns() - start
        return messages.Loaded(tuples, elapsed_ns)

    def _insert(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Insert rows into a relation that is built already, by one statement, so that they come to
        lie where the engine has room for them. Returns how many."""
        from loadstone.quel.translate import translate

        late = replace(
            table,
            name=self.engine.stored_name(f"{_LATE}_rows"),
            organisation="heap",
            key=None,
            tiebreaker=None,
            indexes=(),
        )
        statement = translate(
            f"range of l is {_LATE} append to built (l.all)",
            self.engine.dialect,
            lambda relation: (late if relation == _LATE else table).name,
            lambda _: table.attributes,
            self.engine.schema,
        )
        try:
            tuples = self.engine.load(late, rows)
            self.engine.run(statement.text)
        finally:
            self.engine.drop(late.name)
        return tuples

    def settle(self, request: messages.Settle) -> messages.Settled:
        """Statistics and checkpoint."""
        self.engine.settle([self.engine.stored_name(table) for table in request.tables])
        return messages.Settled(self.engine.size_bytes())

    def look_up(self, request: messages.LookUp) -> messages.Found:
        """All of a table, where it exists."""
        stored = self.engine.stored_name(request.stored.table)
        if stored not in self.engine.tables():
            return messages.Found(None)
        if request.stored.item.data is not None:
            from loadstone.workload import answers

            return messages.Found(answers.contents_of(self.engine.contents(stored)))
        return messages.Found(contents_of(self.engine, stored))

    def give_answers(self, request: messages.GiveAnswers) -> messages.Answered:
        """The answer of each variation."""
        timer, block = self._timer(), request.block
        found = [timer.answered(block, each) for each in block.variations]
        return messages.Answered(*zip(*found, strict=True)) if found else messages.Answered(())

    def show_rows(self, request: messages.ShowRows) -> messages.RowsShown:
        """The rows of the first variation."""
        from loadstone.workload.answers import written

        rows = self._timer().rows(request.block, request.block.variations[0])
        dates = request.block.sql is None or request.block.sql.dates
        return messages.RowsShown(written(rows, request.bytes_max, dates=dates))

    def climb(self, request: messages.Climb) -> messages.Climbed:
        """Samples of rungs of the ladder of statements."""
        with placed(self.engine):
            return messages.Climbed(self._ladder_timer().climb(request.block, request.rungs))

    def report_rungs(self, request: messages.ReportRungs) -> messages.RungTexts:
        """The rungs' statements, with the engine's plans, and the engine's own times."""
        timer = self._ladder_timer()
        texts = timer.texts(request.block, request.rungs)
        with placed(self.engine):
            return messages.RungTexts(texts, timer.own_times(request.block))

    def _ladder_timer(self) -> "LadderTimer":
        # Slow to import, and every block of a study has a new process.
        from loadstone.worker.ladder_timer import LadderTimer

        timer = self._timer()
        return LadderTimer(self.engine, self._mark, timer.translate, timer.whole)

    def run_loop(self, request: messages.RunLoop) -> messages.LoopResult:
        """Concurrent users on a block's variations."""
        from loadstone.worker.drawing import drawn_requests
        from loadstone.worker.user_loop import Request, Users

        timer, block = self._timer(), request.block
        statements = timer.statements(block)
        requests = [
            Request(
                each.text,
                variation.rows,
                variation.checksum,
                block.sql,
                each.steps,
                variation.determined,
            )
            for each, variation in zip(statements, block.variations, strict=True)
        ]
        users = Users(self.engine, self._mark)
        if block.sql is None:
            figures = users.work(request.loop, requests)
            return messages.LoopResult(figures.but(statements=self._plans(statements[:1])))
        try:
            drawn = drawn_requests(
                request.loop,
                block.sql,
                timer.dialect_of(block.sql),
                lambda text: timer.translate(block, text),
                prepared=("statement", "prepared") in self.engine.variant.tactics,
            )
        except UnsupportedError as gap:
            return messages.LoopResult(no_figures("gap", f"{gap.message}: {gap.hint}"))
        plans = self._plans([*drawn.kinds()] if drawn else statements)
        if block.sql.changed:
            figures = self._changing_loop(request, block.sql, users, requests, drawn)
        else:
            figures = users.work(request.loop, requests, drawn)
        return messages.LoopResult(figures.but(statements=plans))

    def _plans(self, statements: "Sequence[Statement]") -> tuple[tuple[str, str], ...]:
        """Each kind of statement among these, the first of it, and the engine's plan."""
        sent = [
            text
            for one in statements
            for text, _ in one.steps or ((one.text, True),)
            if not is_control(text)
        ]
        if len(sent) > 1 and not is_quel(self.engine.dialect):
            from loadstone.workload.sql import of_each_shape

            sent = of_each_shape(sent, self.engine.dialect, "a loop")
        found: list[tuple[str, str]] = []
        left = PLANS_LETTERS_MAX
        for text in sent[:PLANS_MAX]:
            plan = ""
            with suppress(LoadstoneError):  # the loop shows whether it can be executed
                plan = self.engine.explain(text)
            left -= len(text) + len(plan)
            if left < 0:
                break
            found.append((text, plan))
        return tuple(found)

    def _changing_loop(
        self,
        request: messages.RunLoop,
        reported: parts.SqlText,
        users: "Users",
        requests: "Sequence[UserRequest]",
        drawn: "DrawnRequests | None",
    ) -> LoopFigures:
        """A loop whose users change tables, which then get back what they had."""
        from loadstone.worker.script import Invariants

        timer = self._timer()
        query = request.block.asking()
        if not self.engine.capabilities.answers:  # it keeps nothing that could be judged
            return users.work(request.loop, requests, drawn)
        invariants = Invariants(self.engine, reported, lambda text: timer.translate(query, text))
        try:
            figures = users.work(request.loop, requests, drawn)
            broken = invariants.broken(figures.completed) if figures.completed else ""
        finally:
            timer.put_back(reported)
        return no_figures("failed", broken).but(client=figures.client) if broken else figures

    def _state(self) -> messages.State:
        return messages.State(self._timer().translated)

    def _timer(self) -> StatementTimer:
        """One from block to block: it knows what it has translated."""
        if self._statement_timer is None or self._statement_timer.engine is not self.engine:
            self._statement_timer = StatementTimer(self.engine, self._mark)
        return self._statement_timer


def _with_widths(table: Table, rows: "pa.RecordBatchReader") -> Table:
    """A user's table for an engine whose texts have a width: that of the longest one."""
    import pyarrow.compute as pc

    widths = dict.fromkeys((one.name for one in table.attributes if one.type == "text"), 1)
    for batch in rows:
        for name in widths:
            longest = pc.max(pc.binary_length(batch[name].cast("string"))).as_py()
            widths[name] = max(widths[name], longest or 0)
    sized = (
        replace(one, type=f"char({widths[one.name]})") if one.name in widths else one
        for one in table.attributes
    )
    return replace(table, attributes=tuple(sized))


def _table(stored: StoredAt, name: str) -> Table:
    item = stored.item
    if item.data is not None:
        own = tuple(Attribute(column.name, column.type) for column in item.data.columns)
        return Table(name, own, primary_key=item.data.primary_key, compound=item.data.indexes)
    return Table(
        name=name,
        attributes=tuple(
            Attribute(*pair) for pair in attributes(stored.benchmark, stored.edition, item.relation)
        ),
        organisation=item.organisation,
        key=item.key,
        tiebreaker=item.tiebreaker,
        indexes=item.indexes,
    )
