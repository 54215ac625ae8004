"""A made-up record of OO1: a server, an embedded engine, structs in memory, a program in Python."""

import json
from dataclasses import asdict, replace

from loadstone.benchmarks.base import Published, PublishedTable
from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark
from loadstone.plan.plan import Cell, Plan
from loadstone.record.model import (
    AnswerCheck,
    CellResult,
    ColdEvidence,
    Load,
    OperationText,
    Run,
    Sample,
    Session,
    Term,
)

ROWS = 20_000
VARIANTS = ("memory", "sqlite", "postgresql", "zodb", "null")
ON = VARIANTS[:-1]
CLIENTS = dict.fromkeys(VARIANTS, "rust") | {"zodb": "python"}
ROLES = (("memory", "limit"), ("null", "harness overhead"))
SAMPLES = 10
VISITS = (6917, 1058, 3280, 42, 3280, 3280, 3280, 3280, 3280, 3280)
"""Of a reverse traversal, by variation; the fourth start met few parts."""

TABLE = """
lookup|The measures|60 330 16000 900 14
traversal|The measures|70 1400 68000 3300 50
reverse|The measures|80 1500 70000 3400 50
insert|The measures|40 4000 22000 9000 1
group|Recommended|250 2400 19000 2000 1
lookup-batch|Future work|- 300 1400 - -
nothing|The cost ladder|1.5 1.6 1.7 60 1.5
empty|The cost ladder|- 21 14000 - -
constant|The cost ladder|- 26 14500 - -
lookup-no-locality|Without locality|62 340 16500 950 14
"""
"""operation|group|warm microseconds for each variant, - where it is a gap"""
CALLS = {"lookup": 1_000, "traversal": 4_373, "insert": 100, "group": 1_000, "lookup-batch": 1}
STATEMENTS = {
    "lookup": 1_000, "traversal": 4_373, "insert": 202, "group": 1_000, "lookup-batch": 1,
    "nothing": 0,
}  # fmt: skip
"""Of SQLite and PostgreSQL; rungs make a thousand of either."""
COLD = ("lookup", "traversal", "reverse", "insert")
APART = "-no-locality"


def operations(edition: str) -> dict[str, tuple[str, dict[str, float | None]]]:
    found = {}
    for line in TABLE.split("\n")[1:-1]:
        name, group, times = line.split("|")
        if name.endswith(APART) and edition != "1992":
            continue
        values = (None if text == "-" else float(text) for text in times.split())
        found[name] = (group, dict(zip(VARIANTS, values, strict=True)))
    return found


def published() -> dict[str, object]:
    """Parts of Tables II, III and VI."""
    systems = ("INDEX", "OODBMS", "RDBMS")

    def row(label: str, operation: str, *values: float | str):
        return (label, operation, dict(zip(systems, values, strict=False)))

    tables = (
        PublishedTable("II", "Small remote database", "s", systems, (
            row("database size, MB", "size", 3.3, 3.7, 4.5),
            row("load (local)", "load", "1100*", 267, 370),
            row("reverse traverse, cold", "reverse@cold", 23, 22, 95),
            row("lookup, cold", "lookup@cold", 7.6, 20, 29),
            row("lookup, warm", "lookup@warm", 2.4, 1.0, 19),
            row("total, warm", "lookup+traversal+insert@warm", 18, 5, 123),
            row("total, cold", "lookup+traversal+insert@cold", 33, 41, 143),
        ), "* with B-trees", "1992", scale=ROWS),
        PublishedTable("III", "Large remote database", "s", systems, (
            row("lookup, warm", "lookup@warm", 18, 43, 24),
        ), "", "1992", scale=200_000),
        PublishedTable("VI", "Small remote database without locality", "s", systems, (
            row("database size, MB", "size", 5.0),
            row("lookup, warm", "lookup-no-locality@warm", 2.4),
        ), "", "1992", scale=ROWS),
        PublishedTable("IV", "Huge remote database", "s", systems, (
            row("load", "load", "78000+"),
        ), "", "1992", scale=2_000_000),
    )  # fmt: skip
    citation = "R. G. G. Cattell, J. Skeen: Object Operations Benchmark, TODS 17(1), 1992"
    return json.loads(json.dumps(asdict(Published(citation, tables, {"INDEX": "B-trees"}))))


def make_oo1_run(edition: str = "1992", rows: int = ROWS) -> Run:
    """Every cell of it."""
    cells, results = [], []
    for temperature in ("warm", "cold"):
        for name, (_, times) in operations(edition).items():
            for variant in VARIANTS:
                if temperature == "cold" and (name not in COLD or variant == "null"):
                    continue
                gap = "it has no statements" if times[variant] is None else ""
                if temperature == "cold" and variant == "memory":
                    gap = "it keeps nothing on a disk"
                samples = 3 if temperature == "cold" else SAMPLES
                cell = Cell(name, variant, rows, temperature, samples, gap)
                cells.append(cell)
                results.append(_result(cell, times[variant]))
    return Run(
        run_id="0123456789ab",
        created_at="2026-11-21T13:15:02.114+00:00",
        loadstone_version="0.1.0",
        plan=Plan(benchmark="oo1", edition=edition, on=ON, rows=(rows,), repeat=SAMPLES,
                  repeat_cold=3, precision=0.0, variants=VARIANTS, cells=tuple(cells),
                  roles=ROLES),
        published=published(),
        presentation=Oo1Benchmark().presentation(),
        sessions=(Session(1, "2026-11-21T13:15:02.000+00:00", "loadstone run oo1"),),
        operations=tuple(
            OperationText(name, rows, place, name, group, "section 4",
                          "no-locality" if name.endswith(APART) else "oo1",
                          name.removesuffix(APART), "client", f"{name.removesuffix(APART)} 1")
            for place, (name, (group, _)) in enumerate(operations(edition).items())
        ),
        results=tuple(results),
        loads=tuple(
            Load(variant, rows, relation, design, 4 * rows, (place + 1) * 50_000_000, True)
            for relation, design in (("oo1", "oo1"), ("oo1-no-locality", "no-locality"))
            for place, variant in enumerate(VARIANTS)
            if edition == "1992" or design == "oo1"
        ),
        terms=(
            *(Term(variant, "client", None, client) for variant, client in CLIENTS.items()),
            Term("postgresql", "round_trip_ns", None, "9000"),
            Term("memory", "prefetch", None, "off"),
        ),
        structure_notes=(),
        sizes=tuple((variant, rows, 3_900_000 + place * 100_000)
                    for place, variant in enumerate(VARIANTS)),
        events=(),
    )  # fmt: skip


def _result(cell: Cell, each_us: float | None) -> CellResult:
    ended = "2026-11-21T13:15:40.000+00:00"
    if cell.gap or each_us is None:
        return CellResult(cell, "gap", cell.gap, ended)
    visits = VISITS if cell.operation == "reverse" else (3280,) * SAMPLES
    known = cell.operation in COLD and cell.variant != "null"
    samples = tuple(
        Sample(place, place % 2, place, 1_000_000_000 + place, _elapsed_ns(cell, each_us, place))
        for place in range(cell.samples)
    )
    if cell.operation == "insert" and cell.variant != "null":
        samples = tuple(replace(s, commit_ns=s.elapsed_ns * 3 // 5) for s in samples)
    samples = tuple(replace(s, **_counts(cell)) for s in samples)
    answers = tuple(
        AnswerCheck(s.ordinal, s.variation, visits[s.variation], "5e", visits[s.variation], "5e")
        for s in samples
    )
    evidence = tuple(
        ColdEvidence(
            *(s.ordinal, True, "", "cachestat", 2, 4_000_000, 977, 0, True),
            *(705, 0, 2_887_680, 83_737, 3_900_000),
        )
        for s in samples
    )
    cold = cell.temperature == "cold"
    return CellResult(
        cell, "ok", "", ended, samples, answers if known else (), evidence if cold else ()
    )


def _counts(cell: Cell) -> dict[str, int | None]:
    operation = cell.operation.removesuffix(APART)
    speaks = cell.variant in ("sqlite", "postgresql")
    sent = STATEMENTS.get(operation, 1_000) if speaks else None
    waits = sent if cell.variant == "postgresql" else None
    return {"calls": CALLS.get(operation, 1_000), "statements": sent, "round_trips": waits}


def _elapsed_ns(cell: Cell, each_us: float, place: int) -> int:
    """Of a reverse traversal as much for each visit, of the others a spread of a tenth."""
    cold = 4 if cell.temperature == "cold" else 1
    nominal_ns = each_us * 1000 * cold
    if cell.operation == "reverse" and cell.variant != "null":
        return round(nominal_ns * VISITS[place] / 3280)
    return round(nominal_ns * (1 + 0.01 * (place - 4.5)))
