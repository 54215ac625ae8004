"""The pace of a run that goes on: how long its cells took so far, and how long the others may."""

from collections import Counter
from collections.abc import Sequence

from loadstone.plan.plan import Cell
from loadstone.text.numbers import NS_PER_S

REDRAW_NS = 100_000_000
"""Between two drawings of it, at least: each takes time that the run does not have."""


class Pace:
    """Reported of every cell that ends. Cells of one temperature are taken to cost the same."""

    def __init__(self, cells: Sequence[Cell], total: int, begun_ns: int) -> None:
        """`total`: how many of the plan's cells, the last, are to be measured."""
        self._planned = Counter(cell.temperature for cell in cells[-total:])
        self._total = total
        self._done: Counter[str] = Counter()
        self._spent_ns: Counter[str] = Counter()
        self._drawn_ns = 0
        self._expected_end_ns: float | None = None
        self.begin(begun_ns)

    def begin(self, now_ns: int) -> None:
        """Cells are measured from now on."""
        self._begun_ns = self._ended_ns = now_ns

    def expect(self, left_s: float, now_ns: int) -> None:
        """So long it takes from now on, as far as is known before any cell has ended."""
        self._expected_end_ns = now_ns + left_s * NS_PER_S

    def end(self, cell: Cell, now_ns: int, *, again: bool) -> None:
        """A cell has ended; one that is measured again counts no second time."""
        if not again:
            self._done[cell.temperature] += 1
            self._spent_ns[cell.temperature] += now_ns - self._ended_ns
        self._ended_ns = now_ns

    def is_due(self, now_ns: int) -> bool:
        """Whether it may be drawn again; then the next time counts from now on."""
        if now_ns - self._drawn_ns < REDRAW_NS:
            return False
        self._drawn_ns = now_ns
        return True

    @property
    def done(self) -> int:
        """The cells that have ended."""
        return self._done.total()

    @property
    def share(self) -> float:
        """Of all cells, 0 to 1."""
        return self.done / self._total if self._total else 1.0

    def spent_s(self, now_ns: int) -> float:
        """Since it began."""
        return (now_ns - self._begun_ns) / NS_PER_S

    def left_s(self, now_ns: int) -> float | None:
        """An estimate from the cells so far, for each temperature. Before any what was expected
        then, or None."""
        if not self.done:
            expected_ns = self._expected_end_ns
            return None if expected_ns is None else max(0.0, expected_ns - now_ns) / NS_PER_S
        overall_ns = self._spent_ns.total() / self.done
        left_ns = 0.0
        for temperature, count in self._planned.items():
            seen = self._done[temperature]
            each_ns = self._spent_ns[temperature] / seen if seen else overall_ns
            left_ns += max(0, count - seen) * each_ns
        return left_ns / NS_PER_S
