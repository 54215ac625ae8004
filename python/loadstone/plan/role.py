"""What a variant is for in a run. Its engine declares it; only competitors are ranked."""

from collections.abc import Iterable
from enum import StrEnum

from loadstone.plan.variant import AA_SUFFIX, is_aa_control


class Role(StrEnum):
    """Only a competitor is a row's best, a ratio's denominator, or shaded.

    A `LIMIT` does the work without being a database: it keeps nothing and commits nothing. An
    `OVERHEAD` answers at once, so its time is the harness's own. A `CONTROL` is what the instrument
    is held against: the same variant once more, or an engine whose time is known.
    """

    COMPETITOR = "competitor"
    LIMIT = "limit"
    OVERHEAD = "harness overhead"
    CONTROL = "control"


_BEFORE = {
    "null": Role.OVERHEAD,
    "python-null": Role.OVERHEAD,
    "memory": Role.LIMIT,
    "python-dict": Role.LIMIT,
    "fixed": Role.CONTROL,
    "stalling": Role.CONTROL,
}
"""Of the engines that there were when plans did not yet tell roles."""


def roles_before(variants: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(variant, role) of those that are no competitors, of a plan that tells none."""
    found = []
    for variant in dict.fromkeys(variants):
        engine = variant.removesuffix(AA_SUFFIX).partition("?")[0]
        role = Role.CONTROL if is_aa_control(variant) else _BEFORE.get(engine)
        if role:
            found.append((variant, role.value))
    return tuple(found)
