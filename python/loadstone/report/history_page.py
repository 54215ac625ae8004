"""A history as one self-contained page: the records, and a line of dots for each trend.

A dot is a median, its bar the interval; a ring is a change, a gap in the line a break. Each line
has a scale of its own, on a logarithmic axis, so that equal heights are equal ratios.
"""

import math
import re
from dataclasses import dataclass

from loadstone.analysis.history import History, Point, Trend
from loadstone.report.history import changes, left_out_rows, record_row, sentence, trend_row, when
from loadstone.report.html import environment
from loadstone.text.numbers import duration

MARK = re.compile(rb'<meta name="generator" content="loadstone-history"')
WIDTH_PX, HEIGHT_PX, EDGE_PX = 420, 64, 8
SPAN_MIN = math.log(1.2)
"""The least span of an axis: noise of a percent is no mountain."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point's place on its chart, in pixels, and its words."""

    x: float
    y: float
    low: float
    high: float
    joined: str
    """The path from the dot before it; empty after a break, and at the first."""
    changed: bool
    title: str


def dots(trend: Trend) -> list[Dot]:
    """The dots of a trend, evenly apart."""
    ends = [
        end
        for point in trend.points
        for end in (point.elapsed_ns.low, point.elapsed_ns.value, point.elapsed_ns.high)
        if end
    ]
    least, most = math.log(min(ends)), math.log(max(ends))
    centre, span = (least + most) / 2, max(most - least, SPAN_MIN)
    step = (WIDTH_PX - 2 * EDGE_PX) / max(len(trend.points) - 1, 1)

    def height(value_ns: float) -> float:
        share = (math.log(value_ns) - centre) / span
        return round(HEIGHT_PX / 2 - share * (HEIGHT_PX - 2 * EDGE_PX), 1)

    drawn: list[Dot] = []
    for place, point in enumerate(trend.points):
        figure = point.elapsed_ns
        x, y = round(EDGE_PX + place * step, 1), height(figure.value)
        before = drawn[-1] if drawn and not point.broken else None
        joined = f"M{before.x} {before.y}L{x} {y}" if before else ""
        drawn.append(
            Dot(x, y, height(figure.low or figure.value), height(figure.high or figure.value),
                joined, point.change is not None, _title(point))
        )  # fmt: skip
    return drawn


def _title(point: Point) -> str:
    words = [f"{when(point.created_at)}, {point.path.name}: {duration(point.elapsed_ns.value)}"]
    if point.change is not None:
        words.append(point.change.verdict)
    if point.broken:
        words.append(f"not compared with those before: {point.broken}")
    return "; ".join(words)


def render(found: History) -> bytes:
    """The page, UTF-8: trends that changed first."""
    trends = sorted(found.trends, key=lambda one: not one.changes)
    return (
        environment()
        .get_template("history.html.j2")
        .render(
            headline=sentence(found),
            records=[record_row(reported) for reported in found.reported],
            left_out=left_out_rows(found),
            trends=[(trend_row(one), dots(one), [*changes(one)]) for one in trends],
            width=WIDTH_PX,
            height=HEIGHT_PX,
        )
        .encode()
    )
