"""The drawings of loops over time: requests answered in each interval, and the slowest of it."""

from collections.abc import Sequence
from typing import Any

from loadstone.analysis.over_time import OverTime
from loadstone.report.charts import COLOUR, TEXT, Chart, Point
from loadstone.report.drawing import (
    TIME_LABELS,
    axis,
    chart,
    colour_of,
    decades,
    layer,
    spread,
)
from loadstone.report.users_chart import LABEL_PX
from loadstone.text.numbers import number, plural

WIDTH_PX, HEIGHT_PX = 420, 150
LATENCY_LEAST_S = 1e-6
"""Of the axis: below it no engine answers."""


def answered_over_time(loops: Sequence[OverTime], series: Sequence[str]) -> Chart:
    """A line for each loop of one operation, model and scale: requests answered in a second of each
    interval. Of a ramp, the rate at which they came, too."""
    most = max(moment.per_s for loop in loops for moment in loop.moments)
    rates = _rates(loops[0]) if loops[0].point.ramp else []
    most = 1.05 * max(most, *(each["y"] for each in rates)) if rates else 1.05 * most
    points = _points(loops, series, lambda moment: moment.per_s)
    layers = [_lines(points, _y(most or 1.0), loops)]
    if rates:
        ramp = {"type": "line", "strokeDash": [3, 3], "interpolate": "step-before"}
        layers.append(layer(ramp, rates, x=_x(loops), y=_y(most), color=COLOUR))
    ends = [loop.moments[-1].per_s / (most or 1.0) * HEIGHT_PX for loop in loops]
    texts = [_named(loop) for loop in loops]
    labels = _labels(loops, series, ends, texts, lambda px: px / HEIGHT_PX * (most or 1.0))
    layers.append(_words(labels, _y(most or 1.0), loops))
    title = f"{_of(loops)}: answered in a second, over the loop's time"
    return chart(layers, WIDTH_PX, HEIGHT_PX, characters_right=_widest(texts)), title


def slowest_over_time(loops: Sequence[OverTime], series: Sequence[str]) -> Chart:
    """The same loops: the latency of the slowest request of each interval."""
    known = [moment.max_ns / 1e9 for loop in loops for moment in loop.moments if moment.max_ns]
    low, high = max(min(known) / 1.5, LATENCY_LEAST_S), max(known) * 1.5
    y = axis("y", low, high, values=decades(low, high, 5), labelExpr=TIME_LABELS)
    points = _points(loops, series, lambda moment: (moment.max_ns or 0) / 1e9 or None)
    title = f"{_of(loops)}: slowest request of each interval"
    return chart([_lines(points, y, loops)], WIDTH_PX, HEIGHT_PX), title


def _points(loops: Sequence[OverTime], series: Sequence[str], value: Any) -> list[Point]:
    return [
        {"line": _named(loop), "x": moment.end_s, "y": value(moment),
         "colour": _colour(loop, series)}
        for loop in loops
        for moment in loop.moments
        if value(moment) is not None
    ]  # fmt: skip


def _rates(loop: OverTime) -> list[Point]:
    last_s = loop.moments[-1].end_s
    ramp = loop.point.ramp
    steps = [(last_s * step / len(ramp), rate) for step, rate in enumerate(ramp)]
    ended = [(last_s * (step + 1) / len(ramp), rate) for step, rate in enumerate(ramp)]
    both = sorted([*steps, *ended])
    return [{"x": at, "y": rate, "colour": colour_of(7)} for at, rate in both]


def _lines(points: Sequence[Point], y: Any, loops: Sequence[OverTime]) -> Any:
    by_line = {"field": "line", "type": "nominal"}
    mark = {"type": "line", "strokeWidth": 1.2}
    return layer(mark, points, x=_x(loops), y=y, color=COLOUR, detail=by_line)


def _words(labels: Sequence[Point], y: Any, loops: Sequence[OverTime]) -> Any:
    mark = {"type": "text", "align": "left", "dx": 8, "limit": 300}
    return layer(mark, labels, x=_x(loops), y=y, text=TEXT, color=COLOUR)


def _labels(
    loops: Sequence[OverTime],
    series: Sequence[str],
    ends: Sequence[float],
    texts: Sequence[str],
    value: Any,
) -> list[Point]:
    places = spread(ends, [LABEL_PX] * len(ends), 0, HEIGHT_PX + 6)
    return [
        {"x": loop.moments[-1].end_s, "y": value(place), "colour": _colour(loop, series),
         "text": text}
        for loop, place, text in zip(loops, places, texts, strict=True)
    ]  # fmt: skip


def _x(loops: Sequence[OverTime]) -> Any:
    last_s = max(loop.moments[-1].end_s for loop in loops)
    return _linear("x", last_s, labelExpr="format(datum.value, ',') + ' s'", tickCount=6)


def _y(most: float) -> Any:
    return _linear("y", most, labelExpr="format(datum.value, '~s')", tickCount=5)


def _linear(field: str, high: float, **options: Any) -> Any:
    scale = {"type": "linear", "domain": [0, high], "nice": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": options}


def _named(loop: OverTime) -> str:
    point = loop.point
    beside = f", beside {point.beside}" if point.beside else ""
    return f"{point.variant}, {plural(point.users, 'user')}{beside}"


def _of(loops: Sequence[OverTime]) -> str:
    point = loops[0].point
    kind = "ramp" if point.ramp else f"{point.model} loop"
    return f"{point.operation}, {number(point.rows)}, {kind}"


def _colour(loop: OverTime, series: Sequence[str]) -> str:
    variant = loop.point.variant
    return colour_of(series.index(variant) if variant in series else len(series))


def _widest(texts: Sequence[str]) -> int:
    return min(max(map(len, texts)), 44)
