"""The CSV report: one row per planned cell, units in the names; empty means absent."""

import csv
import io
import re
from collections.abc import Sequence
from typing import ClassVar

from loadstone.analysis.summary import summarise
from loadstone.record.model import Run
from loadstone.report.base import Report
from loadstone.report.columns import COLUMNS, cells, flat
from loadstone.report.legible import inert


class CsvReport(Report):
    """For spreadsheets and data frames. The columns are in `docs/reference/report.md`."""

    suffix: ClassVar[str] = ".csv"
    mark: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"^run_id,benchmark,edition,")

    def render(self, run: Run) -> bytes:
        """UTF-8, comma-separated, lines ending in LF."""
        return self.render_chapters([run])

    def render_chapters(self, runs: Sequence[Run]) -> bytes:
        """As `render`: a row shows its benchmark."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(column.name for column in COLUMNS)
        for reported in (reported for run in runs for reported in cells(summarise(run))):
            values = flat(reported).values()
            writer.writerow(inert(v) if isinstance(v, str) else v for v in values)
        return text.getvalue().encode()
