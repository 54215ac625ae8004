"""What an engine counted of its own work, in words."""

from collections.abc import Sequence

from loadstone.text.numbers import digits, size


def work_words(work: Sequence[tuple[str, float]]) -> str:
    """Counts by their names: `10,000 tuples, 164 pages, 1.5 MiB spilled`."""
    return ", ".join(_one(name, value) for name, value in work)


def _one(name: str, value: float) -> str:
    if name.endswith("_bytes"):
        written = {"spilled": "spilled", "log": "logged"}[name.removesuffix("_bytes")]
        return f"{size(value)} {written}"
    whole = f"{value:,.0f}" if value == int(value) else digits(value)
    return f"{whole} {name.replace('_', ' ')}"
