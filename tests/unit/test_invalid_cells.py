"""The limits that make a cell invalid: on both sides of each, and as docs/reference/method.md
states them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from report_fixture import make_run

from loadstone.analysis.advice import advice
from loadstone.analysis.compare.unjudged import judged
from loadstone.plan.plan import Cell
from loadstone.plan.role import Role
from loadstone.plan.variant import has_share
from loadstone.record.model import CellResult, ColdEvidence, Condition, Sample
from loadstone.statistics import validity
from loadstone.statistics.disturbance import PRINTED_SPAN_MAX, SPAN_MAX

CALM = Condition(0.01, 0.02, 0.03)


def samples(*elapsed_ns: int) -> list[Sample]:
    return [Sample(i, 0, i % 10, i, elapsed) for i, elapsed in enumerate(elapsed_ns)]


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (CALM, ""),
        (Condition(None, None, None), ""),
        (Condition(0.05, 0.20, 0.15), ""),
        (Condition(0.06, 0.0, 0.0), "the hypervisor took 6%"),
        (Condition(0.0, 0.21, 0.0), "other programs took 21%"),
        (Condition(0.0, 0.0, 0.16), "16% slower"),
        (Condition(0.0, 0.0, -0.2), "20% faster"),
        (
            Condition(0.0, 0.88, 0.865),
            "other programs took 88% of the processors' time; the processor ran 86% slower",
        ),
        (
            Condition(0.1, 0.3, -0.2),
            "the hypervisor took 10% of the processors' time; other programs",
        ),
        (Condition(0.1, 0.3, -0.2), "; the processor ran 20% faster"),
    ],
)
def test_the_machine_disturbs_what_was_measured_on_it(condition, words):
    reason = validity.of_machine(condition)
    assert words in reason
    assert bool(reason) == bool(words)


@pytest.mark.parametrize(
    ("elapsed_ns", "work", "words"),
    [
        (95_000, {"client_cpu_ns": 307_000, "client_threads": 1}, "client's 1 thread(s)"),
        (95_000, {"client_cpu_ns": 307_000, "client_threads": 4}, ""),
        (95_000, {"client_cpu_ns": 100_000, "client_threads": 1}, ""),
        (95_000, {"client_cpu_ns": None, "client_threads": 1}, ""),
        (95_000, {"client_cpu_ns": 307_000, "client_threads": None}, ""),
        (10**9, {"server_cpu_ns": 3 * 10**9, "server_threads": 2}, "server's 2 thread(s)"),
        (10**9, {"server_cpu_ns": 2 * 10**9, "server_threads": 2}, ""),
    ],
)
def test_more_cpu_time_than_threads_had_contradicts_the_instrument(elapsed_ns, work, words):
    """The work was counted outside of the time that was measured: an insert once had its checking
    counted."""
    reason = validity.of_work([*samples(elapsed_ns), Sample(1, 0, 1, 0, elapsed_ns, **work)])
    assert words in reason
    assert bool(reason) == bool(words)
    assert not reason or advice(reason)


def test_the_counters_cost_on_a_busy_machine_is_no_contradiction():
    """Reading them takes 20 us on an idle machine, and 80 us where others fill the caches."""
    counted = [Sample(0, 0, 0, 0, 107_000, client_cpu_ns=150_000, client_threads=1)]
    overhead = [Sample(0, 0, 0, 0, 240, client_cpu_ns=60_000, client_threads=1)]
    assert validity.of_work(counted)
    assert not validity.of_work(counted, overhead)
    far = [Sample(0, 0, 0, 0, 107_000, client_cpu_ns=190_000, client_threads=1)]
    assert validity.of_work(far, overhead)


def test_an_interrupt_in_one_sample_of_many_is_no_contradiction():
    """Between the clock and the counters: of 64 samples of 30 us one counted 56 us."""
    right = [Sample(n, 0, 0, 0, 30_000, client_cpu_ns=31_000, client_threads=1) for n in range(64)]
    interrupted = Sample(64, 0, 0, 0, 30_000, client_cpu_ns=56_000, client_threads=1)
    assert not validity.of_work([*right, interrupted])
    assert validity.of_work([*right[:8], interrupted, interrupted])


def test_one_interrupted_sample_of_a_few_is_no_contradiction():
    """Six samples of 23 to 34 us, one of which counted 200 us of two threads, by its own record:
    such a cell was called a defect of the instrument. One of two still is."""
    right = [Sample(n, 0, 0, 0, 23_000, client_cpu_ns=28_000, client_threads=2) for n in range(5)]
    odd = Sample(5, 0, 0, 0, 34_399, client_cpu_ns=200_349, client_threads=2)
    assert not validity.of_work([*right, odd])
    assert not validity.of_work([*right[:2], odd])
    assert validity.of_work([right[0], odd])
    assert validity.of_work([odd])
    assert validity.of_work([*right, odd, odd])


def test_a_cell_near_the_overhead_or_the_clock_is_too_short():
    assert not validity.of_instrument(samples(1000, 1000), samples(500, 500), 50)
    assert "harness alone takes 51%" in validity.of_instrument(samples(1000), samples(510), 50)
    assert "clock" in validity.of_instrument(samples(400, 400, 400), [], 50)
    assert not validity.of_instrument(samples(500), [], 50)


def test_the_harness_is_a_part_of_the_limit_and_the_clock_is_not():
    """Plain structures are nine tenths loops where a program walks them, and still the limit."""
    near = (samples(1000, 1000), samples(900, 900), 50)
    assert not validity.of_instrument(*near, Role.LIMIT)
    for role in set(Role) - {Role.LIMIT}:
        assert "harness alone takes 90%" in validity.of_instrument(*near, role)
    assert "clock" in validity.of_instrument(samples(400), samples(300), 50, Role.LIMIT)


@pytest.mark.parametrize(
    ("variant", "median_ns", "refused"),
    [
        ("sqlite?processor=60", 99_000_000, True),
        ("sqlite?processor=60#2", 99_000_000, True),
        ("sqlite?processor=60", 100_000_000, False),
        ("sqlite?processor=all", 300_000, False),
        ("sqlite?cache=60", 300_000, False),
        ("sqlite", 300_000, False),
    ],
)
def test_a_statement_below_the_kernels_stops_does_not_feel_a_share(variant, median_ns, refused):
    reason = validity.of_share(samples(1, median_ns, 10**9), limited=has_share(variant))
    assert bool(reason) is refused
    assert not refused or "choose a larger --rows" in advice(reason)


def test_a_share_in_a_run_without_limits_is_judged_when_compared():
    cell = Cell("scan", "sqlite?processor=60", 1000, "warm", 3)
    result = CellResult(cell, "ok", "", "", tuple(samples(300_000, 310_000, 305_000)))
    run = make_run()
    bare = replace(run, plan=replace(run.plan, limits=False), results=(result,))
    (found,) = judged(bare).results
    assert found.status == "invalid"
    assert "share of a processor" in found.reason


def test_an_a_a_pair_is_refused_only_beyond_noise():
    first = samples(*[1000 + 7 * (i % 5) for i in range(12)])
    apart = samples(*[1200 + 7 * (i % 5) for i in range(12)])
    near = samples(*[1050 + 7 * (i % 5) for i in range(12)])
    wild = samples(*[1000 * (3 if i % 2 else 1) for i in range(12)])
    assert "differs by 20%" in validity.of_aa_control(validity.aa_factor(first, apart))
    assert validity.aa_factor(apart, first) == pytest.approx(1.2, abs=0.01)
    assert validity.aa_factor(first, near) == 1, "a difference of 5 %"
    assert validity.aa_factor(first, wild) == 1, "an interval that holds 1"
    assert validity.aa_factor(first, samples()) == 1, "nothing in common"
    assert not validity.of_aa_control(1.0)


def test_of_too_few_pairs_for_an_interval_every_one_must_lie_apart():
    first = samples(1000, 1010, 990)
    assert validity.aa_factor(first, samples(2000, 2100, 1900)) == pytest.approx(2, abs=0.1)
    assert validity.aa_factor(first, samples(2000, 2100, 1000)) == 1
    assert validity.aa_factor(first[:2], samples(2000, 2100)) == 1


def test_every_reason_says_what_to_do():
    busy = [Condition(0.5, 0.0, 0.0), Condition(0.0, 0.5, 0.0), Condition(0.0, 0.0, 0.5)]
    reasons = [
        *map(validity.of_machine, busy),
        validity.of_instrument(samples(1000), samples(510), 50),
        validity.of_instrument(samples(400), [], 50),
        validity.of_aa_control(1.5),
        validity.of_client(0.99),
    ]
    assert all(map(advice, reasons))
    assert not advice("the dog ate it")


@pytest.mark.parametrize(
    ("status", "proofs", "shown"),
    [
        ("ok", (True, True), "cold"),
        ("ok", (True, False), "unproved"),
        ("invalid", (True, True), "cold"),
        ("disturbed", (True, True), "cold"),
        ("disturbed", (True, False), "unproved"),
        ("invalid", (True, False), "unproved"),
        ("invalid", (True,), "unproved"),
        ("invalid", (), "unproved"),
        ("failed", (), "cold"),
        ("gap", (), "cold"),
    ],
)
def test_an_invalid_cell_is_called_cold_only_with_proof(status, proofs, shown):
    cell = Cell("min-heap", "sqlite", 1000, "cold", 2)
    measured = status in ("ok", "disturbed", "invalid")
    samples = tuple(Sample(i, 0, i, 0, 1000) for i in range(2)) if measured else ()
    evidence = tuple(
        ColdEvidence(i, proved, "", "mincore", 1, 1, 1, 0, True, resident_at_clock=0)
        for i, proved in enumerate(proofs)
    )
    result = CellResult(cell, status, "", "", samples, evidence=evidence)
    assert result.temperature_shown == shown


def test_the_document_states_the_limits():
    text = (Path(__file__).parents[2] / "docs/reference/method.md").read_text(encoding="utf-8")
    table = text.partition("| limit | beyond it |")[2].partition("\n\n")[0]
    stated = [int(figure) / 100 for figure in re.findall(r"(\d+) %", table)]
    assert f"beyond {validity.AA_RATIO_BELIEVED:g} times invalid" in table
    assert f"below {validity.SHARE_NS_MIN / 1e9:g} s" in table
    assert f"over {SPAN_MAX:g} times the lower" in table
    assert f"over {PRINTED_SPAN_MAX:g} times its lower" in table
    assert stated == [
        validity.STOLEN_SHARE_MAX,
        validity.FOREIGN_SHARE_MAX,
        validity.SPEED_DRIFT_MAX,
        validity.OVERHEAD_SHARE_MAX,
        validity.WORK_SHARE_SLACK,
        validity.CLOCK_SHARE_MAX,
        pytest.approx(validity.AA_RATIO_MAX - 1),
    ]
