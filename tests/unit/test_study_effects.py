"""The computations of a study, on tables of times that are given: identities that hold for any
times, and truths worked out by hand."""

import random
from itertools import combinations
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.statistics.shares import share_of
from loadstone.studies import contrasts
from loadstone.studies.design import (
    BASE,
    every,
    factorial,
    grouped,
    parts_of,
    two_ended,
    two_ended_and_walk,
)
from loadstone.studies.effects import as_ratio, study_effects

CLOSE = 1e-9


def near(value):
    return pytest.approx(value, abs=CLOSE)


@st.composite
def tables(draw, least=2, most=5):
    """Parts, and a time on ln for every combination of them."""
    parts = parts_of("abcde"[: draw(st.integers(least, most))])
    times = st.floats(-3, 3, allow_subnormal=False)
    return parts, {one: draw(times) for one in factorial(parts)}


@st.composite
def tables_of_pairs(draw):
    """The same where no interaction is of more than two parts."""
    parts = parts_of("abcde"[: draw(st.integers(2, 5))])
    terms = st.floats(-1, 1, allow_subnormal=False)
    single = {one: draw(terms) for one in parts}
    double = {pair: draw(terms) for pair in combinations(parts, 2)}
    return parts, {
        chosen: sum(single[one] for one in chosen)
        + sum(term for pair, term in double.items() if chosen.issuperset(pair))
        for chosen in factorial(parts)
    }


@given(tables())
def test_shapley_values_sum_to_the_whole_and_two_ended_means_with_the_closure(drawn):
    parts, table = drawn
    found = study_effects(parts, [table])
    assert sum(one.shapley.value for one in found.parts.values()) == near(found.whole.value)
    means = sum(one.two_ended.value for one in found.parts.values())
    assert means + found.closure.value == near(found.whole.value)


@given(tables_of_pairs())
def test_pairs_alone_leave_all_three_means_alike_and_nothing_to_close(drawn):
    parts, table = drawn
    found = study_effects(parts, [table])
    assert found.closure.value == near(0)
    for one in found.parts.values():
        assert one.two_ended.value == near(one.shapley.value)
        assert one.walked.value == near(one.shapley.value)


@given(tables())
def test_the_other_end_as_base_turns_every_effect_around(drawn):
    parts, table = drawn
    turned = {every(parts) - one: time for one, time in table.items()}
    there, back = study_effects(parts, [table]), study_effects(parts, [turned])
    assert back.whole.value == near(-there.whole.value)
    assert back.closure.value == near(-there.closure.value)
    for name, one in there.parts.items():
        assert back.parts[name].alone.value == near(-one.last.value)
        assert back.parts[name].shapley.value == near(-one.shapley.value)


@given(tables(), st.permutations("abcde"))
def test_other_names_give_other_names_and_the_same_numbers(drawn, names):
    parts, table = drawn
    other = dict(zip("abcde", names, strict=True))
    named = {frozenset(other[name] for name in one): time for one, time in table.items()}
    first = study_effects(parts, [table])
    second = study_effects(parts_of(other[name] for name in parts), [named])
    assert second.closure == first.closure
    for name, one in first.parts.items():
        again = second.parts[other[name]]
        assert (again.alone, again.last, again.two_ended) == (one.alone, one.last, one.two_ended)
        assert again.walked == one.walked
        assert again.shapley.value == near(one.shapley.value)


@given(tables(), st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=4))
def test_a_disturbance_of_a_whole_block_cancels(drawn, common):
    parts, table = drawn
    blocks = [{one: time + shift for one, time in table.items()} for shift in common]
    alone, many = study_effects(parts, [table]), study_effects(parts, blocks)
    assert many.whole.value == near(alone.whole.value)
    for one, other in zip(many.interactions, alone.interactions, strict=True):
        assert one.ln.value == near(other.ln.value)


@given(tables(least=3))
def test_every_marginal_lies_in_the_order_range(drawn):
    parts, table = drawn
    found = study_effects(parts, [table])
    for one in found.parts.values():
        least, greatest = (end.value for end in one.order_range)
        for value in (one.alone.value, one.last.value, one.two_ended.value, one.shapley.value):
            assert least - CLOSE <= value <= greatest + CLOSE


@pytest.mark.parametrize("design", [factorial, two_ended, two_ended_and_walk])
def test_all_contrasts_of_a_design_weigh_nothing_together(design):
    parts = parts_of("abcd")
    assert set(contrasts.closure(parts)) <= set(two_ended(parts))
    for name in parts:
        for quantity in (contrasts.alone, contrasts.last, contrasts.two_ended, contrasts.walked,
                         contrasts.shapley):  # fmt: skip
            assert sum(quantity(parts, name).values()) == near(0)


def times_of(truth, design=factorial, blocks=8):
    """The same times, in ms, in every block."""
    parts = parts_of("abc")
    return parts, [{one: log(truth(one)) for one in design(parts)} for _ in range(blocks)]


def test_times_that_add_have_no_interaction_to_claim():
    cost = {"a": 5.0, "b": 3.0, "c": 0.0}
    found = study_effects(*times_of(lambda chosen: 1.0 + sum(cost[one] for one in chosen)))
    ab = found.interactions[0]
    assert (ab.one, ab.other, ab.contexts) == ("a", "b", 2)
    assert ab.ms.value == near(0) and ab.ln.value == near(log(9 / 6 / 4))
    assert not any(one.claimed for one in found.interactions)
    assert {name: one.acts for name, one in found.parts.items()} == {
        "a": True, "b": True, "c": False,
    }  # fmt: skip


def test_times_that_multiply_have_none_either():
    def time(chosen):
        return 7.0 * 5.0 ** ("a" in chosen) * 3.0 ** ("b" in chosen)

    found = study_effects(*times_of(time))
    ab = found.interactions[0]
    assert ab.ln.value == near(0) and ab.ms.value == near(7 * (15 - 5 - 3 + 1))
    assert not any(one.claimed for one in found.interactions)
    assert found.base_ms == near(7.0)
    assert as_ratio(found.parts["a"].alone).value == near(5.0)
    assert found.parts["a"].share.value == near(log(5) / log(15))
    assert found.parts["c"].share.value == near(0)


def test_an_interaction_that_no_scale_removes_is_claimed():
    found = study_effects(*times_of(lambda chosen: 10.0 if {"a", "b"} <= chosen else 2.0))
    claimed = {(one.one, one.other) for one in found.interactions if one.claimed}
    assert claimed == {("a", "b")}
    assert found.parts["a"].with_rest.claimed
    assert not found.parts["c"].with_rest.claimed
    assert found.parts["a"].alone.value == near(0) and found.parts["a"].acts
    assert found.parts["a"].share.value == near(0.5)


def test_an_interaction_whose_sign_is_the_scale_s_is_not_claimed():
    """Halfway between adding and multiplying: the squares of the roots' sums."""
    found = study_effects(*times_of(lambda chosen: (1.0 + len(chosen & {"a", "b"})) ** 2))
    ab = found.interactions[0]
    assert ab.ln.value < log(1 / 1.03) and ab.ms.value > 0.03 and not ab.claimed


def test_an_interaction_that_nearly_vanishes_in_ms_is_not_claimed():
    """A part that adds 1 ms beside one that takes half a ms away, and then 0.01 ms."""
    times = {BASE: 1.0, frozenset("a"): 2.0, frozenset("b"): 0.5, frozenset("ab"): 1.51}
    found = study_effects(*times_of(lambda chosen: times[chosen - {"c"}]))
    ab = found.interactions[0]
    assert ab.ln.low == near(log(1.51)) and ab.ms.low == near(0.01) and not ab.claimed


def test_a_term_of_three_shows_in_the_closure():
    def time(chosen):
        return 8.0 if {"a", "b", "c"} <= chosen else 1.0

    _, blocks = times_of(time)
    parts = parts_of("abcd")
    blocks = [
        {some | more: time for some, time in block.items() for more in (BASE, frozenset("d"))}
        for block in blocks
    ]
    found = study_effects(parts, blocks)
    assert found.closure.value == near(log(8) - 3 * log(8) / 2)
    assert found.parts["a"].shapley.value == near(log(8) / 3)


def test_a_small_whole_has_no_shares():
    found = study_effects(*times_of(lambda chosen: 1.4 if "a" in chosen else 1.0))
    assert all(one.share is None for one in found.parts.values())
    assert found.parts["a"].acts


def test_a_walk_alone_gives_its_mean_and_no_two_ended_one():
    parts = parts_of("abcd")
    steps = contrasts.walked(parts, "b")
    found = study_effects(parts, [{one: float(len(one)) for one in steps}] * 8).parts["b"]
    assert found.walked.value == near(1) and found.two_ended is None and found.shapley is None


def test_two_means_that_disagree_say_by_how_much():
    """Of a term of a, b and c: flipped last, b completes it; on neither walk does it, because there
    c comes after b, or a does."""
    parts = parts_of("abcd")
    block = {one: float({"a", "b", "c"} <= one) for one in two_ended_and_walk(parts)}
    found = study_effects(parts, [block] * 8)
    assert found.parts["b"].two_ended.value == near(0.5)
    assert found.parts["b"].walked.value == near(0.0)
    assert found.parts["b"].disagreement.low == near(0.5)
    assert found.parts["a"].disagreement is None


def test_a_combination_that_failed_takes_its_own_figures_alone():
    parts, blocks = times_of(lambda chosen: 2.0 ** len(chosen), two_ended)
    for block in blocks:
        del block[frozenset("a")]
    found = study_effects(parts, blocks)
    assert found.parts["a"].alone is None and found.closure is None
    assert found.parts["a"].last.value == near(log(2))
    assert found.parts["b"].alone.value == near(log(2))


def test_too_few_blocks_have_no_interval_and_call_nothing():
    parts, blocks = times_of(lambda chosen: 2.0 ** len(chosen), blocks=6)
    found = study_effects(parts, blocks)
    assert found.parts["a"].alone.low is None
    assert not any(one.acts for one in found.parts.values())


def test_the_control_s_reach_is_the_threshold():
    parts, blocks = times_of(lambda chosen: 1.06 ** len(chosen))
    assert study_effects(parts, blocks).parts["a"].acts
    restless = [0.08, -0.02, 0.07, -0.01, 0.06, 0.0, 0.08, -0.03]
    found = study_effects(parts, blocks, restless)
    assert found.threshold > log(1.06) and not found.parts["a"].acts


def test_of_many_switches_the_combinations_are_counted_before_they_are_listed():
    """All combinations of 61 are more than a memory holds."""
    parts = parts_of(f"s{number}" for number in range(61))
    found = study_effects(parts, [dict.fromkeys(two_ended(parts), 0.5)] * 8)
    assert all(part.shapley is None for part in found.parts.values())
    assert found.parts["s60"].last is not None


def test_a_group_is_one_part():
    parts = grouped("abc", {"both": "ab"})
    block = {one: float(len(one)) for one in two_ended(parts)}
    found = study_effects(parts, [block] * 8)
    assert found.parts["both"].two_ended.value == near(2)
    assert found.parts["c"].two_ended.value == near(1)


def test_a_share_is_the_same_where_the_other_end_is_the_faster_one():
    """Of a part that makes 0.6 of what makes the time half, in blocks that differ."""
    dice = random.Random(1983)
    blocks = [(dice.gauss(-0.42, 0.1), dice.gauss(-0.7, 0.1)) for _ in range(32)]
    faster = share_of(blocks, interval=True)
    slower = share_of([(-part, -whole) for part, whole in blocks], interval=True)
    assert faster == slower
    assert 0.5 < faster.low < faster.value < faster.high < 0.7
