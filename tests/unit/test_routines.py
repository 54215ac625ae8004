"""The paper's profile beside today's: of samples that are known."""

from dataclasses import replace

import pytest
from report_fixture import FEW, make_run

from loadstone import registry
from loadstone.analysis.routines import profiles
from loadstone.benchmarks.ingres.presentation import ROUTINES
from loadstone.plan.presentation import Presentation, Routine
from loadstone.record.budget import ALL, Budget, BudgetPart
from loadstone.record.model import Run

REPORTED = (
    Routine("GETSYMBOL", "get symbol from list", 17.1, ("lode::getsymbol",)),
    Routine("INTERPRET", "interpret list", 14.8, ("lode::(interpret|typecheck)",)),
    Routine("FWRITE", "write to file", 3.1, (), components=("Python and driver",)),
)


COMPONENTS = {"k_": "kernel: files", "p_": "Python and driver"}
"""By the beginning of a function's name."""


def budget(statements: int, **samples: int) -> Budget:
    """A budget of 1 ms a sample; a function's component by its first letters."""
    parts = [
        BudgetPart(
            server=False,
            component=COMPONENTS.get(name[:2], "expressions"),
            object="",
            function="" if name == "unnamed" else f"lode::{name}",
            entry="",
            samples=count,
        )
        for name, count in samples.items()
    ]
    return Budget(ALL, "", 1_000_000, statements, 10**9, 0, 0, parts=tuple(parts))


def run_with(*found: Budget) -> Run:
    """A run of which the first cells of one variant have these budgets."""
    run = make_run(FEW)
    variant = run.results[0].cell.variant
    own = [r for r in run.results if r.cell.variant == variant and r.cell.temperature == "warm"]
    given = dict(zip((r.cell.key for r in own), found, strict=False))
    assert len(given) == len(found)
    results = tuple(replace(r, budget=given.get(r.cell.key)) for r in run.results)
    return replace(run, results=results, presentation=Presentation("Thirds", routines=REPORTED))


def test_a_share_is_of_programs_alone_and_each_operation_counts_once():
    # The second ran a hundred times while it was watched: of one statement, 1 ms in all.
    short = budget(100, getsymbol=50, scan=50)
    long = budget(1, getsymbol=2, typecheck_binary=1, interpret=1, scan=3, unnamed=1,
                  p_str=1, k_read=90)  # fmt: skip
    (one,) = profiles(run_with(long, short))
    shares = {each.routine.name: each.share for each in one.shares}
    assert shares == {
        "GETSYMBOL": pytest.approx((2 + 0.5) / 10),
        "INTERPRET": pytest.approx(2 / 10),
        "FWRITE": pytest.approx(1 / 10),
    }
    assert one.unnamed == pytest.approx(1 / 10)
    assert one.gain_most == pytest.approx(1 / (1 - 0.55))
    assert one.operations == 2


def test_formats_show_the_profile_and_amdahls_bound():
    run = run_with(budget(1, getsymbol=3, interpret=2, scan=5))
    for name in ("html", "md"):
        text = registry.load_report(name)().render(run).decode()
        assert "GETSYMBOL: get symbol from list" in text
        assert "17.1 %" in text
        assert "2.00\N{MULTIPLICATION SIGN}" in text, "without these two it takes half"


def test_without_samples_or_routines_there_is_no_profile():
    run = run_with(budget(1, getsymbol=3))
    assert not profiles(replace(run, presentation=Presentation("Thirds")))
    assert not profiles(run_with(budget(1, k_read=3)))


def test_the_papers_routines_are_those_of_its_table():
    from loadstone.benchmarks.ingres.benchmark import IngresBenchmark

    (table,) = [one for one in IngresBenchmark().published().tables if one.number == "3"]
    printed = {row[0]: next(iter(row[2].values())) for row in table.rows}
    assert printed == {f"{one.name}: {one.what}": one.share_percent for one in ROUTINES}
