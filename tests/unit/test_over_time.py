"""Loops over time: what ends in an interval stands there, and a ramp is called broken only where
each later step shows it."""

import dataclasses
from itertools import pairwise

import pytest
from report_fixture import make_run
from test_report_users import CLOSED, POINT

from loadstone.analysis.over_time import BEHIND, KEPT_UP, UNDECIDED, loops_over_time, ramp_verdict
from loadstone.analysis.user_points import users_tables
from loadstone.errors import InputError
from loadstone.plan.choices import RAMP_STEPS, ramp_rates
from loadstone.protocol.parts import Loop
from loadstone.record.model import Run
from loadstone.record.users import UsersPoint
from loadstone.worker.due_times import due_times, interval_of

SECOND_NS = 1_000_000_000
RATES = ramp_rates("100..1000")


def ramp(*shares: float, status: str = "ok", users: int = 8) -> UsersPoint:
    """A ramp of steps of a second, of which each has this share of its requests answered."""
    intervals = tuple(
        (round(rate / 10 * share), 0, 1_000, 2_000, 3_000)
        for rate, share in zip(RATES, shares, strict=True)
        for _ in range(10)
    )
    return dataclasses.replace(
        POINT, status=status, users=users, ramp=RATES, rate_per_s=None, interval_ns=SECOND_NS // 10,
        intervals=intervals, completed=sum(each[0] for each in intervals),
    )  # fmt: skip


def ramped() -> Run:
    run = make_run()
    plan = dataclasses.replace(run.plan, loop_s=1.0)
    return dataclasses.replace(run, plan=plan, users=(ramp(*[1.0] * 7, *[0.7] * 3),))


def test_a_ramp_fell_behind_where_every_later_step_did() -> None:
    found = ramp_verdict(ramp(*[1.0] * 7, *[0.7] * 3), 1.0)
    assert (found.verdict, found.kept_per_s, found.behind_per_s) == (BEHIND, 700.0, 800.0)
    assert found.words == (
        "fell behind at 800/s: 560/s were answered, and fewer than came in each of the 3 steps from"
        " there on"
    )


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([1.0] * 10, KEPT_UP),
        # Chance: a thousand requests vary by thirty, and each user has one at work.
        ([1.0] * 8 + [0.9, 0.9], KEPT_UP),
        ([1.0] * 9 + [0.5], UNDECIDED),
        ([1.0] * 5 + [0.5] + [1.0] * 4, UNDECIDED),
        ([1.0] * 5 + [0.5] * 3 + [1.0, 0.5], UNDECIDED),
        ([0.1] * 10, BEHIND),
    ],
)
def test_no_breaking_point_is_named_without_evidence(shares, verdict) -> None:
    found = ramp_verdict(ramp(*shares), 1.0)
    assert found.verdict == verdict
    assert (found.behind_per_s is not None) == (verdict == BEHIND)


def test_a_disturbed_ramp_says_nothing_of_the_engine() -> None:
    found = ramp_verdict(ramp(*[0.1] * 10, status="disturbed"), 1.0)
    assert (found.verdict, found.behind_per_s) == (UNDECIDED, None)


def test_whole_intervals_alone_count_and_an_empty_one_is_a_pause() -> None:
    intervals = ((5, 0, 10, 10, 10), (0, 0, 0, 0, 0), (7, 1, 10, 10, 90), (1, 0, 10, 10, 10))
    point = dataclasses.replace(CLOSED, interval_ns=SECOND_NS // 2, intervals=intervals)
    run = make_run()
    plan = dataclasses.replace(run.plan, loop_s=1.9)
    (loop,) = loops_over_time(dataclasses.replace(run, plan=plan, users=(point,)))
    assert [moment.per_s for moment in loop.moments] == [10.0, 0.0, 14.0]
    assert loop.moments[1].max_ns is None
    assert (loop.slowest.end_s, loop.median_per_s) == (1.0, 10.0)


def test_an_older_record_has_no_intervals() -> None:
    run = make_run()
    assert loops_over_time(dataclasses.replace(run, users=(CLOSED,))) == ()


def test_reports_say_what_a_ramp_shows_and_what_was_not_compared() -> None:
    point = dataclasses.replace(ramp(*[1.0] * 10), compared=100)
    run = dataclasses.replace(ramped(), users=(point,))
    (table,) = users_tables(run)
    assert table.remarks == (
        "ramp of look on sqlite, 8 users: kept up to 1,000/s",
        "look on sqlite, 8 users, open loop: 100 of 5,500 answers were compared",
    )
    assert dict(zip(table.headings, table.rows[0].texts, strict=True))["requests/s"] == (
        "100 to 1,000"
    )


def test_a_ramp_has_ten_rates_from_the_first_to_the_last() -> None:
    assert len(RATES) == RAMP_STEPS
    assert (RATES[0], RATES[-1]) == (100.0, 1000.0)
    assert {round(b - a, 6) for a, b in pairwise(RATES)} == {100.0}


@pytest.mark.parametrize("text", ["", "100", "100..", "9..1", "0..5", "1..1e9", "1..2..3", "a..b"])
def test_what_does_not_rise_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        ramp_rates(text)
    assert "100..1000" in refused.value.hint


def test_each_step_has_its_rate_and_its_share_of_intervals() -> None:
    loop = Loop("open", 4, 10 * SECOND_NS, seed=3, ramp=RATES)
    due = due_times(loop)
    assert due == sorted(due)
    for step, rate in enumerate(RATES):
        count = sum(step * SECOND_NS <= at < (step + 1) * SECOND_NS for at in due)
        assert abs(count - rate) < 5 * rate**0.5
    assert SECOND_NS % interval_of(loop) == 0
    assert interval_of(Loop("closed", 1, 60 * SECOND_NS, seed=1)) == SECOND_NS
    assert interval_of(Loop("closed", 1, 2 * SECOND_NS, seed=1)) == SECOND_NS // 10
    assert interval_of(Loop("closed", 1, SECOND_NS // 10, seed=1)) == SECOND_NS // 100
