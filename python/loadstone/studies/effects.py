"""A study's findings for one operation: of each part its effect alone and last, its contribution
and share; of the study the whole, the closure and the interactions.

Every figure on ln is the centre of contrasts within blocks; its exponential is a ratio. Intervals
are at 1 - 0.05 / k for k parts, so that of a study without any effect one in twenty shows some.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from types import MappingProxyType

from loadstone.statistics.estimate import Estimate, centre, side
from loadstone.studies import contrasts
from loadstone.studies.contrasts import Contrast
from loadstone.studies.design import BASE, Combination, Parts, every
from loadstone.studies.observations import Block, Observations
from loadstone.studies.observations import share as share_of_whole

CHANCE = 0.05
"""The number of times that a study without effects may show one."""
NONE: Parts = MappingProxyType({})
HIDES_NOTHING = 2
"""So many parts have no interaction of three."""
LEAST = log(1.03)
"""Smaller effects are not called: two processes of one engine differ by that much."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """By how much a part's effect differs where another is flipped (None: where all others are),
    over the contexts measured: `ln` as the logarithm of a ratio, `ms` as a difference of times."""

    one: str
    other: str | None
    contexts: int
    ln: Estimate
    ms: Estimate
    claimed: bool
    """Whether neither scale removes it: both intervals exclude 0 on the same side, and both values
    are beyond the study's threshold. Times that add have one on ln alone, times that multiply one
    in ms alone; where the two have different signs, a scale between them has none."""


@dataclass(frozen=True, slots=True)
class PartEffect:
    """One part. On ln but for the shares; None where its combinations were not measured."""

    name: str
    acts: bool
    """Whether it is called an effect, alone or last."""
    alone: Estimate | None = None
    """f: flipped first, all others at base."""
    last: Estimate | None = None
    """l: flipped last, all others flipped."""
    two_ended: Estimate | None = None
    """(f + l) / 2."""
    walked: Estimate | None = None
    """The mean of its steps on the walk there and back."""
    shapley: Estimate | None = None
    """The mean of its steps over all orders; needs all 2^k combinations."""
    share: Estimate | None = None
    """Of the whole: by the Shapley value, else by the two-ended mean."""
    share_walked: Estimate | None = None
    disagreement: Estimate | None = None
    """The two-ended mean less the walked one."""
    order_range: tuple[Estimate, Estimate] | None = None
    """The least and the greatest of its marginals, over all that were measured."""
    with_rest: Interaction | None = None
    """l - f: the interaction with all others together."""

    @property
    def contribution(self) -> Estimate | None:
        """Its part of the whole by the best of the three means measured."""
        return self.shapley or self.two_ended or self.walked


@dataclass(frozen=True, slots=True)
class StudyEffects:
    """One operation. Every figure on ln, but for the times in ms."""

    blocks: int
    confidence: float
    threshold: float
    """The bound that an effect must exceed, on ln: 3 %, or the reach of the A/A control."""
    noise: Estimate | None
    """The A/A control over the base; None without one."""
    base_ms: float | None
    """The time at base, in the median block."""
    whole: Estimate | None
    """The distance of the two ends."""
    closure: Estimate | None
    """The whole less all two-ended means: what they leave to interactions of three and more."""
    hidden: Estimate | None
    """The closure's share of the whole: by so much the shares by both ends may be wrong. None where
    there are no shares, or two parts at most, which hide nothing."""
    parts: Mapping[str, PartEffect]
    pruned: Mapping[str, PartEffect]
    """At base at both ends, and alone in the combination that confirms each; one that acts was
    pruned wrongly."""
    interactions: tuple[Interaction, ...]
    """Of each pair of parts for which some context has all four combinations."""


def study_effects(
    parts: Parts,
    blocks: Sequence[Block],
    control: Sequence[float] = (),
    pruned: Parts = NONE,
) -> StudyEffects:
    """Analyse one operation. `blocks` in time order; `control`: ln of the A/A control's ratio in
    each block; `pruned`: parts left at base but in the one combination that confirms each."""
    observed = Observations(blocks)
    confidence = 1 - CHANCE / max(len(parts) + len(pruned), 1)
    noise = centre(control, 1 - CHANCE) if control else None
    threshold = _threshold_of(noise)
    reported = _Reported(parts, observed, observed.measured, confidence, threshold)
    return StudyEffects(
        blocks=len(blocks),
        confidence=confidence,
        threshold=threshold,
        noise=noise,
        base_ms=observed.typical_ms([BASE]) if observed.having([BASE]) else None,
        whole=reported.estimate(contrasts.whole(parts)),
        closure=reported.estimate(contrasts.closure(parts)),
        hidden=reported.share(contrasts.closure(parts)) if len(parts) > HIDES_NOTHING else None,
        parts={name: reported.part(name) for name in parts},
        pruned={name: reported.confirmed(name, part) for name, part in pruned.items()},
        interactions=tuple(reported.interactions()),
    )


def _threshold_of(noise: Estimate | None) -> float:
    """The distance from 0 that an effect must be, on ln: 3 %, or as far as the interval of the A/A
    control reaches."""
    if noise is None:
        return LEAST
    reached = [bound for bound in (noise.value, noise.low, noise.high) if bound is not None]
    return max(LEAST, *map(abs, reached))


def is_beyond(effect: Estimate | None, threshold: float) -> bool:
    """Whether an effect is called one: its interval excludes 0, and it is beyond the threshold."""
    return effect is not None and abs(effect.value) > threshold and side(effect) != 0


def as_ratio(effect: Estimate) -> Estimate:
    """An effect on ln as the ratio that it is."""
    low, high = effect.low, effect.high
    return Estimate(
        exp(effect.value), None if low is None else exp(low), None if high is None else exp(high)
    )


@dataclass(frozen=True, slots=True)
class _Reported:
    """The data from which each question about one operation is answered."""

    parts: Parts
    observed: Observations
    measured: frozenset[Combination]
    confidence: float
    threshold: float

    def estimate(self, contrast: Contrast) -> Estimate | None:
        return self.observed.estimate(contrast, self.confidence)

    def part(self, name: str) -> PartEffect:
        parts = self.parts
        by_ends, by_walk = contrasts.two_ended(parts, name), contrasts.walked(parts, name)
        alone, last = (self.estimate(c(parts, name)) for c in (contrasts.alone, contrasts.last))
        by_orders = contrasts.shapley(parts, name) if self._is_factorial() else None
        return PartEffect(
            name=name,
            alone=alone,
            last=last,
            two_ended=self.estimate(by_ends),
            walked=self.estimate(by_walk),
            shapley=None if by_orders is None else self.estimate(by_orders),
            share=self.share(by_orders or by_ends),
            share_walked=self.share(by_walk),
            disagreement=self._disagreement(by_ends, by_walk),
            order_range=self._order_range(parts[name]),
            with_rest=self._with_rest(name),
            acts=any(is_beyond(effect, self.threshold) for effect in (alone, last)),
        )

    def confirmed(self, name: str, part: Combination) -> PartEffect:
        alone = self.estimate(contrasts.marginal(part, BASE))
        return PartEffect(name=name, alone=alone, acts=is_beyond(alone, self.threshold))

    def interactions(self) -> Iterator[Interaction]:
        for one, other in combinations(self.parts, 2):
            first, second = self.parts[one], self.parts[other]
            contexts = [
                contrasts.interaction(first, second, context)
                for context in self._contexts(first | second)
                if {context | first, context | second, context | first | second} <= self.measured
            ]
            found = self._interaction(one, other, contexts) if contexts else None
            if found is not None:
                yield found

    def _with_rest(self, name: str) -> Interaction | None:
        own = self.parts[name]
        rest = every(self.parts) - own
        if not rest:
            return None
        return self._interaction(name, None, [contrasts.interaction(own, rest, BASE)])

    def _interaction(
        self, one: str, other: str | None, contexts: Sequence[Contrast]
    ) -> Interaction | None:
        contrast = contrasts.mean(contexts)
        on_ln = self.estimate(contrast)
        relative = self.observed.estimate_relative(contrast, self.confidence)
        in_ms = self.observed.estimate_ms(contrast, self.confidence)
        if on_ln is None or relative is None or in_ms is None:
            return None
        both = is_beyond(on_ln, self.threshold) and is_beyond(relative, exp(self.threshold) - 1)
        claimed = both and side(on_ln) == side(relative)
        return Interaction(one, other, len(contexts), on_ln, in_ms, claimed)

    def share(self, part: Contrast) -> Estimate | None:
        return share_of_whole(self.observed, part, contrasts.whole(self.parts))

    def _disagreement(self, by_ends: Contrast, by_walk: Contrast) -> Estimate | None:
        """None, too, where the two means are of the same combinations."""
        difference = contrasts.combined([(1.0, by_ends), (-1.0, by_walk)])
        if not difference or not by_walk.keys() <= self.measured:
            return None
        return self.estimate(difference)

    def _order_range(self, part: Combination) -> tuple[Estimate, Estimate] | None:
        found = [
            self.estimate(contrasts.marginal(part, context))
            for context in self._contexts(part)
            if context | part in self.measured
        ]
        known = sorted((one for one in found if one), key=lambda one: one.value)
        return (known[0], known[-1]) if known else None

    def _contexts(self, flipped: Combination) -> list[Combination]:
        """The combinations measured that leave these switches at base, in a fixed order."""
        return sorted((c for c in self.measured if not c & flipped), key=sorted)

    def _is_factorial(self) -> bool:
        """Whether all combinations of the parts were measured. Of many parts there are more of them
        than a memory holds: they are counted first."""
        if len(self.measured) < 2 ** len(self.parts):
            return False
        reached = {BASE}
        for part in self.parts.values():
            reached |= {context | part for context in reached}
        return reached <= self.measured
