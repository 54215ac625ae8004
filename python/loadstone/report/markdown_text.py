"""Text and tables as GitHub's Markdown takes them."""

import re
from collections.abc import Iterable, Sequence

HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def plain(text: str) -> str:
    """Text that Markdown leaves unchanged, also inside a table: one line, nothing active."""
    text = "".join(HTML.get(c, c if ord(c) >= 32 else " ") for c in text)
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", text)


def code(text: str) -> str:
    """Text as a span of code: one line, fenced by more backticks than it has in a row."""
    line = " ".join(text.split())
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    """The first column left, the others right."""
    yield f"| {' | '.join(map(plain, headings))} |"
    yield f"|---|{'--:|' * (len(headings) - 1)}"
    for row in rows:
        yield f"| {' | '.join(map(plain, row))} |"
