"""Records made to hold, or to lack, what a rule of the findings looks for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from report_fixture import make_run

from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding
from loadstone.analysis.summary import summarise
from loadstone.plan.plan import Cell
from loadstone.record.model import (
    AnswerCheck,
    CellResult,
    ColdEvidence,
    OperationText,
    Run,
    Sample,
    StatementText,
    Term,
)

MS = 1_000_000
ROWS = 10_000
SLOW, FAST = "duckdb", "sqlite"
LOOPS = """BLOCKWISE_NL_JOIN
  Join Type: INNER
  SEQ_SCAN ~20,000 rows
    Table: l
  SEQ_SCAN ~20,000 rows
    Table: r"""
"""Of the slow one, which looks at each pair of rows."""
SEARCHED = "SCAN l\nSEARCH r USING INDEX i (k=?)"
"""Of the fast one."""


@dataclass(frozen=True)
class Side:
    """One variant's cells: `elapsed_ms` at the first scale, `grows` the exponent over the scales;
    shares of the elapsed time; whatever else a sample has in `counts`."""

    elapsed_ms: float
    cpu: float = 1.0
    server_cpu: float | None = None
    grows: float = 1.0
    fixed_ms: float = 0.0
    plan: str = "SCAN t"
    access: str | None = None
    status: str = "ok"
    samples: int = 10
    right: bool = True
    delivers: int = 100
    data_bytes: int = 1 << 22
    scatter: tuple[float, ...] = (1.0,)
    counts: dict[str, Any] = field(default_factory=dict)


def made(
    sides: dict[str, Side],
    *,
    operation: str = "select-10%-nonclustered",
    storage: str = "nonclustered",
    destination: str = "relation",
    temperature: str = "warm",
    scales: tuple[int, ...] = (ROWS,),
    terms: Iterable[Term] = (),
    roles: tuple[tuple[str, str], ...] = (),
) -> Run:
    """One operation on these variants."""
    cells = [
        Cell(operation, variant, rows, temperature, side.samples)
        for rows in scales
        for variant, side in sides.items()
    ]
    run = make_run(("select-1%-heap",), scales=scales)
    plan = replace(
        run.plan, on=tuple(sides), variants=tuple(sides), cells=tuple(cells), roles=roles
    )
    return replace(
        run,
        plan=plan,
        results=tuple(_result(cell, sides[cell.variant]) for cell in cells),
        operations=tuple(
            OperationText(
                operation, rows, 0, "10 %", "selections", "Q", "indexed", storage, destination, ""
            )
            for rows in scales
        ),
        terms=tuple(terms),
        sizes=tuple((variant, rows, rows * 420) for rows in scales for variant in sides),
        structure_notes=(),
        events=(),
        users=(),
        loads=(),
    )


def two(slow: Side, fast: Side | None = None, **more: Any) -> Run:
    """A record of both variants. The fast one takes 2 ms unless another is given."""
    return made({FAST: fast or Side(2.0), SLOW: slow}, **more)


def _result(cell: Cell, side: Side) -> CellResult:
    each_ms = side.fixed_ms + side.elapsed_ms * (cell.rows / ROWS) ** side.grows
    # Repetitions are equally slow on all variants, and differ a little besides.
    own = [
        side.scatter[at % len(side.scatter)] * (1 + 0.02 * (at % 5)) for at in range(side.samples)
    ]
    times = [round(each_ms * MS * factor + at * 7) for at, factor in enumerate(own)]
    samples = tuple(
        Sample(
            at,
            at // 5,
            at,
            at * 10**9,
            ns,
            **_counts(side, ns),
        )
        for at, ns in enumerate(times)
    )
    seen = side.delivers if side.right else side.delivers - 1
    answers = tuple(AnswerCheck(s.ordinal, s.variation, 100, "e", seen, "e") for s in samples)
    if side.right:
        answers = tuple(replace(each, expected_rows=seen) for each in answers)
    text = StatementText(0, "SELECT", side.plan, side.access)
    evidence = tuple(
        ColdEvidence(
            *(s.ordinal, True, "", "cachestat", 2, 4_000_000, 977, 0, True),
            *(705, 0, 2_887_680, 83_737, side.data_bytes),
        )
        for s in samples
    )
    cold = cell.temperature == "cold"
    if side.status == "censored":
        reason = f"> {each_ms / 1000:g} s"
        least_ns = round(each_ms * MS)
        return CellResult(
            cell, side.status, reason, "2026-11-23", statements=(text,), longer_than_ns=least_ns
        )
    return CellResult(
        cell,
        side.status,
        "" if side.status == "ok" else "other programs took 90% of the processors' time",
        "2026-11-23",
        samples,
        answers,
        evidence if cold else (),
        (text,),
    )


def _counts(side: Side, ns: int) -> dict[str, Any]:
    reported = {
        name: value(ns) if callable(value) else value for name, value in side.counts.items()
    }
    server = None if side.server_cpu is None else round(ns * side.server_cpu)
    return {"client_cpu_ns": round(ns * side.cpu), "server_cpu_ns": server} | reported


Rule = Callable[[Evidence], Iterable[Finding]]


def found_by(rule: Rule, run: Run) -> list[Finding]:
    """The findings of one rule on a record."""
    return list(rule(Evidence(summarise(run))))
