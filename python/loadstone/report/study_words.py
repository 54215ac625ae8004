"""The words of a study: a cell of the map, a line for an effect, the legend."""

from loadstone.analysis.study import SwitchEffect
from loadstone.plan.study import Switch
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import digits, times

NOTHING = "·"
"""A cell without an effect that may be called one."""
OTHER_PLAN = "≠"
"""The mark of an effect through another plan."""
UNKNOWN = "?"
"""A cell without a figure."""


def cell(each: SwitchEffect) -> str:
    """A cell of the map: the effect of the switch alone."""
    if each.failure or each.alone is None:
        return UNKNOWN
    mark = OTHER_PLAN if each.same_plan is False else ""
    return (times(each.alone.value) if each.acts_alone else NOTHING) + mark


def line(operation: str, each: SwitchEffect) -> str:
    """An effect in a sentence."""
    found = [
        f"{when} {_with_interval(ratio)}"
        for when, ratio in (("alone", each.alone), ("last", each.last))
        if ratio is not None
    ]
    plan = {True: "same plan", False: "another plan", None: "plan not shown"}[each.same_plan]
    return f"{operation}, {words(each.switch)}: {', '.join(found)}; {plan}"


def _with_interval(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{times(ratio.value)} (too few blocks for an interval)"
    return f"{times(ratio.value)} ({digits(ratio.low, 2)} to {digits(ratio.high, 2)})"


def words(switch: Switch) -> str:
    """A switch as it is turned: `join hash → merge`."""
    return f"{switch.tactic} {switch.base} → {switch.other}"


def legend(confidence: float) -> str:
    """What the map shows."""
    return (
        f"Time with one switch at its other value over the time at base. {NOTHING} no effect beyond"
        f" 3 %, the A/A noise and its {confidence:.1%} interval; {OTHER_PLAN} another plan;"
        f" {UNKNOWN} not measured."
    )
