"""Which combinations a study measures. All designs have both ends, and every block measures all
combinations of the design once, so that each effect is a contrast within one block.

For k parts, k >= 4: `two_ended` has 2k + 2 combinations, `walk` (there and back) 2k, both together
4k - 4, `factorial` 2^k.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from loadstone.statistics.study.parts import BASE, Combination, Parts, every

PARTS_MAX = 8
"""With more parts, groups of them are flipped first (`parts.grouped`)."""


def two_ended(parts: Parts) -> tuple[Combination, ...]:
    """Base; each part alone; all but each part; all."""
    end = every(parts)
    alone = parts.values()
    return _once([BASE, *alone, *(end - part for part in alone), end])


def walk(parts: Parts) -> tuple[Combination, ...]:
    """From base to the other end, one part more at each step: in the order of the parts, and in
    the reverse order."""
    order = list(parts.values())
    return _once([*_prefixes(order), *_prefixes(order[::-1])])


def two_ended_and_walk(parts: Parts) -> tuple[Combination, ...]:
    """Both, for a cross-check of each share."""
    return _once([*two_ended(parts), *walk(parts)])


def factorial(parts: Parts, held: Combination = BASE) -> tuple[Combination, ...]:
    """Every combination of the parts, the switches of `held` at their other value in all."""
    chosen = parts.values()
    sizes = range(len(parts) + 1)
    return _once(held.union(*some) for size in sizes for some in combinations(chosen, size))


def confirming(parts: Parts) -> tuple[Combination, ...]:
    """Each part alone: the one combination that a part keeps whose work counters are zero at both
    ends."""
    return _once(parts.values())


def _prefixes(order: Sequence[Combination]) -> list[Combination]:
    return [BASE.union(*order[:length]) for length in range(len(order) + 1)]


def _once(chosen: Iterable[Combination]) -> tuple[Combination, ...]:
    return tuple(dict.fromkeys(chosen))
