"""The Parquet report: one row per sample, joined with its cell.

A cell without samples keeps one row whose sample columns are null, so that failures and gaps are
not lost on the way.
"""

import dataclasses
import re
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from loadstone.analysis.summary import summarise
from loadstone.record.model import Run, Sample
from loadstone.report.base import Report
from loadstone.report.csv import cell_rows

CELL = pa.schema(
    [
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("benchmark", pa.string(), nullable=False),
        pa.field("edition", pa.string(), nullable=False),
        pa.field("query_group", pa.string(), nullable=False),
        pa.field("operation", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("variant", pa.string(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("temperature", pa.string(), nullable=False),
        pa.field("temperature_planned", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("samples", pa.int64(), nullable=False),
        pa.field("elapsed_ns_median", pa.float64()),
        pa.field("elapsed_ns_low", pa.float64()),
        pa.field("elapsed_ns_high", pa.float64()),
        pa.field("best_ratio", pa.float64()),
        pa.field("best_ratio_low", pa.float64()),
        pa.field("best_ratio_high", pa.float64()),
        pa.field("overhead_share", pa.float64()),
        pa.field("client_cpu_share", pa.float64()),
        pa.field("server_cpu_share", pa.float64()),
        pa.field("read_bytes_median", pa.float64()),
        pa.field("written_bytes_median", pa.float64()),
        pa.field("answers_right", pa.int64(), nullable=False),
        pa.field("answers_checked", pa.int64(), nullable=False),
        pa.field("outliers", pa.int64(), nullable=False),
        pa.field("samples_effective", pa.float64()),
        pa.field("stolen_share", pa.float64()),
        pa.field("foreign_share", pa.float64()),
        pa.field("speed_drift", pa.float64()),
        pa.field("speed_probe_ns", pa.float64()),
    ]
)
SAMPLE = pa.schema(
    [pa.field(f"sample_{field.name}", pa.int64()) for field in dataclasses.fields(Sample)]
)
NO_SAMPLE: dict[str, Any] = dict.fromkeys(SAMPLE.names)


class ParquetReport(Report):
    """For notebooks and query engines: every raw sample."""

    suffix: ClassVar[str] = ".parquet"
    mark: ClassVar[re.Pattern[bytes] | None] = re.compile(rb"plan_hash\x18\x0c[0-9a-f]{12}")
    printable: ClassVar[bool] = False

    def render(self, run: Run) -> bytes:
        """A Parquet file, zstd; its metadata names the run and the plan."""
        names = {b"run_id": run.run_id, b"plan_hash": run.plan.hash}
        schema = pa.unify_schemas([CELL, SAMPLE]).with_metadata(names)
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(_rows(run), schema), sink, compression="zstd")
        return bytes(sink.getvalue())


def _rows(run: Run) -> list[dict[str, Any]]:
    whole = summarise(run)
    figures = whole.figures.values()
    rows = []
    for cell, figure in zip(cell_rows(whole), figures, strict=True):
        samples = [_sample(sample) for sample in figure.samples] or [NO_SAMPLE]
        rows += [cell | sample for sample in samples]
    return rows


def _sample(sample: Sample) -> dict[str, int | None]:
    return {f"sample_{name}": value for name, value in dataclasses.asdict(sample).items()}
