"""The formats of a comparison by name; each is a file of its own."""

from typing import TextIO

from loadstone.comparison import json, markdown
from loadstone.comparison.compare import Comparison

FORMATS = ("table", "md", "json")


def write(comparison: Comparison, form: str, out: TextIO) -> None:
    """Write a comparison in one of `FORMATS` to a text stream."""
    if form == "table":
        from loadstone.comparison.terminal import show

        show(comparison, out)
    else:
        render = {"md": markdown.render, "json": json.render}[form]
        out.write(render(comparison).decode())
    out.flush()
