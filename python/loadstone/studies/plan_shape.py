"""Whether two plans of one statement are the same plan.

Engines write costs, estimates and counts into their plans, which differ between two variants of the
same plan. What is compared is the text without its numbers and its lines: operators, structures,
order. It would call two plans equal that differ in nothing but a number, as in the degree of a
parallel scan. A line that says how a part of the plan is executed, as by machine code of so many
bytes, is no part of the plan, nor is on which line a condition stands (lode's accelerator has it
beside the scan): else no such way of execution could ever be compared by the same plan.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from loadstone.record.model import StatementText

PLAN_LINES_MAX = 400
"""Of a plan that is laid beside another: the time to align them grows with the square."""
_COSTS = re.compile(r"\((?:cost|actual)[^()]*\)")
_NUMBER = re.compile(r"[-+]?\d[\d,._]*(?:[eE][-+]?\d+)?%?")
_HOW = re.compile(r"[ \t]*pipeline \d+ is compiled to [^\n]*(?:\n|$)")
_SPACE = re.compile(r"[ \t]+")


def shape(plan: str) -> str:
    """A plan's text without costs, numbers and spacing; empty for an engine without plans."""
    bare = _NUMBER.sub("#", _COSTS.sub("", _HOW.sub("", plan)))
    return "\n".join(_SPACE.sub(" ", line).strip() for line in bare.splitlines() if line.strip())


def same_plans(one: Sequence[StatementText], other: Sequence[StatementText]) -> bool | None:
    """Whether the plans of the variations that both have are the same; None where there is none to
    compare."""
    plans = {text.variation: _words(text.plan) for text in other}
    pairs = [(_words(text.plan), plans[text.variation]) for text in one if text.variation in plans]
    reported = [(first, second) for first, second in pairs if first and second]
    return all(first == second for first, second in reported) if reported else None


def _words(plan: str) -> str:
    return " ".join(shape(plan).split())


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A line of each of two plans; empty where one has none there."""

    one: str
    other: str
    differs: bool
    """In more than costs, numbers and spacing."""


def beside(one: str, other: str) -> tuple[PlanLine, ...]:
    """Two plans line by line, what they have in common in one row."""
    first, second = (text.splitlines()[:PLAN_LINES_MAX] for text in (one, other))
    bare, bare_other = ([shape(line) for line in lines] for lines in (first, second))
    found: list[PlanLine] = []
    matched = SequenceMatcher(None, bare, bare_other, autojunk=False)
    for kind, start, end, there, until in matched.get_opcodes():
        pairs = zip_longest(first[start:end], second[there:until], fillvalue="")
        found += [PlanLine(a, b, kind != "equal") for a, b in pairs]
    return tuple(found)
