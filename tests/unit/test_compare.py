"""A comparison sets only like cells beside each other, on equal terms, and says what it found."""

import io
import itertools
import json
from dataclasses import replace

import pytest
from compared_runs import OPERATIONS, SQLITE, altered, calm_run, on_machine, reasons, with_term
from report_fixture import AA_CONTROL, FEW, HOSTILE, POSTGRESQL, make_run

from loadstone.analysis.compare.compare import compare
from loadstone.analysis.compare.sides import matches
from loadstone.diagnostics import EXIT_OF_COMPARISON
from loadstone.errors import InputError
from loadstone.record.model import CellResult, Condition, Term
from loadstone.report.comparison.formats import FORMATS, write
from loadstone.report.comparison.json import render
from loadstone.report.comparison.wording import HEADINGS, cells, remainders
from loadstone.run.naming import named_in, pair_in
from loadstone.text.parsing import as_percentage, share


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
            lambda r: replace(r, status="censored", reason="> 60 s", samples=(), longer_than_ns=9),
            "censored in B: > 60 s",
        ),
        (lambda r: replace(r, answers=()), "the expected answers differ"),
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


@pytest.mark.parametrize(
    ("change", "reason", "expected"),
    [
        ({"checksum": "0"}, "wrong answers in B", "one"),
        ({"checksum": "0", "expected_checksum": "0"}, "the expected answers differ", ""),
    ],
)
def test_another_answer_is_more_than_a_cell_that_was_not_compared(change, reason, expected):
    def answered(result: CellResult) -> CellResult:
        return replace(result, answers=tuple(replace(a, **change) for a in result.answers))

    found = compare(calm_run(1), altered(calm_run(2, factor=2.0), answered), variants=SQLITE)
    assert reason in reasons(found) and found.outcome == "answer changed"
    (changed,) = found.changed
    assert (changed.operation, changed.expected) == ("min-scalar", expected)
    assert EXIT_OF_COMPARISON[found.outcome] == 11


def test_a_regression_is_reported_whatever_else_is_missing():
    failed = altered(calm_run(2, factor=1.2), lambda r: replace(r, status="failed"))
    assert compare(calm_run(1), failed).outcome == "regression"


def test_a_cell_that_failed_in_the_baseline_owes_nothing():
    failed = altered(calm_run(1), lambda r: replace(r, status="failed", reason="> 60 s"))
    assert compare(failed, calm_run(2)).outcome == "no regression"


@pytest.mark.parametrize("status", ["censored", "spared"])
def test_what_was_ended_in_the_baseline_owes_nothing_until_it_is_ended_again(status: str):
    lost, ended = (
        altered(calm_run(n), lambda r: replace(r, status=status, reason="> 10 s", samples=()))
        for n in (1, 2)
    )
    assert compare(lost, calm_run(2)).outcome == "no regression"
    assert compare(calm_run(1), ended).outcome == "invalid"
    assert compare(lost, ended).outcome == "invalid"


def test_a_cell_that_was_planned_and_not_run_is_owed_and_an_unplanned_one_is_not():
    b = calm_run(2)
    fewer = tuple(result for result in b.results if result.cell.operation != "min-scalar")
    stopped = compare(calm_run(1), replace(b, results=fewer))
    assert (stopped.outcome, reasons(stopped)) == ("invalid", {"not run in B"})
    plan = replace(b.plan, cells=tuple(result.cell for result in fewer))
    narrower = compare(calm_run(1), replace(b, plan=plan, results=fewer))
    assert (narrower.outcome, reasons(narrower)) == ("no regression", {"not planned in B"})


def test_a_cell_that_was_invalid_in_the_baseline_owes_nothing():
    invalid = altered(calm_run(1), lambda r: replace(r, status="invalid", reason="busy"))
    found = compare(invalid, calm_run(2), variants=SQLITE)
    assert (found.outcome, reasons(found)) == ("no regression", {"invalid in A: busy"})


def test_cells_beyond_one_limit_are_reported_together_and_exactly_where_they_agree():
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
        ("invalid in A: other programs took 30 to 41% of it", 2)
    ]


def test_repetitions_that_differ_in_place_are_no_pairs():
    later = altered(
        calm_run(2),
        lambda r: replace(r, samples=tuple(replace(s, ordinal=s.ordinal + 900) for s in r.samples)),
    )
    found = compare(calm_run(1), later, variants=SQLITE)
    assert (found.outcome, reasons(found)) == ("invalid", {"no repetition in common"})


def test_a_declared_gap_is_not_owed():
    run = make_run(("select-1-hash-client",), scales=(10_000,))
    found = compare(run, run)
    assert "a declared gap in A" in reasons(found)
    assert not any(cell.owed for cell in found.unlike)


def test_another_text_is_another_operation():
    b = calm_run(2)
    texts = tuple(replace(text, quel="retrieve (t.all)") for text in b.operations)
    found = compare(calm_run(1), replace(b, operations=texts))
    assert found.outcome == "nothing compared"
    assert "the operation differs" in reasons(found).pop()


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
    assert name in {entry.name for entry in crossed.matched[0].terms.with_verdict("across")}


def test_one_variant_on_other_terms_leaves_the_rest_compared_and_invalid():
    found = compare(calm_run(1), with_term(calm_run(2), "durability", "none"))
    assert found.outcome == "invalid"
    assert len(list(found.pairs)) == 4


def test_a_new_version_of_one_variant_is_shown_and_compared_with_the_settings_it_moved():
    b = with_term(with_term(calm_run(2), "version", "4.0"), "setting.journal_mode", "off")
    found = compare(calm_run(1), b, variants=SQLITE)
    assert found.outcome == "no regression"
    shown = {entry.key for entry in found.matched[0].terms.with_verdict("differs")}
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


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        (False, {}, "nothing to compare it with"),
        (False, {"variants": ("sqlite", "sqlite")}, "compared with itself"),
        (False, {"variants": ("sqlite", "sqlit")}, "the record has no variant 'sqlit'"),
        (True, {"variants": ("oracle", "sqlite")}, "record A has no variant 'oracle'"),
        (True, {"across": ("durabilty",)}, "no term is called 'durabilty'"),
    ],
)
def test_what_cannot_be_meant_is_an_input_error_with_a_hint(second, options, message):
    with pytest.raises(InputError, match=message) as caught:
        compare(calm_run(1), calm_run(2) if second else None, **options)
    assert caught.value.hint


def test_a_tactic_of_any_variant_in_the_records_is_a_term_that_may_be_named():
    run = calm_run(1)
    names = ("sqlite", "fixed?time_us=1000", *(f"duckdb?x={n}" for n in range(9)), "last")
    run = replace(run, plan=replace(run.plan, variants=names))
    compare(run, run, variants=SQLITE, across=("time_us",))
    with pytest.raises(InputError) as caught:
        compare(run, run, variants=SQLITE, across=("tim",))
    assert "time_us" in caught.value.hint
    with pytest.raises(InputError) as caught:
        compare(run, run, variants=("fixd", "fixd"))
    assert "fixed?time_us=1000" in caught.value.hint
    assert "last" in caught.value.hint, "all of them, however many"


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
    assert share(text, "--fail-on") == value == share(value, "fail_on")
    assert share(as_percentage(value), "--precision") == value


@pytest.mark.parametrize("text", ["5", "0.05", "-5%", "five%", "", "%", "nan%", "1e9%"])
def test_a_share_that_is_no_percentage_is_an_input_error(text):
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
    competitors = [cell for cell in run.plan.cells if cell.variant not in ("null", AA_CONTROL)]
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


def test_a_variant_may_be_called_by_its_engine_where_the_record_has_one():
    run = calm_run()
    assert matches(run, None, ("postgresql", "sqlite"))[0].name == f"sqlite over {POSTGRESQL}"
    assert matches(run, run, ("sqlite", "sqlite"))[0].name == "sqlite"  # and not its A/A control
    two = replace(run, plan=replace(run.plan, variants=(*run.plan.variants, "postgresql?cache=1")))
    with pytest.raises(InputError, match="the record has 2 variants of 'postgresql'") as caught:
        matches(two, None, ("postgresql", "sqlite"))
    assert caught.value.hint == f"name one of them: '{POSTGRESQL}', 'postgresql?cache=1'"
    with pytest.raises(InputError, match="is compared with itself"):
        matches(run, None, ("postgresql", POSTGRESQL))
    with pytest.raises(InputError, match="record B has no variant 'fixed'"):
        matches(run, run, ("sqlite", "fixed"))


def ended(limit_ns: int, **changed):
    """Makes a result one that was ended after so long."""
    return lambda result: replace(
        result, status="censored", reason="> x", samples=(), longer_than_ns=limit_ns, **changed
    )


@pytest.mark.parametrize(
    ("before", "limit_ns", "outcome"),
    [
        (calm_run(1), 10**9, "regression"),
        (calm_run(1), 1_100_000, "regression"),
        (calm_run(1), 1_020_000, "invalid"),  # by no more than the threshold
        (calm_run(1), 900_000, "invalid"),
        (calm_run(1, samples=5), 10**9, "invalid"),  # too few for an interval
    ],
)
def test_what_was_ended_beyond_all_of_its_former_time_is_slower(before, limit_ns, outcome):
    found = compare(before, altered(calm_run(2), ended(limit_ns)), variants=SQLITE)
    assert found.outcome == outcome
    slower = [pair for pair in found.pairs if pair.verdict == "slower"]
    assert [pair.operation for pair in slower] == (
        ["min-scalar"] if outcome == "regression" else []
    )
    assert all(cell.owed for cell in found.unlike)
    for pair in slower:
        assert pair.ended == "B" and pair.ratio.high is None and pair.ratio.low < limit_ns / 1e6
        shown = dict(zip(HEADINGS, cells(pair), strict=True))
        assert shown["B"].startswith("> ") and shown["95 % interval"].startswith("> ")


@pytest.mark.parametrize(
    ("after", "limit_ns", "outcome"),
    [
        (calm_run(2), 10**9, "faster"),
        (calm_run(2), 1_100_000, "faster"),
        (calm_run(2), 1_020_000, ""),  # by no more than the threshold
        (calm_run(2), 900_000, ""),
        (calm_run(2, samples=5), 10**9, ""),  # too few for an interval
    ],
)
def test_what_was_ended_formerly_is_faster_by_the_same_rule(after, limit_ns, outcome):
    found = compare(altered(calm_run(1), ended(limit_ns)), after, variants=SQLITE)
    faster = [pair for pair in found.pairs if pair.verdict == "faster"]
    assert [pair.operation for pair in faster] == (["min-scalar"] if outcome else [])
    assert [cell.reason for cell in found.unlike] == ([] if outcome else ["censored in A: > x"])
    assert found.outcome == ("nothing compared" if len(after.results[0].samples) == 5 else
                             "no regression")  # fmt: skip
    for pair in faster:
        assert (pair.ended, pair.samples[0], pair.ratio.low) == ("A", 0, None)
        assert 0 < pair.ratio.value <= pair.ratio.high < 1
        assert pair.ratio.high > 1e6 / limit_ns
        shown = dict(zip(HEADINGS, cells(pair), strict=True))
        assert shown["A"].startswith("> ") and shown["B"][0].isdigit()
        assert shown["B / A of pairs"].startswith("< ")
        assert shown["95 % interval"].startswith("< ")


def test_an_input_that_took_as_long_before_is_not_slower():
    def one_long(result):
        return replace(result, samples=tuple(
            replace(s, elapsed_ns=s.elapsed_ns * (9 if s.variation == 0 else 1))
            for s in result.samples))  # fmt: skip

    before = altered(calm_run(1), one_long)
    after = altered(calm_run(2), ended(8_000_000))
    assert compare(before, after, variants=SQLITE).outcome == "invalid"
    assert compare(calm_run(1), after, variants=SQLITE).outcome == "regression"


def test_what_was_ended_while_others_had_the_machine_is_slower_only_beyond_that():
    busy = Condition(stolen_share=0.0, foreign_share=0.9, speed_drift=0.0, speed_probe_ns=400_000.0)
    before = calm_run(1)
    for limit_ns, outcome in ((10_000_000, "invalid"), (20_000_000, "regression")):
        after = altered(calm_run(2), ended(limit_ns, condition=busy))
        assert compare(before, after, variants=SQLITE).outcome == outcome


def test_what_was_ended_unmeasured_met_the_worst_of_its_run():
    """Asked for its answer before anything is measured, a statement has no condition of its own."""
    busy = Condition(stolen_share=0.0, foreign_share=0.9, speed_drift=0.0, speed_probe_ns=400_000.0)
    for others, outcome in ((None, "regression"), (busy, "invalid")):
        after = altered(calm_run(2), ended(10_000_000, condition=None))
        if others is not None:
            after = altered(after, lambda r: replace(r, condition=busy), variant="duckdb")
        assert compare(calm_run(1), after, variants=SQLITE).outcome == outcome
    nobody = replace(after, results=tuple(replace(r, condition=None) for r in after.results))
    assert compare(calm_run(1), nobody, variants=SQLITE).outcome == "invalid"


def test_what_was_ended_is_slower_on_equal_terms_and_for_the_same_text_only():
    after = altered(calm_run(2), ended(10**9))
    assert compare(calm_run(1), with_term(after, "durability", "none")).outcome != "regression"


def test_a_variant_is_named_as_it_is_written_or_as_the_record_has_it():
    run = calm_run(1)
    has = replace(run, plan=replace(run.plan, variants=(*run.plan.variants, "sqlite?cache=65536")))
    assert named_in((has,), "sqlite?cache=64KiB") == "sqlite?cache=65536"
    assert named_in((has,), "sqlite?cache=65536") == "sqlite?cache=65536"
    for unknown in ("sqlite?cache=1MiB", "sqlite?cach=64KiB", "nothing", "sqlite"):
        assert named_in((has,), unknown) == unknown
    assert pair_in((run,), (has,), ("sqlite", "sqlite?cache=64KiB"))[1] == "sqlite?cache=65536"
    assert pair_in((has,), None, ("sqlite", "sqlite?cache=64KiB"))[1] == "sqlite?cache=65536"
    assert pair_in((run,), None, None) is None
