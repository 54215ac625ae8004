"""When a study stops, and what it measures next."""

import random
from dataclasses import replace

import pytest

from loadstone.statistics.estimate import Estimate
from loadstone.studies.design import (
    confirming,
    factorial,
    grouped,
    opened,
    parts_of,
    two_ended,
    two_ended_and_walk,
)
from loadstone.studies.effects import study_effects
from loadstone.studies.steering import escalation, hidden_share, prunable, to_open, too_wide

ABCD = parts_of("abcd")


def found(truth, design=two_ended, parts=ABCD, scatter=0.0, blocks=12, **others):
    """Of a study whose times scatter by this much, on ln."""
    dice = random.Random(f"{scatter} {blocks}")
    made = [
        {one: truth(one) + dice.gauss(0, scatter) for one in design(parts)} for _ in range(blocks)
    ]
    return study_effects(parts, made, **others)


def adding(chosen):
    return 0.6 * ("a" in chosen) + 0.3 * ("b" in chosen) - 0.2 * ("c" in chosen)


def of_three(chosen):
    return adding(chosen) + 0.5 * ({"a", "b", "c"} <= chosen)


def test_a_study_stops_when_all_is_narrow_whatever_it_found():
    assert too_wide(found(adding, scatter=0.01)) == ()
    assert too_wide(found(lambda chosen: 0.0, scatter=0.01)) == ()
    assert set(too_wide(found(adding, scatter=0.1))) == set("abcd")
    assert set(too_wide(found(lambda chosen: 0.0, scatter=0.1))) == set("abcd")
    assert set(too_wide(found(adding, blocks=7))) == set("abcd")


def test_a_share_can_be_too_wide_where_its_ratios_are_not():
    exact = found(adding)
    for half, wide in ((0.049, ()), (0.051, ("b",))):
        known = replace(exact.parts["b"], share=Estimate(0.4, 0.4 - half, 0.4 + half))
        assert too_wide(replace(exact, parts={**exact.parts, "b": known})) == wide


def test_an_interaction_can_be_too_wide_where_the_effects_are_not():
    exact = found(adding, factorial)
    pair = exact.interactions[0]
    for half, wide in ((0.029, ()), (0.030, ("a", "b"))):
        known = replace(pair, ln=Estimate(0.0, -half, half))
        assert too_wide(replace(exact, interactions=(known, *exact.interactions[1:]))) == wide


def test_a_term_of_three_asks_for_a_full_factorial_of_the_three_largest():
    assert escalation(ABCD, found(adding, two_ended_and_walk)) is None
    asked = escalation(ABCD, found(of_three))
    assert asked is not None and asked.because == ()
    assert list(asked.parts) == ["a", "b", "c"]
    assert set(asked.combinations) == set(factorial(parts_of("abc")))


def test_shares_that_the_closure_may_move_by_more_than_five_points_ask_for_it_too():
    """Nothing of three is there; the noise of few blocks does not tell."""
    close, loose = found(adding, scatter=0.004), found(adding, scatter=0.05)
    assert escalation(ABCD, close) is None and hidden_share(close) is None
    asked = escalation(ABCD, loose)
    assert asked is not None and asked.because == () and list(asked.parts) == ["a", "b", "c"]
    assert asked.hidden == hidden_share(loose) > 0.05
    low, high = loose.hidden.low, loose.hidden.high
    assert asked.hidden == max(-low, high), "as far as its interval reaches"


@pytest.mark.parametrize(("half", "hides"), [(0.049, False), (0.051, True)])
def test_a_closure_of_five_points_is_the_limit(half, hides):
    exact = found(adding)
    around = replace(exact, hidden=Estimate(0.0, -half, half))
    assert (escalation(ABCD, around) is not None) == hides
    assert (hidden_share(around) is not None) == hides
    aside = replace(exact, hidden=Estimate(-half, -half, 0.0))
    assert (hidden_share(aside) is not None) == hides


def test_nothing_hides_where_there_are_no_shares_or_all_combinations_or_two_parts():
    near = found(lambda chosen: adding(chosen) / 4, scatter=0.05)
    assert near.hidden is None and escalation(ABCD, near) is None
    full = found(adding, factorial, scatter=0.05)
    assert hidden_share(full) is None and escalation(ABCD, full) is None
    assert found(adding, parts=parts_of("ab"), scatter=0.05).hidden is None
    few = found(adding, blocks=3, scatter=0.05)
    assert few.hidden.low is None and escalation(ABCD, few) is None


def test_a_closure_that_is_seen_is_the_reason_and_no_doubt():
    asked = escalation(ABCD, found(of_three, scatter=0.02))
    assert asked is not None and asked.hidden is None


def test_two_means_apart_ask_for_it_even_where_the_closure_is_none():
    """A term of three against one of the other side: they cancel in the sum over all parts."""

    def time(chosen):
        return (
            adding(chosen) + 0.5 * ({"a", "b", "c"} <= chosen) - 0.5 * ({"b", "c", "d"} <= chosen)
        )

    result = found(time, two_ended_and_walk)
    assert abs(result.closure.value) < 1e-9
    asked = escalation(ABCD, result)
    assert asked is not None and asked.because


def test_where_all_combinations_are_measured_nothing_more_is_asked():
    assert escalation(ABCD, found(of_three, factorial)) is None
    assert escalation(parts_of("abc"), found(of_three, parts=parts_of("abc"))) is None


def test_groups_open_unless_they_are_seen_to_do_little():
    groups = {"log": "ab", "storage": "cd", "other": "ef"}
    parts = grouped("abcdef", groups)
    small = 0.02

    def time(chosen):
        return 0.06 * ("a" in chosen) + small * ("c" in chosen)

    assert to_open(groups, found(time, parts=parts)) == ("log",)
    assert to_open(groups, found(time, parts=parts, scatter=0.05)) == tuple(groups)
    assert to_open(groups, found(time, parts=parts, blocks=5)) == tuple(groups)
    after = opened(parts, ["log"])
    assert found(time, parts=after).parts["a"].alone.value == pytest.approx(0.06)


def test_two_effects_that_cancel_keep_a_group_closed():
    """A limit of the design: docs/reference/method.md says so."""
    parts = grouped("abc", {"both": "ab"})
    cancelled = found(lambda chosen: 0.3 * ("a" in chosen) - 0.3 * ("b" in chosen), parts=parts)
    assert to_open(["both"], cancelled) == ()


def test_only_known_zeros_at_both_ends_prune():
    counters = {"log": ["log_bytes"], "lock": ["waits", "deadlocks"], "jit": []}
    still = {"log_bytes": 0.0, "waits": 0.0, "deadlocks": 0.0}
    assert prunable(counters, [still, still]) == ("log", "lock")
    assert prunable(counters, [still, {**still, "deadlocks": 1.0}]) == ("log",)
    assert prunable(counters, [{**still, "log_bytes": None}, still]) == ("lock",)
    assert prunable(counters, [{"log_bytes": 0.0}, still]) == ("log",)
    assert prunable(counters, [still]) == ()


@pytest.mark.parametrize(("effect", "acts"), [(0.0, False), (0.1, True)])
def test_a_pruned_part_is_confirmed_or_shown_to_act(effect, acts):
    left, pruned = parts_of("abc"), parts_of("d")

    def design(parts):
        return (*two_ended(parts), *confirming(pruned))

    result = found(lambda one: adding(one) + effect * ("d" in one), design, left, pruned=pruned)
    assert result.pruned["d"].acts is acts and result.pruned["d"].share is None
    assert list(result.parts) == [*"abc"]
    assert result.confidence == 1 - 0.05 / 4
