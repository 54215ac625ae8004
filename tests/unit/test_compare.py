"""A comparison sets only like cells beside each other, on equal terms, and says what it found."""

import io
import itertools
import json
import random
from dataclasses import replace

import pytest
from report_fixture import FEW, HOSTILE, POSTGRESQL, TWIN, make_run

from loadstone.comparison.cells import judge
from loadstone.comparison.compare import Comparison, compare
from loadstone.comparison.formats import FORMATS, write
from loadstone.comparison.json import render
from loadstone.comparison.threshold import DEFAULT
from loadstone.comparison.words import remainders
from loadstone.diagnostics import EXIT_OF_COMPARISON
from loadstone.errors import InputError
from loadstone.estimate import Estimate
from loadstone.number import share
from loadstone.pairs import paired_ratio
from loadstone.record.model import CellResult, Run, Sample, Term
from loadstone.report.noise import TwinCell, noise_of

OPERATIONS = ("select-1%-heap", "min-scalar")
SQLITE = ("sqlite", "sqlite")


def calm_run(seed: int = 1, factor: float = 1.0, samples: int = 30) -> Run:
    """Warm cells that all went well, with known noise: 1 ms, give or take 2 %."""
    run = make_run(OPERATIONS, repeat=samples, scales=(10_000,))
    dice = random.Random(seed)

    def calmed(result: CellResult) -> CellResult:
        shaken = tuple(
            replace(sample, elapsed_ns=int(1e6 * factor * dice.lognormvariate(0, 0.02)))
            for sample in result.samples
        )
        return replace(result, status="ok", reason="", samples=shaken)

    warm = [calmed(result) for result in run.results if result.cell.temperature == "warm"]
    plan = replace(run.plan, cells=tuple(result.cell for result in warm))
    return replace(run, plan=plan, results=tuple(warm))


def altered(run: Run, change, operation: str = "min-scalar", variant: str = "sqlite") -> Run:
    """The run with one cell's result changed."""

    def one(result: CellResult) -> CellResult:
        meant = (result.cell.operation, result.cell.variant) == (operation, variant)
        return change(result) if meant else result

    return replace(run, results=tuple(map(one, run.results)))


def with_term(run: Run, key: str, value: str, variant: str = "sqlite") -> Run:
    """The run with one term read back as something else."""
    others = (t for t in run.terms if (t.variant, t.key) != (variant, key))
    return replace(run, terms=(*others, Term(variant, key, None, value)))


def on_machine(run: Run, **facts: object) -> Run:
    described = {key.replace("__", "."): value for key, value in facts.items()}
    sessions = (replace(s, machine={**s.machine, **described}) for s in run.sessions)
    return replace(run, sessions=tuple(sessions))


def reasons(found: Comparison) -> set[str]:
    return {cell.reason for cell in found.unlike}


# --- verdicts -------------------------------------------------------------------------------------


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
    assert len(list(found.pairs)) == 6, "two operations on three variants, the floor left out"


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
    assert found.outcome == "no regression"
    assert found.counts == {"same": 1, "undecided": 1}


def test_too_few_samples_for_an_interval_compare_nothing():
    found = compare(calm_run(1, samples=3), calm_run(2, factor=9.0, samples=3))
    assert {pair.verdict for pair in found.pairs} == {"undecided"}
    assert found.outcome == "nothing compared"


def test_every_outcome_has_its_own_exit_code():
    assert EXIT_OF_COMPARISON == {
        "no regression": 0, "regression": 1, "nothing compared": 5, "invalid": 6,
    }  # fmt: skip


# --- the threshold and the noise ------------------------------------------------------------------


def with_noise(run: Run, *factors: float) -> Run:
    """The run, its twin slower than its first by a factor on everything; by several in turn."""
    firsts = {
        (r.cell.operation, r.cell.rows): r.samples
        for r in run.results
        if r.cell.variant == "sqlite"
    }

    def twin(result: CellResult) -> CellResult:
        if result.cell.variant != TWIN:
            return result
        samples = firsts[result.cell.operation, result.cell.rows]
        slower = zip(samples, itertools.cycle(factors), strict=False)
        noisy = (replace(s, elapsed_ns=round(s.elapsed_ns * factor)) for s, factor in slower)
        return replace(result, samples=tuple(noisy))

    return replace(run, results=tuple(map(twin, run.results)))


def test_below_the_noise_of_either_record_nothing_is_slower():
    a, b = calm_run(1), calm_run(2, factor=1.05)
    calm = compare(with_noise(a, 1.01), with_noise(b, 1.01))
    assert (calm.outcome, calm.threshold.raised) == ("regression", False)
    assert calm.sentence().endswith("threshold 3 %")
    for noisy, whose in (((1.08, 1.01), "A"), ((1.01, 1 / 1.08), "B")):
        found = compare(with_noise(a, noisy[0]), with_noise(b, noisy[1]))
        assert found.outcome == "no regression"
        assert found.counts["slower"] == 0
        words = f"threshold 3 %, raised to 8.0 % by the A/A noise of {whose}"
        assert found.sentence().endswith(words)
    assert json.loads(render(found))["threshold_asked"] == 0.03
    assert json.loads(render(found))["threshold"] == pytest.approx(0.08, rel=1e-3)


def test_a_difference_of_twins_that_may_be_chance_raises_nothing():
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
    assert TwinCell("x", "sqlite", 1000, "warm", ratio).certain == pytest.approx(certain)


def test_one_record_has_one_noise():
    run = with_noise(calm_run(1), 1.08)
    found = compare(run, None, variants=("sqlite", "duckdb"), across=("isolation",))
    assert found.sentence().endswith("raised to 8.0 % by the A/A noise of the record")


def test_twins_are_compared_where_they_are_named_and_then_raise_nothing():
    run = with_noise(calm_run(1), 1.08)
    assert TWIN not in {one.match.a.variant for one in compare(run, run).matched}
    found = compare(run, None, variants=("sqlite", TWIN))
    assert (found.outcome, found.threshold.raised) == ("regression", False)
    assert {pair.verdict for pair in found.pairs} == {"slower"}


# --- like cells -----------------------------------------------------------------------------------


def unproved(result: CellResult) -> CellResult:
    return replace(result, evidence=tuple(replace(e, proved=False) for e in result.evidence))


def test_cold_never_stands_beside_unproved():
    run = make_run(("min-scalar",), scales=(10_000,))
    found = compare(
        run, replace(run, results=tuple(map(unproved, run.results))), variants=("duckdb", "duckdb")
    )
    assert reasons(found) == {"cold in A against unproved in B"}
    assert [pair.temperature for pair in found.pairs] == ["warm"]
    assert found.outcome == "invalid"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda r: replace(r, status="failed", reason="> 60 s"), "failed in B: > 60 s"),
        (lambda r: replace(r, status="invalid", reason="busy"), "invalid in B: busy"),
        (lambda r: replace(r, samples=()), "no samples in B"),
        (
            lambda r: replace(r, answers=tuple(replace(a, checksum="0") for a in r.answers)),
            "wrong answers in B",
        ),
        (
            lambda r: replace(
                r,
                answers=tuple(replace(a, checksum="0", expected_checksum="0") for a in r.answers),
            ),
            "other answers are expected",
        ),
        (lambda r: replace(r, answers=()), "other answers are expected"),
        (
            lambda r: replace(
                r, samples=tuple(replace(s, variation=s.variation + 50) for s in r.samples)
            ),
            "no variation in common",
        ),
    ],
)
def test_an_unlike_cell_is_not_compared_and_makes_the_result_invalid(change, reason):
    found = compare(calm_run(1), altered(calm_run(2), change), variants=SQLITE)
    assert reasons(found) == {reason}
    assert [pair.operation for pair in found.pairs] == ["select-1%-heap"]
    assert found.outcome == "invalid"


def test_a_regression_is_told_whatever_else_is_missing():
    failed = altered(calm_run(2, factor=1.2), lambda r: replace(r, status="failed"))
    assert compare(calm_run(1), failed).outcome == "regression"


def test_what_failed_in_the_baseline_owes_nothing():
    failed = altered(calm_run(1), lambda r: replace(r, status="failed", reason="> 60 s"))
    assert compare(failed, calm_run(2)).outcome == "no regression"


def test_a_cell_that_was_planned_and_not_run_is_owed_and_an_unplanned_one_is_not():
    b = calm_run(2)
    fewer = tuple(result for result in b.results if result.cell.operation != "min-scalar")
    stopped = compare(calm_run(1), replace(b, results=fewer))
    assert (stopped.outcome, reasons(stopped)) == ("invalid", {"not run in B"})
    plan = replace(b.plan, cells=tuple(result.cell for result in fewer))
    narrower = compare(calm_run(1), replace(b, plan=plan, results=fewer))
    assert (narrower.outcome, reasons(narrower)) == ("no regression", {"not planned in B"})


def test_what_the_instrument_could_not_tell_in_the_baseline_owes_nothing():
    invalid = altered(calm_run(1), lambda r: replace(r, status="invalid", reason="busy"))
    found = compare(invalid, calm_run(2), variants=SQLITE)
    assert (found.outcome, reasons(found)) == ("no regression", {"invalid in A: busy"})


def test_cells_beyond_one_limit_are_told_together_and_exactly_where_they_agree():
    def busy(shares: dict[str, str]) -> list[tuple[str, int]]:
        run = calm_run(1)
        for operation, share_of_time in shares.items():
            reason = f"other programs took {share_of_time} of it"
            run = altered(
                run, lambda r, w=reason: replace(r, status="invalid", reason=w), operation
            )
        matched = compare(run, calm_run(2), variants=SQLITE).matched[0]
        return [(rest.reason, rest.count) for rest in remainders(matched)]

    first, second = OPERATIONS
    assert busy({first: "30%", second: "30%"}) == [
        ("invalid in A: other programs took 30% of it", 2)
    ]
    assert busy({first: "30%", second: "41%"}) == [
        ("invalid in A: other programs took …% of it", 2)
    ]


def test_repetitions_that_differ_in_place_are_no_pairs():
    later = altered(
        calm_run(2),
        lambda r: replace(r, samples=tuple(replace(s, ordinal=s.ordinal + 900) for s in r.samples)),
    )
    found = compare(calm_run(1), later, variants=SQLITE)
    assert (found.outcome, reasons(found)) == ("invalid", {"no repetition in common"})


def test_a_declared_gap_is_not_owed():
    run = make_run(("select-1-hash-host",), scales=(10_000,))
    found = compare(run, run)
    assert "a declared gap in A" in reasons(found)
    assert found.outcome == "no regression"


def test_another_text_is_another_operation():
    b = calm_run(2)
    texts = tuple(replace(text, quel="retrieve (t.all)") for text in b.operations)
    found = compare(calm_run(1), replace(b, operations=texts))
    assert found.outcome == "nothing compared"
    assert "the operation is another" in reasons(found).pop()


def test_only_variations_that_both_sides_ran_count():
    a = calm_run(1, samples=20)
    slow_only_in_b = altered(
        calm_run(2, samples=20),
        lambda r: replace(
            r,
            samples=tuple(
                replace(s, variation=90, elapsed_ns=s.elapsed_ns * 9) if s.ordinal >= 10 else s
                for s in r.samples
            ),
        ),
    )
    found = compare(a, slow_only_in_b, variants=SQLITE)
    pair = next(pair for pair in found.pairs if pair.operation == "min-scalar")
    assert (pair.samples, pair.pairs) == ((20, 10), 10)
    assert found.counts["slower"] == 0


# --- equal terms ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "name", "difference"),
    [
        (lambda r: with_term(r, "durability", "none"), "durability", "full against none"),
        (lambda r: with_term(r, "isolation", "dirty"), "isolation", "serializable against dirty"),
        (lambda r: with_term(r, "setting.journal_mode", "off"), "settings", "wal against off"),
        (lambda r: on_machine(r, cpu__model="Z80"), "machine", "AMD EPYC 9B45 against Z80"),
        (lambda r: on_machine(r, idle_states__held=0), "machine", "1 against 0"),
        (lambda r: replace(r, plan=replace(r.plan, warm_up=9)), "warm_up", "1 against 9"),
        (lambda r: replace(r, structure_notes=()), "structure", "against -"),
    ],
)
def test_unequal_terms_are_refused_unless_named_and_then_flagged(change, name, difference):
    a, b = calm_run(1), change(calm_run(2))
    refused = compare(a, b, variants=SQLITE)
    assert refused.outcome == "nothing compared"
    assert difference in reasons(refused).pop()
    crossed = compare(a, b, variants=SQLITE, across=(name,))
    assert crossed.outcome == "no regression"
    assert name in {entry.name for entry in crossed.matched[0].ledger.with_verdict("across")}


def test_one_variant_on_other_terms_leaves_the_rest_compared_and_invalid():
    found = compare(calm_run(1), with_term(calm_run(2), "durability", "none"))
    assert found.outcome == "invalid"
    assert len(list(found.pairs)) == 4


def test_a_new_version_of_one_variant_is_shown_and_compared_with_the_settings_it_moved():
    b = with_term(with_term(calm_run(2), "version", "4.0"), "setting.journal_mode", "off")
    found = compare(calm_run(1), b, variants=SQLITE)
    assert found.outcome == "no regression"
    shown = {entry.key for entry in found.matched[0].ledger.with_verdict("differs")}
    assert shown == {"version", "setting.journal_mode"}


def test_a_term_that_changed_within_a_record_is_equal_to_nothing():
    run = calm_run(1)
    mixed = replace(run, terms=(*run.terms, Term("sqlite", "durability", "full", "none")))
    found = compare(mixed, mixed, variants=SQLITE)
    assert found.outcome == "nothing compared"
    assert "full, then none" in reasons(found).pop()


def test_an_unknown_machine_is_the_same_as_none():
    run = calm_run(1)
    bare = replace(run, sessions=tuple(replace(s, machine={}) for s in run.sessions))
    assert compare(bare, bare).outcome == "nothing compared"
    assert compare(bare, bare, across=("machine",)).outcome == "no regression"


def test_another_edition_can_never_be_named():
    b = calm_run(2)
    other = replace(b, plan=replace(b.plan, edition="1993"))
    assert compare(calm_run(1), other, across=("durability",)).outcome == "nothing compared"
    with pytest.raises(InputError, match="benchmark"):
        compare(calm_run(1), other, across=("benchmark",))


def test_two_engines_compare_once_what_differs_between_them_is_named():
    run = calm_run(1)
    pair = ("sqlite", "duckdb")
    assert compare(run, None, variants=pair).outcome == "nothing compared"
    found = compare(run, None, variants=pair, across=("isolation",))
    assert found.outcome == "no regression"
    assert found.matched[0].match.name == "duckdb over sqlite"


# --- what is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        (False, {}, "nothing to compare it with"),
        (False, {"variants": ("sqlite", "sqlite")}, "compared with itself"),
        (False, {"variants": ("sqlite", "sqlit")}, "record B has no variant 'sqlit'"),
        (True, {"variants": ("oracle", "sqlite")}, "record A has no variant 'oracle'"),
        (True, {"across": ("durabilty",)}, "no term is called 'durabilty'"),
    ],
)
def test_what_cannot_be_meant_is_an_input_error_with_a_hint(second, options, message):
    with pytest.raises(InputError, match=message) as caught:
        compare(calm_run(1), calm_run(2) if second else None, **options)
    assert caught.value.hint


def test_records_without_a_common_variant_are_an_input_error():
    a, b = calm_run(1), calm_run(2)
    plans = [
        replace(run.plan, variants=(name,),
                cells=tuple(cell for cell in run.plan.cells if cell.variant == name))
        for run, name in ((a, "sqlite"), (b, POSTGRESQL))
    ]  # fmt: skip
    with pytest.raises(InputError, match="no variant in common"):
        compare(replace(a, plan=plans[0]), replace(b, plan=plans[1]))


@pytest.mark.parametrize(("text", "value"), [("5%", 0.05), ("2.5 %", 0.025), ("0%", 0.0)])
def test_a_percentage_is_a_share(text, value):
    assert share(text, "--fail-on") == pytest.approx(value)


@pytest.mark.parametrize("text", ["5", "0.05", "-5%", "five%", "", "%", "nan%", "1e9%"])
def test_what_is_no_percentage_is_an_input_error(text):
    with pytest.raises(InputError, match="--fail-on"):
        share(text, "--fail-on")


def test_json_holds_every_pair_every_cell_left_out_and_every_term():
    run = make_run(FEW, scales=(10_000,))
    found = compare(run, run)
    data = json.loads(render(found))
    assert data["outcome"] == found.outcome
    matches = data["matches"]
    assert [m["a"] for m in matches] == ["sqlite", "duckdb", POSTGRESQL]
    listed = itertools.chain.from_iterable(m["pairs"] + m["not_compared"] for m in matches)
    competitors = [cell for cell in run.plan.cells if cell.variant not in ("null", TWIN)]
    assert len(list(listed)) == len(competitors)
    assert all(m["terms"] for m in matches)


def test_no_format_lets_a_record_reach_the_terminal_or_the_page():
    b = with_term(calm_run(2), "durability", HOSTILE)
    found = compare(calm_run(1), b, variants=SQLITE)
    for form in ("table", "md"):
        out = io.StringIO()
        write(found, form, out)
        assert "\x1b" not in out.getvalue()
        assert "script" in out.getvalue()
        assert ("<script>" in out.getvalue()) == (form == "table"), "a terminal runs no scripts"


def test_the_formats_are_those_of_the_command():
    assert FORMATS == ("table", "md", "json")
