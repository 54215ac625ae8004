"""The names of variants in a record, from what a user writes: `cache=64KiB` is `cache=65536`."""

from collections.abc import Sequence
from contextlib import suppress

from loadstone import registry
from loadstone.errors import LoadstoneError
from loadstone.record.model import Run
from loadstone.run.planned import variant_of


def named_in(runs: Sequence[Run], text: str) -> str:
    """The name under which a record has the variant that is written so; the text itself where it
    has none, or an engine of it cannot be loaded."""
    known = {name for run in runs for name in run.plan.variants}
    for run in () if text in known else runs:
        with suppress(LoadstoneError):
            name = variant_of(text, registry.benchmark_of_plan(run.plan).seam)[0].name
            if name in known:
                return name
    return text


def pair_in(
    a: Sequence[Run], b: Sequence[Run] | None, variants: tuple[str, str] | None
) -> tuple[str, str] | None:
    """Two variants as their records name them: one of A and one of B, or both of A."""
    if variants is None:
        return None
    return named_in(a, variants[0]), named_in(a if b is None else b, variants[1])
