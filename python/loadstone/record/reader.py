"""Reading a record back as plain values, however the run that wrote it ended."""

import dataclasses
import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from loadstone.errors import InputError, RecordError
from loadstone.plan.plan import SAMPLES_MAX, Cell, Plan
from loadstone.record import earlier_names
from loadstone.record.column import shown
from loadstone.record.door import opened
from loadstone.record.facts import calibration_figure, machine_fact
from loadstone.record.model import (
    PERCENTILES,
    AnswerCheck,
    CellResult,
    ColdEvidence,
    Condition,
    Disturbance,
    Event,
    InputText,
    Load,
    OperationText,
    Run,
    Sample,
    Session,
    StatementText,
    Term,
    UsersPoint,
)
from loadstone.record.published import Published
from loadstone.record.schema import table
from loadstone.text.shape import OneOf, Within, shaped, strict_json

ROWS_MAX = 2 * SAMPLES_MAX
"""Of a table: a cell that was disturbed may have been measured twice."""
NOT_AT_CLOCK = "its pages were not counted when the clock started, but before the engine opened"


def read(path: Path) -> Run:
    """Read a whole record, also while its run goes on.

    Raises `RecordError` with the reason: any record is read, checked, and left unchanged.
    """
    connection, version = opened(path)
    try:
        return _run(_Source(connection, version))
    except (RecordError, InputError) as error:
        raise RecordError(f"{path} is damaged: {error.message}", hint=error.hint) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise RecordError(f"{path} is damaged: {error}") from error
    finally:
        connection.close()


Percentile = Annotated[str, OneOf((*(f"{p:g}" for p in PERCENTILES), "max"))]
Nanoseconds = Annotated[int, Within(0, 10**18)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Source:
    """A record's tables as its schema has them, each row checked against what is declared."""

    connection: sqlite3.Connection
    version: int

    def rows(self, name: str) -> Iterator[tuple[Any, ...]]:
        """A table's rows in the order of writing, without the columns that are younger than the
        record; none where the table is. Raises `RecordError`."""
        declared = table(name)
        if declared.since > self.version:
            return
        present = declared.of_version(self.version)
        columns = ", ".join(column.name_in(self.version) for column in present)
        # Names of ours, never input.
        query = f"SELECT {columns} FROM {name} ORDER BY rowid"  # noqa: S608
        for number, row in enumerate(self.connection.execute(query)):
            if number == ROWS_MAX:
                raise RecordError(
                    f"its table {name} has more than {ROWS_MAX:,} rows, the most of a record",
                    hint="no run writes so many: it was made by another program",
                )
            yield earlier_names.row_now(declared, declared.checked(row), self.version)


def _run(source: _Source) -> Run:
    head = next(source.rows("run"), None)
    if head is None:
        raise RecordError("it holds no run", hint="its run was killed before it began")
    run_id, created_at, version, plan_hash, plan_text, published = head
    if hashlib.sha256(plan_text.encode()).hexdigest()[: len(plan_hash)] != plan_hash:
        raise RecordError("its plan does not match run.plan_hash")
    plan = Plan.from_json(earlier_names.plan_now(plan_text, source.version))
    numbers = earlier_names.published_now(strict_json(published), source.version)
    return Run(
        run_id=run_id,
        created_at=created_at,
        loadstone_version=version,
        plan=plan,
        published=shaped(numbers, Published, "run.published"),
        sessions=_sessions(source),
        operations=_unique(
            sorted((OperationText(*row) for row in source.rows("operation")), key=_place)
        ),
        results=_results(source, plan),
        loads=tuple(Load(*(*known, bool(right))) for _, *known, right in source.rows("load")),
        terms=tuple(Term(*row[1:]) for row in source.rows("term")),
        structure_notes=_unique(source.rows("structure_note")),
        sizes=_sizes(source),
        events=tuple(Event(*row[1:]) for row in source.rows("event")),
        users=tuple(_users_point(row[1:]) for row in source.rows("users")),
        inputs=_unique(InputText(*row) for row in source.rows("input")),
    )


def _place(text: OperationText) -> tuple[int, int]:
    return text.rows, text.ordinal


def _users_point(row: Any) -> UsersPoint:
    fields = [field.name for field in dataclasses.fields(UsersPoint)]
    texts = ("latency_ns", "lag_ns", "service_ns")
    values = zip(fields, row, strict=False)
    found: dict[str, Any] = {
        name: _percentiles(v, name) if name in texts else v for name, v in values
    }
    return UsersPoint(**found)


def _percentiles(text: str, name: str) -> dict[str, int]:
    found: dict[str, int] = shaped(
        strict_json(text), dict[Percentile, Nanoseconds], f"users.{name}"
    )
    return found


def _unique(rows: Iterable[Any]) -> tuple[Any, ...]:
    """Each session of a resumed run writes these again: the first of equal rows is kept."""
    return tuple(dict.fromkeys(rows))


def _sizes(source: _Source) -> tuple[tuple[str, int, int], ...]:
    """The latest session's value for each variant and scale."""
    latest = {(variant, rows): size_bytes for _, variant, rows, size_bytes in source.rows("size")}
    return tuple((*key, size_bytes) for key, size_bytes in latest.items())


def _sessions(source: _Source) -> tuple[Session, ...]:
    machine: dict[int, dict[str, Any]] = defaultdict(dict)
    for session_id, key, value in source.rows("machine"):
        machine[session_id][key] = machine_fact(key, value)
    calibration: dict[int, dict[str, Any]] = defaultdict(dict)
    for session_id, key, value in source.rows("calibration"):
        calibration[session_id][key] = calibration_figure(key, value)
    ends = {session_id: end for session_id, *end in source.rows("session_end")}
    found = []
    for session_id, *begin in source.rows("session"):
        end = ends.get(session_id, [None, None, None])
        values: list[Any] = [*begin, *end, machine[session_id], calibration[session_id]]
        found.append(Session(session_id, *values))
    return tuple(found)


def _results(source: _Source, plan: Plan) -> tuple[CellResult, ...]:
    parts: dict[str, dict[int, list[Any]]] = {}
    for name, kind in (
        ("sample", Sample),
        ("answer", AnswerCheck),
        ("evidence", ColdEvidence),
        ("statement", StatementText),
        ("condition", Condition),
        ("disturbance", Disturbance),
    ):
        grouped: dict[int, list[Any]] = defaultdict(list)
        for cell_id, *values in source.rows(name):
            grouped[cell_id].append(_evidence(values) if name == "evidence" else kind(*values))
        parts[name] = grouped
    planned = {cell.key: cell for cell in plan.cells}
    results: dict[str, CellResult] = {}
    for cell_id, _, *identity, status, reason, ended_at in source.rows("cell"):
        cell = Cell(*(*identity, 0))
        if cell.key not in planned:
            raise RecordError(f"it holds the cell {shown(cell.key)}, which its plan lacks")
        if status == "disturbed" and not parts["disturbance"][cell_id]:
            raise RecordError(
                f"its cell {shown(cell.key)} is disturbed, but has no row in disturbance"
            )
        results[cell.key] = CellResult(
            cell=planned[cell.key],
            status=status,
            reason=reason,
            ended_at=ended_at,
            samples=tuple(parts["sample"][cell_id]),
            answers=tuple(parts["answer"][cell_id]),
            evidence=tuple(parts["evidence"][cell_id]),
            statements=tuple(parts["statement"][cell_id]),
            condition=next(iter(parts["condition"][cell_id]), None),
            disturbance=next(iter(parts["disturbance"][cell_id]), None),
        )
    return tuple(results.values())


def _evidence(values: list[Any]) -> ColdEvidence:
    evidence = ColdEvidence(*values)
    proved, reason = bool(evidence.proved), evidence.reason
    if proved and evidence.resident_at_clock is None:
        # Before schema 5 nobody looked once the engine had opened.
        proved, reason = False, NOT_AT_CLOCK
    elif proved and evidence.resident_at_clock:
        proved, reason = False, f"{evidence.resident_at_clock} pages when the clock started"
    return dataclasses.replace(
        evidence, proved=proved, reason=reason, engine_dead=bool(evidence.engine_dead)
    )
