"""The formats of a comparison by name; each is a file of its own."""

from typing import TextIO

from loadstone.analysis.compare.compare import Comparison
from loadstone.report.comparison import json, markdown

FORMATS = ("table", "md", "json")


def write(comparison: Comparison, form: str, out: TextIO) -> None:
    """Write a comparison in one of `FORMATS` to a text stream."""
    if form == "table":
        from loadstone.report.comparison.terminal import show

        show(comparison, out)
    else:
        render = {"md": markdown.render, "json": json.render}[form]
        out.write(render(comparison).decode())
    out.flush()
