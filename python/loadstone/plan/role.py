"""The role of a variant in a run. Its engine declares it; only competitors are ranked."""

from enum import StrEnum


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
