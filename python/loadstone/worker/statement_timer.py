"""Timing a statement: the steps inside and outside the clock, and their order.

    drop the old result -> counters -> CLOCK statement CLOCK -> counters -> check the answer -> undo
    -> remove what the change left behind

A sample that is observed has the observer next to the clock, and its work in the counters.

Inside the clock is one statement, its commit, for `client` operations the transfer of its rows, and
for `file` operations the writing of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loadstone._core import answer_of_rows, answer_of_stream, attributes, clock_ns
from loadstone.benchmarks.base import table_of
from loadstone.engines.abilities import CountsWork, Distributed, Guarded, RemovesDead
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Attribute, Work
from loadstone.errors import EngineError, StatementEndedError
from loadstone.machine.counters import Meter
from loadstone.plan.workload import PUT_BACK
from loadstone.protocol.parts import Block, Named, SqlText, Variation
from loadstone.quel.statement import Statement, is_control
from loadstone.record.model import AnswerCheck, Sample, StatementText
from loadstone.text.numbers import plural
from loadstone.worker.block import Timer
from loadstone.worker.statement_limit import StatementLimit

if TYPE_CHECKING:
    from loadstone.worker.table_copy import TableCopy


class StatementTimer(Timer):
    """Runs blocks of statements on an engine."""

    def __init__(self, engine: Engine, mark: Callable[[str], None]) -> None:
        super().__init__(mark)
        self.system = self.engine = engine
        self.translated: dict[str, Statement] = {}
        """By scale, design, the way in which it is read, and text."""
        self._absent: set[str] = set()
        """Results that were dropped here since a statement last made them."""

    def explain(self, block: Block) -> Sequence[StatementText]:
        """Each variation's statement and plan, and whether the plan uses the structure that the
        operation is about; one isolated pass, which changes nothing."""
        texts = []
        structure = self.engine.capabilities.structures.get(block.storage)
        # A heap is only scanned, and other structures do not show in all plans: then there is none
        # to be used or not. A cold sample must read the relation; that its plan does not is
        # reported.
        hidden = block.storage == "heap" or not (structure and structure.in_plans)
        # An engine may have to execute the statement to report, which a limit forbids; and a script
        # would end the transaction in which it is taken back.
        shown = structure is not None and not block.limit_ns and block.destination != "script"
        shown = shown and (not hidden or block.temperature == "cold")
        for variation in block.variations:
            statement = self.translate(block, variation.text)
            asked = [text for text, _ in statement.steps if not is_control(text)]
            plan = self._plan(asked or [statement.text], block)
            paths = self.engine.access_paths(statement.text, plan) if shown else None
            access = None if paths is None or (hidden and paths) else ",".join(paths)
            texts.append(StatementText(variation.number, statement.text, plan, access))
        return texts

    def _plan(self, texts: Sequence[str], block: Block) -> str:
        """The engine's plan of these texts; with a limit empty where it has none to give: the
        statement failed, and is shown all the same."""
        try:
            # An empty line between them: else one would seem to be a part of another.
            return "\n\n".join(map(self.engine.explain, texts))
        except EngineError:
            if not block.limit_ns:
                raise
            return ""

    def dialect_of(self, sql: SqlText) -> str:
        """The dialect in which the engine gets a user's text: one without answers takes any."""
        own = self.engine.dialect
        return own if self.engine.capabilities.answers else sql.written_in or own

    def statements(self, block: Block) -> Sequence[Statement]:
        """Each variation as the engine gets it."""
        return [self.translate(block, each.text) for each in block.variations]

    def whole(
        self, block: Block, variation: Variation, phases: dict[str, int] | None = None
    ) -> int:
        """The time of one sample, as the rung of a ladder; the part that the engine spent in each
        of its phases goes into `phases`. Raises `EngineError` where the answer is wrong."""
        self._clear(block, variation)
        sample, answer = self._sample(block, variation, -1, phases=phases)
        if answer is not None and not answer.right:
            raise EngineError(
                f"{self.engine.name} gives {plural(answer.rows, 'tuple')}, not the right ones"
            )
        return sample.elapsed_ns

    def _sample(
        self,
        block: Block,
        variation: Variation,
        ordinal: int,
        *,
        check: bool = True,
        phases: dict[str, int] | None = None,
    ) -> tuple[Sample, AnswerCheck | None]:
        number, expected = variation.number, (variation.rows, variation.checksum)
        statement = self.translate(block, variation.text)
        self._absent.discard(statement.result or "")
        execute = self._execution(block.destination, statement)
        for text, gives_rows in statement.steps or (
            (statement.text, block.destination in ("client", "file")),
        ):
            if isinstance(self.engine, Guarded):
                self.engine.admit(text, changes=not gives_rows)
        observer = self._watched(ordinal)
        # Around the counters, too: its thread's own work is none of the statement's.
        with self._limited(block):
            before, begun_ns = self._counts()
            meter = Meter(self.engine.processes())
            self._mark("start")
            if observer:
                observer.begin()
            start = clock_ns()
            outcome = execute(statement.text)
            elapsed_ns = clock_ns() - start
            if observer:
                observer.end(start, start + elapsed_ns)
            self._mark("end")
            used, (after, ended_ns) = meter.read(), self._counts()
            if phases is not None:
                phases.update({name: ns - begun_ns[name] for name, ns in ended_ns.items()})
        work = after.since(before) if after and before else None
        sample = Sample(
            ordinal=ordinal,
            round=block.round,
            variation=number,
            started_ns=start,
            elapsed_ns=max(elapsed_ns, 1),
            **asdict(used),
            **(asdict(work) if work else {}),
        )
        answer = None
        if check and self.engine.capabilities.answers:
            found = self._answer(block, variation, statement, outcome)
            if found != expected and variation.determined is not None:
                expected, found = variation.determined, determined_of(block.sql, outcome)
            answer = AnswerCheck(ordinal, number, *expected, *found)
        self._take_back(block, variation)
        if isinstance(self.engine, RemovesDead) and statement.target and isinstance(outcome, int):
            times = 2 if variation.undo else 1  # the undo changed as many again
            self.engine.remove_dead(statement.target, times * max(outcome, 0))
        self._clear(block, variation)
        return sample, answer

    def _counts(self) -> tuple[Work | None, Mapping[str, int]]:
        """The engine's own counts so far, and its time by phases."""
        if not isinstance(self.engine, CountsWork):
            return None, {}
        return self.engine.work(), self.engine.phases()

    def _take_back(self, block: Block, variation: Variation) -> None:
        if variation.undo == PUT_BACK and block.sql is not None:
            self.put_back(block.sql)
        elif variation.undo:
            self.engine.run(self.translate(block, variation.undo).text)

    def put_back(self, sql: SqlText) -> None:
        """Give the tables that a user's statement changed the rows that they had."""
        for copy in self._copies(sql):
            copy.put_back()

    def _copies(self, sql: SqlText) -> "Sequence[TableCopy]":
        # Imports a translator, which only users' statements need.
        from loadstone.worker.table_copy import TableCopy

        return [TableCopy(self.engine, changed) for changed in sql.changed]

    def _changes(self, sql: SqlText) -> list[tuple[Any, ...]]:
        """The rows that differ in the tables; of a script, each row behind its table's name."""
        if not sql.script:
            (copy,) = self._copies(sql)
            return copy.changes()
        return [
            (changed.name, *row)
            for changed, copy in zip(sql.changed, self._copies(sql), strict=True)
            for row in copy.changes()
        ]

    def _execution(self, destination: str, statement: Statement) -> Callable[[str], Any]:
        """The timed call: the statement, and where its rows go."""
        if destination == "script":
            from loadstone.worker.script import play

            return lambda _: play(self.engine, statement)
        if destination == "client":
            return self.engine.fetch
        return self._to_file if destination == "file" else self.engine.run

    def _to_file(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """Fetch the rows of a query, and write each as a line of a file: into memory of the
        operating system, as the papers' programs did."""
        rows = self.engine.fetch(statement)
        with self.engine.rows_file.open("w", encoding="utf-8") as file:
            file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        return rows

    @contextmanager
    def _limited(self, block: Block) -> Iterator[None]:
        """A statement within it is ended where it takes longer than the block allows."""
        if not block.limit_ns:
            yield
            return
        try:
            with StatementLimit(self.engine, block.limit_ns):
                yield
        except StatementEndedError:
            self._mark("end")
            raise

    def _clear(self, block: Block, variation: Variation) -> None:
        """Drop a result, also one that a killed worker left; but not what was dropped already,
        which on most engines is a transaction of its own."""
        result = self.translate(block, variation.text).result
        if result is not None and result not in self._absent:
            self.engine.drop(result)
            self._absent.add(result)

    def _answer(
        self, block: Block, variation: Variation, statement: Statement, outcome: Any
    ) -> tuple[int, str]:
        if block.destination in ("client", "file"):
            return checksum_of(block.sql, outcome)
        if block.destination == "relation":
            return contents_of(self.engine, statement.result or "")
        if block.destination == "script" and block.sql is not None:
            return checksum_of(block.sql, [*outcome, *self._changes(block.sql)])
        # An engine that does not say how many tuples it changed still shows them all.
        changed = variation.rows if outcome < 0 else outcome
        if block.sql is not None:
            return changed, checksum_of(block.sql, self._changes(block.sql))[1]
        if variation.named is None or variation is block.variations[-1]:
            return changed, contents_of(self.engine, statement.target or "")[1]
        return changed, self._by_name(block, variation, variation.named)

    def _by_name(self, block: Block, variation: Variation, named: Named) -> str:
        """The checksum of an updated relation, of which only the tuples that the update concerns
        are read, and all are counted. What it did to others shows in the last sample of the block,
        whose relation is read whole: the undo takes back the change that is requested, and no
        other."""
        queries = (self.translate(block, query).text for query in named.queries)
        answers = [_answer_of(self.engine.read(query)) for query in queries]
        found = sum(int(checksum, 16) for _, checksum in answers)
        whole = int(variation.checksum, 16) + found - int(named.checksum, 16)
        return f"{whole % 2**64:016x}"

    def answered(
        self, block: Block, variation: Variation
    ) -> tuple[tuple[int, str], tuple[str, ...], tuple[int, str] | None]:
        """The answer to a user's statement, unmeasured: (rows, checksum) of a query's; of a change
        the number of rows that it changed, and the checksum of those. Besides, the first rows; and
        the same as the first of what a query that leaves its answer open determines of it."""
        from loadstone.workload.comparison import first_rows

        changed, rows = self._asked(block, variation)
        count, checksum = checksum_of(block.sql, rows)
        part = determined_of(block.sql, rows) if block.sql and block.sql.opening else None
        return ((count if changed is None else changed), checksum), first_rows(rows), part

    def rows(self, block: Block, variation: Variation) -> Sequence[tuple[Any, ...]]:
        """The rows of a query, or those that a statement changed, unmeasured."""
        return self._asked(block, variation)[1]

    def _asked(
        self, block: Block, variation: Variation
    ) -> tuple[int | None, Sequence[tuple[Any, ...]]]:
        """(None, rows) of a query; (number of rows changed, the differences) of another statement,
        which is then taken back. Within the time limit of statements."""
        statement = self.translate(block, variation.text)
        self._mark("start")
        if block.sql is not None and block.sql.script:
            found = self._execution(block.destination, statement)(statement.text)
            self._mark("end")
            found += self._changes(block.sql)
            self._take_back(block, variation)
            return None, found
        if block.sql is None or not block.sql.changed:
            rows = self.engine.fetch(statement.text)
            self._mark("end")
            return None, rows
        changed = self.engine.run(statement.text)
        self._mark("end")
        rows = self._changes(block.sql)
        self._take_back(block, variation)
        if changed < 0:
            raise EngineError(f"{self.engine.name} does not report how many rows it changed")
        return changed, rows

    def translate(self, block: Block, text: str) -> Statement:
        """A text of a block as the engine gets it."""
        key = f"{block.rows}/{block.design}/{_reading(block.sql)}/{text}"
        if key not in self.translated and block.sql is not None:
            from loadstone.quel.dialect import is_quel
            from loadstone.workload import quel, script, sql_for_engine

            if is_quel(block.sql.written_in):
                self.translated[key] = quel.for_engine(
                    text, block.sql.tables, self.engine.stored_name
                )
                return self.translated[key]
            stored = {name: self.engine.stored_name(name) for name in block.sql.tables}
            translated = script.for_engine if block.sql.script else sql_for_engine.for_engine
            self.translated[key] = translated(
                text, block.sql.written_in, self.dialect_of(block.sql), stored, block.sql.columns,
                self.engine.schema,
            )  # fmt: skip
        if key not in self.translated:
            from loadstone.quel.translate import translate

            self.translated[key] = translate(
                text,
                self.engine.dialect,
                lambda relation: self.engine.stored_name(table_name(block, relation)),
                lambda relation: _attributes(block, relation),
                self.engine.schema,
            )
        return self.translated[key]


def _reading(sql: SqlText | None) -> str:
    """Names the way in which a text is read: a mix has the texts of its statements, each as a
    script, and one text may stand in several dialects."""
    return "" if sql is None else f"{sql.written_in}{' script' if sql.script else ''}"


def checksum_of(sql: SqlText | None, rows: Sequence[tuple[Any, ...]]) -> tuple[int, str]:
    """(rows, checksum) of rows that came to the client."""
    if sql is None:
        return answer_of_rows(rows)
    from loadstone.workload import answers

    return answers.checksum_of(rows, sql.digits, sql.order, dates=sql.dates)


def determined_of(sql: SqlText | None, rows: Sequence[tuple[Any, ...]]) -> tuple[int, str]:
    """(rows, checksum) of what a user's query determines of its answer."""
    if sql is None or sql.opening is None:
        return checksum_of(sql, rows)
    from loadstone.workload import comparison

    part = comparison.determined(rows, sql.opening, sql.digits)
    return checksum_of(sql, [tuple(row) for row in part])


def contents_of(engine: Engine, table: str) -> tuple[int, str]:
    """(rows, checksum) of a whole table."""
    found = engine.checksum(table) if isinstance(engine, Distributed) else None
    return found or _answer_of(engine.contents(table))


def _answer_of(rows: Any) -> tuple[int, str]:
    return answer_of_stream(rows) if hasattr(rows, "__arrow_c_stream__") else answer_of_rows(rows)


def table_name(block: Block, relation: str) -> str:
    """The physical name of a stored relation; a result relation keeps its own."""
    try:
        _attributes(block, relation)
    except KeyError:
        return relation
    return table_of(relation, block.design, block.rows)


def _attributes(block: Block, relation: str) -> Sequence[Attribute]:
    try:
        pairs = attributes(block.benchmark, block.edition, relation)
    except ValueError:
        raise KeyError(relation) from None
    return [Attribute(*pair) for pair in pairs]
