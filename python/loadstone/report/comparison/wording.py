"""The texts of a comparison that its formats share: figures, verdicts, terms, and cells left
out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadstone.analysis.compare.cells import (
    FASTER,
    PAIRS_MIN,
    SLOWER,
    UNDECIDED,
    Pair,
    Unlike,
)
from loadstone.analysis.compare.compare import NOTHING_COMPARED, UNDECIDED_YET, Comparison, Matched
from loadstone.analysis.compare.terms import ACROSS, EQUAL, REFUSED, SHOWN, Entry
from loadstone.plan.plan import join_names
from loadstone.record.model import Run
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import digits, duration, number, percent, plural
from loadstone.text.reasons import kind_of, together

MARKS = {EQUAL: "", SHOWN: "≠", ACROSS: "≠ allowed by --across", REFUSED: "≠ refused"}
HEADINGS = ("operation", "tuples", "temperature", "A", "B", "B / A of pairs",
            "95 % interval", "verdict")  # fmt: skip
TERM_HEADINGS = ("term", "A", "B", "")


@dataclass(frozen=True, slots=True)
class Remainder:
    """Cells of one match that were not compared for one reason."""

    reason: str
    count: int
    operations: str


def runs(comparison: Comparison) -> str:
    """Which runs A and B are."""
    a, b = comparison.a, comparison.b
    return f"A and B: {_run(a)}" if a is b else f"A: {_run(a)}; B: {_run(b)}"


def _run(run: Run) -> str:
    return f"run {run.run_id} of {run.created_at[:10]}"


def cells(pair: Pair) -> tuple[str, ...]:
    """A pair as the cells of a table, under `HEADINGS`."""
    return (
        pair.operation,
        number(pair.rows),
        pair.temperature,
        *times(pair),
        bounding(pair) + digits(pair.shown_ratio),
        bounds(pair.ratio),
        pair.verdict,
    )


def times(pair: Pair) -> tuple[str, str]:
    """The times of A and B; of the side that was ended its lower bound."""
    of_a, of_b = duration(pair.a_ns.value), duration(pair.b_ns.value)
    return ("> " if pair.ended == "A" else "") + of_a, ("> " if pair.ended == "B" else "") + of_b


def bounding(pair: Pair) -> str:
    """The sign before a ratio of which only a bound is known."""
    return {"A": "< ", "B": "> "}.get(pair.ended, "")


def bounds(ratio: Estimate) -> str:
    """A ratio's interval, its only bound, or why there is none."""
    if ratio.high is not None and ratio.low is None:
        return f"< {digits(ratio.high)}"
    if ratio.low is not None and ratio.high is None:
        return f"> {digits(ratio.low)}"
    if ratio.low is None or ratio.high is None:
        return "too few samples"
    return f"{digits(ratio.low)} … {digits(ratio.high)}"


def flag(matched: Matched) -> str:
    """The terms that the user allowed to differ, in a sentence; else empty."""
    crossed = matched.terms.with_verdict(ACROSS)
    if not crossed:
        return ""
    return f"Unequal terms, compared all the same: {', '.join(e.difference for e in crossed)}"


def terms(matched: Matched) -> tuple[Entry, ...]:
    """The entries worth a line: all terms, and those of the engine's settings that differ."""
    entries = matched.terms.entries
    return tuple(entry for entry in entries if not entry.setting or entry.verdict != EQUAL)


def plans(matched: Matched) -> Iterable[str]:
    """What differs between the plans: of each cell that is slower or faster or whose answer
    changed, and of an undecided one whose plans differ."""
    changed = {(each.operation, each.rows) for each in matched.changed}
    verdicts = {(p.operation, p.rows, p.temperature): p.verdict for p in matched.pairs}
    lines = (
        f"{place[0]}: {found.words('A', 'B')}"
        for place, found in matched.plans.items()
        for verdict in [verdicts.get(place)]
        if verdict in (SLOWER, FASTER)
        or place[:2] in changed
        or (verdict == UNDECIDED and found.apart)
    )
    return dict.fromkeys(lines)


def equal_settings(matched: Matched) -> str:
    """The number of the engine's settings that are the same on both sides; empty without any."""
    count = sum(e.setting and e.verdict == EQUAL for e in matched.terms.entries)
    return f"{plural(count, 'other setting')} equal" if count else ""


def remainders(matched: Matched) -> Iterable[Remainder]:
    """The cells that were not compared, by reason. Reasons that differ only in their numbers are
    grouped."""
    groups: dict[str, list[Unlike]] = {}
    for cell in matched.unlike:
        key = kind_of(cell.reason) if cell.reason.startswith("invalid") else cell.reason
        groups.setdefault(key, []).append(cell)
    for group in groups.values():
        names = join_names(list(dict.fromkeys(cell.operation for cell in group)), most=3)
        yield Remainder(together([cell.reason for cell in group]), len(group), names)


def advice(comparison: Comparison) -> str:
    """The next step: about unequal terms, undecided cells, or a lack of pairs; else empty."""
    if comparison.outcome == UNDECIDED_YET:
        return _how_to_decide(comparison)
    refused = [e for one in comparison.matched for e in one.terms.with_verdict(REFUSED)]
    if not refused and comparison.outcome == NOTHING_COMPARED:
        return _how_to_compare(comparison)
    if not refused or not all(entry.name for entry in refused):
        return ""
    names = dict.fromkeys(entry.name for entry in refused)
    return f"to compare all the same: {' '.join(f'--across {name}' for name in names)}"


def _how_to_decide(comparison: Comparison) -> str:
    """Which cells are undecided, and how to decide them."""
    bare = [pair for pair in comparison.open if pair.ratio.high is None]
    wide = [pair for pair in comparison.open if pair.ratio.high is not None]
    said = []
    if wide:
        beyond = percent(comparison.threshold.in_force)
        said.append(f"{plural(len(wide), 'cell')} may be slower by more than {beyond}: {_of(wide)}")
        if comparison.a is comparison.b:
            said.append("measure longer with --operation and --repeat-seconds, or raise --fail-on")
        else:
            said.append("measure both in one run, interleaved, or raise --fail-on")
    if bare:
        said += _too_few(bare)
    if comparison.unlimited:
        said.append("run without --no-limits, so that disturbed cells are measured again")
    return "; ".join(said)


def _how_to_compare(comparison: Comparison) -> str:
    """Why no cell has an interval, and how to get one."""
    said = _too_few(pairs) if (pairs := list(comparison.pairs)) else []
    left = Counter(cell.reason for cell in comparison.unlike)
    for reason, count in left.most_common(1):
        verb = "is" if count == 1 else "are"
        said.append(f"{plural(count, 'cell')} {verb} left out: {reason}")
    return "; ".join(said)


def _too_few(bare: Sequence[Pair]) -> list[str]:
    """Of pairs without an interval."""
    fewest, most = (f(pair.pairs for pair in bare) for f in (min, max))
    have = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return [
        f"{plural(len(bare), 'cell')} with too few samples for an interval: {_of(bare)}"
        f" ({have} in common; {PAIRS_MIN} are needed)",
        "measure both with --repeat 10 --repeat-cold 6",
    ]


def _of(pairs: Iterable[Pair]) -> str:
    return join_names(list(dict.fromkeys(pair.operation for pair in pairs)), most=3)


def equal_terms(matched: Matched) -> str:
    """The terms that are the same on both sides, in one line; empty without any."""
    keys = [e.key for e in matched.terms.entries if e.verdict == EQUAL and not e.setting]
    reported = [join_names(keys, most=8)] if keys else []
    settings = equal_settings(matched).removesuffix(" equal")
    reported += [settings] if settings else []
    return f"Equal on both sides: {' and '.join(reported)}" if reported else ""
