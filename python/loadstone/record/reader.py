"""Reading a record back as plain values, however the run that wrote it ended."""

import dataclasses
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from loadstone.errors import InputError, RecordError
from loadstone.plan.plan import SAMPLES_MAX, Cell, Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.study import Combination, Decision
from loadstone.plan.workload import Accepted
from loadstone.record.budget import (
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
    BudgetTimer,
)
from loadstone.record.column import shown
from loadstone.record.door import opened
from loadstone.record.facts import calibration_figure, machine_fact
from loadstone.record.model import (
    Agreement,
    AnswerCheck,
    CellResult,
    ColdEvidence,
    Condition,
    Disturbance,
    Event,
    GivenAnswer,
    InputText,
    Load,
    OperationText,
    Run,
    Sample,
    Session,
    StatementText,
    Term,
)
from loadstone.record.published import Published
from loadstone.record.schema import table
from loadstone.record.users import PERCENTILES, UsersPoint
from loadstone.text.shape import one_of, shaped, strict_json

ROWS_MAX = 2 * SAMPLES_MAX
"""Of a table: a cell that was disturbed may have been measured twice."""
CHAPTERS_MAX = 100
"""Benchmarks of a record."""
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


Flipped = tuple[str, tuple[str, ...]]
"""A combination: its variant, and the tactics at their other value."""
Percentile = Annotated[str, one_of((*(f"{p:g}" for p in PERCENTILES), "max"))]
Nanoseconds = Annotated[int, Meta(ge=0, le=10**18)]
Requests = Annotated[int, Meta(ge=0, le=10**15)]
IntervalRow = tuple[Requests, Requests, Nanoseconds, Nanoseconds, Nanoseconds]
RateOfStep = Annotated[float, Meta(gt=0, le=1e12)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Source:
    """A record's tables: the rows of one chapter, each checked against what is declared. The first
    chapter's source checks the rows of all."""

    connection: sqlite3.Connection
    chapter: int = 0
    of_session: Mapping[Any, Any] = dataclasses.field(default_factory=dict)
    of_cell: Mapping[Any, Any] = dataclasses.field(default_factory=dict)
    """The chapter of each session, and of each cell."""

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """A table's rows in the order of writing, by the names of their columns. Raises
        `RecordError`."""
        declared = table(name)
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
            if self.chapter and self._place(name, row) != self.chapter:
                continue
            row = declared.checked(row)
            if self._place(name, row) == self.chapter:
                row.pop("chapter", None)
                yield row

    def _place(self, name: str, row: Mapping[str, Any]) -> Any:
        """The chapter of a row. Raises `RecordError` where it belongs to nothing."""
        if "chapter" in row:
            return row["chapter"]
        by_cell = "cell_id" in row and name != "cell"
        known, key = (self.of_cell, "cell_id") if by_cell else (self.of_session, "session_id")
        if row[key] not in known:
            raise RecordError(
                f"its table {name} has a row of {key} {shown(row[key])}, which is absent"
            )
        return known[row[key]]


def _chapters(connection: sqlite3.Connection) -> Iterator[_Source]:
    """A source for each benchmark of a record. Raises `RecordError` where they are not numbered."""
    numbers = [number for (number,) in _checked(connection, "run", "chapter")]
    if len(numbers) > CHAPTERS_MAX or numbers != [*range(len(numbers))]:
        raise RecordError(f"its benchmarks are numbered {shown(numbers)}")
    if connection.execute("SELECT count(DISTINCT run_id) FROM run").fetchone()[0] > 1:
        raise RecordError("its benchmarks are of several runs")
    of_session = dict(_checked(connection, "session", "session_id", "chapter"))
    if unknown := set(of_session.values()) - set(numbers):
        raise RecordError(f"a session is of chapter {shown(min(unknown))}, which is absent")
    cells = _checked(connection, "cell", "cell_id", "session_id")
    of_cell = {cell: of_session.get(session) for cell, session in cells}
    for number in numbers or [0]:
        yield _Source(connection, number, of_session, of_cell)


def _checked(connection: sqlite3.Connection, name: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Some columns of a table in the order of writing."""
    # Names of ours, never input.
    query = f"SELECT {', '.join(columns)} FROM {name} ORDER BY rowid"  # noqa: S608
    for values in connection.execute(query):
        table(name).checked(dict(zip(columns, values, strict=True)))
        yield values


def _run(source: _Source) -> Run:
    head = next(source.rows("run"), None)
    if head is None:
        raise RecordError("it holds no run", hint="its run was killed before it began")
    plan = Plan.from_json(head["plan"])
    if head["plan_hash"] != plan.hash:
        raise RecordError("its plan does not match run.plan_hash")
    decided = [(row.pop("session_id"), _decision(row)) for row in source.rows("decision")]
    return Run(
        run_id=head["run_id"],
        created_at=head["created_at"],
        loadstone_version=head["loadstone_version"],
        plan=plan,
        published=shaped(strict_json(head["published"]), Published, "run.published"),
        presentation=Presentation.from_json(head["presentation"]),
        sessions=_sessions(source),
        operations=_unique(sorted(map(_operation, source.rows("operation")), key=_place)),
        results=_results(source, plan, [decision for _, decision in decided]),
        loads=tuple(map(_load, _in_session(source.rows("load")))),
        terms=tuple(Term(**row) for row in _in_session(source.rows("term"))),
        structure_notes=_unique(
            (row["variant"], row["storage"], row["note"]) for row in source.rows("structure_note")
        ),
        sizes=_sizes(source),
        events=tuple(Event(**row) for row in _in_session(source.rows("event"))),
        users=tuple(map(_users_point, _in_session(source.rows("users")))),
        inputs=_unique(InputText(**row) for row in source.rows("input")),
        decisions=_standing(source, plan, decided),
        agreements=_agreements(source),
        given=_given(source),
    )


def _in_session(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows without the session that wrote them."""
    for row in rows:
        del row["session_id"]
        yield row


def _operation(row: dict[str, Any]) -> OperationText:
    return OperationText(group=row.pop("query_group"), **row)


def _load(row: dict[str, Any]) -> Load:
    return Load(**row | {"answer_ok": bool(row["answer_ok"])})


def _place(text: OperationText) -> tuple[int, int]:
    return text.rows, text.ordinal


def _users_point(row: dict[str, Any]) -> UsersPoint:
    texts = ("latency_ns", "lag_ns", "service_ns")
    found: dict[str, Any] = {name: _percentiles(row[name], name) for name in texts}
    found["intervals"] = shaped(
        strict_json(row["intervals"]), tuple[IntervalRow, ...], "users.intervals"
    )
    found["statements"] = shaped(
        strict_json(row["statements"]), tuple[tuple[str, str], ...], "users.statements"
    )
    found["ramp"] = shaped(strict_json(row["ramp"]), tuple[RateOfStep, ...], "users.ramp")
    return UsersPoint(**row | found)


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
    latest = {(row["variant"], row["rows"]): row["bytes"] for row in source.rows("size")}
    return tuple((*key, size_bytes) for key, size_bytes in latest.items())


def _sessions(source: _Source) -> tuple[Session, ...]:
    machine: dict[int, dict[str, Any]] = defaultdict(dict)
    for row in source.rows("machine"):
        machine[row["session_id"]][row["key"]] = machine_fact(row["key"], row["value"])
    calibration: dict[int, dict[str, Any]] = defaultdict(dict)
    for row in source.rows("calibration"):
        key = row["key"]
        calibration[row["session_id"]][key] = calibration_figure(key, row["value"])
    ends = {row["session_id"]: row for row in source.rows("session_end")}
    return tuple(
        Session(
            **begin | ends.get(begin["session_id"], {}),
            machine=machine[begin["session_id"]],
            calibration=calibration[begin["session_id"]],
        )
        for begin in source.rows("session")
    )


def _agreements(source: _Source) -> tuple[Agreement, ...]:
    """The latest session's of each statement."""
    found = {}
    for row in _in_session(source.rows("agreement")):
        where = "agreement.answers"
        answers = shaped(strict_json(row["answers"]), tuple[tuple[Accepted, ...], ...], where)
        found[row["operation"], row["rows"]] = Agreement(**row | {"answers": answers})
    return tuple(found.values())


def _given(source: _Source) -> tuple[GivenAnswer, ...]:
    """The latest session's of each statement, variation and variant."""
    found = {}
    for row in _in_session(source.rows("given_answer")):
        text = strict_json(row.pop("first_rows"))
        first = shaped(text, tuple[str, ...], "given_answer.first_rows")
        one = GivenAnswer(**row, first_rows=first)
        found[one.operation, one.rows, one.variation, one.variant] = one
    return tuple(found.values())


def _decision(row: dict[str, Any]) -> Decision:
    where = "decision.combinations"
    listed = shaped(strict_json(row["combinations"]), tuple[Flipped, ...], where)
    own = {
        "tactics": shaped(strict_json(row["tactics"]), tuple[str, ...], "decision.tactics"),
        "combinations": tuple(Combination(*one) for one in listed),
        "undone": bool(row["undone"]),
    }
    return Decision(**row | own)


def _standing(
    source: _Source, plan: Plan, decided: Iterable[tuple[int, Decision]]
) -> tuple[Decision, ...]:
    """The decisions of the session that recorded the operation's base: one that was interrupted may
    have decided, too, and its blocks were taken again."""
    if plan.study is None:
        return ()
    recorded = {
        (row["rows"], row["operation"]): row["session_id"]
        for row in source.rows("cell")
        if row["variant"] == plan.study.base
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
            added = dataclasses.replace(base, variant=each.variant, gap="")
            cells.setdefault(added.key, added)
    return cells


def _results(source: _Source, plan: Plan, decided: Iterable[Decision]) -> tuple[CellResult, ...]:
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
        for row in source.rows(name):
            cell_id = row.pop("cell_id")
            grouped[cell_id].append(_evidence(row) if name == "evidence" else kind(**row))
        parts[name] = grouped
    budgets = _budgets(source)
    planned = _planned(plan, decided)
    bounds = {row["cell_id"]: row["longer_than_ns"] for row in source.rows("bound")}
    results: dict[str, CellResult] = {}
    for row in source.rows("cell"):
        cell_id, status = row["cell_id"], row["status"]
        cell = Cell(row["operation"], row["variant"], row["rows"], row["temperature"], 0)
        if cell.key not in planned:
            raise RecordError(f"it holds the cell {shown(cell.key)}, which its plan lacks")
        if status == "disturbed" and not parts["disturbance"][cell_id]:
            raise RecordError(
                f"its cell {shown(cell.key)} is disturbed, but has no row in disturbance"
            )
        if (status == "censored") is not (cell_id in bounds):
            raise RecordError(f"its cell {shown(cell.key)} is {status}, which its bound belies")
        results[cell.key] = CellResult(
            cell=planned[cell.key],
            status=status,
            reason=row["reason"],
            ended_at=row["ended_at"],
            samples=tuple(parts["sample"][cell_id]),
            answers=tuple(parts["answer"][cell_id]),
            evidence=tuple(parts["evidence"][cell_id]),
            statements=tuple(parts["statement"][cell_id]),
            condition=next(iter(parts["condition"][cell_id]), None),
            disturbance=next(iter(parts["disturbance"][cell_id]), None),
            budget=budgets.get(cell_id),
            longer_than_ns=bounds.get(cell_id),
            label=row["label"],
        )
    return tuple(results.values())


def _budgets(source: _Source) -> dict[int, Budget]:
    """By cell."""
    parts: dict[str, dict[int, list[Any]]] = {}
    for field, name, kind in (
        ("threads", "budget_thread", BudgetThread),
        ("parts", "budget_part", BudgetPart),
        ("blocks", "budget_block", BudgetBlock),
        ("rungs", "budget_rung", BudgetRung),
        ("timers", "budget_timer", BudgetTimer),
    ):
        grouped: dict[int, list[Any]] = defaultdict(list)
        for row in source.rows(name):
            for truth in ("server", "executing"):
                if truth in row:
                    row[truth] = bool(row[truth])
            grouped[row.pop("cell_id")].append(kind(**row))
        parts[field] = grouped
    found = {}
    for row in source.rows("budget"):
        cell_id = row.pop("cell_id")
        row |= {field: tuple(grouped[cell_id]) for field, grouped in parts.items()}
        found[cell_id] = Budget(**row)
    return found


def _evidence(row: dict[str, Any]) -> ColdEvidence:
    evidence = ColdEvidence(**row)
    proved, reason = bool(evidence.proved), evidence.reason
    if proved and evidence.resident_at_clock is None:
        proved, reason = False, NOT_AT_CLOCK
    elif proved and evidence.resident_at_clock:
        proved, reason = False, f"{evidence.resident_at_clock} pages when the clock started"
    return dataclasses.replace(
        evidence, proved=proved, reason=reason, engine_dead=bool(evidence.engine_dead)
    )
