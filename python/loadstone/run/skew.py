"""`--skew`: the edition of a benchmark whose data have a distribution of that name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadstone import registry
from loadstone.errors import InputError
from loadstone.plan.choices import Choices
from loadstone.plan.written_choices import COMMAND_LINE, choices_from, read_given
from loadstone.text.numbers import listing


def skewed(chosen: Mapping[str, Any], file: Path | None, distribution: str) -> dict[str, Any]:
    """The choices made, with the edition of that distribution; `file` is a plan's, if any. Raises
    `InputError` where the benchmark has none, or where an edition is chosen, too."""
    merged = {**(read_given(file) if file else {}), **chosen}
    choices = choices_from(merged, str(file or COMMAND_LINE))
    if choices.edition is not None:
        raise InputError(
            f"--skew chooses the edition, and {choices.edition} is chosen, too",
            hint="leave out one of them",
        )
    editions = _editions(choices)
    if distribution not in editions:
        raise InputError(
            f"{choices.benchmark} has no data skewed by {distribution[:40]!r}",
            hint=f"it has: --skew {listing(editions)}",
        )
    return {**chosen, "edition": editions[distribution]}


def _editions(choices: Choices) -> Mapping[str, str]:
    """The benchmark's skewed editions by their distributions. Raises `InputError` without any."""
    name = "--sql" if choices.sql else choices.benchmark
    skewed = {
        one: registry.load_benchmark(one).skewed_editions for one in registry.benchmark_names()
    }
    if choices.sql or name not in skewed:
        raise InputError(
            f"--skew makes a paper's data, and {name} brings its own",
            hint="draw parameters of its statements: parameters.NAME = { zipf = [1, 1000] }",
        )
    if not skewed[name]:
        having = listing(one for one, editions in skewed.items() if editions)
        raise InputError(f"{name} has no skewed data", hint=f"{having} has")
    return skewed[name]
