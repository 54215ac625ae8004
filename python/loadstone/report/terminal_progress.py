"""The progress of a run: a live table on a terminal, else a line for each operation (stderr).

The screen is drawn only on the runner's calls, so that no timer of ours wakes up beside a
measurement.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from loadstone._core import clock_ns
from loadstone.analysis.cell_summary import CellSummary, cell_summary
from loadstone.analysis.pace import Pace
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.role import Role
from loadstone.plan.variant import is_aa_control
from loadstone.record.model import CellResult
from loadstone.report.screen import bar_of, folded, lines_left, one_line, screen_of
from loadstone.text.numbers import duration, number
from loadstone.text.reasons import kind_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

LIVE_ROWS_MAX = 30
BRIEF_CHARACTERS = 24
"""A longer reason for a failure does not fit in a table."""
Unit = tuple[int, str, str]
"""(rows, temperature, operation): what ends together."""


class Progress:
    """The progress of a run. `on_status` and `on_result` are what the runner's listener calls.

    On a terminal a table of the newest figures; elsewhere one line for each finished operation.
    """

    def __init__(
        self, plan: Plan, words: Presentation, total: int, console: "Console | None" = None
    ) -> None:
        self._plan = plan
        self._total = total
        self._words = words
        self._console = console or screen_of(stderr=True)
        self._live: Live | None = None
        self._doing = ""
        self._pace = Pace(plan.cells, total, clock_ns())
        self._reported: set[tuple[str, str]] = set()
        self._rows: dict[Unit, dict[str, CellSummary]] = {}
        self._expected: dict[Unit, int] = defaultdict(int)
        for cell in plan.cells:
            self._expected[unit_of(cell)] += 1

    def open(self) -> None:
        """Begin to show."""
        from rich.live import Live

        self._pace.begin(clock_ns())
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop"
            )
            self._live.start()

    def on_status(self, text: str) -> None:
        """Show the present activity."""
        self._doing = text
        self._draw()

    def on_expected(self, left_s: float) -> None:
        """So long it takes from now on, by a first execution of each statement."""
        self._pace.expect(left_s, clock_ns())
        line = (
            f"each statement was executed once: about {max(round(left_s, -1), 10):.0f} s from here"
        )
        self._console.print(line, soft_wrap=True)
        self._draw()

    def on_result(self, result: CellResult) -> None:
        """A cell has a result."""
        unit, variant = unit_of(result.cell), result.cell.variant
        figures = self._rows.setdefault(unit, {})
        again = variant in figures
        self._pace.end(result.cell, clock_ns(), again=again)
        figures[variant] = cell_summary(result.cell, result, self._words.varying)
        if self._live is None:
            self._say(unit, variant, again=again)
        self._draw()

    def _say(self, unit: Unit, variant: str, *, again: bool) -> None:
        """A line when all of a group has ended, also when it was measured again."""
        figures = self._rows[unit]
        if again:
            line = self._line(unit, [variant]).append("  (measured again)")
        elif len(figures) == self._expected[unit]:
            line = self._line(unit, figures)
        else:
            return
        self._console.print(line, soft_wrap=True)
        for name in [variant] if again else figures:
            self._say_why(name, figures[name])

    def _say_why(self, variant: str, figure: CellSummary) -> None:
        """The whole reason, when it first occurs; of a gap where no plan names it."""
        reported = variant, kind_of(figure.reason)
        long = len(figure.reason) > BRIEF_CHARACTERS
        found = figure.status == "gap" and not figure.cell.gap
        if (found or (figure.status == "failed" and long)) and reported not in self._reported:
            self._reported.add(reported)
            reason = one_line(f"  {variant} {figure.status}: {figure.reason}", 300)
            self._console.print(reason, style="yellow" if found else "red", soft_wrap=True)

    def close(self) -> None:
        """Stop showing; the terminal is as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> None:
        if self._live is not None and self._pace.is_due(clock_ns()):
            self._live.update(self._screen(), refresh=True)

    def _screen(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        doing = Text(one_line(self._doing, 200), "dim")
        return Group(self._table(), Text(self._status(), style="bold"), doing)

    def _status(self) -> str:
        pace, now_ns = self._pace, clock_ns()
        spent_s, left_s = pace.spent_s(now_ns), pace.left_s(now_ns)
        rest = "" if left_s is None else f", about {left_s:.0f} s left"
        bar = bar_of(pace.share, 24, pad=True)
        return f"{bar} {number(pace.done)} of {number(self._total)} cells, {spent_s:.0f} s{rest}"

    def _table(self) -> "Table":
        from rich.table import Table

        variants = _variants(self._plan)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in (self._words.scale, "", "operation"):
            table.add_column(heading, style="dim", no_wrap=True)
        for variant in variants:
            table.add_column(folded(variant, 14), justify="right", no_wrap=True)
        room = min(LIVE_ROWS_MAX, lines_left(self._console))
        for unit in list(self._rows)[-room:]:
            rows, temperature, operation = unit
            figures = self._rows[unit]
            table.add_row(
                number(rows), temperature, operation, *(_brief(figures.get(v)) for v in variants)
            )
        return table

    def _line(self, unit: Unit, variants: Iterable[str]) -> "Text":
        from rich.text import Text

        rows, temperature, operation = unit
        line = Text(f"{number(rows)} {temperature} {operation}:")
        for variant in variants:
            line.append(f"  {variant} ").append(_brief(self._rows[unit][variant]))
        return line


def unit_of(cell: Cell) -> Unit:
    """The cells that end together with this one, by their key."""
    return cell.rows, cell.temperature, cell.operation


def _variants(plan: Plan) -> list[str]:
    """The variants with a column: neither an A/A control nor the harness overhead."""
    named = dict.fromkeys(cell.variant for cell in plan.cells)
    shown = [v for v in named if not is_aa_control(v) and plan.role_of(v) is not Role.OVERHEAD]
    return sorted(shown, key=lambda variant: plan.role_of(variant) is not Role.COMPETITOR)


def _brief(figure: CellSummary | None) -> "Text":
    """One figure in a few characters."""
    from rich.text import Text

    if figure is None:
        return Text("…", style="dim")
    if figure.elapsed_ns is not None:
        shown = duration(figure.elapsed_ns.value)
        unproved = " unproved" if figure.unproved else ""
        label = f" {figure.kind}" if figure.label else ""
        if figure.status in ("disturbed", "invalid"):
            return Text(f"{shown} {figure.status}{unproved}{label}", style="dim")
        return Text(shown + unproved + label, "yellow" if unproved or label else "")
    if figure.status == "failed":
        brief = len(figure.reason) <= BRIEF_CHARACTERS
        return Text(one_line(figure.reason, BRIEF_CHARACTERS) if brief else "failed", style="red")
    if figure.status == "censored":
        return Text(figure.reason, style="yellow")
    return Text(figure.status, style="dim")
