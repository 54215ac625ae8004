"""Before the statements of a user's workload are measured, every variant answers each of them once:
what they agree on is the expected answer (`workload/agreement.py`).

Where answers differ, and where the text draws random numbers or requests the time, each variant is
asked a second time. One whose own two answers differ is *volatile*: it has failed, and no other is
called wrong beside it. The label would be false if its data had changed between the two; and a
volatile answer goes unseen if it comes the same twice, as a coin does.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from loadstone._core import clock_ns
from loadstone.benchmarks.expected import Answer
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.variant import engine_of
from loadstone.record.model import Agreement, GivenAnswer
from loadstone.run.context import Context
from loadstone.run.executor import Executor
from loadstone.run.outcome import Outcome
from loadstone.text.numbers import NS_PER_S
from loadstone.workload import answers as written
from loadstone.workload import sql
from loadstone.workload.agreement import VOLATILE, AgreedAnswers
from loadstone.workload.readings import OWN, reading_of
from loadstone.workload.sql_opening import each_tree
from loadstone.workload.votes import Rows, Vote

SECOND_S = 1.0
BYTES_MAX = 32 << 20
"""Of an answer as text that is compared row by row, where checksums differ: a million rows of an
integer and a float. The comparison needs about 20 times as much memory for each of the two."""


def poll(
    context: Context, cells: Sequence[Cell], answers: AgreedAnswers, executor: Executor
) -> Mapping[tuple[str, str], float]:
    """Ask the variants of these cells for each of their statements, and record what they answered.
    Returns how many seconds an execution took, by statement and variant."""
    executed: dict[tuple[str, str], float] = {}
    asked: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        if not cell.gap:
            asked.setdefault(cell.operation, {}).setdefault(cell.variant, cell)
    for statement, own in asked.items():
        reported = {}
        for variant, cell in own.items():
            begun_ns = clock_ns()
            reported[variant] = outcome = executor.give_answers(cell)
            if outcome.given:
                spent_s = (clock_ns() - begun_ns) / NS_PER_S
                executed[statement, variant] = spent_s / len(outcome.given)
        for variant, outcome in reported.items():
            if outcome.status != "ok":
                answers.fail(statement, variant, outcome.status, outcome.reason)
        draws = any(map(sql.may_be_volatile, _trees(context.plan, statement)))
        if draws or len({tuple(one.given) for one in reported.values() if one.given}) > 1:
            _report_volatile(statement, own, reported, answers, executor, waits=draws)
        for variation in range(max(len(one.given) for one in reported.values())):
            votes = [
                _vote(executor, own[variant], outcome, variation)
                for variant, outcome in reported.items()
                if len(outcome.given) > variation and not answers.failed(statement, variant)
            ]
            answers.settle(statement, variation, votes)
    _record_answers(context, answers)
    return {
        (statement, variant): spent_s
        for (statement, variant), spent_s in executed.items()
        if not answers.failed(statement, variant) and answers.odd(statement, variant) is None
    }


def admitted(
    context: Context, executor: Executor, like: Cell, flipped: tuple[str, ...]
) -> Cell | None:
    """The cell of a combination that no plan lists, because a study's decision added it; None where
    no worker can have it. Its variant is asked for the answer, too."""
    cell, answers = executor.admit(like, flipped), context.answers
    if cell is None or not isinstance(answers, AgreedAnswers):
        return cell
    outcome = executor.give_answers(cell)
    if outcome.status != "ok":
        answers.fail(cell.operation, cell.variant, outcome.status, outcome.reason)
    for variation in range(len(outcome.given)):
        answers.join(cell.operation, variation, _vote(executor, cell, outcome, variation))
    _record_answers(context, answers)
    return cell


def _record_answers(context: Context, answers: AgreedAnswers) -> None:
    """Record what the variants answered, and the basis of the answers that are expected."""
    rows, recorder = context.plan.rows[0], context.recorder
    recorder.agreements(
        [
            Agreement(name, rows, basis.basis, ", ".join(basis.engines), basis.words,
                      answers.accepted(name))
            for name, basis in answers.bases.items()
        ]
    )  # fmt: skip
    recorder.given(
        [
            GivenAnswer(name, rows, one.variation, one.vote.variant, *one.vote.answer, one.kind,
                        tuple(one.vote.first_rows))
            for name in answers.bases
            for one in answers.given(name)
        ]
    )  # fmt: skip


def _vote(executor: Executor, cell: Cell, outcome: Outcome, variation: int) -> Vote:
    dialect, stated = executor.asked(cell)
    return Vote(
        cell.variant,
        engine_of(cell.variant),
        outcome.given[variation],
        partial(_rows, executor, cell, variation),
        first_rows=outcome.first_rows[variation],
        determined=outcome.determined[variation],
        uncut=partial(_rows, executor, cell, variation, uncut=True),
        dialect=dialect,
        reading=OWN if stated is None else reading_of(stated, dialect),
    )


def _trees(plan: Plan, statement: str) -> Iterator[sql.Tree]:
    """The first text of a statement in each of its dialects of SQL."""
    for one in plan.workload.statements if plan.workload is not None else ():
        if one.name == statement:
            yield from each_tree(one)


def _report_volatile(
    statement: str,
    own: Mapping[str, Cell],
    reported: Mapping[str, Outcome],
    answers: AgreedAnswers,
    executor: Executor,
    *,
    waits: bool,
) -> None:
    """Ask all of them again, in another second where the text requests the time: an engine's clock
    may count seconds."""
    if waits:
        time.sleep(SECOND_S)  # noqa: TID251 - the event waited for is the next second
    for variant, cell in own.items():
        before = reported[variant]
        if before.status != "ok" or not before.given:
            continue
        after = executor.give_answers(cell)
        if after.status == "ok" and _determined(after) != _determined(before):
            answers.fail(statement, variant, "failed", VOLATILE)


def _determined(outcome: Outcome) -> list[Answer]:
    """The answers, of each the part that the query determines."""
    return [part or answer
            for part, answer in zip(outcome.determined, outcome.given, strict=True)]  # fmt: skip


def _rows(executor: Executor, cell: Cell, variation: int, *, uncut: bool = False) -> Rows:
    text = executor.show_rows(cell, variation, BYTES_MAX, uncut=uncut)
    return None if text is None else written.read(text)
