"""The pages of `docs/results/` are what `selfbench/results.py` makes of the records beside them."""

import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from loadstone.report import reproduce

SELFBENCH = Path(__file__).parents[2] / "selfbench"
RESULTS = SELFBENCH.parent / "docs" / "results"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(SELFBENCH), *sys.path])
        return runpy.run_path(str(SELFBENCH / "results.py"))


def test_every_page_is_made_of_its_record(script) -> None:
    for name in script["COMMANDS"]:
        written = (RESULTS / f"{name}.md").read_text("utf-8")
        assert script["page"](name) == written, f"{name}: run selfbench/results.py"


def test_every_record_is_of_its_command(script) -> None:
    for name in script["COMMANDS"]:
        typed = shlex.split(reproduce.typed(script["run_of"](name)))
        assert typed == ["loadstone", *script["measured_by"](name)], f"measure {name} again"


def test_every_page_and_record_has_a_command(script) -> None:
    pages = {path.stem for path in RESULTS.glob("*.md")} - {"README"}
    records = {path.name.partition(".")[0] for path in (RESULTS / "records").iterdir()}
    assert pages == records == set(script["COMMANDS"])
