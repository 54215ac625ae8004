"""An engine of a third party, in a package of its own: a run measures it beside ours."""

import os
import shutil
from pathlib import Path

from desk import Desk

ENGINE = Path(__file__).parents[1] / "conformance" / "third_party.py"


LINES_MAX = 150
"""What a newcomer has to write over a DB-API driver: CONTRIBUTING, "Add an engine"."""


def installed(folder: Path) -> str:
    """A package with an entry point, as an installer leaves it; its place."""
    folder.mkdir()
    shutil.copy(ENGINE, folder / "plain.py")
    about = folder / "plain-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[loadstone.engines]\nplain = plain:PlainEngine\n")
    return str(folder)


def test_its_answers_are_checked_its_cold_is_proved_and_its_terms_are_read_back(desk: Desk) -> None:
    place = installed(desk.folder / "third")
    path = os.pathsep.join(filter(None, (place, desk.environment.get("PYTHONPATH", ""))))
    chosen = ("--on", "plain?durability=none", "--on", "sqlite?durability=none", "--rows", "1000",
              "--operation", "select-1%-heap", "--operation", "select-1%-nonclustered",
              "--repeat", "6", "--no-limits", "--no-overhead", "--no-report")  # fmt: skip
    ran = desk.run("run", *chosen, "--record", str(desk.record), PYTHONPATH=path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "cold cells proved cold" in ran.stdout
    page = desk.run("report", str(desk.record), "--format", "md")
    assert page.returncode == 0, page.stderr
    assert "plain?durability=none" in page.stdout


def test_it_is_one_short_file() -> None:
    assert len(ENGINE.read_text(encoding="utf-8").splitlines()) <= LINES_MAX
