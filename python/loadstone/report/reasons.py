"""Reasons counted by what they have in common, their numbers left out."""

import re
from collections.abc import Iterable, Sequence

NUMBER = re.compile(r"\d[\d,.]*")


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
    """Reasons of one kind in one: as it is where all are the same, else without its numbers."""
    return reasons[0] if len(set(reasons)) == 1 else kind_of(reasons[0])
