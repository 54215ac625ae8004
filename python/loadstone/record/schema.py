"""The record's tables. `docs/reference/record.md` describes them; a test compares the two."""

from dataclasses import dataclass
from typing import Annotated

from loadstone.owner import OWNER
from loadstone.plan.study import Decision
from loadstone.record.budget import (
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
    BudgetTimer,
)
from loadstone.record.model import (
    Agreement,
    AnswerCheck,
    ColdEvidence,
    Condition,
    Disturbance,
    Event,
    GivenAnswer,
    InputText,
    Load,
    OperationText,
    Sample,
    StatementText,
    Term,
)
from loadstone.record.table import CELL, CHAPTER, SESSION, Table, primary, table
from loadstone.record.users import COLUMNS, UsersPoint
from loadstone.text.kinds import (
    At,
    Count,
    Duration,
    Fact,
    Json,
    MeasuredNs,
    Message,
    Name,
    Ns,
    Printable,
    Scale,
    Status,
    VariantName,
)
from loadstone.text.shape import matching, one_of

APPLICATION_ID = 0x4C6F6164  # "Load": shows a record from any other SQLite file
SCHEMA_VERSION = 1
"""The first released Loadstone reads and writes this one; every later one must read it."""


@dataclass(frozen=True, slots=True)
class Head:
    """A benchmark of the run: what is known of it before anything is measured."""

    run_id: Annotated[str, matching(OWNER.pattern, "1 to 32 digits and small letters")]
    created_at: At
    loadstone_version: Annotated[str, Printable(100)]
    plan_hash: Annotated[str, matching("[0-9a-f]{12}", "12 hexadecimal digits")]
    plan: Annotated[str, Json(1 << 25)]
    published: Annotated[str, Json(1 << 22)]
    presentation: Annotated[str, Json(1 << 20)]


@dataclass(frozen=True, slots=True)
class SessionBegin:
    """A process began to work on the run."""

    started_at: At
    command: Message


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """It ended in good order."""

    ended_at: At
    outcome: Annotated[str, one_of(("complete", "interrupted", "failed"))]
    elapsed_ns: Ns


@dataclass(frozen=True, slots=True)
class MachineFact:
    """One fact of the machine or the software."""

    key: Name
    value: Fact | None


@dataclass(frozen=True, slots=True)
class CalibrationFigure:
    """One of the instrument's measurements of itself."""

    key: Name
    value: Duration | None


@dataclass(frozen=True, slots=True)
class StructureNote:
    """The stand-in for a structure that an engine does not literally have."""

    variant: VariantName
    storage: Name
    note: Message


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a variant's tables of a scale, after loading."""

    variant: VariantName
    rows: Scale
    bytes: Count


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell that ended, without its parts."""

    operation: Name
    variant: VariantName
    rows: Scale
    temperature: Name
    status: Status
    reason: Message
    ended_at: At
    label: Message


@dataclass(frozen=True, slots=True)
class Bound:
    """The lower bound of a censored cell."""

    longer_than_ns: MeasuredNs


PARTS_OF_CELL = {
    "sample": "samples",
    "answer": "answers",
    "evidence": "evidence",
    "statement": "statements",
    "condition": "condition",
    "disturbance": "disturbance",
}
"""Table -> the field of a cell's result that its rows are."""
PARTS_OF_BUDGET = {
    "budget_thread": "threads",
    "budget_part": "parts",
    "budget_block": "blocks",
    "budget_rung": "rungs",
    "budget_timer": "timers",
}
"""The same of a cell's time budget."""
TABLES = (
    table("run", Head, behind=[CHAPTER]),
    table("session", SessionBegin, primary(SESSION), behind=[CHAPTER]),
    table("session_end", SessionEnd, SESSION),
    table("machine", MachineFact, SESSION, strict=True),
    table("calibration", CalibrationFigure, SESSION, strict=True),
    table("term", Term, SESSION),
    table("operation", OperationText, behind=[CHAPTER]),
    table("input", InputText, behind=[CHAPTER]),
    table("structure_note", StructureNote, behind=[CHAPTER]),
    table("load", Load, SESSION),
    table("size", Size, SESSION),
    table("cell", CellRow, primary(CELL), SESSION),
    table("sample", Sample, CELL),
    table("answer", AnswerCheck, CELL),
    table("agreement", Agreement, SESSION),
    table("evidence", ColdEvidence, CELL),
    table("condition", Condition, CELL),
    table("disturbance", Disturbance, CELL),
    table("bound", Bound, CELL),
    table("decision", Decision, SESSION),
    table("statement", StatementText, CELL),
    table("budget", Budget, CELL, without=[*PARTS_OF_BUDGET.values()]),
    table("budget_thread", BudgetThread, CELL),
    table("budget_part", BudgetPart, CELL),
    table("budget_block", BudgetBlock, CELL),
    table("budget_rung", BudgetRung, CELL),
    table("budget_timer", BudgetTimer, CELL),
    table("users", UsersPoint, SESSION, order=COLUMNS),
    table("event", Event, SESSION),
    table("given_answer", GivenAnswer, SESSION),
)


def definitions() -> str:
    """The statements that make the tables."""
    return "".join(f"{table.sql};\n" for table in TABLES)


def table_of(name: str) -> Table:
    """One of ours, by name."""
    return next(table for table in TABLES if table.name == name)
