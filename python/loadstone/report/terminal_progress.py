"""How far a run is: a live table on a terminal, else a line for each operation (stderr).

The screen is drawn only on the runner's calls, so that no timer of ours wakes up beside a
measurement.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from loadstone._core import clock_ns
from loadstone.analysis.cell_summary import CellSummary, cell_summary
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.role import Role
from loadstone.plan.variant import is_aa_control
from loadstone.record.model import CellResult
from loadstone.report.screen import bar_of, folded, one_line, screen_of
from loadstone.text.numbers import NS_PER_S, duration, number
from loadstone.text.reasons import kind_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

REDRAW_NS = 100_000_000
"""Between two drawings of the live table, at least."""
LIVE_ROWS_MAX = 30
BRIEF_CHARACTERS = 24
"""A longer reason for a failure does not fit in a table."""
Unit = tuple[int, str, str]
"""(rows, temperature, operation): what ends together."""


class Progress:
    """How far a run is. `on_status` and `on_result` are what the runner's listener calls.

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
        self._drawn_ns = 0
        self._begun_ns = self._turned_ns = clock_ns()
        self._told: set[tuple[str, str]] = set()
        self._rows: dict[Unit, dict[str, CellSummary]] = {}
        self._expected: dict[Unit, int] = defaultdict(int)
        for cell in plan.cells:
            self._expected[unit_of(cell)] += 1
        self._done: dict[str, int] = defaultdict(int)
        self._spent_ns: dict[str, int] = defaultdict(int)

    def open(self) -> None:
        """Begin to show."""
        from rich.live import Live

        self._begun_ns = self._turned_ns = clock_ns()
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop"
            )
            self._live.start()

    def on_status(self, text: str) -> None:
        """Show the present activity."""
        self._doing = text
        self._draw()

    def on_result(self, result: CellResult) -> None:
        """A cell has a result."""
        now_ns = clock_ns()
        unit, variant = unit_of(result.cell), result.cell.variant
        figures = self._rows.setdefault(unit, {})
        again = variant in figures
        if not again:
            temperature = result.cell.temperature
            self._done[temperature] += 1
            self._spent_ns[temperature] += now_ns - self._turned_ns
        self._turned_ns = now_ns
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
        """The whole reason, when it first occurs."""
        told = variant, kind_of(figure.reason)
        long = len(figure.reason) > BRIEF_CHARACTERS
        if figure.status == "failed" and long and told not in self._told:
            self._told.add(told)
            reason = one_line(f"  {variant} failed: {figure.reason}", 300)
            self._console.print(reason, style="red", soft_wrap=True)

    def close(self) -> None:
        """Stop showing; the terminal is as it was."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def seconds_left(self) -> float | None:
        """An estimate from the cells so far, for each temperature; None before any."""
        done = sum(self._done.values())
        if not done:
            return None
        overall_ns = sum(self._spent_ns.values()) / done
        planned: dict[str, int] = defaultdict(int)
        for cell in self._plan.cells[-self._total :]:
            planned[cell.temperature] += 1
        left_ns = 0.0
        for temperature, count in planned.items():
            seen = self._done[temperature]
            each_ns = self._spent_ns[temperature] / seen if seen else overall_ns
            left_ns += max(0, count - seen) * each_ns
        return left_ns / NS_PER_S

    def _draw(self) -> None:
        if self._live is None or clock_ns() - self._drawn_ns < REDRAW_NS:
            return
        self._drawn_ns = clock_ns()
        self._live.update(self._screen(), refresh=True)

    def _screen(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        doing = Text(one_line(self._doing, 200), "dim")
        return Group(self._table(), Text(self._status(), style="bold"), doing)

    def _status(self) -> str:
        done = sum(self._done.values())
        spent_s = (clock_ns() - self._begun_ns) / NS_PER_S
        left = self.seconds_left()
        rest = "" if left is None else f", about {left:.0f} s left"
        bar = bar_of(done / self._total if self._total else 1.0, 24, pad=True)
        return f"{bar} {number(done)} of {number(self._total)} cells, {spent_s:.0f} s{rest}"

    def _table(self) -> "Table":
        from rich.table import Table

        variants = _variants(self._plan)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in (self._words.scale, "", "operation"):
            table.add_column(heading, style="dim", no_wrap=True)
        for variant in variants:
            table.add_column(folded(variant, 14), justify="right", no_wrap=True)
        room = max(3, min(LIVE_ROWS_MAX, self._console.height - 5))
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
        if figure.status in ("disturbed", "invalid"):
            return Text(f"{shown} {figure.status}{unproved}", style="dim")
        return Text(shown + unproved, "yellow" if unproved else "")
    if figure.status == "failed":
        brief = len(figure.reason) <= BRIEF_CHARACTERS
        return Text(one_line(figure.reason, BRIEF_CHARACTERS) if brief else "failed", style="red")
    return Text(figure.status, style="dim")
