"""Disturbed cells: the interval holds the time that an idle machine would have needed, and no
comparison says more than that interval allows. The truth is known: it is made up here."""

import random
from dataclasses import replace

import pytest
from compared_runs import SQLITE, altered, calm_run
from report_fixture import write_record

from loadstone._core import interval_of_median
from loadstone.analysis.compare.cells import SAME, SLOWER
from loadstone.analysis.compare.compare import compare
from loadstone.analysis.measured import Source
from loadstone.analysis.summary import summarise
from loadstone.errors import RecordError
from loadstone.plan.variant import parallelism_of
from loadstone.record import read
from loadstone.record.model import Condition, Disturbance, Sample
from loadstone.statistics import validity
from loadstone.statistics.disturbance import (
    CROWDED,
    UNDISTURBED,
    disturbance,
    interval,
    ratio_between,
    span,
)
from loadstone.statistics.estimate import Estimate

BUSY = Condition(0.0, 0.6, 0.0)
TRUE_NS = 1_000_000.0


def disturbed(dice, count=12, waits=0.8, computed=0.97, drift=0.0, crowded=0.0):
    """Samples of an engine whose time is known, on a machine where others make it wait."""
    for ordinal in range(count):
        alone_ns = TRUE_NS * dice.lognormvariate(0, 0.02) * (1 + drift) * (1 + crowded)
        waited_ns = alone_ns * waits * dice.random()
        yield Sample(ordinal, 0, ordinal % 10, ordinal, int(alone_ns + waited_ns),
                     client_cpu_ns=int(alone_ns * computed))  # fmt: skip


def median_interval(samples):
    return Estimate(*interval_of_median([sample.elapsed_ns for sample in samples]))


def holds(estimate, true_ns=TRUE_NS):
    return estimate.low <= true_ns <= estimate.high


@pytest.mark.parametrize("count", [5, 12])
@pytest.mark.parametrize("drift", [-0.3, 0.0, 0.4])
def test_the_interval_of_a_disturbed_cell_holds_what_an_idle_machine_needs(count, drift):
    dice = random.Random(11)
    state = replace(BUSY, speed_drift=drift)
    found = bare = 0
    for _ in range(200):
        samples = list(disturbed(dice, count, drift=drift))
        times_ns = [sample.elapsed_ns for sample in samples]
        within = interval(median_interval(samples), times_ns, disturbance(samples, state))
        found += holds(within)
        bare += holds(interval(median_interval(samples), times_ns, UNDISTURBED))
    assert found >= 190
    if drift >= 0:
        assert bare < 100, "what the samples span by themselves does not hold it"


def test_the_interval_holds_although_what_is_crowded_computes_longer():
    dice = random.Random(12)
    found = 0
    for _ in range(200):
        samples = list(disturbed(dice, crowded=0.25))
        times_ns = [sample.elapsed_ns for sample in samples]
        found += holds(interval(median_interval(samples), times_ns, disturbance(samples, BUSY)))
    assert found >= 190


@pytest.mark.parametrize("others", [0.25, 0.6, 0.88])
@pytest.mark.parametrize("alone_ns", [10_000, 40_000, 150_000])
@pytest.mark.parametrize("drift", [0.0, 0.3])
def test_the_interval_of_a_short_statement_holds_what_an_idle_machine_needs(
    others, alone_ns, drift
):
    """It does not wait, but it fills caches again: for so long as that takes, and of a longer one
    computing is slower, too. (10 us took 33 where others took 88 %.) And the counters' own reads
    are counted with it."""
    dice = random.Random(13)
    found = 0
    for _ in range(100):
        samples = []
        for ordinal in range(40):
            refill_ns = 26_000 * others * dice.random()
            slower = (1 + CROWDED * others * dice.random()) * (1 + drift)
            elapsed_ns = int((alone_ns * dice.lognormvariate(0, 0.02) + refill_ns) * slower)
            counted_ns = elapsed_ns + dice.randrange(1_000, 8_000)
            samples.append(Sample(ordinal, 0, 0, ordinal, elapsed_ns, client_cpu_ns=counted_ns))
        times_ns = [sample.elapsed_ns for sample in samples]
        state = Condition(0.0, others, drift)
        within = interval(median_interval(samples), times_ns, disturbance(samples, state))
        found += holds(within, alone_ns)
    assert found >= 95


def test_counters_say_nothing_of_what_is_short_and_the_record_claims_nothing():
    samples = [Sample(i, 0, i, i, 35_664, client_cpu_ns=41_281) for i in range(6)]
    found = disturbance(samples, Condition(0.0, 0.88, 0.0))
    assert found.worked_share is None
    assert found.low_factor == pytest.approx(0.12)
    drawn = [replace(sample, elapsed_ns=4_000) if not sample.ordinal else sample
             for sample in samples]  # fmt: skip
    least = disturbance(drawn, Condition(0.0, 0.5, 0.0))
    assert least.low_factor == pytest.approx(4_000 / 35_664 / (1 + CROWDED * 0.5))


def test_an_uncounted_figure_is_held_against_no_limit():
    samples = [Sample(0, 0, 0, 0, 1000)]
    found = disturbance(samples, BUSY)
    assert (found.worked_share, found.low_factor) == (None, 0.0)
    assert span(found) == float("inf")
    assert "says nothing" not in validity.of_disturbance(samples, found, 1.0)
    assert "factor of 10" in validity.of_disturbance(samples, found, 1.0)


@pytest.mark.parametrize(("most", "words"), [(12, ""), (19, ""), (21, "a factor of 100")])
def test_a_figure_whose_printed_interval_spans_two_orders_of_magnitude_says_nothing(most, words):
    """The disturbance by itself leaves a factor of five."""
    times_ns = [TRUE_NS, *[most / 2 * TRUE_NS] * 4, most * TRUE_NS]
    samples = [Sample(i, 0, i, i, int(time)) for i, time in enumerate(times_ns)]
    reason = validity.of_disturbance(samples, Disturbance(0.2, 0.2, 1.0), 1.0)
    assert words in reason
    assert bool(reason) == bool(words)


@pytest.mark.parametrize(("parallelism", "busy", "least"), [
    (1, 0.9, 0.9), (2, 1.8, 0.9), (2, 0.9, 0.45), (1, 1.8, 0.9),
])  # fmt: skip
def test_time_of_several_processors_at_once_counts_once(parallelism, busy, least):
    samples = [Sample(i, 0, i, i, 1_000_000, client_cpu_ns=int(1_000_000 * busy)) for i in range(6)]
    found = disturbance(samples, BUSY, parallelism=parallelism)
    assert found.low_factor == pytest.approx(least / (1 + CROWDED * BUSY.foreign_share))
    assert found.worked_share == pytest.approx(least)
    assert found.high_factor == 1.0


def test_an_a_a_control_widens_both_ways_and_a_calm_machine_takes_nothing():
    samples = [Sample(i, 0, i, i, 1000) for i in range(6)]
    assert disturbance(samples, None, 1.25) == Disturbance(None, 0.8, 1.25)


@pytest.mark.parametrize(("name", "expected"), [("duckdb?parallelism=2", 2), ("sqlite", 1),
    ("postgresql://h/d?jit=off&parallelism=4", 4), ("duckdb?parallelism=2#2", 2),
    ("x?parallelism=all", 1)])  # fmt: skip
def test_a_variant_s_name_reports_how_many_processors_it_asks_for(name, expected):
    assert parallelism_of(name) == expected


def shaken(run, found, variant="sqlite"):
    """The run with one cell disturbed."""

    def change(result):
        return replace(result, status="disturbed", reason="others", disturbance=found)

    return altered(run, change, variant=variant)


def verdict_of(a, b):
    found = compare(a, b, variants=SQLITE)
    return {pair.operation: pair.verdict for pair in found.pairs}["min-scalar"]


def test_a_disturbed_pair_is_never_the_same_and_slower_only_beyond_its_interval():
    halved = Disturbance(0.5, 0.5, 1.0)
    base = calm_run(1)
    assert verdict_of(base, calm_run(2)) == SAME
    assert verdict_of(base, shaken(calm_run(2), halved)) == "undecided"
    assert verdict_of(base, shaken(calm_run(2, factor=1.5), halved)) == "undecided"
    assert verdict_of(base, shaken(calm_run(2, factor=3.0), halved)) == SLOWER
    assert verdict_of(shaken(base, halved), calm_run(2, factor=3.0)) == SLOWER
    assert verdict_of(shaken(base, halved), calm_run(2, factor=0.8)) == "undecided"


def test_a_ratio_over_something_unknown_has_no_interval():
    nothing = Disturbance(None, 0.0, 1.0)
    assert ratio_between(Estimate(2.0, 1.9, 2.1), None, nothing) == Estimate(2.0)


def source_of(whole):
    return Source(whole, whole.views[0], whole.competitors)


def test_a_disturbed_figure_is_shown_with_its_interval_and_never_ranked():
    run = shaken(calm_run(1), Disturbance(0.5, 0.5, 1.0))
    whole = summarise(run)
    figure = next(f for f in whole.figures.values() if f.status == "disturbed")
    assert figure.ratio is None
    assert not figure.best
    assert figure.elapsed_ns.low < 0.6 * figure.elapsed_ns.value
    today = source_of(whole).row("min-scalar")["sqlite"]
    assert (today.status, today.ratio) == ("disturbed", None)
    assert "…" in today.interval


def test_a_sum_with_a_disturbed_part_is_as_uncertain_as_that_part():
    whole = summarise(shaken(calm_run(1), Disturbance(0.5, 0.5, 1.0)))
    total = source_of(whole).row("select-1%-heap+min-scalar")["sqlite"]
    assert total.status == "disturbed"
    assert total.elapsed_ns.low < 0.85 * total.elapsed_ns.value


def test_a_record_keeps_a_disturbance_and_one_that_lacks_it_is_refused(tmp_path):
    found = Disturbance(0.5, 0.5, 1.0)
    run = shaken(calm_run(1), found)
    write_record(run, tmp_path / "r.loadstone")
    kept = [r.disturbance for r in read(tmp_path / "r.loadstone").results if r.disturbance]
    assert kept == [found]
    write_record(shaken(run, None), tmp_path / "bare.loadstone")
    with pytest.raises(RecordError, match="is disturbed, but has no row in disturbance"):
        read(tmp_path / "bare.loadstone")
