"""A made-up record with everything in it that a report must cope with. Deterministic."""

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadstone.benchmarks.base import Published, PublishedTable
from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.plan.plan import Cell, Plan
from loadstone.record import Recorder
from loadstone.record.model import (
    AnswerCheck,
    CellResult,
    ColdEvidence,
    Condition,
    Event,
    Load,
    OperationText,
    Run,
    Sample,
    Session,
    StatementText,
    Term,
)
from loadstone.record.users import UsersPoint

HOSTILE = "<script>alert('x')</script> & \"quoted\" | `code` [bold]x[/bold] \x1b[31m\n=1+1"
POSTGRESQL = "postgresql?parallelism=2"
COMPETITORS = ("sqlite", "duckdb", POSTGRESQL)
AA_CONTROL = "sqlite#2"
VARIANTS = ("sqlite", AA_CONTROL, "duckdb", POSTGRESQL, "null")
AA_OPERATIONS = ("select-1%-heap", "select-10%-heap", "joinAselB-heap", "min-scalar")
"""Those that the A/A control measures, too, warm at the first scale: the A/A noise."""

TABLE = """
select-1%-heap|1 %|Selections|heap|0.0006|1|1.4 1 2.1
select-10%-heap|10 %|Selections|heap|0.0009|1|1.9 1 1.8
select-1%-clustered|1 %, clustered index|Selections|clustered|5e-05|0.5|1 9 3
select-10%-clustered|10 %, clustered index|Selections|clustered|0.0004|0.9|1 3 2
select-1%-nonclustered|1 %, non-clustered index|Selections|nonclustered|0.0001|0.7|1 5 2
select-10%-nonclustered|10 %, non-clustered index|Selections|nonclustered|0.0009|0.9|1.3 1 1.6
select-1-clustered-client|one tuple to the client|Selections|clustered|4e-06|0.05|1 60 9
select-1%-clustered-client|1 % to the client|Selections|clustered|8e-05|0.8|1 4 1.5
select-1-hash-client|one tuple to the client, hash|Selections|hash|5e-06|0.02|1 50 8
joinAselB-heap|joinAselB|Joins, no index|heap|0.003|1.05|12 1 1.7
joinABprime-heap|joinABprime|Joins, no index|heap|0.0025|1|14 1 1.5
joinCselAselB-heap|joinCselAselB|Joins, no index|heap|0.0036|1|18 1 2
joinAselB-clustered|joinAselB|Joins, clustered index|clustered|0.0016|1|1 1.9 1.2
joinABprime-clustered|joinABprime|Joins, clustered index|clustered|0.0015|0.9|1 1.6 1.4
joinCselAselB-clustered|joinCselAselB|Joins, clustered index|clustered|0.002|1|1 1.7 1.6
joinAselB-nonclustered|joinAselB|Joins, non-clustered index|nonclustered|0.002|1|1.2 1.3 1
joinABprime-nonclustered|joinABprime|Joins, non-clustered index|nonclustered|0.0019|1|1.1 1.2 1
joinCselAselB-nonclustered|joinCselAselB|Joins, non-clustered index|nonclustered|0.0024|1|1.1 1.4 1
project-1%|1 % distinct|Projections|heap|0.0012|1|6 1 3
project-100%|100 % distinct|Projections|heap|0.01|1.1|5 1 4.2
min-scalar|MIN|Aggregates|heap|0.00015|0.9|3.2 1 6
min-100|MIN of 100 partitions|Aggregates|heap|0.0005|1|9 1 4
sum-100|SUM of 100 partitions|Aggregates|heap|0.0005|1|9.5 1 4.4
min-scalar-indexed|MIN, with indices|Aggregates|nonclustered|4e-06|0|1 40 10
append-1|append one|Updates, no index|heap|9e-05|0|1 12 2.2
delete-1|delete one|Updates, no index|heap|0.0004|1|1.1 2.6 1
modify-1-key|modify one, key|Updates, no index|heap|0.0004|1|1.1 2.8 1
append-1-indexed|append one|Updates, three indices|nonclustered|0.00011|0.02|1 11 2
delete-1-indexed|delete one|Updates, three indices|nonclustered|9e-05|0.02|1 15 2.4
modify-1-nonkey-indexed|modify one, non-key|Updates, three indices|nonclustered|0.0001|0.02|1 14 2.3
"""
"""name|title|group|storage|seconds at 10,000 tuples|exponent|times as long on each engine"""


def _operation(line: str) -> tuple:
    name, title, group, storage, base_s, exponent, factors = line.split("|")
    times = tuple(map(float, factors.split()))
    return name, title, group, storage, float(base_s), float(exponent), times


OPERATIONS = tuple(map(_operation, TABLE.split("\n")[1:-1]))

GAPS = {("duckdb", "hash"): "DuckDB has no hash organisation; its ART indexes are ordered"}
FAILED = {
    ("joinAselB-heap", "sqlite", 100_000, "warm"): "> 60 s",
    ("project-1%", POSTGRESQL, 10_000, "warm"): "wrong answer: 99 tuples, 100 expected",
    ("append-1", "duckdb", 10_000, "warm"): HOSTILE,
}
INVALID = {("min-scalar", POSTGRESQL, 10_000, "warm"): "the client was busy 97 % of the time"}
PENDING = {("modify-1-nonkey-indexed", POSTGRESQL, 100_000, "cold")}
OUTLIER = ("select-1%-heap", "duckdb", 10_000, "warm")
"""A cell whose third sample is nine times as long as it should be."""
UNPROVED = {("select-1%-heap", POSTGRESQL, 10_000, "cold"), ("min-100", "duckdb", 10_000, "cold")}


def published() -> dict[str, object]:
    """Three tables of 1983, as the benchmark keeps them."""
    systems = ("U-INGRES", "C-INGRES", "IDMnodac", "IDMdac")

    def row(label: str, operation: str | None, *values: float | str):
        return (label, operation, dict(zip(systems, values, strict=True)))

    tables = (
        PublishedTable("1", "Selections without index", "s", systems, (
            row("select 100", "select-1%-heap", 53.2, 38.4, 31.7, 21.6),
            row("select 1000", "select-10%-heap", 64.4, 53.9, 33.4, 23.6),
        ), scale=10_000),
        PublishedTable("2", "Selections with index", "s", systems, (
            row("select 100, clustered", "select-1%-clustered", 7.7, 3.9, 2.0, 1.5),
            row("select 1000, clustered", "select-10%-clustered", 27.8, 18.9, 9.9, 8.7),
            row("select 100, non-clustered", "select-1%-nonclustered", 59.2, 51.2, 3.8, 3.3),
            row("select 1000, non-clustered", "select-10%-nonclustered", 78.9, 60.8, 27.8, 23.7),
        ), scale=10_000),
        PublishedTable("4", "Joins without index", "s", systems, (
            row("joinAselB", "joinAselB-heap", 611, 109, "> 5 hours", "> 5 hours"),
            row("joinABprime", "joinABprime-heap", 581, 156, "> 5 hours", "> 5 hours"),
            row("joinCselAselB", "joinCselAselB-heap", 583, 127, "> 5 hours", "> 5 hours"),
        ), "The IDM used nested loops.", scale=10_000),
        PublishedTable("7", "Projections", "s", systems, (
            row("project 100/10000", "project-1%", 64.6, 26.4, 29.3, 22.3),
            row("project 1000/1000", None, 236.8, 132.0, 122.2, 68.1),
        ), scale=10_000),
    )  # fmt: skip
    systems_were = {
        "U-INGRES": "VAX 11/750, 4.1BSD, 2 MB, 1K pages, Fujitsu Eagle",
        "C-INGRES": "INGRES 2.0 on VAX 11/750 VMS 3, 6 MB, 2K pages",
        "IDMnodac": "IDM 500 release 25, 2 MB, CDC 875 MB disk, host PDP 11/70",
        "IDMdac": "the same with the database accelerator",
    }
    citation = "D. Bitton, D. J. DeWitt, C. Turbyfill, Benchmarking Database Systems, VLDB 1983"
    return json.loads(json.dumps(asdict(Published(citation, tables, systems_were))))


ALL = tuple(operation[0] for operation in OPERATIONS)
FEW = ("select-1%-heap", "select-1-hash-client", "joinAselB-heap", "project-1%")
"""Few operations that between them still gap, fail, go wrong and stay unproved."""


def make_run(operations=ALL, repeat: int = 10, scales=(10_000, 100_000)) -> Run:
    """The record of a run over these operations."""
    chosen = [operation for operation in OPERATIONS if operation[0] in operations]
    cells, results = [], []
    for rows in scales:
        for temperature in ("warm", "cold"):
            for operation in chosen:
                for variant in VARIANTS:
                    if variant == "null" and temperature == "cold":
                        continue
                    again = operation[0] in AA_OPERATIONS and temperature == "warm"
                    if variant == AA_CONTROL and not (again and rows == scales[0]):
                        continue
                    gap = GAPS.get((variant, operation[3]), "")
                    samples = 3 if temperature == "cold" else repeat
                    cell = Cell(operation[0], variant, rows, temperature, samples, gap)
                    cells.append(cell)
                    if cell.key not in {"|".join(map(str, key)) for key in PENDING}:
                        results.append(_result(cell, operation))
    plan = Plan(edition="1983", on=COMPETITORS, rows=tuple(scales), repeat=repeat, repeat_cold=3,
                precision=0.0, variants=VARIANTS, cells=tuple(cells),
                roles=((AA_CONTROL, "control"), ("null", "harness overhead")))  # fmt: skip
    return Run(
        run_id="0123456789ab",
        created_at="2026-11-21T13:15:02.114+00:00",
        loadstone_version="0.1.0",
        plan=plan,
        published=published(),
        presentation=WisconsinBenchmark().presentation(),
        sessions=_sessions(),
        operations=tuple(_text(o, i, rows) for rows in scales for i, o in enumerate(chosen)),
        results=tuple(results),
        loads=tuple(
            Load(variant, rows, "tenthoustup", "heap", rows, rows * 900 * (i + 1), True)
            for i, variant in enumerate(COMPETITORS)
            for rows in scales
        ),
        terms=_terms(),
        structure_notes=(
            ("sqlite", "clustered", "a WITHOUT ROWID table: the relation lies in its key's B-tree"),
            (
                AA_CONTROL,
                "clustered",
                "a WITHOUT ROWID table: the relation lies in its key's B-tree",
            ),
            (POSTGRESQL, "clustered", "CLUSTER orders the heap once; later changes are not kept"),
        ),
        sizes=tuple((v, rows, rows * 420) for v in COMPETITORS for rows in scales),
        events=(Event("2026-11-21T13:16:00.000+00:00", "worker died", "sqlite", HOSTILE),),
        users=_users(),
    )


def write_record(run: Run, path: Path) -> None:
    """Put a run into a record file, as if it had happened."""
    recorder = Recorder.create(
        path, run.plan, run.published, run.presentation, run.run_id, run.loadstone_version,
        "loadstone run",
    )  # fmt: skip
    recorder.machine(run.sessions[0].machine)
    recorder.calibration(run.sessions[0].calibration)
    recorder.operations(run.operations)
    recorder.terms(run.terms)
    recorder.structure_notes(run.structure_notes)
    for load in run.loads:
        recorder.load(load)
    for size in run.sizes:
        recorder.size(*size)
    for result in run.results:
        recorder.cell(result)
    for point in run.users:
        recorder.users(point)
    recorder.end("complete", 78_200_000_000)


def _result(cell: Cell, operation: tuple) -> CellResult:
    key = (cell.operation, cell.variant, cell.rows, cell.temperature)
    statements = _statements(cell, operation)
    ended = "2026-11-21T13:15:40.000+00:00"
    if cell.gap:
        return CellResult(cell, "gap", cell.gap, ended)
    if key in FAILED:
        wrong = (AnswerCheck(0, 0, 100, "abc", 99, "abd"),) if "wrong" in FAILED[key] else ()
        return CellResult(cell, "failed", FAILED[key], ended, (), wrong, (), statements)
    samples = tuple(_samples(cell, operation))
    answers = tuple(
        AnswerCheck(s.ordinal, s.variation, 100, "5e1f", 100, "5e1f")
        for s in samples
        if cell.variant != "null"
    )
    evidence = ()
    if cell.temperature == "cold":
        proved = key not in UNPROVED
        evidence = tuple(
            ColdEvidence(s.ordinal, proved, "" if proved else "3 pages stayed resident",
                         "cachestat", 2, 4_000_000, 977, 0 if proved else 3, True,
                         705, 0 if proved else 3, 2_887_680, 83_737, 3_900_000)
            for s in samples
        )  # fmt: skip
    status, reason = ("invalid", INVALID[key]) if key in INVALID else ("ok", "")
    speed_probe_ns = 400_000.0 + 50_000.0 * (len(cell.operation) % 3)
    condition = Condition(0.004, 0.03 if cell.rows == 10_000 else None, 0.012, speed_probe_ns)
    return CellResult(
        cell, status, reason, ended, samples, answers, evidence, statements, condition
    )


def _samples(cell: Cell, operation: tuple):
    dice = random.Random(cell.key)
    _, _, _, _, base_s, exponent, factors = operation
    base_ns = base_s * 1e9 * (cell.rows / 10_000) ** exponent
    if cell.variant == "null":
        base_ns = 900.0
    else:
        base_ns *= factors[COMPETITORS.index(cell.variant.removesuffix("#2"))]
        if cell.variant == "sqlite" and "join" in cell.operation and "heap" in cell.operation:
            base_ns *= (cell.rows / 10_000) ** 0.4
    if cell.temperature == "cold":
        base_ns = base_ns * 1.3 + 2.5e6
    for ordinal in range(cell.samples):
        elapsed = int(base_ns * dice.lognormvariate(0, 0.06) * (1.5 if dice.random() < 0.03 else 1))
        if (cell.operation, cell.variant, cell.rows, cell.temperature, ordinal) == (*OUTLIER, 2):
            elapsed *= 9
        server = cell.variant == POSTGRESQL
        yield Sample(
            ordinal=ordinal,
            round=ordinal * 2 // cell.samples,
            variation=ordinal % 10,
            started_ns=1_000_000_000 + ordinal * 10_000_000,
            elapsed_ns=elapsed,
            client_cpu_ns=int(elapsed * (0.12 if server else 0.97)),
            server_cpu_ns=int(elapsed * 0.8) if server else None,
            read_bytes=1_900_544 if cell.temperature == "cold" else 0,
            written_bytes=8192 if "append" in cell.operation else 0,
        )


def _statements(cell: Cell, operation: tuple) -> tuple[StatementText, ...]:
    if cell.variant == "null":
        return ()
    table = f"tenthoustup_{operation[3]}_{cell.rows}"
    text = f'INSERT INTO "tmp" SELECT * FROM "{table}" WHERE "unique2" BETWEEN 0 AND 99'
    plan = "\n".join(
        ("┌───────────────────────────┐", "│      INSERT (100 rows)    │",
         "│   SEQ_SCAN tenthoustup    │", "│ unique2>=0 AND unique2<=99│",
         "└───────────────────────────┘", HOSTILE)
    )  # fmt: skip
    return (StatementText(0, text, plan), StatementText(1, text.replace("99", "199"), plan))


def _text(operation: tuple, ordinal: int, rows: int) -> OperationText:
    name, title, group, storage, *_ = operation
    destination = "client" if name.endswith("client") else "relation"
    if "Updates" in group:
        destination = "update"
    quel = "range of t is tenthoustup\nretrieve into tmp (t.all)\n  where t.unique2 < 100"
    return OperationText(name, rows, ordinal, title, group, f"Q{ordinal + 1}", storage, storage,
                         destination, quel)  # fmt: skip


def _terms() -> tuple[Term, ...]:
    table = {
        "version": ("3.54.1", "2.0.0", "18.6"),
        "durability": ("full", "full", "full"),
        "isolation": ("serializable", "snapshot", "read committed"),
        "cache_bytes": ("67108864", "67108864", "67108864"),
        "parallelism": ("1", "1", "2"),
        "setting.journal_mode": ("wal", "-", "-"),
        "setting.jit": ("-", "-", HOSTILE),
    }
    asked = {"durability": "full", "cache_bytes": "67108864"}
    return tuple(
        Term(name, key, asked.get(key), value)
        for key, values in table.items()
        for variant, value in zip(COMPETITORS, values, strict=True)
        for name in ((variant, AA_CONTROL) if variant == "sqlite" else (variant,))
        if value != "-"
    )


def _users() -> tuple[UsersPoint, ...]:
    """A closed and an open loop; the open one's engine paused, and its queue is the tail."""

    def spread(*values: int) -> dict[str, int]:
        return dict(zip(("50", "90", "99", "99.9", "99.99", "max"), values, strict=True))

    calm = spread(41_000, 60_000, 95_000, 310_000, 900_000, 1_200_000)
    paused = spread(43_000, 70_000, 31_000_000, 39_000_000, 40_000_000, 40_100_000)
    lag = spread(1_000, 2_000, 30_000_000, 38_000_000, 39_000_000, 39_100_000)
    shared: dict[str, Any] = {
        "operation": "select-1-hash-client", "variant": POSTGRESQL, "rows": 10_000, "users": 4,
        "elapsed_ns": 2_000_000_000, "histogram": b"HdrHistogram",
    }  # fmt: skip
    return (
        UsersPoint(**shared, model="closed", rate_per_s=None, completed=96_000,
                   client_cpu_ns=1_500_000_000, server_cpu_ns=2_400_000_000, latency_ns=calm,
                   lag_ns=spread(*[0] * 6), service_ns=calm),
        UsersPoint(**shared, model="open", rate_per_s=4_000.0, completed=7_900, late=140,
                   skipped=100, client_cpu_ns=400_000_000, server_cpu_ns=600_000_000,
                   latency_ns=paused, lag_ns=lag, service_ns=calm, status="invalid",
                   reason=HOSTILE),
    )  # fmt: skip


def _calibration(**figures: float | None) -> dict[str, float | None]:
    """A session's measurements of the instrument; `figures` replace some."""
    measured = {
        "clock.resolution_ns": 20.0,
        "clock.cost_ns": 24.1,
        "overhead.statement_ns": 212.0,
        "overhead.statement_observed_ns": 238.0,
        "observer.counters_ns": 14_200.0,
        "fixed.asked_ns": 1e6,
        "fixed.measured_ns": 1_000_310.0,
        "fixed.measured_ns_max": 1_041_000.0,
        "stalling.pause_ns": 40e6,
        "stalling.open_latency_ns_p99": 38.2e6,
        "stalling.service_ns_p99": 1_310.0,
        "stalling.open_latency_ns_max": 40.1e6,
        "wake_up.round_trip_idle_ns": 63_000.0,
        "wake_up.round_trip_held_ns": 18_100.0,
        "spin_of_200000.ns": 96_000.0,
    }
    return measured | {key.replace("__", "."): value for key, value in figures.items()}


def _sessions() -> tuple[Session, ...]:
    machine = {
        "cpu.model": "AMD EPYC 9B45",
        "cpu.count": 2,
        "memory.total_bytes": 25_769_803_776,
        "os.name": "Debian GNU/Linux 12 (bookworm)",
        "kernel.release": "6.18.5",
        "cpu.governor": None,
        "clock.resolution_ns": 1,
        "clock.cost_ns": 24.1,
        "idle_states.held": 1,
        "idle_states.reason": "",
        "disk.scheduler": HOSTILE,
    }
    return (
        Session(1, "2026-11-21T13:15:02.000+00:00", "loadstone run wisconsin --on sqlite",
                None, None, None, machine, _calibration()),
        Session(2, "2026-11-21T13:17:40.000+00:00", "loadstone run --resume runs/a.loadstone",
                "2026-11-21T13:18:20.000+00:00", "complete", 78_200_000_000, machine,
                _calibration(wake_up__round_trip_held_ns=None)),
    )  # fmt: skip
