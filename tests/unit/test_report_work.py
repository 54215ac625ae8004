"""An engine's counts of its own work: kept with each sample, shown beside its figures."""

import csv
import io
import json
from dataclasses import replace

from report_fixture import make_run

from loadstone import registry
from loadstone.analysis.cell_summary import cell_summary
from loadstone.record.model import WORK, Run


def counted(run: Run) -> Run:
    """The same in which SQLite counts."""

    def sample(one, ordinal):
        return replace(one, tuples=10_000 + ordinal % 2, pages=164, comparisons=0, hash_probes=7,
                       spilled_bytes=3 << 20, log_bytes=100, batches_ahead=0,
                       functions_compiled=2, code_bytes=1536, compile_ns=1_900_000,
                       first_copy_reads=9, second_copy_reads=0)  # fmt: skip

    return replace(run, results=tuple(
        replace(r, samples=tuple(sample(s, n) for n, s in enumerate(r.samples)))
        if r.cell.variant == "sqlite" else r
        for r in run.results
    ))  # fmt: skip


RUN = counted(make_run(("select-10%-heap",), scales=(10_000,)))


def rendered(name: str) -> str:
    return registry.load_report(name)().render(RUN).decode()


def test_a_cell_has_the_medians_of_what_was_counted():
    of = {result.cell.variant: cell_summary(result.cell, result).work for result in RUN.results}
    assert dict(of["sqlite"])["hash_probes"] == 7
    assert tuple(name for name, _ in of["sqlite"]) == WORK
    assert of["duckdb"] == ()


def test_reports_show_counts_where_there_are_some():
    page = rendered("html")
    shown = (
        "164 pages, 0 comparisons, 7 hash probes, 3.00 MiB spilled, 100 B logged, "
        "2 functions compiled, 1.50 KiB of code, 1.90 ms of compiling, "
        "9 reads of the first copy"
    )
    assert page.count(shown) >= 1
    assert "10,000" in page[page.index(shown) - 30 : page.index(shown)]
    rows = list(csv.DictReader(io.StringIO(rendered("csv"))))
    assert {row["pages_median"] for row in rows if row["variant"] == "sqlite"} == {"164.0"}
    assert {row["pages_median"] for row in rows if row["variant"] == "duckdb"} == {""}
    assert {row["log_bytes_median"] for row in rows} == {"100.0", ""}
    cells = json.loads(rendered("json"))["cells"]
    found = {(one["variant"], one["hash_probes_median"]) for one in cells}
    assert ("sqlite", 7.0) in found
    assert ("duckdb", None) in found
    assert {one["samples"][0]["pages"] for one in cells if one["samples"]} == {164, None}
