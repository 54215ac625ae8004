"""A paper's changes then and now, in words and as the rows of tables."""

from collections.abc import Iterator, Sequence

from loadstone.analysis.enhancements import Enhanced, EnhancedRow, Now, Winner
from loadstone.report.study_words import NOTHING, UNKNOWN, value_words
from loadstone.text.numbers import TIMES, digits, number, percent, plural

NONE = ""
"""The place where the paper has no figure."""
HOW = (
    "How many times as fast an operation became: the paper's printed times of the unchanged system"
    " over the changed one's, elapsed unless a heading says CPU time, and today's elapsed time at"
    " base over that with the switch alone. Different machines, and data in different places: what"
    f" stands beside each other is which change wins where. {NOTHING} no effect found; last: an"
    " effect only with all other switches flipped."
)


def headings(one: Enhanced) -> tuple[str, ...]:
    """Of a change's table: what the rows are, the paper's tables, today's switches."""
    tables = {then.table: then.quantity for row in one.rows for then in row.then}
    then = (
        f"then, Table {table}{', CPU time' if quantity == 'cpu' else ''}"
        for table, quantity in tables.items()
    )
    now = (f"now, {value_words(each.tactic, each.other)}" for each in one.switches)
    return ("query", *then, *now)


def rows(one: Enhanced) -> Iterator[tuple[str, ...]]:
    """The cells of each operation and scale."""
    tables = tuple(dict.fromkeys(then.table for row in one.rows for then in row.then))
    for row in one.rows:
        gains = {then.table: then.gain for then in row.then}
        known = {now.switch.key: now for now in row.now}
        yield (
            place(row.label, row.scale),
            *(times_words(gains[table]) if table in gains else NONE for table in tables),
            *(now_words(known.get(each.key)) for each in one.switches),
        )


def place(label: str, scale: int) -> str:
    """A row's name."""
    return f"{label}, {number(scale)}"


def times_words(gain: float) -> str:
    """A gain."""
    return f"{digits(gain)}{TIMES}"


def now_words(now: Now | None) -> str:
    """Today's gain with its interval; why none."""
    if now is None:
        return UNKNOWN
    if not now.called:
        return NOTHING
    last = "last " if now.last else ""
    gain = now.gain
    if gain.low is None or gain.high is None:
        return f"{last}{times_words(gain.value)}"
    return f"{last}{times_words(gain.value)} ({digits(gain.low)} to {digits(gain.high)})"


def lead(one: Enhanced) -> str:
    """The change, the paper's finding, and the command that measures it where this study does
    not."""
    enhancement = one.enhancement
    missing = "" if one.switches else f" Not switched here: {enhancement.command} measures it."
    return f"{enhancement.what} The paper: {enhancement.found}{missing}"


def winner_lines(found: Sequence[Winner]) -> Iterator[str]:
    """One line for the whole, then one for each row of which something is known today."""
    both = [one for one in found if one.now or one.then]
    today = [one for one in both if one.now]
    if not today:
        return
    turned = len([one for one in today if one.turned])
    yield (
        f"Of {plural(len(today), 'query', 'queries')} with a gain today, the change that gains most"
        f" is another than the paper's in {turned}."
    )
    for one in today:
        then = f"{one.then} {_percent(one.then_share)}" if one.then else "none"
        now = f"{one.now} {times_words(one.now_gain.value)}" if one.now_gain else "none"
        yield f"{place(one.label, one.scale)}: then {then}, now {now}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"by {percent(share)}"


def drawn(found: Sequence[Enhanced], scale: int) -> list[tuple[Enhanced, list[EnhancedRow]]]:
    """The changes with a row at a scale, and those rows."""
    kept = [(one, [row for row in one.rows if row.scale == scale]) for one in found]
    return [(one, own) for one, own in kept if own]
