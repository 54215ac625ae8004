"""The blocks of samples that workers are asked for: an operation's texts in the dialect of a
variant's engine, each with its expected answer."""

from loadstone.benchmarks.base import Operation
from loadstone.plan.plan import Cell
from loadstone.plan.workload import PUT_BACK, Workload, WorkloadStatement
from loadstone.protocol.parts import Block, ChangedTable, Loop, Named, SqlText, Variation
from loadstone.quel.dialect import has_dates
from loadstone.run.context import Context
from loadstone.workload.agreement import AgreedAnswers
from loadstone.workload.opening import Opening


class Blocks:
    """Makes the blocks of a stage's cells."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._plan = context.plan
        self._answers = context.answers
        self._columns: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {}
        """By operation and dialect, the columns that its texts name."""

    def of(
        self,
        cell: Cell,
        ordinals: range,
        number: int,
        *,
        warm: bool = False,
        limit_ns: int = 0,
        checked: int | None = None,
        whole: bool = False,
    ) -> Block:
        """The block with these ordinals; `warm`: nothing has to be warmed up before it; `whole`:
        of all variations, not only those that cells have."""
        operation = self._context.operations[cell.operation]
        variations_of = len(operation.texts) if whole else operation.sampled
        variations = []
        for ordinal in ordinals:
            variation = 0 if cell.temperature == "hot" else ordinal % variations_of
            variations.append(self._variation(operation, variation, cell.variant))
        cold = cell.temperature == "cold"
        warming = operation.warming if cell.temperature == "warm" else ()
        return Block(
            benchmark=self._plan.benchmark,
            edition=self._plan.edition,
            rows=self._context.rows,
            design=operation.design,
            destination=operation.destination,
            temperature=cell.temperature,
            variations=tuple(variations),
            warm_up=0 if cold or warm else self._plan.warm_up,
            first_ordinal=ordinals.start,
            round=number,
            warming=tuple(Variation(-1, text, "", 0, "") for text in warming),
            storage=operation.storage,
            limit_ns=limit_ns,
            checked=checked,
            sql=self._sql(operation, cell.variant),
        )

    def drawing(self, cell: Cell, loop: Loop) -> Loop:
        """A loop with what its users draw for each request, beside the block's variations."""
        statement = self._context.operations[cell.operation].statement
        if statement is None:
            return loop
        drawn = statement.drawn_for(self._context.workers[cell.variant].dialect)
        return loop.with_drawn(drawn, statement.drawn_start)

    def _sql(self, operation: Operation, variant: str) -> SqlText | None:
        if operation.statement is None or self._plan.workload is None:
            return None
        dialect = self._context.workers[variant].dialect
        workload, reported = self._plan.workload, operation.statement
        written_in, texts = reported.texts_for(dialect)
        key = operation.name, dialect
        if key not in self._columns:
            texts = (*texts, *(one.text for one in reported.drawn_for(dialect)))
            self._columns[key] = workload.columns_named((*texts, *reported.same, *reported.grows))
        names = (reported.changes,) if reported.changes else reported.script_changes
        return SqlText(
            written_in,
            tuple(each.name for each in workload.tables),
            self._columns[key],
            reported.digits,
            reported.order,
            tuple(_changed(workload, reported, name) for name in names),
            script=reported.script,
            opening=self._opening(operation),
            dates=has_dates(dialect),
            same=reported.same,
            grows=reported.grows,
        )

    def _opening(self, operation: Operation) -> Opening | None:
        if not isinstance(self._answers, AgreedAnswers):
            return None
        return self._answers.opening(operation.name)

    def _variation(self, operation: Operation, number: int, variant: str) -> Variation:
        if operation.statement is not None and isinstance(self._answers, AgreedAnswers):
            _, texts = operation.statement.texts_for(self._context.workers[variant].dialect)
            rows, checksum = self._answers.of_variant(operation.name, number, variant)
            undo = PUT_BACK if operation.undo else ""
            determined = self._answers.determined(operation.name, number, variant)
            return Variation(number, texts[number], undo, rows, checksum, determined=determined)
        rows, checksum = self._answers.of(operation, number)
        if not operation.undo:
            return Variation(number, operation.texts[number], "", rows, checksum)
        found = self._answers.named(operation, number)
        named = None if found is None else Named(found.queries, found.checksum)
        undo = operation.undo[number]
        return Variation(number, operation.texts[number], undo, rows, checksum, named=named)


def _changed(workload: Workload, reported: WorkloadStatement, name: str) -> ChangedTable:
    table = workload.table(name)
    volatile = tuple(
        column
        for each in reported.volatile
        for of, _, column in [each.partition(".")]
        if of == name
    )
    columns = tuple(column.name for column in table.columns)
    return ChangedTable(name, table.primary_key, columns, volatile)
