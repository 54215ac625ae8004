"""The next step of a study: go on or stop, measure more combinations, flip fewer parts.

Stopping looks at the widths of intervals and never at their sides of 0: stopping at the first
interval that excludes 0 would find effects that do not exist.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, log2

from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN
from loadstone.studies.design import Combination, Parts, factorial
from loadstone.studies.effects import CHANCE, PartEffect, StudyEffects, is_beyond

SHARE_WITHIN = 0.05
"""Half the width of a share's interval: 5 points."""
RATIO_WITHIN = log(1.03)
"""Half the width of a ratio's interval, on ln: 3 %."""
TOGETHER_WITHIN = log(1.05)
"""Half the width of an interaction's interval, on ln, at which one of 10 % is found in nine of ten
studies: of simulated ones, at noise of 3 to 10 %."""
TOGETHER_BLOCKS = 16
"""The fewest blocks where every pair is asked about. An interval of 8 blocks at 98.75 % reaches
from the least to the greatest: one sample in twenty that is up to twice as long hides three of four
interactions of 10 %, with 16 blocks one of five."""
GROUP_LEAST = log(1.05)
"""A group of parts within this is not opened."""
LARGEST = 3
"""The parts of a full factorial: 8 combinations."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """The full factorial to measure next, all other parts at base."""

    parts: Parts
    """The three with the largest contributions."""
    combinations: tuple[Combination, ...]
    because: tuple[str, ...]
    """The parts whose two means disagree."""
    hidden: float | None
    """The share of the whole that the closure may have, up or down, where it is only not known to
    be small; None where the means disagree, or the closure is beyond 0."""


def blocks_least(parts: int) -> int:
    """The fewest blocks that give intervals of so many parts at all: Wilcoxon's signed ranks can
    refuse nothing below a chance of 2 in 2^blocks."""
    return max(OBSERVATIONS_MIN, ceil(1 + log2(max(parts, 1) / CHANCE)))


def too_wide(found: StudyEffects) -> tuple[str, ...]:
    """The parts of which a share is known no better than within 5 points, or a ratio, that of an
    interaction among them, no better than within 3 %; empty when the study may stop."""
    whole = found.whole is None or _is_within(found.whole, RATIO_WITHIN)
    open_pairs = {
        name
        for pair in found.interactions
        if not _is_within(pair.ln, RATIO_WITHIN)
        for name in (pair.one, pair.other)
    }
    return tuple(
        name
        for name, part in {**found.parts, **found.pruned}.items()
        if not whole
        or name in open_pairs
        or not all(_is_within(one, within) for one, within in _figures(part))
    )


def too_wide_together(found: StudyEffects) -> bool:
    """Whether some interaction of two is known too loosely for one of 10 % to be found."""
    return not all(_is_within(pair.ln, TOGETHER_WITHIN) for pair in found.interactions)


def escalation(parts: Parts, found: StudyEffects) -> Escalation | None:
    """The full factorial of the three largest parts, where interactions of three and more are seen:
    the closure is beyond 0, or the two means of a part are apart, by their intervals and by more
    than the threshold; or where the shares are not known to `SHARE_WITHIN`, since the closure may
    be a larger share of the whole. None where neither is so, or all combinations are measured."""
    known = {name: one.contribution for name, one in found.parts.items()}
    if len(parts) <= LARGEST or any(one.shapley for one in found.parts.values()):
        return None
    apart = tuple(
        name for name, part in found.parts.items() if is_beyond(part.disagreement, found.threshold)
    )
    hidden = None if apart or is_beyond(found.closure, found.threshold) else hidden_share(found)
    if not apart and not is_beyond(found.closure, found.threshold) and hidden is None:
        return None
    sizes = {name: abs(one.value) for name, one in known.items() if one is not None}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]
    chosen = {name: switches for name, switches in parts.items() if name in largest}
    return Escalation(chosen, factorial(chosen), apart, hidden)


def hidden_share(found: StudyEffects) -> float | None:
    """The share of the whole that the closure may have, up or down, by its interval; None where it
    has one within `SHARE_WITHIN`, none yet, or there are no shares or those of all combinations."""
    if found.hidden is None or found.hidden.low is None:
        return None
    if any(one.shapley for one in found.parts.values()):
        return None
    reach = _reach(found.hidden)
    return reach if reach > SHARE_WITHIN else None


def to_open(groups: Collection[str], found: StudyEffects) -> tuple[str, ...]:
    """The groups to open: all but those of which every interval lies within 5 %. Two effects of
    one group that cancel keep it closed."""
    return tuple(
        name
        for name in groups
        if not all(
            one is not None and _reach(one) <= GROUP_LEAST
            for one in (found.parts[name].alone, found.parts[name].last)
        )
    )


def is_known(share: Estimate) -> bool:
    """Whether a share is known as closely as a study wants."""
    return _is_within(share, SHARE_WITHIN)


def prunable(
    counters: Mapping[str, Collection[str]], ends: Sequence[Mapping[str, float | None]]
) -> tuple[str, ...]:
    """The parts that have no work to change: each has work counters (`counters`: part -> their
    names), and all are known and zero at both ends (`ends`: counter -> its count). Such a part
    keeps one combination, to confirm it (`design.confirming`)."""
    return tuple(
        name
        for name, own in counters.items()
        if own and len(ends) > 1 and all(end.get(one) == 0 for end in ends for one in own)
    )


def _figures(part: PartEffect) -> Iterator[tuple[Estimate, float]]:
    for effect in (part.alone, part.last):
        if effect is not None:
            yield effect, RATIO_WITHIN
    if part.share is not None:
        yield part.share, SHARE_WITHIN


def _is_within(estimate: Estimate, half: float) -> bool:
    if estimate.low is None or estimate.high is None:
        return False
    return (estimate.high - estimate.low) / 2 <= half


def _reach(estimate: Estimate) -> float:
    """The distance from 0 that the interval goes; without one, infinitely."""
    if estimate.low is None or estimate.high is None:
        return float("inf")
    return max(abs(estimate.low), abs(estimate.high))
