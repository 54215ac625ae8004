"""Before the statements of a user's workload are measured, every variant answers each of them once:
what they agree on is the expected answer (`workload/agreement.py`)."""

from collections.abc import Sequence
from functools import partial

from loadstone.plan.plan import Cell, Plan
from loadstone.plan.variant import engine_of
from loadstone.record.model import Agreement
from loadstone.run.executor import Executor
from loadstone.workload import answers as written
from loadstone.workload.agreement import AgreedAnswers, Rows, Vote

ROWS_MAX = 20_000
"""Rows of an answer that are compared one by one, where checksums differ."""


def poll(
    plan: Plan, cells: Sequence[Cell], answers: AgreedAnswers, executor: Executor
) -> list[Agreement]:
    """Ask the variants of these cells for each of their statements. Returns what the expected
    answers rest on."""
    asked: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        if not cell.gap:
            asked.setdefault(cell.operation, {}).setdefault(cell.variant, cell)
    for statement, own in asked.items():
        told = {variant: executor.give_answers(cell) for variant, cell in own.items()}
        for variant, outcome in told.items():
            if outcome.status != "ok":
                answers.fail(statement, variant, outcome.status, outcome.reason)
        for variation in range(max(len(one.given) for one in told.values())):
            votes = [
                Vote(variant, engine_of(variant), outcome.given[variation],
                     partial(_rows, executor, own[variant], variation))
                for variant, outcome in told.items() if len(outcome.given) > variation
            ]  # fmt: skip
            answers.settle(statement, variation, votes)
    rows = plan.rows[0]
    return [
        Agreement(name, rows, basis.basis, ", ".join(basis.engines), basis.words,
                  answers.accepted(name))
        for name, basis in answers.bases.items()
    ]  # fmt: skip


def _rows(executor: Executor, cell: Cell, variation: int) -> Rows:
    text = executor.show_rows(cell, variation, ROWS_MAX)
    return None if text is None else written.read(text)
