"""A cache that is too small: a warm operation that still reads from the device in every sample,
where the data are larger than the cache that the engine says it has.

`consistent with` if the data of this scale are larger than the cache; else `unexplained`: a
temporary file, or an engine that keeps less than it says.

False where another process's reads are charged to the engine's. Reads that the operating system's
cache answers are no device's and are not seen: the rule is silent then, however small the cache.
"""

from collections.abc import Iterator
from math import log1p

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number
from loadstone.analysis.findings.said import said_bytes
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import size

RULE = "cache"
KEYS = ("cache_bytes", "cache")
PAGE_BYTES = 4096


def find(seen: Evidence) -> Iterator[Finding]:
    """One for each warm cell that reads."""
    sizes = {(variant, rows): count for variant, rows, count in seen.whole.run.sizes}
    for row in seen.rows:
        for figure in measured(row) if row.temperature in ("warm", "hot") else ():
            read = [each.read_bytes for each in figure.samples if each.read_bytes is not None]
            if len(read) == len(figure.samples) and min(read) >= PAGE_BYTES:
                data = sizes.get((figure.cell.variant, row.rows))
                yield _finding(seen, figure, Estimate(
                    figure.read_bytes or 0.0, min(read), max(read)), data)  # fmt: skip


def _finding(seen: Evidence, figure: CellSummary, read: Estimate, data: int | None) -> Finding:
    cache = _cache_bytes(seen, figure.cell.variant)
    small = cache is not None and data is not None and data > cache
    name = seen.whole.labels[figure.cell.variant]
    reported = f"reads {said_bytes(read)} from the device in every {figure.cell.temperature} sample"
    beside = "" if cache is None or data is None else (
        f" Its cache has {size(cache)}, its data of this scale {size(data)}."
    )  # fmt: skip
    return seen.finding(
        RULE,
        "cache too small" if small else "reads though warm",
        figure,
        grade=Grade.CONSISTENT if small else Grade.UNEXPLAINED,
        brief=f"{name} {reported}",
        sentence=f"{name} {reported}.{beside}",
        numbers=(Number("bytes read", read, "bytes"),),
        weight=log1p(read.value / (data or read.value)),
    )


def _cache_bytes(seen: Evidence, variant: str) -> int | None:
    for term in reversed(seen.whole.run.terms):
        if term.variant == variant and term.key in KEYS and (term.read_back or "").isdigit():
            return int(term.read_back or "")
    return None
