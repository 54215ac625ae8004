"""The claim of a limit, and the cells that refute it.

A limit (plain structures in memory) claims that nothing does the work sooner: no competitor that is
called by a client in the same language and that treats the processor alike. A term that neither
reads back is alike; an engine that does not say whether it prefetches is taken for one that does
not. The claim is false where a competitor is certainly faster, beyond what counts as equal: then
its structures, or the client that calls them, are not the best that there are, and its figure in
that row bounds nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.standing import NEAR, comparable
from loadstone.analysis.summary import Row, Summary
from loadstone.plan.role import Role
from loadstone.statistics.paired_ratio import paired_ratio

ALIKE: Mapping[str, str] = {"client": "", "prefetch": "off"}
"""The terms in which a limit and what it is held against must agree, with what silence means."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """A cell in which `faster` takes `ratio` of the time of `limit`."""

    limit: str
    faster: str
    operation: str
    rows: int
    temperature: str
    ratio: float


def refuted(summary: Summary) -> tuple[Refuted, ...]:
    """Every refutation, in the order of the rows. Rows that call no engine say nothing of any."""
    said = _said(summary)
    return tuple(
        found
        for view in summary.views
        for row in view.all_rows
        if row.operation.storage not in summary.words.harness
        for found in _of(row, said)
    )


def _said(summary: Summary) -> Mapping[str, tuple[str, ...]]:
    """Variant -> its values of the terms that must agree; a later session's reading replaces an
    earlier one's."""
    found = {variant: dict(ALIKE) for variant in summary.variants}
    for term in summary.run.terms:
        if term.key in ALIKE and term.variant in found:
            found[term.variant][term.key] = term.read_back or ALIKE[term.key]
    return {variant: tuple(terms.values()) for variant, terms in found.items()}


def _of(row: Row, said: Mapping[str, tuple[str, ...]]) -> Iterator[Refuted]:
    timed = comparable(figure for figure in row.figures.values() if figure.elapsed_ns)
    for limit in (figure for figure in timed if figure.role is Role.LIMIT):
        for other in (figure for figure in timed if figure.role is Role.COMPETITOR):
            if said[other.cell.variant] != said[limit.cell.variant]:
                continue
            ratio = _certain(other, limit)
            if ratio is not None:
                names = (limit.cell.variant, other.cell.variant)
                yield Refuted(*names, row.operation.name, row.rows, row.temperature, ratio)


def _certain(other: CellSummary, limit: CellSummary) -> float | None:
    """The share of the limit's time that the other takes; None unless it is certainly less."""
    ratio = paired_ratio(other.samples, limit.samples)
    if ratio is None or ratio.high is None or ratio.high >= 1 / NEAR:
        return None
    return ratio.value
