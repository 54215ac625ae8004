"""From the time at base to that at the other end: the contribution of each switch, as a ratio and
in ms, and the remainder: interactions of three and more, and that medians of sums are no sums of
medians. The ratios multiply to the whole, the ms add to the difference of the two ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

from loadstone.plan.study import Switch
from loadstone.statistics.estimate import Estimate
from loadstone.studies.effects import Interaction, as_ratio, is_beyond
from loadstone.studies.steering import is_known
from loadstone.studies.view import StudiedOperation, StudyMap

CLOSED_WITHIN = 1.1
"""The factor that a closure's interval may reach where the contributions make up the whole."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one switch to the distance of the two ends."""

    switch: Switch
    ratio: Estimate
    called: bool
    """Whether it is an effect: the map calls its switch one, its interval excludes 1, and it is
    beyond the threshold."""
    ms: float
    """The difference to the step before."""
    before_ms: float
    after_ms: float
    share: Estimate | None
    """Of the whole; None where the ends are too near to each other for shares."""
    is_share_known: bool
    """Whether its interval is as narrow as a study wants."""
    order_range: tuple[float, float] | None
    """Its least and its greatest ratio, over all orders measured; None where there is one only."""

    @property
    def after_ms_bounds(self) -> tuple[float | None, float | None]:
        """The interval of the time after it, from its ratio's."""
        low, high = self.ratio.low, self.ratio.high
        return (
            None if low is None else self.before_ms * low,
            None if high is None else self.before_ms * high,
        )


@dataclass(frozen=True, slots=True)
class Together:
    """Two switches (`other` None: one and all others) whose effects depend on each other on every
    scale."""

    one: str
    other: str | None
    ratio: Estimate
    """The time of both over what their effects multiply to."""
    ms: Estimate
    """The time of both less what their effects add to."""


@dataclass(frozen=True, slots=True)
class Descent:
    """The waterfall of one operation, the largest contribution first."""

    operation: StudiedOperation
    base_ms: float
    steps: tuple[Contribution, ...]
    remainder_ratio: float
    remainder_ms: float
    end_ms: float
    whole: Estimate
    """The time of the other end over that of the base."""
    whole_called: bool
    closure: Estimate | None
    """The rest of the whole beside the contributions, as a ratio with an interval."""
    closure_called: bool
    is_closed: bool
    """Whether the closure's whole interval lies within `CLOSED_WITHIN` of none."""
    together: tuple[Together, ...]

    @property
    def reached_ms(self) -> list[float]:
        """All times of the waterfall: both ends, and what each step reaches with its interval."""
        steps = [
            (step.after_ms, step.before_ms * step.ratio.value, *step.after_ms_bounds)
            for step in self.steps
        ]
        reached = (self.base_ms, self.end_ms, *(ms for step in steps for ms in step))
        return [ms for ms in reached if ms is not None]


def descents(found: StudyMap) -> tuple[Descent, ...]:
    """Of each operation that has both ends and every switch's contribution; that with the largest
    distance of its ends first, what may not be called a distance last."""
    made = [one for operation in found.operations if (one := _descent(operation, found))]
    return tuple(sorted(made, key=lambda one: (not one.whole_called, -_size(one))))


def _size(one: Descent) -> float:
    return max(one.whole.value, 1 / one.whole.value)


def _descent(operation: StudiedOperation, found: StudyMap) -> Descent | None:
    effects = operation.effects
    known = {name: part.contribution for name, part in effects.parts.items()}
    contributions = {name: one for name, one in known.items() if one is not None}
    if effects.base_ms is None or effects.whole is None or len(contributions) < len(known):
        return None
    steps = _steps(operation, found, effects.base_ms, contributions)
    end_ms = effects.base_ms * exp(effects.whole.value)
    reached = sum(contributions[one.switch.key].value for one in steps)
    return Descent(
        operation=operation,
        base_ms=effects.base_ms,
        steps=steps,
        remainder_ratio=exp(effects.whole.value - reached),
        remainder_ms=end_ms - (steps[-1].after_ms if steps else effects.base_ms),
        end_ms=end_ms,
        whole=as_ratio(effects.whole),
        whole_called=is_beyond(effects.whole, effects.threshold),
        closure=effects.closure and as_ratio(effects.closure),
        closure_called=is_beyond(effects.closure, effects.threshold),
        is_closed=_is_closed(effects.closure),
        together=tuple(map(_together, _claimed(operation))),
    )


def _steps(
    operation: StudiedOperation,
    found: StudyMap,
    base_ms: float,
    contributions: Mapping[str, Estimate],
) -> tuple[Contribution, ...]:
    """One for each part, the largest first. On ln a step is the part's contribution, the same in
    every order; in ms it depends on how far the steps before it have come."""
    effects = operation.effects
    switches = {switch.key: switch for switch in found.study.switches}
    # A group that was not opened is one step.
    switches |= {name: Switch(name, "", "") for name in effects.parts if name not in switches}
    acting = {each.switch.key for each in operation.switches if each.acts}
    own = {each.switch.key for each in operation.switches}
    acting |= {name for name, part in effects.parts.items() if part.acts and name not in own}
    steps: list[Contribution] = []
    reached, before_ms = 0.0, base_ms
    for name in sorted(contributions, key=lambda one: -abs(contributions[one].value)):
        part, ln = effects.parts[name], contributions[name]
        span = part.order_range
        differs = span is not None and span[0].value < span[1].value
        reached += ln.value
        after_ms = base_ms * exp(reached)
        steps.append(
            Contribution(
                switch=switches[name],
                ratio=as_ratio(ln),
                called=name in acting and is_beyond(ln, effects.threshold),
                ms=after_ms - before_ms,
                before_ms=before_ms,
                after_ms=after_ms,
                share=part.share,
                is_share_known=part.share is not None and is_known(part.share),
                order_range=(exp(span[0].value), exp(span[1].value)) if span and differs else None,
            )
        )
        before_ms = after_ms
    return tuple(steps)


def _is_closed(closure: Estimate | None) -> bool:
    if closure is None or closure.low is None or closure.high is None:
        return False
    return -log(CLOSED_WITHIN) <= closure.low and closure.high <= log(CLOSED_WITHIN)


def _claimed(operation: StudiedOperation) -> list[Interaction]:
    """Of two switches the one with its rest is the pair again."""
    effects = operation.effects
    rest = [part.with_rest for part in effects.parts.values() if part.with_rest]
    pairs = list(effects.interactions)
    every = pairs if len(effects.parts) <= 2 else [*pairs, *rest]
    return [one for one in every if one.claimed]


def _together(one: Interaction) -> Together:
    return Together(one.one, one.other, as_ratio(one.ln), one.ms)
