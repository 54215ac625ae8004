"""A benchmark of a third party, in a package of its own: what it declares is what is reported."""

import os
from pathlib import Path

from desk import Desk

MODULE = """
from loadstone.benchmarks.base import Presentation
from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark
from loadstone.plan.presentation import CALLS, CostLadder, Step, Total, Whole


class Kegs(Oo1Benchmark):
    name = "kegs"
    title = "Kegs found one by one"

    def presentation(self):
        return Presentation(
            title="Kegs",
            scale="kegs",
            ladder=CostLadder(
                steps=(
                    Step("nothing", 1000, "a nod", "nodding", CALLS),
                    Step("lookup", 1000, "a keg found", "finding"),
                ),
                wholes=(Whole("a keg", "lookup", "the cellar"),),
                totals=(Total("a keg", ("lookup",)),),
                paper="Of kegs nothing was published.",
            ),
        )
"""


def installed(folder: Path) -> str:
    """A package with an entry point, as an installer leaves it; its place."""
    folder.mkdir()
    (folder / "kegs.py").write_text(MODULE, encoding="utf-8")
    about = folder / "kegs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: kegs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[loadstone.benchmarks]\nkegs = kegs:Kegs\n")
    return str(folder)


def test_a_ladder_that_it_declares_is_measured_kept_and_reported(desk: Desk) -> None:
    place = installed(desk.folder / "third")
    path = os.pathsep.join(filter(None, (place, desk.environment.get("PYTHONPATH", ""))))
    chosen = ("kegs", "--on", "memory", "--on", "sqlite", "--rows", "200", "--repeat", "6",
              "--operation", "nothing", "--operation", "lookup", "--temperature", "warm",
              "--no-limits", "--no-overhead", "--no-report")  # fmt: skip
    ran = desk.run("run", *chosen, "--record", str(desk.record), PYTHONPATH=path)
    assert ran.returncode == 0, ran.stderr
    # Without the package: its record is enough.
    page = desk.run("report", str(desk.record), "--format", "md")
    assert page.returncode == 0, page.stderr
    for reported in ("Kegs (1992) on", "200 kegs, warm", "| a nod |", "| a keg found |",
                 "Components of a keg"):  # fmt: skip
        assert reported in page.stdout
