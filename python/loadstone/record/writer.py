"""Writing a record: append-only, each cell in one transaction the moment it ends."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadstone.errors import RecordError
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.study import Decision
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
)
from loadstone.record.schema import (
    APPLICATION_ID,
    PARTS_OF_BUDGET,
    PARTS_OF_CELL,
    SCHEMA_VERSION,
    Bound,
    CalibrationFigure,
    CellRow,
    Head,
    MachineFact,
    SessionBegin,
    SessionEnd,
    Size,
    StructureNote,
    definitions,
    table_of,
)
from loadstone.record.users import UsersPoint


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
        Head(run_id, now(), version, chapter.plan.hash, chapter.plan.to_json(),
             json.dumps(chapter.published), chapter.presentation.to_json())
        for chapter in chapters
    ]  # fmt: skip
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
            for number, head in enumerate(heads):
                _insert(connection, "run", {"chapter": number}, head)
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
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            begin = SessionBegin(now(), command)
            session_id = _insert(connection, "session", {"chapter": chapter}, begin)
        except sqlite3.Error as error:
            raise _cannot_write(path, error) from error
        return cls(path, session_id, connection, chapter)

    def machine(self, description: Mapping[str, Any]) -> None:
        """The machine and the software, as found at the start of this session."""
        self._add("machine", [MachineFact(*item) for item in description.items()])

    def calibration(self, figures: Mapping[str, Any]) -> None:
        """The instrument's measurements of itself at the start of this session."""
        self._add("calibration", [CalibrationFigure(*item) for item in figures.items()])

    def users(self, point: UsersPoint) -> None:
        """A loop of users has ended."""
        self._add("users", [point])

    def terms(self, terms: Sequence[Term]) -> None:
        """A variant's settings, asked and read back."""
        self._add("term", terms)

    def operations(self, operations: Sequence[OperationText]) -> None:
        """The operations of a scale, in the paper's order."""
        self._add("operation", operations)

    def inputs(self, inputs: Sequence[InputText]) -> None:
        """The inputs of variations of a scale's operations."""
        self._add("input", inputs)

    def structure_notes(self, notes: Sequence[tuple[str, str, str]]) -> None:
        """(variant, storage, note)."""
        self._add("structure_note", [StructureNote(*note) for note in notes])

    def load(self, load: Load) -> None:
        """A relation has been loaded."""
        self._add("load", [load])

    def size(self, variant: str, rows: int, size_bytes: int) -> None:
        """The size of a variant's tables of a scale."""
        self._add("size", [Size(variant, rows, size_bytes)])

    def event(self, event: Event) -> None:
        """Something happened outside a cell."""
        self._add("event", [event])

    def decisions(self, decisions: Sequence[Decision]) -> None:
        """Decisions on an operation of a study, before its cells."""
        self._add("decision", decisions)

    def agreements(self, agreements: Sequence[Agreement]) -> None:
        """The basis of the expected answers of a user's statements."""
        self._add("agreement", agreements)

    def given(self, answers: Sequence[GivenAnswer]) -> None:
        """The answers of each variant to a user's statements."""
        self._add("given_answer", answers)

    def cell(self, result: CellResult) -> None:
        """A cell has ended: all of it in one transaction."""
        cell = result.cell
        head = CellRow(cell.operation, cell.variant, cell.rows, cell.temperature, result.status,
                       result.reason, result.ended_at, result.label)  # fmt: skip
        with self._transaction():
            cell_id = _insert(self._connection, "cell", {"session_id": self.session_id}, head)
            parts: list[tuple[str, Any]] = [("budget", result.budget)]
            parts += [(name, getattr(result, field)) for name, field in PARTS_OF_CELL.items()]
            if result.budget is not None:
                parts += [(n, getattr(result.budget, f)) for n, f in PARTS_OF_BUDGET.items()]
            if result.longer_than_ns is not None:
                parts.append(("bound", Bound(result.longer_than_ns)))
            for name, part in parts:
                for item in part if isinstance(part, tuple) else [part] if part else []:
                    _insert(self._connection, name, {"cell_id": cell_id}, item)

    def end(self, outcome: str, elapsed_ns: int) -> None:
        """End this session: `complete`, `interrupted` or `failed`."""
        self._add("session_end", [SessionEnd(now(), outcome, elapsed_ns)])
        self._connection.close()

    def _add(self, name: str, values: Sequence[Any]) -> None:
        """Add rows of this session, or of its benchmark, to a table."""
        keys = {"session_id": self.session_id, "chapter": self._chapter}
        with self._transaction():
            for value in values:
                _insert(self._connection, name, keys, value)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """BEGIN … COMMIT, or ROLLBACK and a `RecordError`."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._connection.rollback()  # a commit that failed leaves its transaction open
            raise _cannot_write(self.path, error) from error
        except BaseException:
            self._connection.rollback()
            raise


def _insert(connection: sqlite3.Connection, name: str, keys: Mapping[str, int], value: Any) -> int:
    """Write a row: its value, and those of the keys that its table has. Returns its number."""
    row = table_of(name).written(keys, value)
    columns, marks = ", ".join(row), ", ".join(f":{column}" for column in row)
    # Names of ours, never input.
    query = f"INSERT INTO {name} ({columns}) VALUES ({marks})"  # noqa: S608
    return int(connection.execute(query, row).lastrowid or 0)


def _cannot_write(path: Path, error: Exception) -> RecordError:
    return RecordError(
        f"cannot write the record {path}: {error}",
        hint="free some space or make it writable; what it held is intact, continue with --resume",
    )
