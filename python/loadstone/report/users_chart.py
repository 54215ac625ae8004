"""The drawing of concurrent users: throughput over users, a line for each variant."""

import math
from collections.abc import Sequence

from loadstone.analysis.user_points import UsersCurve
from loadstone.report.charts import COLOUR, TEXT, Chart, Point
from loadstone.report.drawing import axis, chart, colour_of, decades, layer, spread
from loadstone.text.numbers import scaled, times

HEIGHT_PX = 190
LABEL_PX = 14.0


def throughput_curves(
    curves: Sequence[UsersCurve], series: Sequence[str], scale: str, *, scales: bool
) -> Chart:
    """The closed loops of one operation at one scale. At each line's end: the most over the fewest
    users' throughput, and whether the processors allow little more. `series`: the variants in the
    order of their colours."""
    rates = [rate for curve in curves for _, rate in curve.points]
    low, high = min(rates) / 1.4, max(rates) * 1.4
    users = sorted({users for curve in curves for users, _ in curve.points})
    points: list[Point] = [
        {"line": curve.variant, "x": users, "y": rate, "colour": _colour(curve, series)}
        for curve in curves
        for users, rate in curve.points
    ]
    x = axis("x", users[0], users[-1], values=_thinned(users))
    y = axis("y", low, high, values=decades(low, high, 5), labelExpr="format(datum.value, '~s')")
    by_line = {"field": "line", "type": "nominal"}
    ends = _ends(curves, series, low, high)
    layers = [
        layer({"type": "line", "strokeWidth": 1.4}, points, x=x, y=y, color=COLOUR, detail=by_line),
        layer({"type": "circle", "size": 20, "opacity": 1}, points, x=x, y=y, color=COLOUR),
        layer({"type": "text", "align": "left", "dx": 8, "limit": 260},
              ends, x=x, y=y, text=TEXT, color=COLOUR),
    ]  # fmt: skip
    at = f", {scaled(curves[0].rows, scale)}" if scales else ""
    longest = max(len(end["text"]) for end in ends)
    title = f"{curves[0].operation}{at}: answered in a second, over concurrent users"
    return chart(layers, 220, HEIGHT_PX, characters_right=min(longest, 40)), title


def _colour(curve: UsersCurve, series: Sequence[str]) -> str:
    return colour_of(series.index(curve.variant) if curve.variant in series else len(series))


def _ends(
    curves: Sequence[UsersCurve], series: Sequence[str], low: float, high: float
) -> list[Point]:
    scale = HEIGHT_PX / math.log(high / low)
    wanted = [math.log(curve.points[-1][1] / low) * scale for curve in curves]
    places = spread(wanted, [LABEL_PX] * len(curves), -6, HEIGHT_PX + 6)
    return [
        {"x": curve.points[-1][0], "y": low * math.exp(place / scale),
         "colour": _colour(curve, series), "text": _reported(curve)}
        for curve, place in zip(curves, places, strict=True)
    ]  # fmt: skip


def _reported(curve: UsersCurve) -> str:
    """A line's name, its gain, and `processors` where they are its limit."""
    return f"{curve.variant}  {times(curve.gain)}{', processors' if curve.is_limited else ''}"


def _thinned(users: Sequence[int]) -> list[int]:
    """Those whose labels have room on the axis."""
    kept: list[int] = []
    for each in users:
        if not kept or each >= 1.35 * kept[-1]:
            kept.append(each)
    return kept
