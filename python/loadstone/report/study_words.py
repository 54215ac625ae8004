"""The words of a study: a cell of the map, a line for an effect, the legend, the waterfall."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.plan.study import Switch
from loadstone.statistics.estimate import Estimate
from loadstone.studies.details import Count
from loadstone.studies.view import StudiedOperation, SwitchEffect, noisiest
from loadstone.studies.waterfall import CLOSED_WITHIN, Contribution, Descent, Together
from loadstone.text.numbers import (
    NS_PER_MS,
    TIMES,
    beyond_one,
    digits,
    duration,
    number,
    size,
    times,
)

NOTHING = "·"
"""A cell without an effect that may be called one."""
OTHER_PLAN = "≠"
"""The mark of an effect through another plan."""
TO = "→"
"""From a switch's base value to its other one."""
UNKNOWN = "?"
"""A cell without a figure."""
LAST = "last "
"""Before an effect that is none alone."""
UNSOUND = "!"
"""Behind an operation of which some combination was disturbed, or is not in order."""
STRONGEST = 6
"""Effects that are reported with their intervals."""
NOISES_MOST = 8
"""Operations whose A/A noise is reported; a study of more shows the noisiest."""
SIZES = ("cache", "cache_bytes", "checkpoint", "memory", "mmap", "page_size", "work_mem")
"""Tactics whose values are bytes."""


def cell(each: SwitchEffect) -> str:
    """A cell of the map: what the switch does alone, or last where that alone is an effect."""
    if each.failure:
        return UNKNOWN
    mark = OTHER_PLAN if each.same_plan is False else ""
    found = shown(each)
    if found is not None:
        return f"{found.when}{found.bound}{times(found.ratio)}{mark}"
    if each.group:
        return NOTHING
    return UNKNOWN if each.alone is None and each.walked is None else NOTHING + mark


@dataclass(frozen=True, slots=True)
class Shown:
    """The effect that a cell of the map shows: `when` is empty, `alone ` or `last `, `bound` empty,
    `> ` or `< `."""

    ratio: float
    when: str = ""
    bound: str = ""


def shown(each: SwitchEffect) -> Shown | None:
    """The effect as a cell of the map shows it; None exactly where no effect is found."""
    if each.failure:
        return None
    if each.alone_beyond is not None:
        return Shown(each.alone_beyond, bound="> ")
    if each.walked is not None and each.acts_walked:
        return Shown(each.walked.value)
    if each.alone is not None and each.acts_alone:
        return Shown(each.alone.value, "alone " if each.walked else "")
    if each.last_beyond is not None:
        return Shown(each.last_beyond, LAST, "> ")
    if each.last_below is not None:
        return Shown(each.last_below, LAST, "< ")
    return Shown(each.last.value, LAST) if each.last is not None and each.acts_last else None


def name_words(operation: StudiedOperation) -> str:
    """An operation's name, marked where not all that its effects rest on is in order."""
    return operation.name if operation.status == "ok" else f"{operation.name} {UNSOUND}"


def place_words(operation: StudiedOperation, among: Sequence[StudiedOperation]) -> str:
    """An operation's name, with its scale where those it stands among have several."""
    many = len({one.rows for one in among}) > 1
    return f"{name_words(operation)}, {number(operation.rows)}" if many else name_words(operation)


def line(operation: str, each: SwitchEffect) -> str:
    """An effect in a sentence."""
    found = [
        f"{when} {reported_by}"
        for when, reported_by in (
            ("alone", _alone_words(each)),
            ("last", _last_words(each)),
            ("on the walk", _with_interval(each.walked) if each.walked else ""),
        )
        if reported_by
    ]
    plan = {True: "same plan", False: "another plan", None: "plan not shown"}[each.same_plan]
    return f"{operation}, {words(each.switch)}: {', '.join(found)}; {plan}"


def _alone_words(each: SwitchEffect) -> str:
    if each.alone_beyond is not None:
        return f"more than {times(each.alone_beyond)}, where it was ended"
    return _with_interval(each.alone) if each.alone is not None else ""


def _last_words(each: SwitchEffect) -> str:
    if each.last_beyond is not None:
        return f"more than {times(each.last_beyond)}, where it was ended"
    if each.last_below is not None:
        return f"less than {digits(each.last_below, 2)}{TIMES}: without it a statement was ended"
    return _with_interval(each.last) if each.last is not None else ""


def _with_interval(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{times(ratio.value)} (too few blocks for an interval)"
    return f"{times(ratio.value)} ({digits(ratio.low, 2)} to {digits(ratio.high, 2)})"


def words(switch: Switch) -> str:
    """A switch as it is turned: `join hash → merge`; a group by its name."""
    if not switch.other:
        return switch.tactic
    base, other = (value_words(switch.tactic, one) for one in (switch.base, switch.other))
    return f"{switch.tactic} {base} {TO} {other}"


def legend(operation: StudiedOperation, *, unsound: str = UNSOUND) -> str:
    """The legend of the map, of which this is one operation; `unsound` marks an operation in it."""
    confidence = operation.effects.confidence
    shown = "Time with one switch at its other value over the time at base."
    if any(each.walked for each in operation.switches):
        shown = "A switch's factor of the time, in the mean of the walk there and back."
    return (
        f"{shown} {NOTHING} none found beyond 3 %, the A/A noise and its {confidence:.1%} interval,"
        f" however wide that is; {LAST.strip()}: an effect only with all others"
        f" at their other value; {OTHER_PLAN} another plan; > ended there, a lower"
        f" bound; {UNKNOWN} not measured, or not in order; {unsound} some"
        " combination was disturbed or is not in order."
    )


def noise_lines(operations: Sequence[StudiedOperation]) -> list[str]:
    """The A/A noise, and what it denies: a heading, then a line for each operation, the noisiest
    first, `NOISES_MOST` of them. Empty without an A/A control."""
    known = noisiest(operations)
    if not known:
        return []
    lines = [
        f"{place_words(one, operations)}: {ratio_words(one.noise)};"
        f" no effect within {digits(one.threshold_ratio)}{TIMES} of none is called one"
        for one in known[:NOISES_MOST]
    ]
    if len(known) > NOISES_MOST:
        lines.append(f"and {len(known) - NOISES_MOST} more, less noisy")
    return ["A/A noise: the base measured twice, one over the other", *lines]


def ratio_words(ratio: Estimate | None) -> str:
    """A ratio with its interval, to three digits; empty without one."""
    if ratio is None:
        return ""
    value = f"{digits(ratio.value)}{TIMES}"
    if ratio.low is None or ratio.high is None:
        return f"{value} (too few blocks for an interval)"
    return f"{value} ({digits(ratio.low)} to {digits(ratio.high)})"


def value_words(tactic: str, value: str) -> str:
    """A value as people read it: a cache's bytes in binary units."""
    return size(int(value)) if tactic in SIZES and value.isdigit() else value


def failure_words(each: SwitchEffect) -> str:
    """Why there is no figure; empty where there is one."""
    if each.failure:
        return each.failure
    if each.alone_beyond is not None:
        return f"more than {times(each.alone_beyond)}: its statement was ended, a lower bound"
    if each.group:
        return f"flipped only with the other {each.group}, which together do nothing beyond 5 %"
    return "" if each.alone else "no block measured both the base and this switch alone"


def ends_words(one: Descent) -> str:
    """From which time to which, and by what factor."""
    ends = f"{milliseconds(one.base_ms)} at base, {milliseconds(one.end_ms)} at the other end"
    if not one.whole_called:
        return f"{ends}: {ratio_words(one.whole)}, no difference that may be called one"
    return f"{ends}: {ratio_words(one.whole)}"


def together_words(one: Together) -> str:
    """The effect of two switches together, beside the effect of each."""
    other = one.other if one.other is not None else "all others"
    more = "more" if one.ms.value > 0 else "less"
    return (
        f"{one.one} and {other} act together: the time with both is {ratio_words(one.ratio)} what"
        f" their effects multiply to, and {milliseconds(abs(one.ms.value))} {more} than their sum."
    )


def closure_words(one: Descent) -> str:
    """The rest beside the contributions, and whether it is more than chance."""
    if one.closure is None:
        return ""
    if one.closure_called:
        seen = "three or more switches act together, so that the shares depend on the order"
    elif one.closure.low is None:
        seen = "too few blocks to distinguish it from none"
    elif one.is_closed:
        seen = f"within {beyond_one(CLOSED_WITHIN)} of none: the contributions make up the whole"
    else:
        seen = (
            f"undecided: not an effect, and not within {beyond_one(CLOSED_WITHIN)} of none by its"
            " whole interval"
        )
    said = f"Closure, the whole over all contributions: {ratio_words(one.closure)}; {seen}."
    if one.operation.hidden is None:
        return said
    return (
        f"{said} The shares are undecided: what both ends leave out may be"
        f" {_hundredths(one.operation.hidden)} % of the whole."
    )


def remainder_words(one: Descent) -> str:
    """The step that makes the figures sum up."""
    return (
        f"The remainder, {digits(one.remainder_ratio)}{TIMES} or {signed_ms(one.remainder_ms)}, is"
        " what the medians of the steps leave of the median of the whole."
    )


def milliseconds(value_ms: float) -> str:
    """A time in its own unit."""
    return duration(value_ms * NS_PER_MS)


def signed_ms(value_ms: float) -> str:
    """A difference of times, with its sign."""
    sign = "\N{MINUS SIGN}" if value_ms < 0 else "+"
    return f"{sign}{milliseconds(abs(value_ms))}" if value_ms else "0 ms"


def share_words(step: Contribution) -> str:
    """A share with its interval: `62 % (58 to 66)`, undecided where that is wider than a study
    wants; empty where there is none."""
    share = step.share
    if share is None:
        return ""
    value = f"{_hundredths(share.value)} %"
    if share.low is None or share.high is None:
        return value
    said = f"{value} ({_hundredths(share.low)} to {_hundredths(share.high)})"
    return said if step.is_share_known else f"{said}, undecided"


def _hundredths(value: float) -> str:
    text = f"{value * 100:.0f}"
    return "0" if text == "-0" else text.replace("-", "\N{MINUS SIGN}")


def work_words(counts: Sequence[Count]) -> str:
    """The work that an engine did otherwise with a switch alone: `written to storage 40 KiB →
    0`."""
    reported = [
        f"{count_name(one.name)} {count_words(one.name, one.base)} → "
        f"{count_words(one.name, one.alone)}"
        for one in counts
    ]
    return ", ".join(reported)


def count_words(name: str, value: float | None) -> str:
    """A count of a sample's field in its unit; empty where it was not counted."""
    if value is None:
        return ""
    if name.endswith("_ns"):
        return duration(value)
    if name.endswith("_bytes"):
        return size(value)
    return f"{value:,.0f}" if value == int(value) else digits(value)


def count_name(name: str) -> str:
    """A sample's field in words."""
    named = {
        "client_cpu_ns": "processor time, this process",
        "server_cpu_ns": "processor time, server",
        "read_bytes": "read from storage",
        "written_bytes": "written to storage",
    }
    bare = name.removesuffix("_bytes").removesuffix("_ns").replace("_", " ")
    return named.get(name, bare)
