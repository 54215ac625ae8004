"""The record's tables: every column with its allowed values. `docs/record.md` describes them; a
test compares the two."""

from loadstone.owner import OWNER
from loadstone.plan.statement_ladder import RUNGS, UNWATCHED, WATCHED
from loadstone.plan.study import DECISIONS
from loadstone.plan.workload import BASES
from loadstone.record.budget import SAMPLED
from loadstone.record.column import (
    Column,
    Table,
    blob,
    fact,
    figure,
    json_text,
    matching,
    name,
    one_of,
    real,
    text,
    whole,
)

APPLICATION_ID = 0x4C6F6164  # "Load": shows a record from any other SQLite file
SCHEMA_VERSION = 1
"""The first released Loadstone reads and writes this one; every later one must read it."""

STATUSES = ("ok", "failed", "gap", "disturbed", "invalid", "censored", "spared")

ID = whole(1, 2**53)
ORDINAL = whole(0, 10**9)
COUNT = whole(0, 10**15)
SCALE = whole(1, 10**12)
TRUTH = whole(0, 1)
NS = whole(0, 10**18)
"""Some 31 years."""
MEASURED_NS = whole(1, 10**18)
"""A time that figures are made of: a clock too coarse for it counts as 1 ns."""
SHARE = real(0, 1)

NAME = name(200)
VARIANT = name(4_000)
WORDS = text(2_000)
MESSAGE = text(1 << 16)
TEXT = text(1 << 20)
FACT = fact(1 << 16)
DIGEST = matching("[0-9a-f]{0,64}", "up to 64 hexadecimal digits")
AT = matching(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00|Z)", "a time in UTC as ISO 8601 has it"
)
STATUS = one_of(STATUSES)
PERCENTILES = json_text(1_000)
"""An object from a percentile to ns."""

SESSION = Column("session_id", ID, more="REFERENCES session")
CELL = Column("cell_id", ID, more="REFERENCES cell")
CHAPTER = Column("chapter", ORDINAL)
"""Of a run of several benchmarks: which of them, from 0. Rows of a session, and of a cell, belong
to that of their session."""


def _figure(column: str) -> Column:
    return Column(column, NS, null=True)


TABLES = (
    Table(
        "run",
        (
            Column("run_id", matching(OWNER.pattern, "1 to 32 digits and small letters")),
            Column("created_at", AT),
            Column("loadstone_version", name(100)),
            Column("plan_hash", matching("[0-9a-f]{12}", "12 hexadecimal digits")),
            Column("plan", json_text(1 << 25)),
            Column("published", json_text(1 << 22)),
            Column("presentation", json_text(1 << 20)),
            CHAPTER,
        ),
    ),
    Table(
        "session",
        (
            Column("session_id", ID, more="PRIMARY KEY"),
            Column("started_at", AT),
            Column("command", MESSAGE),
            CHAPTER,
        ),
    ),
    Table(
        "session_end",
        (
            SESSION,
            Column("ended_at", AT),
            Column("outcome", one_of(("complete", "interrupted", "failed"))),
            Column("elapsed_ns", NS),
        ),
    ),
    Table("machine", (SESSION, Column("key", NAME), Column("value", FACT, null=True)), strict=True),
    Table(
        "calibration",
        (SESSION, Column("key", NAME), Column("value", figure(), null=True)),
        strict=True,
    ),
    Table(
        "term",
        (
            SESSION,
            Column("variant", VARIANT),
            Column("key", NAME),
            Column("asked", MESSAGE, null=True),
            Column("read_back", MESSAGE, null=True),
        ),
    ),
    Table(
        "operation",
        (
            Column("name", NAME),
            Column("rows", SCALE),
            Column("ordinal", ORDINAL),
            Column("title", WORDS),
            Column("query_group", WORDS),
            Column("query", WORDS),
            Column("design", NAME),
            Column("storage", NAME),
            Column("destination", NAME),
            Column("quel", TEXT),
            CHAPTER,
        ),
    ),
    Table(
        "input",
        (
            Column("operation", NAME),
            Column("rows", SCALE),
            Column("variation", ORDINAL),
            Column("text", TEXT),
            CHAPTER,
        ),
    ),
    Table(
        "structure_note",
        (Column("variant", VARIANT), Column("storage", NAME), Column("note", MESSAGE), CHAPTER),
    ),
    Table(
        "load",
        (
            SESSION,
            Column("variant", VARIANT),
            Column("rows", SCALE),
            Column("relation", NAME),
            Column("design", NAME),
            Column("tuples", COUNT),
            Column("elapsed_ns", NS),
            Column("answer_ok", TRUTH),
        ),
    ),
    Table(
        "size",
        (SESSION, Column("variant", VARIANT), Column("rows", SCALE), Column("bytes", COUNT)),
    ),
    Table(
        "cell",
        (
            Column("cell_id", ID, more="PRIMARY KEY"),
            SESSION,
            Column("operation", NAME),
            Column("variant", VARIANT),
            Column("rows", SCALE),
            Column("temperature", NAME),
            Column("status", STATUS),
            Column("reason", MESSAGE),
            Column("ended_at", AT),
            Column("label", MESSAGE),
        ),
    ),
    Table(
        "sample",
        (
            CELL,
            Column("ordinal", ORDINAL),
            Column("round", ORDINAL),
            Column("variation", ORDINAL),
            Column("started_ns", NS),
            Column("elapsed_ns", MEASURED_NS),
            _figure("client_cpu_ns"),
            _figure("server_cpu_ns"),
            Column("read_bytes", COUNT, null=True),
            Column("written_bytes", COUNT, null=True),
            _figure("commit_ns"),
            Column("client_threads", COUNT, null=True),
            Column("server_threads", COUNT, null=True),
            Column("calls", COUNT, null=True),
            Column("statements", COUNT, null=True),
            Column("round_trips", COUNT, null=True),
            Column("tuples", COUNT, null=True),
            Column("pages", COUNT, null=True),
            Column("comparisons", COUNT, null=True),
            Column("hash_probes", COUNT, null=True),
            Column("spilled_bytes", COUNT, null=True),
            Column("log_bytes", COUNT, null=True),
            Column("batches_ahead", COUNT, null=True),
            Column("functions_compiled", COUNT, null=True),
            Column("code_bytes", COUNT, null=True),
            _figure("compile_ns"),
            Column("first_copy_reads", COUNT, null=True),
            Column("second_copy_reads", COUNT, null=True),
        ),
    ),
    Table(
        "answer",
        (
            CELL,
            Column("ordinal", ORDINAL),
            Column("variation", ORDINAL),
            Column("expected_rows", COUNT),
            Column("expected_checksum", DIGEST),
            Column("rows", COUNT),
            Column("checksum", DIGEST),
        ),
    ),
    Table(
        "agreement",
        (
            SESSION,
            Column("operation", NAME),
            Column("rows", SCALE),
            Column("basis", one_of(BASES)),
            Column("engines", WORDS),
            Column("words", MESSAGE),
            Column("answers", json_text(1 << 22)),
        ),
    ),
    Table(
        "evidence",
        (
            CELL,
            Column("ordinal", ORDINAL),
            Column("proved", TRUTH),
            Column("reason", MESSAGE),
            Column("method", NAME),
            Column("files", COUNT),
            Column("bytes", COUNT),
            Column("resident_before", COUNT, null=True),
            Column("resident_after", COUNT, null=True),
            Column("engine_dead", TRUTH),
            Column("resident_opened", COUNT, null=True),
            Column("resident_at_clock", COUNT, null=True),
            Column("opening_read_bytes", COUNT, null=True),
            Column("kept_bytes", COUNT, null=True),
            Column("data_bytes", COUNT, null=True),
        ),
    ),
    Table(
        "condition",
        (
            CELL,
            Column("stolen_share", SHARE, null=True),
            Column("foreign_share", SHARE, null=True),
            Column("speed_drift", real(-1, 1e9), null=True),
            Column("speed_probe_ns", real(1, 1e18), null=True),
        ),
    ),
    Table(
        "disturbance",
        (
            CELL,
            Column("worked_share", SHARE, null=True),
            Column("low_factor", SHARE),
            Column("high_factor", real(1, 1e12)),
        ),
    ),
    Table("bound", (CELL, Column("longer_than_ns", MEASURED_NS))),
    Table(
        "decision",
        (
            SESSION,
            Column("operation", NAME),
            Column("rows", SCALE),
            Column("kind", one_of(DECISIONS)),
            Column("tactics", json_text(1 << 16)),
            Column("blocks", ORDINAL),
            Column("reason", WORDS),
            Column("combinations", json_text(1 << 20)),
            Column("undone", TRUTH),
        ),
    ),
    Table(
        "statement",
        (
            CELL,
            Column("variation", ORDINAL),
            Column("text", TEXT),
            Column("plan", TEXT),
            Column("access", matching("[a-z,]{0,200}", "names joined by commas"), null=True),
        ),
    ),
    Table(
        "budget",
        (
            CELL,
            Column("sampled", one_of(SAMPLED)),
            Column("reason", MESSAGE),
            Column("period_ns", MEASURED_NS),
            Column("statements", COUNT),
            Column("elapsed_ns", NS),
            Column("reading_ns", NS),
            Column("lost", COUNT),
        ),
    ),
    Table(
        "budget_thread",
        (
            CELL,
            Column("server", TRUTH),
            Column("executing", TRUTH),
            Column("name", WORDS),
            Column("cpu_ns", NS),
            Column("waited_ns", NS, null=True),
        ),
    ),
    Table(
        "budget_part",
        (
            CELL,
            Column("server", TRUTH),
            Column("component", WORDS),
            Column("object", WORDS),
            Column("function", WORDS),
            Column("entry", WORDS),
            Column("samples", COUNT),
        ),
    ),
    Table(
        "budget_block",
        (
            CELL,
            Column("block", ORDINAL),
            Column("rung", one_of((*RUNGS, WATCHED, UNWATCHED))),
            Column("samples", whole(1, 10**9)),
            Column("elapsed_ns", MEASURED_NS),
        ),
    ),
    Table(
        "budget_rung",
        (
            CELL,
            Column("rung", one_of(RUNGS)),
            Column("text", TEXT),
            Column("plan", TEXT),
            Column("reason", MESSAGE),
        ),
    ),
    Table(
        "budget_timer",
        (
            CELL,
            Column("name", NAME),
            Column("executions", whole(1, 10**9)),
            Column("elapsed_ns", NS),
        ),
    ),
    Table(
        "users",
        (
            SESSION,
            Column("operation", NAME),
            Column("variant", VARIANT),
            Column("rows", SCALE),
            Column("client", NAME),
            Column("model", one_of(("closed", "open"))),
            Column("users", whole(1, 10**6)),
            Column("rate_per_s", real(0, 1e12), null=True),
            Column("elapsed_ns", NS),
            Column("completed", COUNT),
            Column("failed", COUNT),
            Column("late", COUNT),
            Column("skipped", COUNT),
            _figure("client_cpu_ns"),
            _figure("server_cpu_ns"),
            Column("latency_ns", PERCENTILES),
            Column("lag_ns", PERCENTILES),
            Column("service_ns", PERCENTILES),
            Column("histogram", blob(1 << 22)),
            Column("status", STATUS),
            Column("reason", MESSAGE),
            Column("beside", WORDS),
            Column("links_checked", COUNT, null=True),
            Column("compared", COUNT, null=True),
            Column("interval_ns", NS),
            Column("intervals", json_text(1 << 18)),
            Column("ramp", json_text(4_000)),
            Column("statements", json_text(1 << 22)),
        ),
    ),
    Table(
        "event",
        (
            SESSION,
            Column("at", AT),
            Column("kind", NAME),
            Column("variant", VARIANT),
            Column("message", MESSAGE),
        ),
    ),
    Table(
        "given_answer",
        (
            SESSION,
            Column("operation", NAME),
            Column("rows", SCALE),
            Column("variation", ORDINAL),
            Column("variant", VARIANT),
            Column("tuples", COUNT),
            Column("checksum", DIGEST),
            Column("kind", ORDINAL, null=True),
            Column("first_rows", json_text(1 << 14)),
        ),
    ),
)


def definitions() -> str:
    """The statements that make the tables."""
    return "".join(f"{table.sql};\n" for table in TABLES)


def table(name: str) -> Table:
    """One of ours, by name."""
    return next(table for table in TABLES if table.name == name)
