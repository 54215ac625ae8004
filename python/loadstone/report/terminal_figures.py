"""A table for a terminal that never cuts a figure."""

import dataclasses
from copy import copy

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text


class FiguresTable(Table):
    """A table whose cells wrap between words and are never cut: columns that a narrow screen has no
    room for stand below, in tables that begin with the first column again."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first, *rest = self.columns
        block = copy(self)
        if isinstance(self.title, str):  # over the screen's width, however narrow the table is
            yield Text(self.title, self.title_style or "")
            block.title = None
        while True:
            count = 1
            while count < len(rest) and self._fits([first, *rest[: count + 1]], console, options):
                count += 1
            block.columns = _numbered([first, *rest[:count]])
            yield from Table.__rich_console__(block, console, options)
            rest = rest[count:]
            if not rest:
                return

    def _fits(self, columns: list[Column], console: Console, options: ConsoleOptions) -> bool:
        tried = copy(self)
        tried.columns = _numbered(columns)
        return tried.least(console, options) <= options.max_width

    def least(self, console: Console, options: ConsoleOptions) -> int:
        """The least width of all columns and their borders."""
        wide = options.update(max_width=console.width * 100)
        return sum(least for least, _ in self.needs(console, wide)) + self._extra_width

    def needs(self, console: Console, options: ConsoleOptions) -> list[tuple[int, int]]:
        """Two widths of each column: the narrowest that cuts no word, and the narrowest in which no
        cell wraps."""
        found = []
        for column in self.columns:
            width = self._measure_column(console, options, column)
            least = width.maximum if column.no_wrap else width.minimum
            if column.overflow == "fold":  # a name may be broken anywhere
                least = min(least, (column.min_width or 1) + sum(self.padding[1::2]))
            found.append((least, width.maximum))
        return found

    def _calculate_column_widths(self, console: Console, options: ConsoleOptions) -> list[int]:
        needs = self.needs(console, options.update(max_width=console.width * 100))
        left = options.max_width - sum(least for least, _ in needs)
        widths = []
        for least, most in needs:
            more = max(0, min(left, most - least))
            widths.append(least + more)
            left -= more
        return widths


def _numbered(columns: list[Column]) -> list[Column]:
    return [dataclasses.replace(column, _index=place) for place, column in enumerate(columns)]
