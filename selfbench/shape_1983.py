r"""Tables 1 to 11 of Wisconsin 1983 beside today's, each figure a multiple of its system's scan.

    loadstone run wisconsin --edition 1983 --on 'lode?profile=u-ingres' ... --record 1983.loadstone
    python selfbench/shape_1983.py 1983.loadstone

`docs/results/wisconsin-1983.md` has a run of few operations. A statement that was ended at its time
limit reads as more than the limit, as the paper's "> 5 hours" do.
"""

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from loadstone import api
from loadstone.analysis.measured import Today
from loadstone.analysis.published import Comparison, PublishedValue, comparisons
from loadstone.analysis.summary import Summary, summarise
from loadstone.benchmarks.wisconsin.presentation import PRESENTATION

UNIT = "select-1%-heap"
"""Its time is each system's 1."""
REPORTED = "lode"
ENDED = re.compile(r"^> ([\d.]+) s$")


def figure(value_ns: float | None, unit_ns: float, *, over: bool = False) -> str:
    """A time over its system's unit: two digits, as in the paper's own tables."""
    if not value_ns:
        return ""
    ratio = value_ns / unit_ns
    digits = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"
    return f"> {digits}" if over else digits


def paper(value: PublishedValue | None, unit_ns: float) -> str:
    """A printed value in the paper's units."""
    return figure(value.time_ns, unit_ns, over=value.over) if value else ""


def today(value: Today | None, unit_ns: float) -> str:
    """A figure of the record, or the bound of one that was ended: its reason is `> 10 s`."""
    if value is None:
        return ""
    if ended := ENDED.match(value.reason):
        return figure(float(ended[1]) * 1e9, unit_ns, over=True)
    return figure(value.quantity, unit_ns) or value.status


def printed(
    table: Comparison,
    systems: Mapping[str, str],
    units: tuple[Mapping[str, float], Mapping[str, float]],
) -> str:
    """One table in Markdown. `systems` are the paper's, each with its variant; `units` the time of
    the scan: of the paper's systems, of today's variants."""
    heads = [f"{s}: paper | ours" for s in systems]
    lines = [
        f"### {table.heading}",
        "",
        f"| | {' | '.join(heads)} | `{REPORTED}` |",
        "|---|" + "---:|" * (2 * len(systems) + 1),
    ]
    then, now = units
    for row in table.rows:
        cells = []
        for system, variant in systems.items():
            cells.append(paper(row.published.get(system), then[system]))
            cells.append(today(row.measured.get(variant), now[variant]))
        cells.append(today(row.measured.get(REPORTED), now[REPORTED]))
        lines.append(f"| {row.label} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def units_of(
    tables: tuple[Comparison, ...], summary: Summary
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """The scan's time, ns: of each system of the paper, of each variant of the record."""
    scan = next(row for table in tables for row in table.rows if row.operation == UNIT)
    then = {system: value.exact or 0 for system, value in scan.published.items()}
    now = {variant: scan.measured[variant].quantity or 0 for variant in summary.columns}
    return then, now


def tables(summary: Summary) -> list[str]:
    """Every table of the paper that the run has a figure of."""
    found = comparisons(summary)
    if found is None:
        raise SystemExit("the record has no figure beside the paper's")
    units = units_of(found.tables, summary)
    return [printed(table, PRESENTATION.reimplemented, units) for table in found.tables]


def main() -> None:
    """Print all tables of the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path)
    (run,) = api.read(parser.parse_args().record).runs
    print("\n".join(tables(summarise(run))))


if __name__ == "__main__":
    main()
