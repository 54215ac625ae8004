"""The pieces of all drawings on a terminal: names that fit, bars, and the screen itself."""

import os
from typing import TYPE_CHECKING

from loadstone import diagnostics

if TYPE_CHECKING:
    from rich.console import Console

NAME_MOST = 240
"""Characters of a name, over all its lines."""


COLUMNS_MAX = 20
"""Of a table: the page has more, and --dry-run all."""


def screen_of(*, stderr: bool) -> "Console":
    """The terminal behind stdout or stderr, without colours where NO_COLOR requests none."""
    return diagnostics.console(stderr=stderr, plain=bool(os.environ.get("NO_COLOR")))


def lines_left(console: "Console") -> int:
    """The lines of a live table that fit the screen beside its heading and its status."""
    return max(3, console.height - 5)


def one_line(text: str, most: int) -> str:
    """Without control characters, cut to fit."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def folded(name: str, width: int) -> str:
    """A variant's name over lines of limited width, broken at its tactics first. Never cut: the end
    of a name is often the only difference."""
    clean = one_line(name, NAME_MOST).replace("?", "?\n").replace("&", "&\n")
    return "\n".join(
        part[start : start + width]
        for part in clean.split("\n")
        for start in range(0, max(len(part), 1), width)
    )


def bar_of(share: float, width: int, *, pad: bool = False) -> str:
    """A bar in eighths of a character."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
    return bar.ljust(width, "·") if pad else bar
