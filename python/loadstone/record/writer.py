"""Writing a record: append-only, each cell in one transaction the moment it ends."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadstone.errors import RecordError
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.study import Decision
from loadstone.record.budget import Budget
from loadstone.record.door import check_beside, owned
from loadstone.record.model import (
    Agreement,
    CellResult,
    Event,
    GivenAnswer,
    InputText,
    Load,
    OperationText,
    Term,
    by_name,
)
from loadstone.record.schema import APPLICATION_ID, SCHEMA_VERSION, definitions, table
from loadstone.record.users import UsersPoint

BUDGET_TABLES = {
    "budget_thread": "threads",
    "budget_part": "parts",
    "budget_block": "blocks",
    "budget_rung": "rungs",
    "budget_timer": "timers",
}
"""Table -> the field of a budget whose items are its rows."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """The entries of a benchmark in a record before anything is measured."""

    plan: Plan
    published: Mapping[str, Any]
    presentation: Presentation


def now() -> str:
    """Wall-clock time of an event, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


RUNS = Path("runs")
"""The folder, in the current one, of records for which nobody named a place: it is made."""


def refuse_missing_folder(path: Path) -> None:
    """Raise `RecordError` where a new record's folder is missing: a path that is mistaken makes
    none."""
    if path.parent != RUNS and not path.parent.is_dir():
        raise RecordError(
            f"cannot write the record {path}: there is no folder {path.parent}",
            hint="make it, or name a record in another",
        )


def refuse_existing(path: Path) -> None:
    """Raise `RecordError` if a new record would take the place of a file, or has no folder."""
    refuse_missing_folder(path)
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


def begin(path: Path, chapters: Sequence[Chapter], run_id: str, version: str) -> None:
    """Write a new record that holds its run and no session; an existing file is never
    overwritten."""
    heads = [
        {
            "run_id": run_id,
            "created_at": now(),
            "loadstone_version": version,
            "plan_hash": chapter.plan.hash,
            "plan": chapter.plan.to_json(),
            "published": json.dumps(chapter.published),
            "presentation": chapter.presentation.to_json(),
            "chapter": number,
        }
        for number, chapter in enumerate(chapters)
    ]
    refuse_existing(path)
    check_beside(path)
    there = path.exists()
    try:
        path.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # One transaction: what ends it leaves an empty file or a record that holds its run.
            connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id={APPLICATION_ID};"
                f"PRAGMA user_version={SCHEMA_VERSION}; {definitions()}"
            )
            for head in heads:
                _insert(connection, "run", head)
            connection.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        if not there and path.exists() and not path.stat().st_size:
            path.unlink()  # ours, and it holds nothing: it cannot be resumed
        raise RecordError(
            f"cannot write the record {path}: {error}",
            hint="make room, or name another place with --record; then start the run again",
        ) from error


class Recorder:
    """One session's access to a record. Rows are only ever added.

    Every method commits before it returns, with synchronous=FULL: a killed run's recorded rows are
    there when the record is opened again. Raises `RecordError`, and the file keeps its contents.
    """

    def __init__(
        self, path: Path, session_id: int, connection: sqlite3.Connection, chapter: int = 0
    ) -> None:
        self.path = path
        self.session_id = session_id
        self._connection = connection
        self._chapter = chapter

    @classmethod
    def create(
        cls,
        path: Path,
        plan: Plan,
        published: Mapping[str, Any],
        presentation: Presentation,
        run_id: str,
        version: str,
        command: str = "",
    ) -> "Recorder":
        """Start a new record of one benchmark, and its session. `command` is what the user typed,
        without secrets."""
        begin(path, [Chapter(plan, published, presentation)], run_id, version)
        return cls.resume(path, command)

    @classmethod
    def resume(cls, path: Path, command: str = "", chapter: int = 0) -> "Recorder":
        """Open an existing record for another session, of this one of its benchmarks."""
        return cls._session(path, owned(path), command, chapter)

    @classmethod
    def _session(
        cls, path: Path, connection: sqlite3.Connection, command: str, chapter: int
    ) -> "Recorder":
        begun = {"started_at": now(), "command": command, "chapter": chapter}
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            session_id = _insert(connection, "session", begun)
        except sqlite3.Error as error:
            raise _cannot_write(path, error) from error
        return cls(path, session_id, connection, chapter)

    def machine(self, description: Mapping[str, Any]) -> None:
        """The machine and the software, as found at the start of this session."""
        self._many("machine", [self._mine(key=k, value=v) for k, v in description.items()])

    def calibration(self, figures: Mapping[str, Any]) -> None:
        """The instrument's measurements of itself at the start of this session."""
        self._many("calibration", [self._mine(key=k, value=v) for k, v in figures.items()])

    def users(self, point: UsersPoint) -> None:
        """A loop of users has ended."""
        values = {
            name: json.dumps(value) if isinstance(value, Mapping | tuple) else value
            for name, value in by_name(point).items()
        }
        self._many("users", [self._mine(**values)])

    def terms(self, terms: Sequence[Term]) -> None:
        """A variant's settings, asked and read back."""
        self._many("term", [self._mine(**by_name(term)) for term in terms])

    def operations(self, operations: Sequence[OperationText]) -> None:
        """The operations of a scale, in the paper's order."""
        rows = [by_name(operation) | {"chapter": self._chapter} for operation in operations]
        self._many("operation", [{"query_group": row.pop("group"), **row} for row in rows])

    def inputs(self, inputs: Sequence[InputText]) -> None:
        """The inputs of variations of a scale's operations."""
        self._many("input", [by_name(item) | {"chapter": self._chapter} for item in inputs])

    def structure_notes(self, notes: Sequence[tuple[str, str, str]]) -> None:
        """(variant, storage, note)."""
        names = ("variant", "storage", "note", "chapter")
        rows = [dict(zip(names, (*note, self._chapter), strict=True)) for note in notes]
        self._many("structure_note", rows)

    def load(self, load: Load) -> None:
        """A relation has been loaded."""
        self._many("load", [self._mine(**by_name(load))])

    def size(self, variant: str, rows: int, size_bytes: int) -> None:
        """The size of a variant's tables of a scale."""
        self._many("size", [self._mine(variant=variant, rows=rows, bytes=size_bytes)])

    def event(self, event: Event) -> None:
        """Something happened outside a cell."""
        self._many("event", [self._mine(**by_name(event))])

    def decisions(self, decisions: Sequence[Decision]) -> None:
        """A decision on an operation of a study, before its cells."""
        self._many(
            "decision",
            [
                self._mine(
                    **by_name(one)
                    | {
                        "tactics": json.dumps(one.tactics),
                        "combinations": json.dumps(
                            [[each.variant, each.flipped] for each in one.combinations]
                        ),
                    }
                )
                for one in decisions
            ],
        )

    def agreements(self, agreements: Sequence[Agreement]) -> None:
        """The basis of the expected answers of a user's statements."""
        rows = [by_name(one) | {"answers": json.dumps(one.answers)} for one in agreements]
        self._many("agreement", [self._mine(**row) for row in rows])

    def given(self, answers: Sequence[GivenAnswer]) -> None:
        """The answers of each variant to a user's statements."""
        rows = [by_name(one) | {"first_rows": json.dumps(one.first_rows)} for one in answers]
        self._many("given_answer", [self._mine(**row) for row in rows])

    def cell(self, result: CellResult) -> None:
        """A cell has ended: all of it in one transaction."""
        cell = result.cell
        head = self._mine(
            operation=cell.operation,
            variant=cell.variant,
            rows=cell.rows,
            temperature=cell.temperature,
            status=result.status,
            reason=result.reason,
            ended_at=result.ended_at,
            label=result.label,
        )
        with self._transaction():
            cell_id = _insert(self._connection, "cell", head)
            for name, items in (
                ("sample", result.samples),
                ("answer", result.answers),
                ("evidence", result.evidence),
                ("statement", result.statements),
                ("condition", [result.condition] if result.condition else []),
                ("disturbance", [result.disturbance] if result.disturbance else []),
            ):
                for item in items:
                    row = {"cell_id": cell_id, **by_name(item)}
                    _insert(self._connection, name, row)
            if result.budget is not None:
                self._budget(cell_id, result.budget)
            if result.longer_than_ns is not None:
                bound = {"cell_id": cell_id, "longer_than_ns": result.longer_than_ns}
                _insert(self._connection, "bound", bound)

    def _budget(self, cell_id: int, budget: Budget) -> None:
        head = by_name(budget)
        parts = {name: head.pop(name) for name in BUDGET_TABLES.values()}
        _insert(self._connection, "budget", {"cell_id": cell_id, **head})
        for name, field in BUDGET_TABLES.items():
            for item in parts[field]:
                _insert(self._connection, name, {"cell_id": cell_id, **by_name(item)})

    def end(self, outcome: str, elapsed_ns: int) -> None:
        """End this session: `complete`, `interrupted` or `failed`."""
        row = self._mine(ended_at=now(), outcome=outcome, elapsed_ns=elapsed_ns)
        self._many("session_end", [row])
        self._connection.close()

    def _mine(self, **values: Any) -> dict[str, Any]:
        """A row of this session."""
        return {"session_id": self.session_id, **values}

    def _many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        with self._transaction():
            for row in rows:
                _insert(self._connection, name, row)

    def _transaction(self) -> "_Transaction":
        return _Transaction(self._connection, self.path)


def _insert(connection: sqlite3.Connection, name: str, row: Mapping[str, Any]) -> int:
    """Write a row, given by the names of its columns. Returns its number."""
    written = table(name).written(row)
    columns, marks = ", ".join(written), ", ".join(f":{column}" for column in written)
    # Names of ours, never input.
    query = f"INSERT INTO {name} ({columns}) VALUES ({marks})"  # noqa: S608
    return int(connection.execute(query, written).lastrowid or 0)


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
