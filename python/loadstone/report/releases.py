"""The steps from release to release as text: Markdown and JSON, and the words of both."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

from loadstone.analysis.compare.cells import FASTER, SAME, SLOWER, UNDECIDED
from loadstone.analysis.releases import Step, outcome
from loadstone.control_characters import legible
from loadstone.record.changed_answers import sentence as answer_sentence
from loadstone.report.comparison.wording import bounding, bounds, times
from loadstone.report.markdown_text import plain
from loadstone.text.numbers import digits, number, plural, scaled

HEADINGS = ("operation", "tuples", "from", "to", "before", "after", "ratio", "95 % interval",
            "verdict")  # fmt: skip
OF_STEP = HEADINGS[2:]
SCHEMA = "loadstone-releases-1"


@dataclass(frozen=True, slots=True)
class CellSteps:
    """The steps of one cell: rows under `OF_STEP`, which fit a terminal, and in sentences of their
    own the reasons of those that could not be compared."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    reasons: tuple[str, ...]


def release(variant: str) -> str:
    """The release in a variant's name."""
    return variant.partition("@")[2].partition("?")[0] or variant


def row(step: Step) -> tuple[str, ...]:
    """A step under `HEADINGS`."""
    ends = (release(step.before), release(step.after))
    what = (step.operation, number(step.rows))
    if step.pair is None:
        return (*what, *ends, "", "", "", "", f"not compared: {step.reason}")
    pair = step.pair
    figures = (*times(pair), bounding(pair) + digits(pair.ratio.value))
    return (*what, *ends, *figures, bounds(pair.ratio), pair.verdict)


def by_cell(found: Sequence[Step]) -> Iterator[CellSteps]:
    """The steps of each cell in turn; `found` has them together."""
    for _, steps in groupby(found, key=lambda step: (step.operation, step.rows, step.temperature)):
        of_one = tuple(steps)
        yield CellSteps(
            f"{of_one[0].operation} ({_scale(of_one[0])})",
            tuple((*row(step)[2:-1], step.verdict) for step in of_one),
            tuple(
                f"{release(step.before)} to {release(step.after)}: not compared: {step.reason}"
                for step in of_one
                if step.pair is None
            ),
        )


def _scale(step: Step) -> str:
    return f"{scaled(step.rows, 'tuples')}, {step.temperature}"


def sentences(
    found: Sequence[Step],
    between: Callable[[Step], int],
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """The change, its place and its size; `between`: the number of releases between the two of a
    step that were not measured; `left_out`: why, by release."""
    changed = [step for step in found if step.changed]
    yield from _answers(changed, between)
    for step in changed:
        pair, where = step.pair, _where(step, between(step))
        if pair is None or step.verdict not in (SLOWER, FASTER):
            continue
        yield (
            f"{step.operation} ({_scale(step)}) is {step.verdict} {where}:"
            f" {bounding(pair)}{digits(pair.ratio.value)} times that of {release(step.before)}"
            f" (95 % interval {bounds(pair.ratio)})"
        )
    open_ends = [step for step in found if not step.changed and step.verdict != SAME]
    if not changed:
        yield (
            f"no change was found; {plural(len(open_ends), 'step')} could not be decided"
            if open_ends
            else "no change: each step is within the threshold"
        )
    yield from (_why_open(step) for step in open_ends if step.pair is not None)
    differing = [step for step in open_ends if step.plans and step.plans.apart]
    yield from _plans([*changed, *differing])
    yield from (f"{one} is left out: {reason}" for one, reason in left_out.items())


def _answers(changed: Sequence[Step], between: Callable[[Step], int]) -> Iterator[str]:
    """The steps that change an answer, each once, whatever its temperatures."""
    steps = {(step.before, step.answer.operation, step.answer.rows): step
             for step in changed if step.answer}  # fmt: skip
    for step in steps.values():
        assert step.answer is not None  # noqa: S101 - they are those that have one
        yield answer_sentence(step.answer, _where(step, between(step)))


def _plans(changed: Sequence[Step]) -> Iterator[str]:
    """What differs between the plans of these steps."""
    lines = (
        f"{step.operation}: {step.plans.words(release(step.before), release(step.after))}"
        for step in changed
        if step.plans
    )
    yield from dict.fromkeys(lines)


def _why_open(step: Step) -> str:
    """Why a step that was compared is neither a change nor none."""
    pair = step.pair
    assert pair is not None  # noqa: S101 - it was compared
    ends = f"{step.operation} ({_scale(step)}), {release(step.before)} to {release(step.after)}"
    if pair.ratio.low is None or pair.ratio.high is None:
        return f"{ends}: undecided, since {plural(pair.pairs, 'pair')} have no interval"
    if pair.ratio.low > 1 or pair.ratio.high < 1:
        why = "the change may be within the threshold"
    else:
        why = "it allows no change, and one beyond the threshold"
    return f"{ends}: undecided, by the interval {bounds(pair.ratio)}: {why}"


def _where(step: Step, skipped: int) -> str:
    """The release of a change, or the two between which it lies."""
    first, last = release(step.before), release(step.after)
    if not skipped:
        return f"in {last}"
    return f"after {first}, by {last} ({plural(skipped, 'release')} between not measured)"


def markdown(
    found: Sequence[Step],
    between: Callable[[Step], int],
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """GitHub's Markdown."""
    lines = [f"* {plain(sentence)}" for sentence in sentences(found, between, left_out)]
    lines += ["", f"| {' | '.join(HEADINGS)} |", "|---|--:|---|---|--:|--:|--:|---|---|"]
    lines += [f"| {' | '.join(map(plain, row(step)))} |" for step in found]
    return legible("\n".join(lines) + "\n")


def as_json(
    found: Sequence[Step],
    between: Callable[[Step], int],
    left_out: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """One object: the outcome, each step with its figures, and the releases left out."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "outcome": outcome(found),
            "steps": [_plain(step, between(step)) for step in found],
            "left_out": [{"release": one, "reason": why} for one, why in left_out.items()],
        },
        indent=1,
    )


def _plain(step: Step, skipped: int) -> dict[str, Any]:
    pair = step.pair
    return {
        "operation": step.operation,
        "rows": step.rows,
        "temperature": step.temperature,
        "before": step.before,
        "after": step.after,
        "releases_not_measured": skipped,
        "verdict": step.verdict,
        "reason": _why_open(step) if step.verdict == UNDECIDED else step.reason,
        "plans": step.plans and step.plans.words(step.before, step.after),
        "changed_answer": None if step.answer is None else asdict(step.answer),
        "before_ns": None if pair is None else pair.a_ns.value,
        "after_ns": None if pair is None else pair.b_ns.value,
        "ratio": None if pair is None else pair.ratio.value,
        "ratio_low": None if pair is None else pair.ratio.low,
        "ratio_high": None if pair is None else pair.ratio.high,
        "pairs": None if pair is None else pair.pairs,
    }
