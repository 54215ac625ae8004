"""The quantities of a study, each as the sum of combinations that it is: combination -> weight.

With y(S) = ln of the time of combination S, a contrast is the sum of weight times y. The weights of
each sum to 0, so whatever is common to a block (a fork's processes, the machine's speed) cancels.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import factorial

from loadstone.studies.design import BASE, Combination, Parts, every

Contrast = Mapping[Combination, float]

ROUNDING = 1e-12
"""A weight below this is what rounding left of a combination that cancelled."""


def value(contrast: Contrast, block: Mapping[Combination, float]) -> float:
    """Of one block, which has all its combinations."""
    return sum(weight * block[combination] for combination, weight in contrast.items())


def combined(terms: Iterable[tuple[float, Contrast]]) -> Contrast:
    """The weighted sum."""
    found: dict[Combination, float] = {}
    for factor, contrast in terms:
        for combination, weight in contrast.items():
            found[combination] = found.get(combination, 0.0) + factor * weight
    return {combination: weight for combination, weight in found.items() if abs(weight) > ROUNDING}


def mean(contrasts: Sequence[Contrast]) -> Contrast:
    """The mean; of one, itself."""
    return combined((1 / len(contrasts), contrast) for contrast in contrasts)


def marginal(part: Combination, others: Combination) -> Contrast:
    """The effect of flipping a part where `others` are flipped already."""
    return {others | part: 1.0, others: -1.0}


def whole(parts: Parts) -> Contrast:
    """The distance of the two ends."""
    return marginal(every(parts), BASE)


def alone(parts: Parts, name: str) -> Contrast:
    """f: flipped first."""
    return marginal(parts[name], BASE)


def last(parts: Parts, name: str) -> Contrast:
    """l: flipped last."""
    return marginal(parts[name], every(parts) - parts[name])


def two_ended(parts: Parts, name: str) -> Contrast:
    """(f + l) / 2: the Shapley value, if interactions are of order two at most (Mayer and Wüthrich,
    arXiv 2508.12947)."""
    return mean([alone(parts, name), last(parts, name)])


def walked(parts: Parts, name: str) -> Contrast:
    """The mean of its steps on the walk there, in the order of the parts, and on the walk back: the
    Shapley value under the same condition."""
    order = list(parts)
    place = order.index(name)
    before, after = (
        BASE.union(*(parts[other] for other in some))
        for some in (order[:place], order[place + 1 :])
    )
    return mean([marginal(parts[name], before), marginal(parts[name], after)])


def shapley(parts: Parts, name: str) -> Contrast:
    """The mean of its marginals over all orders, from all 2^k combinations."""
    others = [part for other, part in parts.items() if other != name]
    count = len(parts)
    return combined(
        (
            factorial(size) * factorial(count - size - 1) / factorial(count),
            marginal(parts[name], BASE.union(*some)),
        )
        for size in range(count)
        for some in combinations(others, size)
    )


def closure(parts: Parts) -> Contrast:
    """C: the whole less the two-ended means of all parts; what interactions of three and more
    add."""
    means = ((-1.0, two_ended(parts, name)) for name in parts)
    return combined([(1.0, whole(parts)), *means])


def interaction(one: Combination, other: Combination, others: Combination) -> Contrast:
    """By how much the effect of one part differs where the other is flipped."""
    return combined([(1.0, marginal(one, others | other)), (-1.0, marginal(one, others))])
