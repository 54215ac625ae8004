"""Made-up time budgets of which all figures are known. Deterministic."""

import dataclasses

from report_fixture import COMPETITORS, HOSTILE, POSTGRESQL

from loadstone.plan.statement_ladder import UNWATCHED, WATCHED
from loadstone.record.budget import (
    ALL,
    NOTHING,
    PROGRAMS,
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
    BudgetTimer,
)
from loadstone.record.model import Run

PERIOD_NS = 250_000
STATEMENTS = 100
PARTS = (
    ("executor", "__init__.so", "sqlite3VdbeExec", "", 400),
    ("access method", "__init__.so", "sqlite3BtreeNext", "", 250),
    ("access method", "", "", "", 50),
    ("kernel: sync", "[kernel]", "submit_bio", "__x64_sys_fdatasync", 60),
    ("unclassified", "__init__.so", "filterHash", "", 40),
)
"""800 samples of 250 µs: 200 ms, of 100 statements of 3 ms."""
LADDER_US = {"empty": 5, "constant": 9, "planned": 80, "counted": 1500, "uncommitted": 1400,
             "whole": 3000}  # fmt: skip
PLAN = "SCAN t"
TIMERS = (BudgetTimer("planning", 5, 70_000), BudgetTimer("execution", 5, 1_450_000))


def budget(
    sampled=ALL, reason="", *, lost=0, rungs=LADDER_US, cpu_ns=205_000_000, slower=1.01, timers=()
) -> Budget:
    """Of 300 ms in all: 200 sampled, 2 too many on the CPU and 3 of reading clocks, 40 waiting, the
    rest asleep. The statement itself takes twice what it does uncommitted, which takes less than
    counting: a difference that nobody can measure. Odd blocks are a tenth slower than even ones."""
    seen = () if sampled == NOTHING else PARTS
    if sampled == PROGRAMS:
        seen = tuple(part for part in seen if not part[0].startswith("kernel"))
    times = {**rungs, UNWATCHED: rungs.get("whole", 3000), WATCHED: 3000 * slower}
    return Budget(
        sampled=sampled,
        reason=reason,
        period_ns=PERIOD_NS,
        statements=STATEMENTS,
        elapsed_ns=300_000_000,
        reading_ns=3_000_000,
        lost=lost,
        threads=(BudgetThread(False, True, "python", cpu_ns, 40_000_000),),
        parts=tuple(BudgetPart(False, *part) for part in seen),
        blocks=tuple(
            BudgetBlock(block, rung, 10, int(us * 1000 * (1.1 if block % 2 else 1.0)))
            for block in range(8)
            for rung, us in times.items()
        ),
        rungs=(
            BudgetRung("planned", "", "", "" if "planned" in rungs else "it stays prepared"),
            BudgetRung("counted", "SELECT COUNT(*) FROM t", PLAN, ""),
        ),
        timers=timers,
    )


def with_budgets(run: Run) -> Run:
    """A record of `report_fixture`, its warm cells with budgets: of SQLite whole, of DuckDB without
    the kernel, of PostgreSQL one that does not add up, and one that says why there is none."""
    found = {
        "sqlite": budget(),
        "duckdb": budget(PROGRAMS, HOSTILE),
        POSTGRESQL: budget(cpu_ns=240_000_000, lost=3, timers=TIMERS),
    }
    none = Budget(NOTHING, "while its time was taken apart: > 60 s", 1, 0, 0, 0, 0)
    return dataclasses.replace(
        run,
        plan=dataclasses.replace(run.plan, budget=True),
        results=tuple(
            dataclasses.replace(
                result,
                budget=none if result.cell.operation == "joinAselB-heap"
                else found.get(result.cell.variant),
            )
            if result.samples and result.cell.temperature == "warm"
            and result.cell.variant in COMPETITORS
            else result
            for result in run.results
        ),
    )  # fmt: skip
