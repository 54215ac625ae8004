"""The functions that run in the executors: making the rows of a part, and adding up checksums.

An executor imports this module and the Rust core, and nothing else of Loadstone.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from loadstone.engines.capabilities import Generated

if TYPE_CHECKING:
    import pyarrow as pa

PARTS_SCHEMA = "rows long, bytes long"
SUMS_SCHEMA = "rows long, checksum string"
TRIED_SCHEMA = "made boolean"

Batches = Iterator["pa.RecordBatch"]


def maker(
    source: Generated, folder: str, parts: int, compression: str
) -> Callable[[Batches], Batches]:
    """For `mapInArrow` over part numbers: each part of the relation to a Parquet file of its own,
    which has its name when it is complete, so that a task may be run again."""

    def make(batches: Batches) -> Batches:
        import pyarrow as pa

        from loadstone import _core

        for batch in batches:
            for part in batch.column(0).to_pylist():
                made = _core.export(
                    source.benchmark, source.edition, source.relation, source.rows,
                    f"{folder}/part-{part:05d}.parquet", "parquet",
                    part=part + 1, part_count=parts, compression=compression,
                )  # fmt: skip
                values = {"rows": [made["rows"]], "bytes": [made["bytes"]]}
                yield pa.RecordBatch.from_pydict(values)

    return make


def adder() -> Callable[[Batches], Batches]:
    """For `mapInArrow` over a relation: the tuples of a partition and the sum of their checksums,
    in 16 hexadecimal digits."""

    def add(batches: Batches) -> Batches:
        import pyarrow as pa

        from loadstone import _core

        rows, total = 0, 0
        for batch in batches:
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
            count, checksum = _core.answer_of_stream(reader)
            rows, total = rows + count, total + int(checksum, 16)
        yield pa.RecordBatch.from_pydict({"rows": [rows], "checksum": [f"{total % 2**64:016x}"]})

    return add


def try_core(batches: Batches) -> Batches:
    """For `mapInArrow`: whether the Rust core is to be had; an error where it is not."""
    import pyarrow as pa

    from loadstone import _core

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"made": [bool(_core.attributes)]})
