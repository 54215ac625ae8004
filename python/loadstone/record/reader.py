"""Reading a record back as plain values, whatever happened to the run that wrote it."""

import dataclasses
import json
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

from loadstone.errors import RecordError
from loadstone.owner import checked_owner
from loadstone.plan import Cell, Plan
from loadstone.record.model import (
    AnswerCheck,
    CellResult,
    ColdEvidence,
    Condition,
    Disturbance,
    Event,
    Load,
    OperationText,
    Run,
    Sample,
    Session,
    StatementText,
    Term,
    UsersPoint,
)
from loadstone.record.schema import APPLICATION_ID, SCHEMA_VERSION


def connect(path: Path, *, writable: bool = False) -> sqlite3.Connection:
    """Open an existing record. Raises `RecordError` saying what is wrong with it."""
    if not path.is_file():
        raise RecordError(f"there is no record {path}", hint="`loadstone run` writes one")
    try:
        # For reading, too: only so can a transaction that a kill cut short be rolled back. SQLite
        # itself falls back to reading where the file may not be written.
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None
        )
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        connection.execute(f"PRAGMA query_only={int(not writable)}")
    except sqlite3.Error as error:
        raise RecordError(
            f"{path} is not a readable record: {error}", hint="it may be truncated or not ours"
        ) from error
    return connection


def check_schema(connection: sqlite3.Connection, path: Path, *, writable: bool = False) -> None:
    """Refuse files that are not records, records of a newer schema, and, for writing, of an
    older one."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not path.stat().st_size:
        raise RecordError(
            f"{path} is empty: its run ended before it began", hint="start the run again"
        )
    if application != APPLICATION_ID:
        raise RecordError(f"{path} is a SQLite file, but not a Loadstone record")
    if version > SCHEMA_VERSION:
        raise RecordError(
            f"{path} has schema {version}; this Loadstone reads up to {SCHEMA_VERSION}",
            hint="read it with the newer Loadstone that wrote it",
        )
    if writable and version < SCHEMA_VERSION:
        raise RecordError(
            f"{path} has schema {version}; this Loadstone continues records of {SCHEMA_VERSION}",
            hint="continue it with the Loadstone that wrote it; this one can report it",
        )


def read(path: Path) -> Run:
    """Read a whole record. Raises `RecordError` where the file is damaged."""
    connection = connect(path)
    try:
        check_schema(connection, path)
        connection.execute("BEGIN")  # one snapshot, also beside a run that is still writing
        return _run(connection, path)
    except sqlite3.Error as error:
        raise RecordError(f"{path} is damaged: {error}") from error
    finally:
        connection.close()


def _run(connection: sqlite3.Connection, path: Path) -> Run:
    head = connection.execute("SELECT * FROM run").fetchone()
    if head is None:
        raise RecordError(f"{path} holds no run", hint="its run was killed before it began")
    run_id, created_at, version, _, plan_text, published = head
    plan = Plan.from_json(plan_text)
    return Run(
        run_id=_owner(run_id, path),
        created_at=created_at,
        loadstone_version=version,
        plan=plan,
        published=json.loads(published),
        sessions=_sessions(connection),
        operations=_unique(
            OperationText(*row)
            for row in connection.execute("SELECT * FROM operation ORDER BY rows, ordinal")
        ),
        results=_results(connection, plan),
        loads=tuple(
            Load(*(*known, bool(right)))
            for _, *known, right in connection.execute("SELECT * FROM load")
        ),
        terms=tuple(Term(*row[1:]) for row in connection.execute("SELECT * FROM term")),
        structure_notes=_unique(connection.execute("SELECT * FROM structure_note")),
        sizes=_sizes(connection),
        events=tuple(Event(*row[1:]) for row in connection.execute("SELECT * FROM event")),
        users=tuple(_users_point(row[1:]) for row in _rows(connection, "users")),
    )


def _owner(run_id: Any, path: Path) -> str:
    try:
        return checked_owner(run_id)
    except RecordError as error:
        raise RecordError(f"{path}: {error.message}", hint=error.hint) from error


def _rows(connection: sqlite3.Connection, table: str) -> list[Any]:
    """A table's rows in the order of writing; none where the record is older than the table."""
    known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    # The table's name is one of ours, never input.
    return connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall() if known else []  # noqa: S608


def _users_point(row: Any) -> UsersPoint:
    fields = [field.name for field in dataclasses.fields(UsersPoint)]
    texts = ("latency_ns", "lag_ns", "service_ns")
    values = zip(fields, row, strict=True)
    return UsersPoint(**{name: json.loads(v) if name in texts else v for name, v in values})


def _unique(rows: Any) -> tuple[Any, ...]:
    """Each session of a resumed run writes these again: the first of equals stands for all."""
    return tuple(dict.fromkeys(rows))


def _sizes(connection: sqlite3.Connection) -> tuple[tuple[str, int, int], ...]:
    """The latest session's word on each variant and scale."""
    latest = {
        (variant, rows): size_bytes
        for _, variant, rows, size_bytes in connection.execute("SELECT * FROM size ORDER BY rowid")
    }
    return tuple((*key, size_bytes) for key, size_bytes in latest.items())


def _sessions(connection: sqlite3.Connection) -> tuple[Session, ...]:
    machine: dict[int, dict[str, Any]] = defaultdict(dict)
    for session_id, key, value in connection.execute("SELECT * FROM machine"):
        machine[session_id][key] = value
    calibration: dict[int, dict[str, Any]] = defaultdict(dict)
    for session_id, key, value in _rows(connection, "calibration"):
        calibration[session_id][key] = value
    query = "SELECT * FROM session LEFT JOIN session_end USING (session_id) ORDER BY session_id"
    return tuple(
        Session(*(*row, machine[row[0]], calibration[row[0]])) for row in connection.execute(query)
    )


def _results(connection: sqlite3.Connection, plan: Plan) -> tuple[CellResult, ...]:
    parts: dict[str, dict[int, list[Any]]] = {}
    for table, kind in (
        ("sample", Sample),
        ("answer", AnswerCheck),
        ("evidence", ColdEvidence),
        ("statement", StatementText),
        ("condition", Condition),
        ("disturbance", Disturbance),
    ):
        grouped: dict[int, list[Any]] = defaultdict(list)
        for cell_id, *values in _rows(connection, table):
            grouped[cell_id].append(_evidence(values) if table == "evidence" else kind(*values))
        parts[table] = grouped
    planned = {cell.key: cell for cell in plan.cells}
    results: dict[str, CellResult] = {}
    for cell_id, _, *identity, status, reason, ended_at in connection.execute(
        "SELECT * FROM cell ORDER BY cell_id"
    ):
        cell = Cell(*(*identity, 0))
        cell = planned.get(cell.key, cell)
        results[cell.key] = CellResult(
            cell=cell,
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
    return dataclasses.replace(
        evidence, proved=bool(evidence.proved), engine_dead=bool(evidence.engine_dead)
    )
