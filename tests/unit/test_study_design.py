"""Which combinations a study measures: as many as promised, both ends among them, none twice."""

from itertools import combinations

import pytest

from loadstone.studies.design import (
    BASE,
    confirming,
    every,
    factorial,
    grouped,
    opened,
    parts_of,
    two_ended,
    two_ended_and_walk,
    walk,
)

LETTERS = "abcdefgh"


def of(count):
    return parts_of(LETTERS[:count])


@pytest.mark.parametrize("count", range(1, 9))
@pytest.mark.parametrize("design", [two_ended, walk, two_ended_and_walk, factorial])
def test_each_design_has_both_ends_and_nothing_twice(design, count):
    chosen = design(of(count))
    assert chosen[0] == BASE
    assert every(of(count)) in chosen
    assert len(set(chosen)) == len(chosen)


@pytest.mark.parametrize("count", range(3, 9))
def test_the_designs_have_as_many_combinations_as_promised(count):
    parts = of(count)
    assert len(two_ended(parts)) == 2 * count + 2
    assert len(walk(parts)) == 2 * count
    assert len(two_ended_and_walk(parts)) == 4 * count - 4
    assert len(factorial(parts)) == 2**count


def test_two_ended_is_each_part_first_and_last():
    shown = {"".join(sorted(one)) for one in two_ended(of(4))}
    assert shown == {"", "a", "b", "c", "d", "bcd", "acd", "abd", "abc", "abcd"}


def test_a_walk_goes_in_the_order_of_the_parts_and_back():
    shown = ["".join(sorted(one)) for one in walk(of(4))]
    assert shown == ["", "a", "ab", "abc", "abcd", "d", "cd", "bcd"]


def test_a_held_tactic_is_in_every_combination_of_a_factorial():
    chosen = factorial(of(2), held=frozenset("xy"))
    assert {"".join(sorted(one)) for one in chosen} == {"xy", "axy", "bxy", "abxy"}


def test_a_confirming_combination_has_one_part_alone():
    assert confirming(of(2)) == (frozenset("a"), frozenset("b"))


def test_groups_are_flipped_whole_until_they_are_opened():
    parts = grouped(LETTERS, {"log": "ab", "storage": "cd"})
    assert list(parts) == ["log", "storage", *"efgh"]
    assert all(not (one & other) for one, other in combinations(parts.values(), 2))
    assert frozenset("cd") in two_ended(parts) and frozenset("c") not in two_ended(parts)
    open_log = opened(parts, ["log"])
    assert list(open_log) == ["a", "b", "storage", *"efgh"]
    assert every(open_log) == every(parts) == frozenset(LETTERS)
