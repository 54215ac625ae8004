"""Reasons counted by kind; numbers that differ become a range."""

import re
from collections.abc import Iterable, Sequence

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)*")


def kind_of(reason: str) -> str:
    """A reason without its numbers, so that equal causes count as one."""
    return NUMBER.sub("…", reason)


def kinds(reasons: Iterable[str]) -> dict[str, list[str]]:
    """The reasons of each kind, the commonest first."""
    found: dict[str, list[str]] = {}
    for reason in reasons:
        found.setdefault(kind_of(reason), []).append(reason)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def together(reasons: Sequence[str]) -> str:
    """Reasons of one kind as one. A number on which all agree stays; another becomes its range:
    `other programs took 21 to 97% of the processors' time`."""
    numbers = [NUMBER.findall(reason) for reason in reasons]
    if len({len(own) for own in numbers}) != 1:
        return kind_of(reasons[0])
    spans = iter([_span(list(column)) for column in zip(*numbers, strict=True)])
    return NUMBER.sub(lambda _: next(spans), reasons[0])


def _span(numbers: Sequence[str]) -> str:
    low, high = (choose(numbers, key=_value) for choose in (min, max))
    return low if _value(low) == _value(high) else f"{low} to {high}"


def _value(number: str) -> float:
    """The value of a number as people write it; 0 for what is none, as `1.2.3`."""
    try:
        return float(number.replace(",", ""))
    except ValueError:
        return 0.0
