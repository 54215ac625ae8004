"""A history as one self-contained page: the records, and a line of dots for each trend.

A dot is a median, its bar the interval; a ring is a change, a gap in the line a break, a cross at
the upper edge a cell without a figure. Each line has a scale of its own, on a logarithmic axis, so
that equal heights are equal ratios.
"""

import math
import re
from dataclasses import dataclass

from loadstone.analysis.history import History, Point, Trend
from loadstone.report.history import (
    changes,
    figure,
    left_out_rows,
    noteworthy,
    record_row,
    sentence,
    trend_row,
    when,
)
from loadstone.report.html import environment

MARK = re.compile(rb'<meta name="generator" content="loadstone-history"')
WIDTH_PX, HEIGHT_PX, EDGE_PX = 420, 64, 8
CROSS_PX = 4
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
    lost: str = ""
    """The path of the cross, at the upper edge, of a point without a figure."""


def dots(trend: Trend) -> list[Dot]:
    """The dots of a trend, evenly apart."""
    ends = [
        end
        for point in trend.points
        if point.elapsed_ns is not None
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
        elapsed = point.elapsed_ns
        x = round(EDGE_PX + place * step, 1)
        if elapsed is None:
            y = float(EDGE_PX)
            cross = f"M{x - CROSS_PX} {y - CROSS_PX}l8 8m0 -8l-8 8"
            drawn.append(Dot(x, y, y, y, "", changed=False, title=_title(point), lost=cross))
            continue
        y = height(elapsed.value)
        before = next((dot for dot in drawn[::-1] if not dot.lost), None)
        before = None if point.broken else before
        joined = f"M{before.x} {before.y}L{x} {y}" if before else ""
        drawn.append(
            Dot(x, y, height(elapsed.low or elapsed.value), height(elapsed.high or elapsed.value),
                joined, point.change is not None, _title(point))
        )  # fmt: skip
    return drawn


def _title(point: Point) -> str:
    words = [f"{when(point.created_at)}, {point.path.name}: {figure(point)}"]
    if point.elapsed_ns is None:
        return f"{words[0]}; {point.broken}"
    if point.change is not None:
        words.append(point.change.verdict)
    if point.broken:
        words.append(f"not compared with those before: {point.broken}")
    return "; ".join(words)


def render(found: History) -> bytes:
    """The page, UTF-8: trends that changed, or lost a figure, first."""
    first = noteworthy(found)
    trends = [*first, *(one for one in found.trends if one not in first)]
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
