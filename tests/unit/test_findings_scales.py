"""Rules that read other rows: the scales at which there is more data, and the statements in which
there is little to do."""

from dataclasses import replace

import pytest
from findings_fixture import FAST, SLOW, Side, found_by, made

from loadstone.analysis.findings import crossing, each_tuple, fixed, quickest
from loadstone.analysis.findings.finding import Grade
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import summarise
from loadstone.record.model import Load, Run

SCALES = (10_000, 100_000)


def on(run: Run, relation: str, tuples: dict[int, int]) -> Run:
    """Of operations on this relation, loaded with so many tuples at each scale."""
    loads = [Load(FAST, rows, relation, "heap", count, 10**6, True)
             for rows, count in tuples.items()]  # fmt: skip
    texts = [replace(text, quel=f"range of t is {relation} retrieve (t.all)")
             for text in run.operations]  # fmt: skip
    return replace(run, loads=tuple(loads), operations=tuple(texts))


FIXED = made({FAST: Side(2.0), SLOW: Side(2.0, fixed_ms=6.0)}, scales=SCALES)
PRICED = made({FAST: Side(2.0), SLOW: Side(10.0)}, scales=SCALES, storage="heap")
CROSSING = made({FAST: Side(2.0), SLOW: Side(0.5, fixed_ms=6.0)}, scales=SCALES)


@pytest.mark.parametrize(
    ("rule", "run"),
    [(fixed.find, FIXED), (each_tuple.find, PRICED), (crossing.find, CROSSING)],
    ids=["fixed", "tuples", "crossing"],
)
def test_a_relation_of_a_fixed_size_says_nothing_of_growth(rule, run: Run) -> None:
    assert found_by(rule, on(run, "tenktup", {10_000: 10_000, 100_000: 100_000}))
    assert found_by(rule, on(run, "words", {10_000: 3_000, 100_000: 3_000})) == []


def test_a_scale_at_which_one_is_not_in_order_is_passed_over() -> None:
    """The growth between the scales that are left is found there."""
    run = made({FAST: Side(2.0), SLOW: Side(2.0, fixed_ms=6.0)}, scales=(1_000, *SCALES))
    cells = [
        replace(each, status="invalid")
        if (each.cell.rows, each.cell.variant) == (1_000, FAST)
        else each
        for each in run.results
    ]
    found = found_by(fixed.find, replace(run, results=tuple(cells)))
    assert [each.rows for each in found] == list(SCALES)
    assert all("longer at 10,000" in each.sentence for each in found)


def beside(slow_ms: float, quick_slow_ms: float, quick_fast_ms: float = 0.02, **more) -> Run:
    """A statement that takes the fast variant 1 ms, and another one with little to do."""
    first = made({FAST: Side(1.0), SLOW: Side(slow_ms, **more)}, operation="count")
    quick = made({FAST: Side(quick_fast_ms), SLOW: Side(quick_slow_ms)}, operation="one")
    return together(first, quick)


def together(first: Run, quick: Run) -> Run:
    """A record of the operations of both."""
    return replace(
        first,
        plan=replace(first.plan, cells=(*first.plan.cells, *quick.plan.cells)),
        results=(*first.results, *quick.results),
        operations=(*first.operations, *quick.operations),
    )


def test_a_difference_that_the_quickest_statement_has_too_is_a_cost_of_each() -> None:
    (found,) = [each for each in found_by(quickest.find, beside(3.0, 2.0))
                if each.operation == "count"]  # fmt: skip
    assert (found.kind, found.grade) == ("a cost of each statement", Grade.CONSISTENT)
    assert "is there also in one, of the quickest of sqlite" in found.brief
    # 1.98 of 2 ms.
    assert found.numbers[-1].figure.value == pytest.approx(0.99, rel=0.05)
    assert {key.partition("|")[0] for key in found.cells} == {"count", "one"}


@pytest.mark.parametrize(
    "run",
    [
        beside(3.0, 0.5),  # less than half of it
        beside(3.0, 9.0),  # more than all of it: no cost that each statement has
        beside(3.0, 0.02),  # no difference there
        beside(3.0, 2.0, counts={"calls": 5}),  # a program's measure
        made({FAST: Side(1.0), SLOW: Side(3.0)}),  # no other operation
    ],
    ids=["small", "larger", "none", "a program", "alone"],
)
def test_the_quickest_statement_says_nothing_otherwise(run: Run) -> None:
    assert [each for each in found_by(quickest.find, run) if each.operation != "one"] == []


def test_a_mechanism_that_two_rules_find_of_a_row_is_reported_by_the_first() -> None:
    """The page had it as its first finding and, of the same row, as its second."""
    sides = {FAST: Side(1.0), SLOW: Side(1.0, fixed_ms=2.0)}
    little = {FAST: Side(0.02), SLOW: Side(0.02, fixed_ms=1.98)}
    first, quick = (
        made(each, operation=name, scales=SCALES)
        for name, each in (("count", sides), ("one", little))
    )
    run = together(first, quick)
    at = ("count", 10_000, "warm")
    assert [each.place for each in found_by(fixed.find, run)].count(at) == 1
    assert [each.place for each in found_by(quickest.find, run)].count(at) == 1
    found = [each for each in learned(summarise(run)).findings if each.place == at]
    assert [each.rule for each in found if each.answers] == [fixed.RULE]
