"""The page in a real browser: no complaint on its console, everything there, no sideways scroll.

The page is put into a frame of the width under test; a script beside it looks and reports.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from oo1_report_fixture import make_oo1_run
from report_fixture import make_run

from loadstone.analysis.summary import summarise
from loadstone.record.model import Run
from loadstone.report.html import HtmlReport

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")

LOOK = """
const frame = document.getElementById("page"), page = frame.contentDocument;
const shown = (element) => element.getClientRects().length > 0;
const all = (selector) => [...page.querySelectorAll(selector)];
const seen = () => all(".view").filter(shown).map((view) => view.querySelector("h3").textContent);
const result = {
  overflow_px: page.documentElement.scrollWidth - page.documentElement.clientWidth,
  sections: all("main > section").map((section) => section.id),
  summaries: all("table.summary").length,
  published: all("table.published").filter(shown).length,
  charts: all("svg.chart").length,
  charts_empty: all("svg.chart").filter((c) => !c.querySelector("path, text")).length,
  charts_unnamed: all("svg.chart").filter((c) => !c.querySelector("title")).length,
  failures: all("td.failed").length,
  gaps: all("td.gap").length,
  unreachable: all("button, input, summary, a").filter((e) => e.tabIndex < 0).length,
  view_first: seen(),
};
page.getElementById("scale-1").click();
page.getElementById("at-1").click();
result.view_second = seen();
const cell = all(".view button[data-variant=duckdb]").find(shown);
cell.click();
const open = all(".panel").filter(shown);
result.panels_open = open.length;
result.details_open = open.flatMap((p) =>
  [...p.querySelectorAll("details[open]")].map((d) => d.dataset.variant));
result.dots = open[0] ? open[0].querySelectorAll("circle").length : 0;
document.getElementById("result").textContent = JSON.stringify(result);
"""


MOVED = """
const page = document.getElementById("page").contentDocument;
const boxes = [...page.querySelectorAll("article.paper > .scroll")];
document.getElementById("result").textContent = JSON.stringify({
  sideways_px: boxes.map((box) => box.scrollWidth - box.clientWidth),
});
"""


def look(
    page: str, width_px: int, folder: Path, script: str = LOOK
) -> tuple[dict[str, Any], list[str]]:
    """The measurements of the script in a frame of that width, and the browser's complaints."""
    wrapper = folder / "wrapper.html"
    frame = f'<iframe id="page" style="width:{width_px}px;height:900px;border:0"'
    wrapper.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><pre id="result"></pre>'
        f'{frame} srcdoc="{html.escape(page, quote=True)}"></iframe>'
        f"<script>onload = () => {{ {script} }}</script>",
        encoding="utf-8",
    )
    switches = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0")
    done = subprocess.run(
        [CHROMIUM, *switches, f"--user-data-dir={folder / 'profile'}", "--window-size=2000,1000",
         "--virtual-time-budget=10000", "--dump-dom", wrapper.as_uri()],
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    complaints = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return json.loads(html.unescape(found[1]) or "{}"), complaints


@pytest.fixture(scope="module")
def page() -> str:
    return HtmlReport().render(make_run()).decode()


@pytest.mark.parametrize("width_px", [390, 1280])
def test_page(page: str, width_px: int, tmp_path: Path) -> None:
    seen, complaints = look(page, width_px, tmp_path)
    assert complaints == []
    assert seen["overflow_px"] == 0
    assert seen["sections"] == [
        "findings", "summary", "paper", "growth", "temperatures", "users", "terms", "machine",
        "reproduce",
    ]  # fmt: skip
    assert (seen["summaries"], seen["published"]) == (4, 4)
    assert seen["charts"] >= 20
    assert (seen["charts_empty"], seen["charts_unnamed"], seen["unreachable"]) == (0, 0, 0)
    assert (seen["failures"], seen["gaps"]) == (3, 4)
    assert seen["view_first"] == ["10,000 tuples, warm"]
    assert seen["view_second"] == ["100,000 tuples, cold"]
    assert (seen["panels_open"], seen["details_open"]) == (1, ["duckdb"])
    assert seen["dots"] > 20


def test_a_broken_page_is_noticed(page: str, tmp_path: Path) -> None:
    wide = page.replace("<main>", '<main><div style="width:3000px">x</div>')
    broken = wide.replace("</body>", "<script>absent()</script></body>")
    seen, complaints = look(broken, 390, tmp_path)
    assert any("absent is not defined" in line for line in complaints)
    assert seen["overflow_px"] > 0


def beside(run: Run, variant: str, *names: str) -> Run:
    """The run with variants that did what one of it did, in half the time."""
    cells = [replace(c, variant=n) for n in names for c in run.plan.cells if c.variant == variant]
    results = [
        replace(
            result,
            cell=replace(result.cell, variant=name),
            samples=tuple(replace(s, elapsed_ns=s.elapsed_ns // 2) for s in result.samples),
        )
        for name in names
        for result in run.results
        if result.cell.variant == variant
    ]
    plan = replace(run.plan, variants=(*run.plan.variants, *names),
                   cells=(*run.plan.cells, *cells))  # fmt: skip
    return replace(run, plan=plan, results=(*run.results, *results))


def test_five_variants_beside_a_paper_s_systems_fit_a_wide_screen(tmp_path: Path) -> None:
    run = beside(make_oo1_run(), "sqlite", "lode?access=objects&swizzle=on", "lode?access=btree")
    assert len(summarise(run).competitors) == 5
    wide = HtmlReport().render(run).decode()
    seen, _ = look(wide, 1920, tmp_path, MOVED)
    assert len(seen["sideways_px"]) >= 2
    assert seen["sideways_px"] == [0] * len(seen["sideways_px"])
