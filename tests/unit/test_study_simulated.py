"""The claims of a study, held against studies whose truth is made up: how often each is false.

`docs/reference/method.md` has these claims; `make calibrate` counts the same on an engine.
"""

import random
from functools import cache
from math import log
from statistics import fmean, median

import pytest
from simulated_study import NOISES, Truth, blocks

from loadstone.studies import contrasts
from loadstone.studies.design import factorial, parts_of, two_ended
from loadstone.studies.effects import study_effects
from loadstone.studies.steering import too_wide

STUDIES = 60
PARTS = parts_of("abcdef")
TRUTH = Truth(
    {"a": log(1.5), "b": log(1.2), "c": log(0.85), "d": log(1.5), "ad": log(1.1)}, {"b": 0.1}
)
"""a and d multiply and interact by 10 %, b adds and multiplies, c goes the other way, e and f do
nothing."""


@cache
def studies(kind, count=16, design=two_ended):
    dice = random.Random(f"{kind} {count}")
    return [
        study_effects(PARTS, blocks(dice, TRUTH, design(PARTS), count, kind))
        for _ in range(STUDIES)
    ]


def true(contrast):
    return contrasts.value(contrast, {one: TRUTH(one) for one in factorial(PARTS)})


def holds(estimate, value):
    return estimate.low - 1e-12 <= value <= estimate.high + 1e-12


def share_of(claims):
    return fmean([bool(claim) for claim in claims])


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("count", [8, 16])
def test_effects_lie_within_their_intervals(kind, count):
    """Each claims 99.2 %."""
    held = [
        holds(effect, true(contrast(PARTS, name)))
        for found in studies(kind, count)
        for name, part in found.parts.items()
        for effect, contrast in (
            (part.alone, contrasts.alone), (part.last, contrasts.last),
            (part.two_ended, contrasts.two_ended),
        )
    ]  # fmt: skip
    assert share_of(held) >= 0.97


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("count", [8, 16])
def test_shares_lie_within_their_intervals(kind, count):
    """Each claims 95 %. The truth is the Shapley value over the whole."""
    whole = true(contrasts.whole(PARTS))
    held = [
        holds(part.share, true(contrasts.shapley(PARTS, name)) / whole)
        for found in studies(kind, count)
        for name, part in found.parts.items()
    ]
    assert share_of(held) >= 0.92


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("faster", [False, True])
def test_shares_lie_near_the_truth_whichever_end_is_the_faster_one(kind, faster):
    """An interval may hold the truth while the share is one of its ends."""
    truth = Truth({name: -ln if faster else ln for name, ln in TRUTH.terms.items()})
    times = {one: truth(one) for one in factorial(PARTS)}
    whole = contrasts.value(contrasts.whole(PARTS), times)
    of_a = contrasts.value(contrasts.shapley(PARTS, "a"), times) / whole
    dice = random.Random(f"{kind} {faster}")
    made = [blocks(dice, truth, two_ended(PARTS), 16, kind) for _ in range(20)]
    off = [abs(study_effects(PARTS, each).parts["a"].share.value - of_a) for each in made]
    assert median(off) < 0.05


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("count", [8, 16])
def test_nothing_is_rarely_called_an_effect(kind, count):
    """In one study of twenty, for any of its parts."""
    called = [found.parts[name].acts for found in studies(kind, count) for name in "ef"]
    assert share_of(called) <= 0.05


@pytest.mark.parametrize("kind", NOISES)
def test_interactions_are_rarely_invented(kind):
    """b adds beside what multiplies: it interacts on ln, and in ms, with two signs."""
    invented = [found.parts[name].with_rest.claimed for found in studies(kind) for name in "bcef"]
    assert share_of(invented) <= 0.05


@pytest.mark.parametrize(("kind", "count"), [("normal", 16), ("heavy", 32), ("spikes", 32)])
def test_interactions_of_ten_per_cent_are_found(kind, count):
    claimed = [
        found.parts[name].with_rest.claimed for found in studies(kind, count) for name in "ad"
    ]
    assert share_of(claimed) >= 0.9


@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_a_full_factorial_reports_which_two_interact(kind):
    dice = random.Random(kind)
    four = parts_of("abcd")
    for _ in range(10):
        found = study_effects(four, blocks(dice, TRUTH, factorial(four), 16, kind))
        assert {(i.one, i.other) for i in found.interactions if i.claimed} == {("a", "d")}


@pytest.mark.parametrize("kind", NOISES)
def test_pairs_alone_rarely_leave_something_to_close(kind):
    """With b multiplying only: times that add make terms of three on ln."""
    dice = random.Random(kind)
    truth = Truth(TRUTH.terms)
    seen = [
        not holds(study_effects(PARTS, blocks(dice, truth, two_ended(PARTS), 16, kind)).closure, 0)
        for _ in range(STUDIES)
    ]
    assert share_of(seen) <= 0.05


def test_stopping_on_width_keeps_what_intervals_claim():
    """A study ends at its first block after which all is narrow: chance then favours intervals that
    are too narrow, but hardly."""
    dice = random.Random("stopping")
    four = parts_of("abce")
    held, called, counts = [], [], set()
    for _ in range(80):
        made = blocks(dice, TRUTH, two_ended(four), 30, noise=0.015)
        for count in range(8, 31):
            found = study_effects(four, made[:count])
            if not too_wide(found):
                break
        counts.add(count)
        held += [holds(found.parts[n].alone, true(contrasts.alone(four, n))) for n in four]
        called.append(found.parts["e"].acts)
    assert len(counts) > 3 and max(counts) < 30
    assert share_of(held) >= 0.97
    assert share_of(called) <= 0.05


def bootstrap_of_means(dice, pairs):
    """The 95 % interval of the ratio of means, by percentiles over blocks drawn with return."""
    drawn = []
    for _ in range(400):
        chosen = dice.choices(pairs, k=len(pairs))
        drawn.append(sum(above for above, _ in chosen) / sum(below for _, below in chosen))
    drawn.sort()
    return drawn[10], drawn[-11]


def test_a_bootstrap_of_blocks_would_hold_the_truth_less_often():
    """Why `shares.py` has none: 8 blocks are too few for one."""
    dice = random.Random("bootstrap")
    part, whole = contrasts.two_ended(PARTS, "a"), contrasts.whole(PARTS)
    truth = true(part) / true(whole)
    own, bootstrap = [], []
    for _ in range(200):
        made = blocks(dice, TRUTH, two_ended(PARTS), 8, "heavy")
        low, high = bootstrap_of_means(
            dice, [(contrasts.value(part, one), contrasts.value(whole, one)) for one in made]
        )
        bootstrap.append(low <= truth <= high)
        own.append(holds(study_effects(PARTS, made).parts["a"].share, truth))
    assert share_of(bootstrap) < 0.9 < 0.93 <= share_of(own)
