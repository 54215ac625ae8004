"""Advice about cells that say less than they should."""

from loadstone.statistics.validity import ADVICE


def advice(reason: str) -> str:
    """The remedy for cells that are disturbed or invalid for this reason; empty if unknown."""
    return next((words for begins, words in ADVICE if reason.startswith(begins)), "")
