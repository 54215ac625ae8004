"""When a value of a tactic pays off, in words and as the rows of a table."""

from collections.abc import Iterator, Sequence

from loadstone.analysis.break_even import BreakEven, Crossing, Paying, Unreported, ValueCost
from loadstone.plan.presentation import Presentation
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import digits, duration, estimated, listing, number, plural, scaled

AT_ONCE = "at once"
NEVER = "never"
AT_FIRST = "only at first"
"""Ahead at the smallest scale, and no more at the largest."""
SELF = ""
"""Of a value beside itself."""


def headings(one: Paying, scale: str) -> tuple[str, ...]:
    """Of a table, a row for each value."""
    least = number(one.scales[0])
    return (
        one.tactic,
        f"at {least}",
        f"each further of the {scale}",
        "of it making code",
        *(f"ahead of {each.value} after" for each in one.values),
    )


def rows(one: Paying) -> Iterator[tuple[str, ...]]:
    """The cells of each value."""
    for each in one.values:
        yield (
            each.value,
            bounded(each.start_ns),
            each_words(each),
            "" if each.compile_ns is None else duration(each.compile_ns),
            *(_cell(one.pair(slow.value, each.value)) for slow in one.values),
        )


def bounded(time_ns: Estimate) -> str:
    """A time with its interval."""
    if time_ns.low is None or time_ns.high is None:
        return duration(time_ns.value)
    return f"{duration(time_ns.value)} ({duration(time_ns.low)} to {duration(time_ns.high)})"


def each_words(one: ValueCost) -> str:
    """The cost of a further tuple; one that may be none says so."""
    cost = one.each_ns
    if one.each_ns_most is not None:
        return f"none found, up to {digits(one.each_ns_most)} ns"
    if cost.low is None or cost.high is None:
        return f"{digits(cost.value)} ns"
    return f"{digits(cost.value)} ns ({digits(cost.low)} to {digits(cost.high)})"


def crossing_words(found: Crossing) -> str:
    """The number with its interval, `at once` or `never`; `~` before one that lies beyond what was
    measured, where the line is drawn on."""
    if found.is_only_first:
        return AT_FIRST
    if found.value is None:
        return NEVER if found.low is None else f"not seen; perhaps from {estimated(found.low)}"
    mark = "~" if found.extrapolated else ""
    if found.value == 0 and not found.high:
        return AT_ONCE
    value = f"{mark}{estimated(found.value)}"
    if found.low is None:
        return value
    return f"{value} ({estimated(found.low)} to {_bound(found)})"


def _bound(found: Crossing) -> str:
    return "no bound" if found.high is None else estimated(found.high)


def _cell(pair: BreakEven | None) -> str:
    if pair is None:
        return SELF
    bent = f" (bent at {listing(map(number, pair.bent))})" if pair.bent else ""
    return f"{crossing_words(pair.tuples)}{bent}"


def paper_line(found: Sequence[Paying], words: Presentation) -> str:
    """The paper's own break-even, beside today's of the switch that is nearest to
    its change; empty without either."""
    tactics = {one.tactic for one in found}
    for reported in words.enhancements:
        first = next(iter(reported.switches), "")
        tactic, _, values = first.partition("=")
        if reported.pays_after is None or tactic not in tactics:
            continue
        slow, fast = values.split(",")
        pairs = [(one.operation, one.pair(slow, fast)) for one in found if one.tactic == tactic]
        now = [f"{name} {crossing_words(pair.tuples)}" for name, pair in pairs if pair]
        if not now:
            continue
        return (
            f"The paper: {reported.name} pays off after about {reported.pays_after} {words.scale}."
            f" Today {fast} over {slow}: {'; '.join(now)}."
        )
    return ""


def note(scales: Sequence[int], words: Presentation) -> str:
    """The meaning of the figures, and when they would be false."""
    return (
        f"Both are of the straight line through the times at {number(scales[0])} and"
        f" {scaled(scales[-1], words.scale)}, each pair of values within the same blocks; an"
        " interval holds the truth at 95 % where times are such a line. ~: beyond the largest"
        " scale, where the line is drawn on. bent: there the two differ"
        " otherwise than the line."
    )


def unreported_line(one: Unreported, words: Presentation) -> str:
    """The reason why an operation has no result."""
    ends = " and ".join(number(rows) for rows in one.scales)
    return (
        f"{one.operation}: after how many {words.scale} a value of {one.tactic} pays off is not"
        f" reported: {one.amiss} of its {plural(one.cells, 'cell')} at {ends} are not in order, or"
        " were not measured."
    )
