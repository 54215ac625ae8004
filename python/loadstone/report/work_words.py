"""An engine's counts of its own work, in words."""

from collections.abc import Sequence

from loadstone.text.numbers import digits, duration, size

SOME_ONLY = (
    *("batches_ahead", "functions_compiled", "code_bytes", "compile_ns"),
    *("first_copy_reads", "second_copy_reads"),
)
"""Work that only some variants do: left out where none was done."""


def work_words(work: Sequence[tuple[str, float]]) -> str:
    """Counts by their names: `10,000 tuples, 164 pages, 1.5 MiB spilled`."""
    return ", ".join(_one(name, value) for name, value in work if value or name not in SOME_ONLY)


def _one(name: str, value: float) -> str:
    if name == "compile_ns":
        return f"{duration(value)} of compiling"
    if name == "code_bytes":
        return f"{size(value)} of code"
    if name.endswith("_bytes"):
        written = {"spilled": "spilled", "log": "logged"}[name.removesuffix("_bytes")]
        return f"{size(value)} {written}"
    if name.endswith("_copy_reads"):
        return f"{value:,.0f} reads of the {name.removesuffix('_copy_reads')} copy"
    whole = f"{value:,.0f}" if value == int(value) else digits(value)
    return f"{whole} {name.replace('_', ' ')}"
