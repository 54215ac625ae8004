"""`explained` is said only of a real switch that was read back, with the same plan, right answers,
and an effect beyond the threshold; everything less is `consistent with`, or nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import study_fixture
from findings_fixture import Side, found_by, made

from loadstone.analysis.findings import studied, switched
from loadstone.analysis.findings.finding import Grade
from loadstone.plan.variant import AA_SUFFIX
from loadstone.record.model import Run, StatementText, Term
from loadstone.statistics.paired_ratio import REFORK_S

BASE, OTHER, FAST = "sqlite", "sqlite?durability=none", "duckdb"


ENOUGH = 40
"""Samples, in eight blocks of five, each of a new process."""


def side(elapsed_ms: float, **more: Any) -> Side:
    return Side(elapsed_ms, **{"samples": ENOUGH, **more})


def pair(
    other: Side | None = None,
    *,
    base: Side | None = None,
    again: Side | None = None,
    asked: str | None = "full",
    read: str = "none",
    repeat_s: float = REFORK_S,
) -> Run:
    """The slowest of a row, twice, the same with one switch turned, and the fastest."""
    terms = [Term(BASE, "durability", asked, "full"), Term(OTHER, "durability", "none", read)]
    terms += [Term(name, "isolation", None, "serializable") for name in (BASE, OTHER)]
    sides = {
        BASE: base or side(10.0),
        BASE + AA_SUFFIX: again or side(10.0),
        OTHER: other or side(4.0),
        FAST: side(2.0),
    }
    roles = ((BASE + AA_SUFFIX, "control"),)
    run = made(sides, terms=terms, storage="heap", destination="client", roles=roles)
    return replace(run, plan=replace(run.plan, aa_control=BASE + AA_SUFFIX, repeat_s=repeat_s))


def test_a_switch_that_was_turned_and_read_back_explains() -> None:
    (found,) = found_by(switched.find, pair())
    assert (found.grade, found.kind) == (Grade.EXPLAINED, "durability")
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx(0.569, abs=0.01)  # ln(10/4) of ln(10/2)
    assert "durability from full to none" in found.sentence


def other_plan(run: Run, plan: str) -> Run:
    texts = (StatementText(0, "SELECT", plan),)
    return replace(run, results=tuple(
        replace(each, statements=texts) if each.cell.variant == OTHER else each
        for each in run.results
    ))  # fmt: skip


@pytest.mark.parametrize("plan", ["SEARCH t USING INDEX i", ""])
def test_another_plan_or_none_is_only_consistent(plan: str) -> None:
    (found,) = found_by(switched.find, other_plan(pair(), plan))
    assert found.grade is Grade.CONSISTENT
    assert "Not called explained" in found.sentence


def doubted(run: Run) -> str:
    """The sentence of the one finding, which is consistent with the switch and no more."""
    (found,) = found_by(switched.find, run)
    assert (found.grade, found.kind) == (Grade.CONSISTENT, "durability")
    return found.sentence.partition("Not called explained: ")[2]


def test_six_samples_of_one_process_each_do_not_explain() -> None:
    few = {"samples": 6}
    sides = {"base": side(10.0, **few), "again": side(10.0, **few)}
    doubt = doubted(pair(side(4.0, **few), **sides))
    assert doubt == "2 processes of each value compared, 8 needed, which a study of the switch has."


def test_blocks_of_processes_that_were_not_replaced_are_no_processes() -> None:
    """In the time of a preset a comparison is repeated in the processes that are alive."""
    run = pair(repeat_s=0.2)
    rounds = run.plan.rounds
    assert rounds < 8 and doubted(run).startswith(f"{rounds} process")


def test_an_effect_that_the_row_s_own_a_a_control_shows_does_not_explain() -> None:
    """append-word of IDM: the accelerator, which it does not use, and 398 us beside 318."""
    again = side(10.0, scatter=(1.0, 1.3))
    doubt = doubted(pair(side(8.0), again=again))
    assert doubt == "the same variant measured twice differs by up to 1.3\N{MULTIPLICATION SIGN}."


def test_an_effect_beyond_the_row_s_own_a_a_control_explains() -> None:
    (found,) = found_by(switched.find, pair(side(4.0), again=side(10.0, scatter=(1.0, 1.3))))
    assert found.grade is Grade.EXPLAINED


@pytest.mark.parametrize(
    ("again", "doubt"),
    [
        (side(10.0, status="invalid"), "no variant of sqlite was measured twice in this row."),
        (side(10.0, status="disturbed"), "no variant of sqlite was measured twice in this row."),
        (side(10.0, samples=4), "too few samples of the variant that was measured twice."),
    ],
    ids=["invalid", "disturbed", "few"],
)
def test_without_an_a_a_control_of_the_row_nothing_is_explained(again: Side, doubt: str) -> None:
    assert doubted(pair(again=again)) == doubt


def test_an_a_a_control_of_another_engine_does_not_speak_for_this_one() -> None:
    run, control = pair(), FAST + AA_SUFFIX
    fast = next(one for one in run.results if one.cell.variant == FAST)
    other = tuple(
        replace(fast, cell=replace(fast.cell, variant=control))
        if one.cell.variant == BASE + AA_SUFFIX
        else one
        for one in run.results
    )
    plan = replace(run.plan, aa_control=control, roles=((control, "control"),))
    assert doubted(replace(run, plan=plan, results=other)).startswith("no variant of sqlite")


def test_a_difference_that_is_waiting_does_not_explain() -> None:
    """A commit waits for the variant's own file: 3.2 of 4.0 ms beside 9.2 of 10.0."""
    base, again = side(10.0, cpu=0.08), side(10.0, cpu=0.08)
    doubt = doubted(pair(side(4.0, cpu=0.2), base=base, again=again))
    assert doubt.endswith("of the difference is waiting, each variant for files of its own.")


def test_a_difference_of_which_the_waiting_is_not_known_does_not_explain() -> None:
    uncounted = {"client_cpu_ns": lambda _: None}
    doubt = doubted(pair(side(4.0, counts=uncounted), base=side(10.0, counts=uncounted)))
    assert doubt == "the part of the difference that is waiting is not known."


SILENT = {
    "it reads back as before": pair(read="full"),
    "it does not obey": pair(read="group"),
    "nothing was asked": pair(asked=None),
    "no effect": pair(side(10.0)),
    "an effect below the threshold": pair(side(9.85)),
    "the other is slower": pair(side(12.0)),
    "the other is invalid": pair(side(4.0, status="invalid")),
    "the other is disturbed": pair(side(4.0, status="disturbed")),
    "a wrong answer": pair(side(4.0, right=False)),
    "a single sample": pair(Side(4.0, samples=1)),
    "it may be chance": pair(side(9.0, scatter=(0.5, 1.3))),
    "a second term differs": replace(
        pair(), terms=(*pair().terms, Term(OTHER, "isolation", None, "snapshot"))
    ),
    "two switches were turned": replace(
        pair(),
        terms=(*pair().terms, Term(BASE, "cache", "1", "1"), Term(OTHER, "cache", "2", "2")),
    ),
}


@pytest.mark.parametrize("run", SILENT.values(), ids=SILENT.keys())
def test_the_base_of_a_switch_says_nothing(run: Run) -> None:
    assert not [each for each in found_by(switched.find, run) if each.variant == BASE]


def test_two_engines_that_differ_in_one_term_differ_in_more_than_that() -> None:
    run = pair(side(10.0))
    durability = [Term(FAST, "durability", "none", "none")]
    alike = [Term(FAST, "isolation", None, "serializable")]
    assert not found_by(switched.find, replace(run, terms=(*run.terms, *durability, *alike)))


LEADER, SLOWED = "sqlite", "sqlite?durability=full"


def lead(slowed: Side | None = None, *, read: str = "full") -> Run:
    """The fastest of a row, the same with one switch turned, and the slowest."""
    terms = [Term(LEADER, "durability", "none", "none"), Term(SLOWED, "durability", "full", read)]
    terms += [Term(name, "isolation", None, "serializable") for name in (LEADER, SLOWED)]
    sides = {
        LEADER: side(2.0),
        LEADER + AA_SUFFIX: side(2.0),
        SLOWED: slowed or side(4.0),
        "duckdb": side(10.0),
    }
    roles = ((LEADER + AA_SUFFIX, "control"),)
    run = made(sides, terms=terms, storage="heap", destination="client", roles=roles)
    return replace(run, plan=replace(run.plan, aa_control=LEADER + AA_SUFFIX, repeat_s=REFORK_S))


def test_a_switch_of_the_fastest_explains_its_part_of_the_lead() -> None:
    (found,) = found_by(switched.find, lead())
    assert (found.grade, found.kind, found.variant) == (Grade.EXPLAINED, "durability", "duckdb")
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx(0.431, abs=0.01)  # ln(4/2) of ln(10/2)
    assert "from none to full makes sqlite 2.0" in found.sentence
    assert "slower" in found.sentence and "of its lead over duckdb" in found.sentence


@pytest.mark.parametrize(
    "run",
    [
        lead(read="none"),
        lead(side(2.0)),
        lead(side(2.03)),
        lead(side(4.0, status="disturbed")),
        lead(side(4.0, right=False)),
        replace(lead(), terms=(*lead().terms, Term(SLOWED, "isolation", None, "snapshot"))),
    ],
    ids=["does not obey", "no effect", "below the threshold", "disturbed", "wrong", "two terms"],
)
def test_a_lead_is_not_explained_where_the_claim_is_false(run: Run) -> None:
    assert not found_by(switched.find, run)


def test_a_lead_that_is_another_plan_s_is_only_consistent() -> None:
    texts = (StatementText(0, "SELECT", "SEARCH t USING INDEX i"),)
    run = lead()
    run = replace(run, results=tuple(
        replace(each, statements=texts) if each.cell.variant == SLOWED else each
        for each in run.results
    ))  # fmt: skip
    (found,) = found_by(switched.find, run)
    assert found.grade is Grade.CONSISTENT and "Not called explained" in found.sentence


def by_operation(run: Run) -> dict[str, Grade]:
    return {each.operation: each.grade for each in found_by(studied.find, run)}


def test_a_study_explains_where_the_plan_stays_the_same() -> None:
    assert by_operation(study_fixture.record()) == {
        "min-heap": Grade.EXPLAINED,
        "select-1%-heap": Grade.CONSISTENT,
    }


def test_a_study_whose_switch_does_nothing_has_no_finding(monkeypatch) -> None:
    still = dict.fromkeys(study_fixture.FACTORS["min-heap"], 1.0)
    monkeypatch.setitem(study_fixture.FACTORS, "min-heap", still)
    assert "min-heap" not in by_operation(study_fixture.record())


@pytest.mark.parametrize(
    ("plan", "doubt"),
    [("index scan (cost=0..99)", "the plan changes with it."), ("", "the engine shows no plan.")],
)
def test_a_study_does_not_explain_by_another_plan_or_none(plan: str, doubt: str) -> None:
    made_plan = study_fixture.plan()
    assert made_plan.study is not None
    variant = next(c.variant for c in made_plan.study.combinations if c.flipped == ("durability",))
    result = study_fixture.result(made_plan, "min-heap", variant, ("durability",))
    other = replace(result, statements=(StatementText(0, "SELECT", plan),))
    run = study_fixture.record({("min-heap", variant): other})
    assert grade_of(run) == (Grade.CONSISTENT, doubt)


@pytest.mark.parametrize("status", ["invalid", "disturbed", "failed"])
def test_a_study_explains_by_cells_in_order_only(status: str) -> None:
    made_plan = study_fixture.plan()
    assert made_plan.study is not None
    variant = next(c.variant for c in made_plan.study.combinations if c.flipped == ("durability",))
    result = study_fixture.result(made_plan, "min-heap", variant, ("durability",))
    run = study_fixture.record({("min-heap", variant): replace(result, status=status)})
    assert "min-heap" not in by_operation(run)


def test_a_switch_of_a_study_that_does_not_read_back_is_not_explained() -> None:
    run = study_fixture.record()
    assert run.plan.study is not None
    terms = tuple(
        replace(term, read_back="full") if term.key == "durability" else term for term in run.terms
    )
    assert by_operation(replace(run, terms=terms))["min-heap"] is Grade.CONSISTENT


def test_a_switch_of_a_study_that_changes_another_property_names_it() -> None:
    """PostgreSQL's synchronous_commit gives the promise of durability up, which is not its name."""
    run = study_fixture.record()
    assert run.plan.study is not None
    flipped = {each.variant: "durability" in each.flipped for each in run.plan.study.combinations}
    promises = tuple(
        Term(variant, "isolation", None, "none" if turned else "full")
        for variant, turned in flipped.items()
    )
    found = found_by(studied.find, replace(run, terms=(*run.terms, *promises)))
    one = next(each for each in found if each.operation == "min-heap")
    assert one.terms == ("durability=none isolation: none, not full",)


def beside(value: Callable[[frozenset[str]], str], *, key: str = "setting.sync") -> Run:
    """A term of each combination, by what is turned in it."""
    run = study_fixture.record()
    assert run.plan.study is not None
    terms = tuple(
        Term(each.variant, key, None, value(frozenset(each.flipped)))
        for each in run.plan.study.combinations
    )
    return replace(run, terms=(*run.terms, *terms))


def of_two(turned: frozenset[str]) -> str:
    """As SQLite's `synchronous`: off where nothing is durable, else as another switch needs it."""
    return "off" if "durability" in turned else "extra" if "cache" in turned else "full"


@pytest.mark.parametrize("key", ["setting.sync", "isolation"])
def test_what_two_switches_set_is_named_with_both_and_forbids_no_cause(key: str) -> None:
    run = beside(of_two, key=key)
    assert grade_of(run) == (Grade.EXPLAINED, "")
    name = key.removeprefix("setting.")
    (one,) = (each for each in found_by(studied.find, run) if each.operation == "min-heap")
    assert one.terms == (f"durability=none {name}: off, not full (cache sets it, too)",)


def test_what_two_switches_set_is_not_named_with_a_switch_that_leaves_it() -> None:
    """Of a setting that takes both of them, each alone changes nothing."""
    run = beside(lambda turned: "on" if {"cache", "durability"} <= turned else "off")
    (one,) = (each for each in found_by(studied.find, run) if each.operation == "min-heap")
    assert (one.kind, one.grade, one.terms) == ("durability", Grade.EXPLAINED, ())


@pytest.mark.parametrize(
    "value",
    [
        lambda turned: str(len(turned)),
        lambda turned: min(turned) if turned else "",
    ],
    ids=["all of them", "the first of them"],
)
def test_what_no_switch_and_no_two_decide_forbids_a_cause(
    value: Callable[[frozenset[str]], str],
) -> None:
    assert grade_of(beside(value)) == (
        Grade.CONSISTENT,
        "sync changes, too, and no one switch or two decide it.",
    )


def grade_of(run: Run) -> tuple[Grade, str]:
    found = found_by(studied.find, run)
    one = next(each for each in found if each.operation == "min-heap")
    return one.grade, one.sentence.partition("Not called explained: ")[2]


def test_a_study_of_few_blocks_does_not_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two switches seven blocks have an interval; of four, they have none and no finding."""
    of_two = study_fixture.plan(["durability", "parallelism=1,2"])
    monkeypatch.setattr(study_fixture, "plan", lambda: of_two)
    monkeypatch.setattr(study_fixture, "BLOCKS", 7)
    grade, doubt = grade_of(study_fixture.record())
    assert (grade, doubt[:11]) == (Grade.CONSISTENT, "7 processes")


def test_a_study_whose_base_was_not_measured_twice_does_not_explain() -> None:
    run = study_fixture.record()
    control = run.plan.aa_control
    without = tuple(one for one in run.results if one.cell.variant != control)
    assert grade_of(replace(run, results=without)) == (
        Grade.CONSISTENT,
        "the base measured twice has no interval.",
    )


def test_a_switch_of_execution_does_not_explain_waiting() -> None:
    """Half of the time at base is processor time; of what the switch saves, all is waiting."""
    run = study_fixture.record()
    study = run.plan.study
    assert study is not None
    computing = replace(study, switches=tuple(
        replace(one, group="execution") if one.tactic == "durability" else one
        for one in study.switches
    ))  # fmt: skip
    steady = tuple(
        replace(one, samples=tuple(replace(s, client_cpu_ns=500_000) for s in one.samples))
        for one in run.results
    )
    waits = replace(run, plan=replace(run.plan, study=computing), results=steady)
    grade, doubt = grade_of(waits)
    assert grade is Grade.CONSISTENT and "waiting, in which it has no part" in doubt
    as_it_is = replace(run, results=steady)
    assert grade_of(as_it_is)[0] is Grade.EXPLAINED
