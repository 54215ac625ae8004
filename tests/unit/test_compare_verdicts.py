"""The verdicts of a comparison: the least difference that counts, and the effect of noise on it."""

import itertools
import json
import random
from dataclasses import replace

import pytest
from compared_runs import OPERATIONS, SQLITE, altered, calm_run
from report_fixture import AA_CONTROL, make_run

from loadstone._core import interval_of_median
from loadstone.analysis.compare.cells import judge
from loadstone.analysis.compare.compare import OUTCOMES, compare
from loadstone.analysis.compare.threshold import DEFAULT
from loadstone.analysis.noise import AACell, noise_of
from loadstone.diagnostics import EXIT_OF_COMPARISON
from loadstone.record.model import CellResult, Condition, Run, Sample
from loadstone.report.comparison.json import render
from loadstone.report.comparison.wording import HEADINGS, advice, cells
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN, paired_ratio


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (1.06, 1.01, 1.2, "slower"),
        (1.06, 1.0, 1.2, "undecided"),  # perhaps no difference at all
        (1.05, 1.01, 1.1, "undecided"),  # a difference, but none that matters
        (1.0, 0.96, 1.04, "same"),
        (1.03, 1.01, 1.05, "same"),
        (1.0, 0.9, 1.2, "undecided"),
        (0.94, 0.8, 0.99, "faster"),
        (0.94, 0.8, 1.0, "undecided"),
        (2.0, None, None, "undecided"),
    ],
)
def test_a_difference_has_to_be_sure_and_to_matter(value, low, high, verdict):
    assert judge(Estimate(value, low, high), 0.05) == verdict


def test_swapping_the_sides_swaps_the_verdict():
    dice = random.Random(7)
    mirror = {"slower": "faster", "faster": "slower", "same": "same", "undecided": "undecided"}
    seen = set()
    for _ in range(300):
        low = dice.uniform(0.8, 1.2)
        value = low * dice.uniform(1, 1.1)
        high = value * dice.uniform(1, 1.1)
        verdict = judge(Estimate(value, low, high), 0.05)
        seen.add(verdict)
        assert judge(Estimate(1 / value, 1 / high, 1 / low), 0.05) == mirror[verdict]
    assert seen == set(mirror)


@pytest.mark.parametrize(("planted", "slower_least", "slower_most"), [(1.05, 95, 100), (1, 0, 0)])
def test_at_the_default_a_slowdown_of_5_percent_is_found_and_none_is_invented(
    planted, slower_least, slower_most
):
    """100 cells of 60 pairs each, lognormal noise of 3 % on both sides, seeded."""
    dice = random.Random(20261121)
    verdicts = []
    for _ in range(100):
        a, b = (
            tuple(
                Sample(n, 0, n % 10, 0, round(1e6 * factor * dice.lognormvariate(0, 0.03)))
                for n in range(60)
            )
            for factor in (1, planted)
        )
        verdicts.append(judge(paired_ratio(b, a), DEFAULT))
    assert slower_least <= verdicts.count("slower") <= slower_most
    assert verdicts.count("faster") == 0


def test_a_slowdown_that_a_changing_machine_explains_is_no_regression():
    def at_speeds(run, *speed_probes_ns):
        speeds = itertools.cycle(speed_probes_ns)
        return replace(
            run,
            results=tuple(
                replace(result, condition=Condition(0.0, 0.0, 0.0, next(speeds)))
                for result in run.results
            ),
        )

    a, b = calm_run(1), calm_run(2, factor=1.2)
    changing = at_speeds(a, 400.0, 600.0, 500.0), at_speeds(b, 400.0, 600.0, 500.0)
    assert compare(*changing).outcome != "regression"
    a, b = at_speeds(a, 400.0), at_speeds(b, 480.0)
    assert compare(a, b).outcome == "regression", "each was steady"
    reported = next(e for e in compare(a, b).matched[0].terms.entries if e.key == "machine.speed")
    assert reported.difference == (
        "machine.speed: speed probe 400 ns (400 ns … 400 ns)"
        " against speed probe 480 ns (480 ns … 480 ns)"
    )


def test_a_planted_slowdown_is_a_regression_and_a_speed_up_is_none():
    slow = compare(calm_run(1), calm_run(2, factor=1.2))
    assert slow.outcome == "regression"
    assert {pair.verdict for pair in slow.pairs} == {"slower"}
    assert all(pair.ratio.value == pytest.approx(1.2, rel=0.05) for pair in slow.pairs)
    fast = compare(calm_run(1), calm_run(2, factor=1 / 1.2))
    assert fast.outcome == "no regression"
    assert {pair.verdict for pair in fast.pairs} == {"faster"}


def test_the_same_again_is_the_same():
    found = compare(calm_run(1), calm_run(2))
    assert found.outcome == "no regression"
    assert {pair.verdict for pair in found.pairs} == {"same"}
    assert len(list(found.pairs)) == 6, "two operations on three variants, the harness left out"


def test_the_threshold_decides_what_a_regression_is():
    a, b = calm_run(1), calm_run(2, factor=1.2)
    assert compare(a, b, threshold=0.3).outcome == "no regression"
    assert compare(a, b, threshold=0.0).outcome == "regression"


def test_a_wide_interval_is_undecided():
    wild = altered(
        calm_run(2),
        lambda r: replace(
            r,
            samples=tuple(
                replace(s, elapsed_ns=round(s.elapsed_ns * (0.5, 1.2, 2.3)[s.ordinal % 3]))
                for s in r.samples
            ),
        ),
    )
    found = compare(calm_run(1), wild, variants=SQLITE)
    assert found.outcome == "undecided"
    assert found.counts == {"same": 1, "undecided": 1}
    assert "1 cell may be slower by more than 3.0 %: min-scalar" in advice(found)


def test_where_nothing_is_decided_nobody_says_that_there_is_no_regression():
    """Twice as wide apart as the threshold, in noise that hides it."""
    dice = random.Random(5)

    def noisy(run):
        return replace(run, results=tuple(
            replace(r, samples=tuple(
                replace(s, elapsed_ns=round(s.elapsed_ns * dice.lognormvariate(0, 0.5)))
                for s in r.samples))
            for r in run.results))  # fmt: skip

    found = compare(noisy(calm_run(1)), noisy(calm_run(2, factor=1.06)), variants=SQLITE)
    assert found.counts == {"undecided": 2}
    assert found.outcome == "undecided"
    assert EXIT_OF_COMPARISON[found.outcome] != 0


def test_a_cell_that_may_only_be_faster_excludes_a_regression():
    found = compare(calm_run(1), calm_run(2, factor=0.985), variants=SQLITE, threshold=0.01)
    assert "slower" not in found.counts
    assert all(pair.ratio.high < 1.01 for pair in found.pairs)
    assert found.outcome == "no regression"


def test_a_cell_without_an_interval_is_undecided_and_named():
    run = make_run(("select-1%-clustered",), scales=(10_000,))
    found = compare(run, run, variants=SQLITE)
    assert found.outcome == "undecided"
    assert "1 cell with too few samples for an interval: select-1%-clustered" in advice(found)


def test_too_few_samples_for_an_interval_compare_nothing():
    found = compare(calm_run(1, samples=3), calm_run(2, factor=9.0, samples=3))
    assert {pair.verdict for pair in found.pairs} == {"undecided"}
    assert found.outcome == "nothing compared"


def test_why_nothing_was_compared_is_said_and_what_to_do():
    """Two quick runs: five samples of a warm cell, where an interval takes six."""
    found = compare(calm_run(1, samples=5), calm_run(2, samples=5), variants=SQLITE)
    assert found.outcome == "nothing compared"
    reported = advice(found)
    assert "2 cells with too few samples for an interval" in reported
    assert "(5 in common; 6 are needed)" in reported
    assert "measure both with --repeat 10 --repeat-cold 6" in reported
    assert interval_of_median([1.0] * (INTERVAL_PAIRS_MIN - 1))[1] is None
    assert interval_of_median([1.0] * INTERVAL_PAIRS_MIN)[1] is not None
    lost = altered(calm_run(1), lambda r: replace(r, status="invalid", reason="too busy"))
    lost = altered(lost, lambda r: replace(r, status="invalid", reason="too busy"), OPERATIONS[0])
    found = compare(lost, calm_run(2), variants=SQLITE)
    assert found.outcome == "nothing compared"
    assert advice(found) == "2 cells are left out: invalid in A: too busy"


def test_a_ratio_of_too_few_pairs_does_not_contradict_the_medians_beside_it():
    """Each pair has the second slower; the medians have it faster."""
    times = [(10, 11), (20, 22), (30, 9)]

    def spoken(side):
        def change(result):
            samples = result.samples[:3]
            return replace(result, samples=tuple(
                replace(s, elapsed_ns=int(times[n][side] * 1e6)) for n, s in enumerate(samples)
            ))  # fmt: skip

        return altered(calm_run(1), change)

    found = compare(spoken(0), spoken(1), variants=SQLITE)
    pair = next(pair for pair in found.pairs if pair.operation == "min-scalar")
    assert pair.pairs == 3
    reported = dict(zip(HEADINGS, cells(pair), strict=True))
    assert (reported["A"], reported["B"]) == ("20.0 ms", "11.0 ms")
    assert reported["B / A of pairs"] == "0.550"


def test_every_outcome_has_its_own_exit_code():
    assert EXIT_OF_COMPARISON == {
        "no regression": 0, "regression": 1, "undecided": 9, "nothing compared": 5, "invalid": 6,
        "answer changed": 11,
    }  # fmt: skip
    assert set(EXIT_OF_COMPARISON) == set(OUTCOMES)


def with_noise(run: Run, *factors: float) -> Run:
    """The run, its A/A control slower than its first by a factor on everything; by several in
    turn."""
    firsts = {
        (r.cell.operation, r.cell.rows): r.samples
        for r in run.results
        if r.cell.variant == "sqlite"
    }

    def control(result: CellResult) -> CellResult:
        if result.cell.variant != AA_CONTROL:
            return result
        samples = firsts[result.cell.operation, result.cell.rows]
        slower = zip(samples, itertools.cycle(factors), strict=False)
        noisy = (replace(s, elapsed_ns=round(s.elapsed_ns * factor)) for s, factor in slower)
        return replace(result, samples=tuple(noisy))

    return replace(run, results=tuple(map(control, run.results)))


def test_below_the_noise_of_either_record_nothing_is_slower():
    a, b = calm_run(1), calm_run(2, factor=1.05)
    calm = compare(with_noise(a, 1.01), with_noise(b, 1.01))
    assert (calm.outcome, calm.threshold.raised) == ("regression", False)
    assert "; threshold 3 %;" in calm.sentence()
    for noisy, whose in (((1.08, 1.01), "A"), ((1.01, 1 / 1.08), "B")):
        found = compare(with_noise(a, noisy[0]), with_noise(b, noisy[1]))
        assert found.outcome == "no regression"
        assert found.counts["slower"] == 0
        words = f"threshold 3 %, raised to 8.0 % by the A/A noise of {whose}"
        assert f"{words}; not judged: " in found.sentence()
    assert json.loads(render(found))["threshold_asked"] == 0.03
    assert json.loads(render(found))["threshold"] == pytest.approx(0.08, rel=1e-3)


def test_an_a_a_difference_that_may_be_chance_raises_nothing():
    a, b = calm_run(1), calm_run(2, factor=1.05)
    wild = with_noise(a, 0.5, 0.9, 1.3, 2.5)
    noise = noise_of(wild)
    assert (noise.worst > 0.05, noise.certain) == (True, 0.0)
    found = compare(wild, b)
    assert (found.outcome, found.threshold.raised) == ("regression", False)
    assert json.loads(render(found))["noise"] == 0.0


@pytest.mark.parametrize(
    ("ratio", "certain"),
    [
        (Estimate(1.2, 1.1, 1.4), 0.1),
        (Estimate(0.75, 0.6, 0.8), 0.25),
        (Estimate(1.2, 0.99, 1.4), 0.0),
        (Estimate(0.8, 0.6, 1.0), 0.0),
        (Estimate(1.5), 0.0),
    ],
)
def test_certain_is_what_the_nearer_bound_leaves_no_doubt_about(ratio, certain):
    assert AACell("x", "sqlite", 1000, "warm", ratio).certain == pytest.approx(certain)


def test_one_record_has_one_noise():
    run = with_noise(calm_run(1), 1.08)
    found = compare(run, None, variants=("sqlite", "duckdb"), across=("isolation",))
    assert found.sentence().endswith("raised to 8.0 % by the A/A noise of the record")


def test_an_a_a_control_is_compared_where_it_is_named_and_then_raises_nothing():
    run = with_noise(calm_run(1), 1.08)
    assert AA_CONTROL not in {one.match.a.variant for one in compare(run, run).matched}
    found = compare(run, None, variants=("sqlite", AA_CONTROL))
    assert (found.outcome, found.threshold.raised) == ("regression", False)
    assert {pair.verdict for pair in found.pairs} == {"slower"}


def unlimited(run: Run, **condition: float) -> Run:
    """The run as with --no-limits, on a machine in such a condition."""
    known = {"stolen_share": 0.0, "foreign_share": 0.0, "speed_drift": 0.0} | condition
    results = (
        replace(
            r,
            condition=Condition(**known, speed_probe_ns=400_000.0),
            samples=tuple(replace(s, client_cpu_ns=int(s.elapsed_ns * 0.7)) for s in r.samples),
        )
        for r in run.results
    )
    return replace(run, plan=replace(run.plan, limits=False), results=tuple(results))


@pytest.mark.parametrize("beyond", [{"foreign_share": 0.4}, {"stolen_share": 0.2},
                                    {"speed_drift": 0.3}])  # fmt: skip
@pytest.mark.parametrize("side", ["A", "B", "both"])
def test_an_unjudged_cell_is_judged_before_it_is_called_different(beyond, side):
    """15 % apart, perhaps because others were at work, as the record says: undisturbed, B would be
    faster than measured; A too, and B then slower still."""
    a, b = calm_run(1), calm_run(2, factor=1.15)
    a = unlimited(a, **beyond) if side in ("A", "both") else a
    b = unlimited(b, **beyond) if side in ("B", "both") else b
    found = compare(a, b, variants=SQLITE)
    decided = "regression" if side == "A" else "undecided"
    assert (found.outcome, found.counts["faster"]) == (decided, 0)
    named = {"both": "A and B"}.get(side, side)
    assert f"measured with --no-limits, held against the limits only here: {named}" in (
        found.sentence()
    )


def test_an_unjudged_cell_is_decided_where_no_disturbance_explains_its_ratio():
    """A ratio of 155 beside other programs was called undecided, without a reason."""
    found = compare(calm_run(1), unlimited(calm_run(2, factor=155), foreign_share=0.4),
                    variants=SQLITE)  # fmt: skip
    assert found.outcome == "regression"
    assert all(pair.ratio.low > 20 for pair in found.pairs)


def test_an_unjudged_cell_measured_in_peace_decides_and_says_so():
    found = compare(unlimited(calm_run(1)), unlimited(calm_run(2, factor=1.15)), variants=SQLITE)
    assert found.outcome == "regression"
    assert "--no-limits" in found.sentence()
    assert "--no-limits" not in compare(calm_run(1), calm_run(2), variants=SQLITE).sentence()


def test_a_figure_of_which_a_condition_leaves_nothing_is_not_compared():
    noisy = unlimited(calm_run(2, factor=1.15), foreign_share=0.9)
    idle = replace(noisy, results=tuple(
        replace(r, samples=tuple(replace(s, client_cpu_ns=0) for s in r.samples))
        for r in noisy.results))  # fmt: skip
    found = compare(calm_run(1), idle, variants=SQLITE)
    assert not list(found.pairs)
    assert all(cell.reason.startswith("invalid in B: other programs") for cell in found.unlike)
