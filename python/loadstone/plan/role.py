"""The role of a variant in a run. Its engine declares it; only competitors are ranked."""

from collections.abc import Iterable
from enum import StrEnum

from loadstone.plan.variant import engine_of, is_aa_control


class Role(StrEnum):
    """Only a competitor is a row's best, a ratio's denominator, or shaded.

    A `LIMIT` does the work without being a database: it keeps nothing and commits nothing. It
    claims that nothing does it sooner, which `analysis/limits.py` holds against the figures. An
    `OVERHEAD` answers at once, so its time is the harness overhead. A `CONTROL` checks the
    instrument: the A/A control, or an engine of known time.
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
"""The engines of plans from before roles."""


def roles_before(variants: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(variant, role) of those that are no competitors, for a plan without roles."""
    found = []
    for variant in dict.fromkeys(variants):
        role = Role.CONTROL if is_aa_control(variant) else _BEFORE.get(engine_of(variant))
        if role:
            found.append((variant, role.value))
    return tuple(found)
