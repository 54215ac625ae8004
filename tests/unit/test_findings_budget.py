"""The rules that read a time budget: each names a component, or a rung of the ladder, where the
record holds its claim, and is silent where the claim is false or was not measured."""

from dataclasses import replace

import pytest
from findings_fixture import FAST, MS, SLOW, Side, found_by, two

from loadstone.analysis.findings import components, rungs, spent
from loadstone.analysis.findings.finding import Grade
from loadstone.record.budget import (
    ALL,
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
)


def budgeted(slow_parts: dict[str, int], rungs: dict[str, float], **more):
    """Both sides with a budget: the fast one's executor takes 1 ms of 1.1, the slow one's what is
    reported, in samples of 0.1 ms over 100 statements."""

    def of(elapsed_ms: float, parts: dict[str, int], rungs: dict[str, float]) -> Budget:
        sampled_ns = sum(parts.values()) * 100_000
        return Budget(
            sampled=more.get("sampled", ALL), reason="", period_ns=100_000, statements=100,
            elapsed_ns=round(elapsed_ms * MS * 100), reading_ns=0, lost=0,
            threads=(BudgetThread(False, True, "python", sampled_ns, 0),),
            parts=tuple(BudgetPart(False, name, "so", "f", "", count)
                        for name, count in parts.items()),
            blocks=tuple(BudgetBlock(block, rung, 10, round(ms * MS) + block * 10)
                         for block in range(8) for rung, ms in rungs.items()),
        )  # fmt: skip

    small = {"empty": 0.1, "constant": 0.2, "planned": 0.3, "counted": 1.0, "uncommitted": 1.5,
             "whole": 2.0}  # fmt: skip
    run = two(Side(10.0))
    beside = more.get("fast", small)
    made_budgets = {SLOW: of(10.4, slow_parts, rungs), FAST: of(2.08, {"executor": 2080}, beside)}
    return replace(run, results=tuple(
        replace(each, budget=made_budgets[each.cell.variant]) for each in run.results
    ))  # fmt: skip


PLANNER = {"executor": 2400, "planner": 8000}
LADDER = {"empty": 0.1, "constant": 0.2, "planned": 8.0, "counted": 8.9, "uncommitted": 9.4,
          "whole": 10.0}  # fmt: skip


def test_a_budget_names_the_component_and_the_rung() -> None:
    run = budgeted(PLANNER, LADDER)
    (component,) = found_by(components.find, run)
    assert (component.kind, component.grade) == ("planner", Grade.CONSISTENT)
    (rung,) = found_by(rungs.find, run)
    assert rung.kind == "parsing and planning"
    share = next(each.figure for each in rung.numbers if each.unit == "share")
    assert share.value == pytest.approx((7.8 - 0.1) / 8.3, abs=0.05)


def test_what_is_only_computing_says_how_to_see_more_unless_that_was_measured() -> None:
    (bare,) = found_by(spent.find, two(Side(10.0)))
    assert (bare.kind, bare.grade) == ("computing", Grade.UNEXPLAINED)
    assert "--budget" in bare.sentence
    (seen,) = found_by(spent.find, budgeted(PLANNER, LADDER))
    assert seen.kind == "computing" and "--budget" not in seen.sentence


def test_a_budget_names_time_off_the_processor() -> None:
    (found,) = found_by(components.find, budgeted({"executor": 2400, "planner": 1000}, EVEN))
    assert found.kind.startswith("asleep")


def without(rung, run, variant):
    """The record where an engine has no such rung."""

    def less(budget):
        return replace(budget, blocks=tuple(one for one in budget.blocks if one.rung != rung))

    return replace(run, results=tuple(
        replace(each, budget=less(each.budget)) if each.cell.variant == variant else each
        for each in run.results
    ))  # fmt: skip


def test_a_rung_that_the_slowest_lacks_is_passed_over_on_both() -> None:
    """The work that both do up to the next rung is compared."""
    (found,) = found_by(rungs.find, without("planned", budgeted(PLANNER, LADDER), SLOW))
    assert found.kind == "parsing and planning, and finding the rows"
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx((8.7 - 0.8) / 8.3, abs=0.05)


def test_a_rung_that_the_fastest_lacks_takes_it_no_longer_than_the_step_over_it() -> None:
    """A statement that stays prepared is not planned, and up to its rows takes 0.8 ms."""
    (found,) = found_by(rungs.find, without("planned", budgeted(PLANNER, LADDER), FAST))
    assert found.kind == "parsing and planning"
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx((7.8 - 0.8) / 8.3, abs=0.05)
    assert share.low <= share.value <= share.high


def test_a_step_that_could_be_as_long_beside_names_no_rung_alone() -> None:
    """Planning takes the slowest 4.5 of 8 ms, and the fastest, which shows none, up to 1.8."""
    slow = {"empty": 0.1, "constant": 0.2, "planned": 4.7, "counted": 8.9, "uncommitted": 9.4,
            "whole": 10.0}  # fmt: skip
    fast = {"empty": 0.1, "constant": 0.2, "planned": 0.9, "counted": 2.0, "uncommitted": 2.0,
            "whole": 2.0}  # fmt: skip
    (found,) = found_by(rungs.find, without("planned", budgeted(PLANNER, slow, fast=fast), FAST))
    assert found.kind == "parsing and planning, and finding the rows"


def test_a_rung_that_is_planned_otherwise_is_passed_over() -> None:
    plan = BudgetRung("counted", "SELECT COUNT(*) …", "SCAN t USING COVERING INDEX i", "")
    counting = {"empty": 0.1, "constant": 0.2, "planned": 0.4, "counted": 9.0, "uncommitted": 9.3,
                "whole": 10.0}  # fmt: skip
    run = budgeted({"executor": 10400}, counting)
    other = replace(run, results=tuple(
        replace(each, budget=replace(each.budget, rungs=(plan,))) for each in run.results
    ))  # fmt: skip
    assert [each.kind for each in found_by(rungs.find, run)] == ["finding the rows"]
    (found,) = found_by(rungs.find, other)
    assert found.kind == "finding the rows, and writing the relation"


EVEN = {"empty": 0.1, "constant": 2.0, "planned": 4.0, "counted": 6.0, "uncommitted": 8.0,
        "whole": 10.0}  # fmt: skip


def test_components_that_share_a_difference_are_named_together_the_fewest_that_are_most() -> None:
    three = {"executor": 4400, "planner": 3000, "access method": 3000}
    (found,) = found_by(components.find_together, budgeted(three, EVEN))
    assert (found.kind, found.grade) == ("access method and planner", Grade.CONSISTENT)
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx(6.0 / 8.32, abs=0.05)
    four = {"executor": 2080, "unclassified": 2320, "planner": 2000, "access method": 2000,
            "log": 2000}  # fmt: skip
    (found,) = found_by(components.find_together, budgeted(four, EVEN))
    assert found.kind == "access method, log and planner"
    assert not found_by(components.find_together, budgeted(PLANNER, EVEN)), "one alone is most"


def test_a_component_that_may_take_the_fastest_as_long_is_not_named_with_others() -> None:
    """The executor's 0.08 ms more are within chance; with them, planner and log would be most."""
    chance = {"executor": 2155, "unclassified": 4050, "planner": 2400, "log": 1795}
    certain = {"executor": 2480, "unclassified": 3725, "planner": 2400, "log": 1795}
    assert not found_by(components.find_together, budgeted(chance, EVEN))
    assert found_by(components.find_together, budgeted(certain, EVEN))


def test_a_program_is_not_said_to_take_what_is_around_its_loop() -> None:
    parts = {"executor": 2080, "unclassified": 2320, "kernel: files": 4000, "log": 2000}
    run = budgeted(parts, EVEN)
    program = replace(run, results=tuple(
        replace(each, samples=tuple(replace(one, calls=5) for one in each.samples))
        for each in run.results
    ))  # fmt: skip
    (found,) = found_by(components.find_together, run)
    assert found.kind == "kernel: files and log"
    assert not found_by(components.find_together, program)


def test_components_that_no_three_of_are_most_are_not_named_together() -> None:
    many = {"executor": 2400} | {f"part {number}": 1000 for number in range(8)}
    assert not found_by(components.find_together, budgeted(many, EVEN))
    unknown = {"executor": 2400, "planner": 1000, "log": 1000, "unclassified": 6000}
    assert not found_by(components.find_together, budgeted(unknown, EVEN))
    assert not found_by(components.find_together, two(Side(10.0)))


@pytest.mark.parametrize(
    ("parts", "more"),
    [
        ({"executor": 4400, "planner": 3000, "access method": 3000}, {}),
        ({"executor": 2400, "unclassified": 8000}, {}),
        (PLANNER, {"sampled": "programs"}),
    ],
)
def test_a_budget_that_cannot_carry_it_names_no_component(parts, more) -> None:
    assert not found_by(components.find, budgeted(parts, EVEN, **more))


def test_rungs_that_share_a_difference_name_none() -> None:
    assert not found_by(rungs.find, budgeted(PLANNER, EVEN))
    assert not found_by(rungs.find, two(Side(10.0)))
    assert not found_by(components.find, two(Side(10.0)))


def test_steps_that_share_a_difference_are_named_together_the_fewest_that_are_most() -> None:
    both = {"empty": 0.1, "constant": 0.2, "planned": 4.2, "counted": 8.2, "uncommitted": 9.0,
            "whole": 10.0}  # fmt: skip
    run = budgeted(PLANNER, both)
    assert not found_by(rungs.find, run)
    (found,) = found_by(rungs.find_together, run)
    assert (found.kind, found.grade) == (
        "parsing and planning, and finding the rows", Grade.CONSISTENT
    )  # fmt: skip
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx((8.0 - 0.8) / 8.3, abs=0.05)
    assert not found_by(rungs.find_together, budgeted(PLANNER, LADDER)), "one alone is most"
    assert not found_by(rungs.find_together, budgeted(PLANNER, {"empty": 5.0, "whole": 10.0}))
