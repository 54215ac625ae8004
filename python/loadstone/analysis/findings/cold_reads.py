"""A cold operation that reads more from the device than the tables and indexes hold, in every
sample: read-ahead, temporary files, or pages read more than once.

Only proved cells with two samples or more. The size of the data is what the proof of coldness had.
False where the system charges another process's reads to the engine's. Which of the three it is
the record does not say, so it is `unexplained`; with spilled bytes it is `consistent with` these.
"""

from collections.abc import Iterator
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number
from loadstone.analysis.findings.said import said_bytes
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import plural, size, times

RULE = "cold reads"
MORE = 1.1
"""Times the data: catalogs and the file's own pages are no finding."""


def find(seen: Evidence) -> Iterator[Finding]:
    """One for each cold cell that reads more."""
    for row in seen.rows:
        for figure in measured(row) if row.temperature == "cold" else ():
            found = _of(seen, figure)
            if found:
                yield found


def _of(seen: Evidence, figure: CellSummary) -> Finding | None:
    result = seen.results[figure.cell.key]
    read = [sample.read_bytes for sample in figure.samples if sample.read_bytes is not None]
    data = [item.data_bytes for item in result.evidence if item.data_bytes]
    if figure.temperature != "cold" or not data or len(read) < len(figure.samples):
        return None
    if min(read) <= MORE * max(data):
        return None
    spilled = dict(figure.work).get("spilled_bytes", 0.0)
    bytes_read = Estimate(figure.read_bytes or 0.0, min(read), max(read))
    name = seen.whole.labels[figure.cell.variant]
    ratio = bytes_read.value / max(data)
    cause = (
        f"It spills {size(spilled)} to files."
        if spilled
        else "The record does not show whether by read-ahead, by temporary files, or by reading"
        " pages again."
    )
    reported = f"{said_bytes(bytes_read)} where its data have {size(max(data))}"
    return seen.finding(
        RULE,
        "reads more than the data",
        figure,
        grade=Grade.CONSISTENT if spilled else Grade.UNEXPLAINED,
        brief=f"{name} reads {reported}",
        sentence=f"Cold, {name} reads {reported}: {times(ratio)} as much, in each of"
        f" {plural(len(read), 'sample')}. {cause}",
        numbers=(
            Number("bytes read", bytes_read, "bytes"),
            Number("bytes of data", Estimate(float(max(data))), "bytes"),
        ),
        weight=log(ratio),
    )
