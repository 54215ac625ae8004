"""Reading a record back as plain values, however the run that wrote it ended."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from loadstone.errors import InputError, RecordError
from loadstone.plan.plan import SAMPLES_MAX, Cell, Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.published import Published
from loadstone.plan.study import Decision
from loadstone.record.budget import Budget
from loadstone.record.door import opened
from loadstone.record.facts import machine_fact
from loadstone.record.model import CellResult, ColdEvidence, Run, Session
from loadstone.record.schema import PARTS_OF_BUDGET, PARTS_OF_CELL, table_of
from loadstone.text.shape import shaped, shown, strict_json

ROWS_MAX = 2 * SAMPLES_MAX
"""Of a table: a cell that was disturbed may have been measured twice."""
CHAPTERS_MAX = 100
"""Benchmarks of a record."""
OWNERS = ("cell_id", "session_id", "chapter")
"""The keys of rows, the closest first."""
NOT_AT_CLOCK = "its pages were not counted when the clock started"


def read(path: Path) -> Run:
    """Read a whole record of one benchmark; otherwise as `read_chapters`."""
    runs = read_chapters(path)
    if len(runs) > 1:
        raise RecordError(f"{path} holds {len(runs)} benchmarks", hint="read each of its chapters")
    return runs[0]


def read_chapters(path: Path) -> tuple[Run, ...]:
    """Read a whole record, benchmark by benchmark, also while its run goes on.

    Raises `RecordError` with the reason: any record is read, checked, and left unchanged.
    """
    connection = opened(path)
    try:
        runs = tuple(_run(source) for source in _chapters(connection))
    except (RecordError, InputError) as error:
        raise RecordError(f"{path} is damaged: {error.message}", hint=error.hint) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise RecordError(f"{path} is damaged: {error}") from error
    finally:
        connection.close()
    if len(runs) > 1 and any(run.plan.study is not None for run in runs):
        raise RecordError(f"{path} is damaged: one of its benchmarks is a study")
    return runs


@dataclass(frozen=True, slots=True)
class _Source:
    """A record's tables: the rows of one chapter, each checked against what is declared. The first
    chapter's source checks the rows of all."""

    connection: sqlite3.Connection
    chapter: int = 0
    of_session: Mapping[Any, Any] = field(default_factory=dict)
    of_cell: Mapping[Any, Any] = field(default_factory=dict)
    """The chapter of each session, and of each cell."""

    def rows(self, name: str, key: str = "") -> Iterator[tuple[int, Any]]:
        """A table's rows in the order of writing: what a row belongs to by this key, or by its
        closest one, and its value. Raises `RecordError`."""
        declared = table_of(name)
        names = [column.name for column in declared.columns]
        # Names of ours, never input.
        query = f"SELECT {', '.join(names)} FROM {name} ORDER BY rowid"  # noqa: S608
        for number, values in enumerate(self.connection.execute(query)):
            if number == ROWS_MAX:
                raise RecordError(
                    f"its table {name} has more than {ROWS_MAX:,} rows, the most of a record",
                    hint="no run writes so many: it was made by another program",
                )
            row = dict(zip(names, values, strict=True))
            keys = declared.checked_keys(row)
            place = self._chapter_of(name, keys)
            if self.chapter and place != self.chapter:
                continue
            value = declared.value(row)
            if place == self.chapter:
                yield keys[key or next(one for one in OWNERS if one in keys)], value

    def values(self, name: str) -> Iterator[Any]:
        """The same rows without what they belong to."""
        return (value for _, value in self.rows(name))

    def by_cell(self, name: str) -> Mapping[int, list[Any]]:
        """The same rows by the cell that they belong to."""
        grouped: dict[int, list[Any]] = defaultdict(list)
        for cell_id, value in self.rows(name):
            grouped[cell_id].append(value)
        return grouped

    def _chapter_of(self, name: str, keys: Mapping[str, int]) -> Any:
        """The chapter of a row. Raises `RecordError` where it belongs to nothing."""
        if "chapter" in keys:
            return keys["chapter"]
        by_cell = "cell_id" in keys and name != "cell"
        known, key = (self.of_cell, "cell_id") if by_cell else (self.of_session, "session_id")
        if keys[key] not in known:
            raise RecordError(f"its table {name} has a row of {key} {keys[key]}, which is absent")
        return known[keys[key]]


def _chapters(connection: sqlite3.Connection) -> Iterator[_Source]:
    """A source for each benchmark of a record. Raises `RecordError` where they are not numbered."""
    numbers = [keys["chapter"] for keys in _keys(connection, "run")]
    if len(numbers) > CHAPTERS_MAX or numbers != [*range(len(numbers))]:
        raise RecordError(f"its benchmarks are numbered {shown(numbers)}")
    if connection.execute("SELECT count(DISTINCT run_id) FROM run").fetchone()[0] > 1:
        raise RecordError("its benchmarks are of several runs")
    of_session = {keys["session_id"]: keys["chapter"] for keys in _keys(connection, "session")}
    if unknown := set(of_session.values()) - set(numbers):
        raise RecordError(f"a session is of chapter {min(unknown)}, which is absent")
    cells = _keys(connection, "cell")
    of_cell = {keys["cell_id"]: of_session.get(keys["session_id"]) for keys in cells}
    for number in numbers or [0]:
        yield _Source(connection, number, of_session, of_cell)


def _keys(connection: sqlite3.Connection, name: str) -> Iterator[dict[str, int]]:
    """The keys of a table's rows in the order of writing."""
    declared = table_of(name)
    names = [key.name for key in declared.keys]
    # Names of ours, never input.
    query = f"SELECT {', '.join(names)} FROM {name} ORDER BY rowid"  # noqa: S608
    for values in connection.execute(query):
        yield declared.checked_keys(dict(zip(names, values, strict=True)))


def _run(source: _Source) -> Run:
    head = next(source.values("run"), None)
    if head is None:
        raise RecordError("it holds no run", hint="its run was killed before it began")
    plan = Plan.from_json(head.plan)
    if head.plan_hash != plan.hash:
        raise RecordError("its plan does not match run.plan_hash")
    published = strict_json(head.published)
    decided = [*source.rows("decision")]
    operations = sorted(source.values("operation"), key=lambda text: (text.rows, text.ordinal))
    sizes = {(size.variant, size.rows): size.bytes for size in source.values("size")}
    notes = (astuple(note) for note in source.values("structure_note"))
    return Run(
        run_id=head.run_id,
        created_at=head.created_at,
        loadstone_version=head.loadstone_version,
        plan=plan,
        published=_as_given(asdict(shaped(published, Published, "run.published")), published),
        presentation=Presentation.from_json(head.presentation),
        sessions=_sessions(source),
        operations=_each_once(operations),
        results=_results(source, plan, [decision for _, decision in decided]),
        loads=tuple(source.values("load")),
        terms=tuple(source.values("term")),
        structure_notes=_each_once(notes),
        sizes=tuple((*key, size_bytes) for key, size_bytes in sizes.items()),
        events=tuple(source.values("event")),
        users=tuple(source.values("users")),
        inputs=_each_once(source.values("input")),
        decisions=_standing(source, plan, decided),
        agreements=_latest(source.values("agreement"), lambda one: (one.operation, one.rows)),
        given=_latest(
            source.values("given_answer"),
            lambda one: (one.operation, one.rows, one.variation, one.variant),
        ),
    )


def _as_given(checked: Any, given: Any) -> Any:
    """A checked value with the keys that the record has, and no defaults."""
    if isinstance(given, dict):
        return {key: _as_given(checked[key], value) for key, value in given.items()}
    if isinstance(given, list):
        return tuple(_as_given(*pair) for pair in zip(checked, given, strict=True))
    return checked


def _each_once(values: Iterable[Any]) -> tuple[Any, ...]:
    """Each session of a resumed run writes these again: the first of equal ones is kept."""
    return tuple(dict.fromkeys(values))


def _latest(values: Iterable[Any], key: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The latest session's value of each key."""
    return tuple({key(value): value for value in values}.values())


def _sessions(source: _Source) -> tuple[Session, ...]:
    machine: dict[int, dict[str, Any]] = defaultdict(dict)
    for session_id, fact in source.rows("machine"):
        machine[session_id][fact.key] = machine_fact(fact.key, fact.value)
    calibration: dict[int, dict[str, Any]] = defaultdict(dict)
    for session_id, figure in source.rows("calibration"):
        calibration[session_id][figure.key] = figure.value
    ends = {session_id: asdict(end) for session_id, end in source.rows("session_end")}
    return tuple(
        Session(
            session_id=session_id,
            started_at=begin.started_at,
            command=begin.command,
            machine=machine[session_id],
            calibration=calibration[session_id],
            **ends.get(session_id, {}),
        )
        for session_id, begin in source.rows("session")
    )


def _standing(
    source: _Source, plan: Plan, decided: Iterable[tuple[int, Decision]]
) -> tuple[Decision, ...]:
    """The decisions of the session that recorded the operation's base: one that was interrupted may
    have decided, too, and its blocks were taken again."""
    if plan.study is None:
        return ()
    recorded = {
        (cell.rows, cell.operation): session_id
        for session_id, cell in source.rows("cell", key="session_id")
        if cell.variant == plan.study.base
    }
    return tuple(one for by, one in decided if recorded.get((one.rows, one.operation)) == by)


def _planned(plan: Plan, decided: Iterable[Decision]) -> dict[str, Cell]:
    """The plan's cells by key, and those that decisions added; each as its base's."""
    cells = {cell.key: cell for cell in plan.cells}
    bases = {
        (cell.operation, cell.rows): cell
        for cell in plan.cells
        if plan.study is not None and cell.variant == plan.study.base
    }
    for one in decided:
        base = bases.get((one.operation, one.rows))
        if base is None:
            raise RecordError(f"it decides on {shown(one.operation)}, which its plan lacks")
        for each in one.combinations:
            added = replace(base, variant=each.variant, gap="")
            cells.setdefault(added.key, added)
    return cells


def _results(source: _Source, plan: Plan, decided: Iterable[Decision]) -> tuple[CellResult, ...]:
    parts = {field: source.by_cell(name) for name, field in PARTS_OF_CELL.items()}
    budgets = _budgets(source)
    planned = _planned(plan, decided)
    bounds = {cell_id: bound.longer_than_ns for cell_id, bound in source.rows("bound")}
    results: dict[str, CellResult] = {}
    for cell_id, row in source.rows("cell"):
        cell = Cell(row.operation, row.variant, row.rows, row.temperature, 0)
        own = {field: tuple(values[cell_id]) for field, values in parts.items()}
        if cell.key not in planned:
            raise RecordError(f"it holds the cell {shown(cell.key)}, which its plan lacks")
        if row.status == "disturbed" and not own["disturbance"]:
            raise RecordError(
                f"its cell {shown(cell.key)} is disturbed, but has no row in disturbance"
            )
        if (row.status == "censored") is not (cell_id in bounds):
            raise RecordError(f"its cell {shown(cell.key)} is {row.status}, which its bound belies")
        results[cell.key] = CellResult(
            cell=planned[cell.key],
            status=row.status,
            reason=row.reason,
            ended_at=row.ended_at,
            samples=own["samples"],
            answers=own["answers"],
            evidence=tuple(map(_evidence, own["evidence"])),
            statements=own["statements"],
            condition=next(iter(own["condition"]), None),
            disturbance=next(iter(own["disturbance"]), None),
            budget=budgets.get(cell_id),
            longer_than_ns=bounds.get(cell_id),
            label=row.label,
        )
    return tuple(results.values())


def _budgets(source: _Source) -> dict[int, Budget]:
    """By cell."""
    parts = {field: source.by_cell(name) for name, field in PARTS_OF_BUDGET.items()}
    return {
        cell_id: replace(
            budget, **{field: tuple(values[cell_id]) for field, values in parts.items()}
        )
        for cell_id, budget in source.rows("budget")
    }


def _evidence(evidence: ColdEvidence) -> ColdEvidence:
    """A proof without what its own figures contradict."""
    at_clock = evidence.resident_at_clock
    if not evidence.proved or at_clock == 0:
        return evidence
    reason = NOT_AT_CLOCK if at_clock is None else f"{at_clock} pages when the clock started"
    return replace(evidence, proved=False, reason=reason)
