"""`explained` is said only of a real switch that was read back, with the same plan, right answers,
and an effect beyond the threshold; everything less is `consistent with`, or nothing."""

from dataclasses import replace

import pytest
import study_fixture
from findings_fixture import Side, found_by, made

from loadstone.analysis.findings import studied, switched
from loadstone.analysis.findings.finding import Grade
from loadstone.record.model import Run, StatementText, Term

BASE, OTHER, FAST = "sqlite", "sqlite?durability=none", "duckdb"


def pair(other: Side | None = None, *, asked: str | None = "full", read: str = "none") -> Run:
    """The slowest of a row, the same with one switch turned, and the fastest."""
    terms = [Term(BASE, "durability", asked, "full"), Term(OTHER, "durability", "none", read)]
    terms += [Term(name, "isolation", None, "serializable") for name in (BASE, OTHER)]
    sides = {BASE: Side(10.0), OTHER: other or Side(4.0), FAST: Side(2.0)}
    return made(sides, terms=terms, storage="heap", destination="client")


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


SILENT = {
    "it reads back as before": pair(read="full"),
    "it does not obey": pair(read="group"),
    "nothing was asked": pair(asked=None),
    "no effect": pair(Side(10.0)),
    "an effect below the threshold": pair(Side(9.85)),
    "the other is slower": pair(Side(12.0)),
    "the other is invalid": pair(Side(4.0, status="invalid")),
    "the other is disturbed": pair(Side(4.0, status="disturbed")),
    "a wrong answer": pair(Side(4.0, right=False)),
    "a single sample": pair(Side(4.0, samples=1)),
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


LEADER, SLOWED = "sqlite", "sqlite?durability=full"


def lead(slowed: Side | None = None, *, read: str = "full") -> Run:
    """The fastest of a row, the same with one switch turned, and the slowest."""
    terms = [Term(LEADER, "durability", "none", "none"), Term(SLOWED, "durability", "full", read)]
    terms += [Term(name, "isolation", None, "serializable") for name in (LEADER, SLOWED)]
    sides = {LEADER: Side(2.0), SLOWED: slowed or Side(4.0), "duckdb": Side(10.0)}
    return made(sides, terms=terms, storage="heap", destination="client")


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
        lead(Side(2.0)),
        lead(Side(2.03)),
        lead(Side(4.0, status="disturbed")),
        lead(Side(4.0, right=False)),
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
