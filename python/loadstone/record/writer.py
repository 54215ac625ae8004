"""Writing a record: append-only, each cell in one transaction the moment it ends."""

import dataclasses
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadstone.errors import RecordError
from loadstone.plan.plan import Plan
from loadstone.record.door import check_beside, owned
from loadstone.record.model import (
    CellResult,
    Event,
    InputText,
    Load,
    OperationText,
    Term,
    UsersPoint,
)
from loadstone.record.schema import APPLICATION_ID, SCHEMA_VERSION, definitions, table


def now() -> str:
    """Wall-clock time of an event, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def refuse_existing(path: Path) -> None:
    """Raise `RecordError` if a new record would take the place of a file."""
    if path.is_symlink() and not path.exists():
        raise RecordError(
            f"cannot write the record {path}: it is a dangling link", hint="name another"
        )
    if path.exists() and path.stat().st_size:
        raise RecordError(
            f"{path} exists already",
            hint="continue it with --resume, or name another with --record",
        )
    if path.exists() and not path.is_file():
        raise RecordError(f"cannot write the record {path}: it is not a file", hint="name another")


class Recorder:
    """One session's access to a record. Rows are only ever added.

    Every method commits before it returns, with synchronous=FULL: a killed run's recorded rows are
    there when the record is opened again. Raises `RecordError`, and the file keeps its contents.
    """

    def __init__(self, path: Path, session_id: int, connection: sqlite3.Connection) -> None:
        self.path = path
        self.session_id = session_id
        self._connection = connection

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Plan,
        published: Mapping[str, Any],
        run_id: str,
        version: str,
        command: str = "",
    ) -> "Recorder":
        """Start a new record; an existing file is never overwritten. `command` is what the user
        typed, without secrets."""
        refuse_existing(path)
        check_beside(path)
        there = path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                # One transaction: what ends it leaves an empty file or a record that holds its run.
                connection.executescript(
                    f"BEGIN IMMEDIATE; PRAGMA application_id={APPLICATION_ID};"
                    f"PRAGMA user_version={SCHEMA_VERSION}; {definitions()}"
                )
                connection.execute(
                    "INSERT INTO run VALUES (?,?,?,?,?,?)",
                    table("run").written(
                        (run_id, now(), version, plan.hash, plan.to_json(), json.dumps(published))
                    ),
                )
                connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            if not there and path.exists() and not path.stat().st_size:
                path.unlink()  # ours, and it holds nothing: it cannot be resumed
            raise RecordError(
                f"cannot write the record {path}: {error}",
                hint="make room, or name another place with --record; then start the run again",
            ) from error
        return cls.resume(path, command)

    @classmethod
    def resume(cls, path: Path, command: str = "") -> "Recorder":
        """Open an existing record for another session."""
        return cls._session(path, owned(path), command)

    @classmethod
    def _session(cls, path: Path, connection: sqlite3.Connection, command: str) -> "Recorder":
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            _, *begin = table("session").written((1, now(), command))
            cursor = connection.execute(
                "INSERT INTO session (started_at, command) VALUES (?, ?)", begin
            )
        except sqlite3.Error as error:
            raise _cannot_write(path, error) from error
        return cls(path, int(cursor.lastrowid or 0), connection)

    def machine(self, description: Mapping[str, Any]) -> None:
        """The machine and the software, as found at the start of this session."""
        self._many("machine", [(self.session_id, k, v) for k, v in description.items()])

    def calibration(self, figures: Mapping[str, Any]) -> None:
        """The instrument's measurements of itself at the start of this session."""
        self._many("calibration", [(self.session_id, k, v) for k, v in figures.items()])

    def users(self, point: UsersPoint) -> None:
        """A loop of users has ended."""
        values = [
            json.dumps(dict(value)) if isinstance(value, Mapping) else value
            for value in (getattr(point, field.name) for field in dataclasses.fields(point))
        ]
        self._many("users", [(self.session_id, *values)])

    def terms(self, terms: Sequence[Term]) -> None:
        """A variant's settings, asked and read back."""
        rows = [(self.session_id, t.variant, t.key, t.asked, t.read_back) for t in terms]
        self._many("term", rows)

    def operations(self, operations: Sequence[OperationText]) -> None:
        """The operations of a scale, in the paper's order."""
        self._many("operation", [dataclasses.astuple(operation) for operation in operations])

    def inputs(self, inputs: Sequence[InputText]) -> None:
        """The inputs of variations of a scale's operations."""
        self._many("input", [dataclasses.astuple(item) for item in inputs])

    def structure_notes(self, notes: Sequence[tuple[str, str, str]]) -> None:
        """(variant, storage, note)."""
        self._many("structure_note", notes)

    def load(self, load: Load) -> None:
        """A relation has been loaded."""
        row = dataclasses.astuple(load)
        self._many("load", [(self.session_id, *row[:-1], int(load.answer_ok))])

    def size(self, variant: str, rows: int, size_bytes: int) -> None:
        """The size of a variant's tables of a scale."""
        self._many("size", [(self.session_id, variant, rows, size_bytes)])

    def event(self, event: Event) -> None:
        """Something happened outside a cell."""
        self._many("event", [(self.session_id, *dataclasses.astuple(event))])

    def cell(self, result: CellResult) -> None:
        """A cell has ended: all of it in one transaction."""
        cell = result.cell
        head = (self.session_id, cell.operation, cell.variant, cell.rows, cell.temperature,
                result.status, result.reason, result.ended_at)  # fmt: skip
        with self._transaction():
            _, *values = table("cell").written((1, *head))
            cursor = self._connection.execute(
                "INSERT INTO cell (session_id, operation, variant, rows, temperature, status,"
                " reason, ended_at) VALUES (?,?,?,?,?,?,?,?)",
                values,
            )
            cell_id = cursor.lastrowid
            for name, items in (
                ("sample", result.samples),
                ("answer", result.answers),
                ("evidence", result.evidence),
                ("statement", result.statements),
                ("condition", [result.condition] if result.condition else []),
                ("disturbance", [result.disturbance] if result.disturbance else []),
            ):
                self._insert(name, [(cell_id, *dataclasses.astuple(item)) for item in items])

    def end(self, outcome: str, elapsed_ns: int) -> None:
        """End this session: `complete`, `interrupted` or `failed`."""
        self._many("session_end", [(self.session_id, now(), outcome, elapsed_ns)])
        self._connection.close()

    def _many(self, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._transaction():
            self._insert(name, rows)

    def _insert(self, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            written = [table(name).written(row) for row in rows]
            marks = ",".join("?" * len(rows[0]))
            # The table's name is one of ours, never input.
            self._connection.executemany(f"INSERT INTO {name} VALUES ({marks})", written)  # noqa: S608

    def _transaction(self) -> "_Transaction":
        return _Transaction(self._connection, self.path)


class _Transaction:
    """BEGIN … COMMIT, or ROLLBACK and a `RecordError`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __enter__(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise _cannot_write(self._path, error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        try:
            self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
        except sqlite3.Error as failure:
            if kind is None:
                self._connection.rollback()  # a commit that failed leaves its transaction open
                raise _cannot_write(self._path, failure) from failure
        if isinstance(error, sqlite3.Error):
            raise _cannot_write(self._path, error) from error


def _cannot_write(path: Path, error: Exception) -> RecordError:
    return RecordError(
        f"cannot write the record {path}: {error}",
        hint="free some space or make it writable; what it held is intact, continue with --resume",
    )
