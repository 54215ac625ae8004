"""The formats of a comparison by name; each is a file of its own."""

from typing import TextIO

from loadstone.analysis.compare.chapters import Compared
from loadstone.analysis.compare.compare import Comparison
from loadstone.control_characters import legible
from loadstone.report import markdown_text
from loadstone.report.comparison import json, markdown
from loadstone.text.numbers import plural

FORMATS = ("table", "md", "json")


def write_chapters(found: Compared, form: str, out: TextIO) -> None:
    """Write the comparisons of several benchmarks, each under its name; of one alone as `write`."""
    comparisons = found.comparisons
    if len(comparisons) == 1 and not found.left_out:
        write(comparisons[0][1], form, out)
        return
    if form == "json":
        out.write(json.render_chapters(found).decode())
        out.flush()
        return
    before = "## " if form == "md" else ""
    shown = markdown_text.plain if form == "md" else legible
    out.write(f"{found.outcome}: {plural(len(comparisons), 'benchmark')} compared\n")
    for name, comparison in comparisons:
        out.write(f"\n{before}{shown(name)}\n\n")
        write(comparison, form, out)
    for name, why in found.left_out:
        out.write(f"\n{before}{shown(name)}\n\nNot compared: {shown(why)}\n")
    out.flush()


def write(comparison: Comparison, form: str, out: TextIO) -> None:
    """Write a comparison in one of `FORMATS` to a text stream."""
    if form == "table":
        from loadstone.report.comparison.terminal import show

        show(comparison, out)
    else:
        render = {"md": markdown.render, "json": json.render}[form]
        out.write(render(comparison).decode())
    out.flush()
