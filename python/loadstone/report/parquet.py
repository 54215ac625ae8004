"""The Parquet report: one row per sample, joined with its cell.

A cell without samples keeps one row whose sample columns are null, so that failures and gaps are
not lost on the way.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from loadstone.analysis.summary import summarise
from loadstone.plan.chapters import hash_of
from loadstone.record.model import Run, Sample, by_name
from loadstone.report.base import Report
from loadstone.report.columns import COLUMNS, cells, flat

TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
CELL = pa.schema(
    [pa.field(column.name, TYPES[column.kind], nullable=column.null) for column in COLUMNS]
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
        return self.render_chapters([run])

    def render_chapters(self, runs: Sequence[Run]) -> bytes:
        """As `render`: a row shows its benchmark, and the metadata name all plans together."""
        plan_hash = hash_of([run.plan for run in runs])
        names = {b"run_id": runs[0].run_id, b"plan_hash": plan_hash}
        schema = pa.unify_schemas([CELL, SAMPLE]).with_metadata(names)
        rows = [row for run in runs for row in _rows(run)]
        table = pa.Table.from_pylist(rows, schema)
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        return bytes(sink.getvalue())


def _rows(run: Run) -> list[dict[str, Any]]:
    rows = []
    for reported in cells(summarise(run)):
        cell = flat(reported)
        samples = [_sample(sample) for sample in reported.figure.samples] or [NO_SAMPLE]
        rows += [cell | sample for sample in samples]
    return rows


def _sample(sample: Sample) -> dict[str, int | None]:
    return {f"sample_{name}": value for name, value in by_name(sample).items()}
