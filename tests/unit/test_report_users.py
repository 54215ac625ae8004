"""Concurrent users in reports: every percentile says of which loop it is; nothing is invented."""

import dataclasses
import io

import pytest
from report_fixture import make_run
from rich.console import Console

from loadstone.analysis.user_points import (
    ABSENT,
    limit_per_s,
    processors_of,
    throughput_per_s,
    users_curves,
    users_tables,
)
from loadstone.record.model import Run
from loadstone.record.users import UsersPoint
from loadstone.report.terminal_users import LEFT_OUT, concurrent_users
from loadstone.text.numbers import digits

POINT = UsersPoint(
    operation="look",
    variant="sqlite",
    rows=1000,
    client="python",
    model="open",
    users=8,
    rate_per_s=300.0,
    elapsed_ns=2_000_000_000,
    completed=599,
    failed=0,
    late=7,
    skipped=1,
    client_cpu_ns=None,
    server_cpu_ns=None,
    latency_ns={
        "50": 1_000_000,
        "90": 3_000_000,
        "99": 50_000_000,
        "99.9": 55_000_000,
        "max": 60_000_000,
    },
    lag_ns={"50": 2_000, "99": 49_000_000, "max": 59_000_000},
    service_ns={"50": 9_000, "99": 10_000, "max": 50_000_000},
    histogram=b"",
    status="ok",
    reason="",
)
CLOSED = dataclasses.replace(POINT, model="closed", rate_per_s=None, lag_ns={}, late=0, skipped=0)


def run_of(*points: UsersPoint) -> Run:
    return dataclasses.replace(make_run(), users=points)


def as_dict(table, number=0):
    return dict(zip(table.headings, table.rows[number].texts, strict=True))


def shown(run: Run, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    for part in concurrent_users(run):
        console.print(part)
    return console.file.getvalue()


def test_each_loop_model_has_a_table_and_every_percentile_names_it():
    closed, opened = users_tables(run_of(POINT, CLOSED))
    assert as_dict(opened) == {
        "operation": "look", "variant": "sqlite", "users": "8", "status": "ok", "requests/s": "300",
        "answered/s": "300", "open p50": "1.00 ms", "open p90": "3.00 ms", "open p99": "50.0 ms",
        "open p99.9": "55.0 ms", "open p99.99": ABSENT, "open max": "60.0 ms",
        "open lag p99": "49.0 ms", "late": "7", "skipped": "1",
    }  # fmt: skip
    assert list(as_dict(closed)) == [
        "operation", "variant", "users", "status", "answered/s", "limit/s",
        "closed p50", "closed p90", "closed p99", "closed p99.9", "closed p99.99", "closed max",
    ]  # fmt: skip
    assert "python" in closed.title
    assert opened.rows[0].point is POINT


def test_the_limit_is_what_all_processors_could_answer():
    """599 requests took 0.4 s of processor time: two processors could answer 2,995 in a second."""
    worked = dataclasses.replace(CLOSED, client_cpu_ns=300_000_000, server_cpu_ns=100_000_000)
    assert limit_per_s(worked, 2) == 2_995
    alone = dataclasses.replace(worked, server_cpu_ns=None)
    assert round(limit_per_s(alone, 1), 6) == round(599 / 0.3, 6)
    assert limit_per_s(CLOSED, 2) is limit_per_s(worked, None) is None
    in_a_file = dataclasses.replace(alone, variant="sqlite:///home/alice/app.db?cache=8")
    assert limit_per_s(in_a_file, 1) == limit_per_s(alone, 1)
    elsewhere = dataclasses.replace(alone, variant="postgresql://db.example/app")
    assert limit_per_s(elsewhere, 1) is None, "the server's own time is not known"
    run = run_of(worked)
    allowed = processors_of(run)
    assert allowed == run.sessions[-1].machine["cpu.count"]
    (table,) = users_tables(run)
    assert as_dict(table)["limit/s"] == digits(limit_per_s(worked, allowed))


def test_a_curve_has_the_believed_loops_of_one_operation_by_users():
    def loop(users, completed, **changes):
        return dataclasses.replace(CLOSED, users=users, completed=completed, **changes)

    loops = [
        loop(8, 500, client_cpu_ns=1_000_000_000), loop(1, 200), loop(4, 900, status="disturbed"),
        loop(2, 400), loop(2, 9_000, beside="2 users on insert"), POINT, loop(3, 0),
        loop(1, 100, variant="duckdb"),
    ]  # fmt: skip
    (curve,) = users_curves(run_of(*loops))
    assert curve.points == ((1, 100.0), (2, 200.0), (8, 250.0))
    assert curve.gain == 2.5
    assert curve.limit == limit_per_s(loops[0], processors_of(run_of()))


def test_no_users_no_table():
    assert users_tables(run_of()) == ()
    assert shown(run_of()) == ""


def test_a_loop_without_times_says_why():
    failed = dataclasses.replace(
        CLOSED, status="failed", reason="> 60 s", completed=0, elapsed_ns=0, latency_ns={}
    )
    (table,) = users_tables(run_of(CLOSED, failed))
    assert as_dict(table, 1)["answered/s"] == as_dict(table, 1)["closed p50"] == ABSENT
    assert table.notes == ("look on sqlite, 8 users, closed loop: failed: > 60 s",)
    assert throughput_per_s(failed) is None
    assert throughput_per_s(dataclasses.replace(CLOSED, elapsed_ns=0)) is None
    assert "closed loop: failed: > 60 s" in shown(run_of(CLOSED, failed))


def test_equal_reasons_are_reported_once_on_the_screen():
    def loop(share):
        return dataclasses.replace(POINT, status="invalid", reason=f"others took {share}%")

    text = shown(run_of(loop(31), loop(44)))
    assert "2 loops invalid: others took 31 to 44%" in text


def test_several_scales_have_a_column():
    larger = dataclasses.replace(POINT, rows=50_000)
    (table,) = users_tables(run_of(POINT, larger))
    assert [row.texts[:3] for row in table.rows] == [
        ("look", "sqlite", "1,000"), ("look", "sqlite", "50,000"),
    ]  # fmt: skip
    assert table.headings[: table.names] == ("operation", "variant", "tuples")


def test_the_screen_has_both_tables_and_no_hostile_character():
    text = shown(run_of(CLOSED, dataclasses.replace(POINT, variant="a\x1b[31m")))
    words = " ".join(text.split())
    assert "closed p99" in words
    assert "open p99" in words
    assert "skipped" in words
    assert "\x1b" not in text


def test_a_narrow_screen_keeps_its_columns_whole():
    text = shown(run_of(CLOSED, POINT), width=80)
    for heading in ("answered/s", "open p50", "p99.99", "skipped"):
        assert heading in text


def test_a_narrow_screen_does_not_break_an_engines_name():
    long = dataclasses.replace(POINT, variant="postgresql", latency_ns=POINT.latency_ns | {
        "99.9": 1_105_000_000, "99.99": 2_104_000_000})  # fmt: skip
    assert "postgresql " in shown(run_of(long, POINT), width=80)


def test_the_name_of_an_operation_is_whole_on_a_terminal_of_80_columns():
    name = "oltp_update_non_index"
    long = (dataclasses.replace(each, operation=name) for each in (CLOSED, POINT))
    lines = shown(run_of(*long), width=80).splitlines()
    assert [line.strip() for line in lines].count(name) == 2
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
def test_no_figure_is_cut_however_narrow_the_screen(width: int) -> None:
    busy = dataclasses.replace(
        CLOSED, completed=490_920, client_cpu_ns=1_500_000_000, variant="sqlite?cache=64MiB"
    )
    queued = dataclasses.replace(
        busy, model="open", rate_per_s=345_600.0, late=123_456, skipped=234_567, lag_ns=POINT.lag_ns
    )
    run = run_of(busy, dataclasses.replace(busy, users=1, variant="duckdb"), queued)
    text = shown(run, width)
    for table in users_tables(run):
        for heading, figure in as_dict(table).items():
            if heading in ("variant", "operation") or heading.endswith(LEFT_OUT):
                continue
            assert {*figure.split()} <= {*text.split()}, (heading, text)
    assert all(len(line) <= width for line in text.splitlines())
