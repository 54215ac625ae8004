"""The CSV report: one row per planned cell, units in the names; empty means absent."""

import csv
import io
import re
from typing import Any, ClassVar

from loadstone.analysis.summary import CellSummary, Row, Summary, summarise
from loadstone.record.model import Run
from loadstone.report.base import Report
from loadstone.report.legible import inert


class CsvReport(Report):
    """For spreadsheets and data frames. The columns are in `docs/report.md`."""

    suffix: ClassVar[str] = ".csv"
    mark: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"^run_id,benchmark,edition,")

    def render(self, run: Run) -> bytes:
        """UTF-8, comma-separated, lines ending in LF."""
        text = io.StringIO()
        rows = list(cell_rows(summarise(run)))
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {name: inert(v) if isinstance(v, str) else v for name, v in row.items()} for row in rows
        )
        return text.getvalue().encode()


def cell_rows(whole: Summary) -> list[dict[str, Any]]:
    """Every planned cell as a flat row, in the order of the summary."""
    return [
        dict(zip(COLUMNS, _values(whole.run, row, figure), strict=True))
        for view in whole.views
        for row in view.all_rows
        for figure in row.figures.values()
    ]


COLUMNS: tuple[str, ...] = (
    "run_id",
    "benchmark",
    "edition",
    "query_group",
    "operation",
    "title",
    "variant",
    "role",
    "rows",
    "temperature",
    "temperature_planned",
    "status",
    "reason",
    "samples",
    "elapsed_ns_median",
    "elapsed_ns_low",
    "elapsed_ns_high",
    "best_ratio",
    "best_ratio_low",
    "best_ratio_high",
    "unequal_terms",
    "overhead_share",
    "client_cpu_share",
    "server_cpu_share",
    "read_bytes_median",
    "written_bytes_median",
    "answers_right",
    "answers_checked",
    "outliers",
    "samples_effective",
    "stolen_share",
    "foreign_share",
    "speed_drift",
    "speed_probe_ns",
)


def _values(run: Run, row: Row, figure: CellSummary) -> tuple[Any, ...]:
    elapsed, ratio, condition = figure.elapsed_ns, figure.ratio, figure.condition
    return (
        run.run_id,
        run.plan.benchmark,
        run.plan.edition,
        row.operation.group,
        figure.cell.operation,
        row.operation.title,
        figure.cell.variant,
        figure.role.value,
        figure.cell.rows,
        figure.temperature,
        figure.cell.temperature,
        figure.status,
        figure.reason,
        len(figure.samples),
        *((elapsed.value, elapsed.low, elapsed.high) if elapsed else (None, None, None)),
        *((ratio.value, ratio.low, ratio.high) if ratio else (None, None, None)),
        "; ".join(term.words for term in figure.unequal),
        figure.overhead_share,
        figure.client_cpu_share,
        figure.server_cpu_share,
        figure.read_bytes,
        figure.written_bytes,
        figure.answers_right,
        figure.answers_checked,
        len(figure.outliers),
        figure.samples_effective,
        condition.stolen_share if condition else None,
        condition.foreign_share if condition else None,
        condition.speed_drift if condition else None,
        condition.speed_probe_ns if condition else None,
    )
