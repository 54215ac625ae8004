"""A user's workload as a benchmark: what plans, workers and reports ask of it."""

from collections.abc import Sequence
from typing import Any, ClassVar

from loadstone.benchmarks.base import Benchmark, Operation, Published, StoredRelation
from loadstone.benchmarks.expected import Answers
from loadstone.errors import InputError
from loadstone.plan.presentation import Presentation
from loadstone.plan.workload import PUT_BACK, Workload, copy_of
from loadstone.text.numbers import plural
from loadstone.workload.agreement import AgreedAnswers

DESIGN = "own"
"""The one physical design of a workload: the one its user describes."""
PRESETS = frozenset({"quick", "study", "cold"})


class WorkloadBenchmark(Benchmark):
    """Its name is what the user called for, its edition its contents, its scale all its rows."""

    name: ClassVar[str] = "workload"
    title: ClassVar[str] = "A workload of one's own"
    editions: ClassVar[tuple[str, ...]] = ()
    default_edition: ClassVar[str] = ""
    default_scales: ClassVar[tuple[int, ...]] = (1,)

    workload: Workload

    def __init__(self, workload: Workload) -> None:
        self.workload = workload

    def check_scale(self, edition: str, rows: int) -> None:
        """It has the rows of its data, and no others."""
        del edition
        if rows != self.workload.rows:
            raise InputError(
                f"{self.name} has {plural(self.workload.rows, 'row')}, counted in its data",
                hint="leave out --rows, or give it other data",
            )

    def stored_relations(self, edition: str) -> Sequence[StoredRelation]:
        """Its tables; and a copy of each that a statement changes, which no statement sees."""
        del edition
        workload = self.workload
        tables = [*workload.tables, *(copy_of(workload.table(name)) for name in workload.changed)]
        return [
            StoredRelation(table.name, DESIGN, data=table, folder=workload.folder)
            for table in tables
        ]

    def stages(self, edition: str) -> Sequence[frozenset[str]]:
        """One, also of statements that need no table."""
        del edition
        return (frozenset({DESIGN}),)

    def operations(self, edition: str, rows: int) -> Sequence[Operation]:
        """Its statements."""
        del edition, rows
        return [
            Operation(
                name=one.name,
                title=one.title,
                group="Statements",
                query="",
                design=DESIGN,
                storage="heap",
                destination="script" if one.script else "update" if one.changes else "client",
                texts=one.texts,
                undo=(PUT_BACK,) * len(one.texts) if one.changes or one.script_changes else (),
                presets=PRESETS,
                concurrent_users=not one.changes,
                statement=one,
            )
            for one in self.workload.statements
        ]

    def presentation(self) -> Presentation:
        """Nothing but its title, and that its things are rows."""
        scale = "rows" if self.workload.tables else "query without a table"
        if self.workload.as_it_stands:
            scale = "database as it stands"
        return Presentation(self.workload.title, scale=scale, answer="rows", stored="rows")

    def published(self) -> Published:
        """No paper."""
        return Published("", ())

    def answers(self, edition: str, rows: int, relations: Sequence[str]) -> Answers:
        """The answers on which the engines will agree."""
        del edition, rows, relations
        return AgreedAnswers(self.workload)

    def check_unchanged(self) -> None:
        """Raise `InputError` where a file of data is another than the plan's. And a plan may come
        from a record of anybody's: where it is no workload that a user could have written."""
        from loadstone.workload import data, reading

        reading.check(self.workload, "the plan")
        for table in self.workload.tables:
            data.check_unchanged(table, self.workload.folder)


def benchmark_of(workload: Workload, name: str) -> Benchmark:
    """A workload as the benchmark that a plan knows by `name`."""
    own: dict[str, Any] = {
        "name": name,
        "title": workload.title,
        "editions": (workload.edition,),
        "default_edition": workload.edition,
        "default_scales": (workload.rows,),
    }
    kind: type[WorkloadBenchmark] = type("Workload", (WorkloadBenchmark,), own)
    return kind(workload)
