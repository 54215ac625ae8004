"""A cold difference is held against the warm one: it is there the first time only, or always, or
the record does not say."""

from dataclasses import replace

import pytest
from findings_fixture import FAST, LOOPS, SEARCHED, SLOW, Side, found_by, made

from loadstone.analysis.findings import cold_first
from loadstone.analysis.findings.finding import Grade
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import summarise
from loadstone.record.model import Run


def both(cold: tuple[Side, Side], warm: tuple[Side, Side]) -> Run:
    """One operation, cold and warm: of each the slow variant and the fast."""
    first, second = (
        made({FAST: fast, SLOW: slow}, temperature=temperature)
        for temperature, (slow, fast) in (("cold", cold), ("warm", warm))
    )
    plan = replace(first.plan, cells=(*first.plan.cells, *second.plan.cells))
    return replace(first, plan=plan, results=(*first.results, *second.results))


def thrice(elapsed_ms: float, **more) -> Side:
    """As a cold cell has its samples."""
    return Side(elapsed_ms, samples=3, **more)


ONCE = both((thrice(20.0), thrice(2.0)), (Side(1.0), Side(0.5)))
ALWAYS = both((thrice(20.0), thrice(2.0)), (Side(17.0, plan=LOOPS), Side(1.0, plan=SEARCHED)))


def test_a_difference_that_is_not_there_when_warm_is_one_of_the_first_time() -> None:
    (found,) = found_by(cold_first.find, ONCE)
    assert (found.kind, found.grade) == (cold_first.ONCE, Grade.CONSISTENT)
    assert found.temperature == "cold" and found.answers
    share = found.numbers[-1].figure
    # 17.5 of 18 ms; the least and the most of all pairs lie about it.
    assert share.low < 17.5 / 18 < share.high and share.low > 0.9
    assert {key.rpartition("|")[2] for key in found.cells} == {"cold", "warm"}


def test_a_difference_that_is_there_when_warm_has_the_warm_row_s_cause() -> None:
    run = both(
        (thrice(20.0, plan=LOOPS, cpu=0.5), thrice(2.0, plan=SEARCHED, cpu=0.5)),
        (Side(17.0, plan=LOOPS), Side(1.0, plan=SEARCHED)),
    )
    (found,) = found_by(cold_first.find, run)
    assert (found.kind, found.grade) == (cold_first.ALWAYS, Grade.UNEXPLAINED)
    whys = learned(summarise(run)).whys
    why = whys[found.place]
    assert why.grade is Grade.CONSISTENT
    assert "when warm, too, where" in why.words and "blockwise nested loop" in why.words


def test_without_a_cause_of_the_warm_row_a_cold_one_has_none() -> None:
    sides = (thrice(20.0, cpu=0.5), thrice(2.0, cpu=0.5)), (Side(17.0), Side(1.0))
    whys = learned(summarise(both(*sides))).whys
    (why,) = (why for place, why in whys.items() if place[2] == "cold")
    assert why.grade is Grade.UNEXPLAINED and "there when warm, too" in why.words


SILENT = {
    "no warm cells": made({FAST: thrice(2.0), SLOW: thrice(20.0)}, temperature="cold"),
    "neither part is most of it": both((thrice(20.0), thrice(2.0)), (Side(10.0), Side(1.0))),
    "a warm cell without an interval": both(
        (thrice(20.0), thrice(2.0)), (Side(1.0, samples=3), Side(0.5))
    ),
    "a warm cell that is not in order": both(
        (thrice(20.0), thrice(2.0)), (Side(1.0, status="disturbed"), Side(0.5))
    ),
    "another plan when warm": both(
        (thrice(20.0, plan=LOOPS), thrice(2.0)), (Side(1.0, plan=SEARCHED), Side(0.5))
    ),
    "a cold sample of the slow one is as short as one of the fast": both(
        (thrice(20.0, scatter=(1.0, 0.1, 1.0)), thrice(2.0)), (Side(1.0), Side(0.5))
    ),
    "two cold samples": both((Side(20.0, samples=2), Side(2.0, samples=2)), (Side(1.0), Side(0.5))),
    "scatter that leaves less than half": both(
        (thrice(20.0, scatter=(1.0, 0.4, 1.0)), thrice(2.0)), (Side(4.0), Side(0.5))
    ),
}


@pytest.mark.parametrize("run", SILENT.values(), ids=SILENT.keys())
def test_the_rule_is_silent_where_its_claim_is_false(run: Run) -> None:
    assert not found_by(cold_first.find, run)
