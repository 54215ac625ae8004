"""The page's charts. Each function makes one drawing from the shared model.

Direct labels, log axes, intervals; published systems hollow, today's filled. The specifications are
plain Vega-Lite; a test holds each against its schema.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loadstone.analysis.cold_warm import ColdWarm, notable
from loadstone.analysis.growth import Growth
from loadstone.analysis.paper_shape import shaped
from loadstone.analysis.published import Comparison
from loadstone.report.drawing import (
    BAD,
    CHARACTER_PX,
    INK,
    PAPER,
    RULE,
    SOFT,
    TIME_LABELS,
    axis,
    chart,
    colour_of,
    decades,
    layer,
    legal,
    spread,
)
from loadstone.text.numbers import NS_PER_S, TIMES, times

ROW_PX = 22
PLOT_PX = 250
LABEL_MAX = 30
SHORT_FROM = 100_000
"""A scale from which on a growth's scales are written short."""

Point = dict[str, Any]
Chart = tuple[dict[str, Any], str]
"""A specification and its title."""

QUANTITIES = {"elapsed": "elapsed time", "cpu": "CPU time"}
"""Quantity of a table's times -> its words."""
COLOUR = {"field": "colour", "type": "nominal", "scale": None}
TEXT = {"field": "text", "type": "nominal"}


def paper_table(table: Comparison, names: Mapping[str, str]) -> Chart:
    """A table of the paper as dots on a log axis, with today's figures. `names`: variants and their
    names."""
    whose = "measured" if table.in_words else "published and measured"
    title = f"{table.heading}: {QUANTITIES[table.quantity]}, {whose}"
    return _profiles(_points(table, names), table, TIME_LABELS), title


def has_points(table: Comparison, names: Mapping[str, str]) -> bool:
    """Whether a table has anything to draw: the paper may have words alone, and today's figures may
    all be disturbed."""
    return bool(_points(table, names))


def paper_shape(table: Comparison, names: Mapping[str, str]) -> Chart:
    """The same, each system relative to its own geometric mean over the table's rows; without those
    of which a time is a lower bound: then nobody knows that mean."""
    points = _of_known_means(_points(table, names))
    shapes = shaped((p["system"], p["x"]) for p in points)
    points = [p | {"x": x} for p, x in zip(points, shapes, strict=True)]
    title = f"{table.heading}: each system over its own geometric mean"
    return _profiles(points, table, f"format(datum.value, '~g') + '{TIMES}'"), title


def _of_known_means(points: Sequence[Point]) -> list[Point]:
    bounded = {point["system"] for point in points if point["over"]}
    return [point for point in points if point["system"] not in bounded]


def has_shape(table: Comparison, names: Mapping[str, str]) -> bool:
    """Whether any of its systems has a geometric mean."""
    return bool(_of_known_means(_points(table, names)))


def _points(table: Comparison, names: Mapping[str, str]) -> list[Point]:
    points: list[Point] = []
    for number, row in enumerate(table.drawn):
        for system, value in row.published.items():
            if value.time_ns:
                x = value.time_ns / NS_PER_S
                points.append(_point(system, number, x, SOFT) | {"over": value.over})
        for series, (variant, name) in enumerate(names.items()):
            figure = row.measured.get(variant)
            if figure and figure.status == "ok" and figure.time_ns and not figure.at_most:
                x = figure.time_ns.value / NS_PER_S
                points.append(_point(name, number, x, colour_of(series)))
            elif figure and figure.longer_than_ns is not None:
                x = figure.longer_than_ns / NS_PER_S
                points.append(_point(name, number, x, colour_of(series)) | {"over": True})
    return points


def _point(system: str, row: float, x: float, colour: str) -> Point:
    today = colour != SOFT
    return {"system": system, "row": row, "x": x, "colour": colour, "today": today, "over": False}


def _profiles(points: Sequence[Point], table: Comparison, labels: str) -> dict[str, Any]:
    """Every system a thread of dots down the rows, named once above its first dot."""
    low, high = _range(point["x"] for point in points)
    last = len(table.drawn) - 1
    x = axis("x", low, high, labelExpr=labels)
    y = {
        "field": "row",
        "type": "quantitative",
        "scale": {"domain": [last + 0.5, -2.2], "nice": False, "zero": False},
        "axis": {
            "values": list(range(last + 1)),
            "labelExpr": f"{json.dumps([legal(row.label) for row in table.drawn])}[datum.value]",
            "labelLimit": 190,
            "labelColor": INK,
            "grid": False,
        },
    }
    names = _names(points, low, high)
    threads = [name | {"row": name["row"] + 0.35} for name in names] + list(points)
    by_system = {"field": "system", "type": "nominal"}
    downwards = {"field": "row", "type": "quantitative"}
    hollow = {"type": "point", "fill": PAPER, "strokeWidth": 1.3, "opacity": 1}
    layers = [
        layer({"type": "line", "strokeWidth": 1, "opacity": 0.45}, threads,
              x=x, y=y, color=COLOUR, detail=by_system, order=downwards),
        layer(hollow | {"shape": "circle", "size": 46},
              (p for p in points if not p["today"] and not p["over"]), x=x, y=y, stroke=COLOUR),
        layer(hollow | {"shape": "triangle-right", "size": 60},
              (p for p in points if p["over"] and not p["today"]), x=x, y=y, stroke=COLOUR),
        layer({"type": "circle", "size": 52, "opacity": 1},
              (p for p in points if p["today"] and not p["over"]), x=x, y=y, color=COLOUR),
        layer({"type": "point", "filled": True, "shape": "triangle-right", "size": 70,
               "opacity": 1},
              (p for p in points if p["today"] and p["over"]), x=x, y=y, color=COLOUR),
        layer({"type": "text"}, names, x=x, y=y, color=COLOUR,
              text={"field": "system", "type": "nominal"}),
    ]  # fmt: skip
    labels_left = max(len(row.label) for row in table.drawn)
    height = ROW_PX * (len(table.drawn) + 2)
    return chart(layers, PLOT_PX, height, characters_left=labels_left, characters_right=20)


def _range(values: Iterable[float]) -> tuple[float, float]:
    """With some margin, and wide enough to hold a power of ten."""
    known = list(values)
    low, high = min(known) / 1.4, max(known) * 1.4
    return (low, high) if high / low > 12 else (low / 2, high * 2)


def _names(points: Sequence[Point], low: float, high: float) -> list[Point]:
    """The place of each system's name above its first dot: the paper's in one line, today's in the
    next."""
    names: list[Point] = []
    scale = PLOT_PX / math.log(high / low)
    for today, line in ((False, -1.7), (True, -0.9)):
        first: dict[str, Point] = {}
        for point in points:
            if point["today"] is today:
                first.setdefault(point["system"], point)
        wanted = [math.log(point["x"] / low) * scale for point in first.values()]
        widths = [len(system) * CHARACTER_PX + 8 for system in first]
        places = spread(wanted, widths, -80, PLOT_PX + 40)
        for point, place in zip(first.values(), places, strict=True):
            names.append(point | {"x": low * math.exp(place / scale), "row": line})
    return names


def growth_lines(
    lines: Sequence[Growth], series: int, domain: tuple[float, float], scale: str = "tuples"
) -> Chart:
    """Time over size for one variant's operations of one group, the exponent at each line's end."""
    low, high = domain
    sizes = sorted({size for line in lines for size in line.sizes})
    height = max(120, 14 * len(lines) + 20)
    colours = [BAD if line.steep else colour_of(series) for line in lines]
    points = [
        {"line": index, "x": size, "y": e.value / NS_PER_S, "colour": colours[index],
         "low": (e.low or e.value) / NS_PER_S, "high": (e.high or e.value) / NS_PER_S}
        for index, line in enumerate(lines)
        for size, e in zip(line.sizes, line.elapsed_ns, strict=True)
    ]  # fmt: skip
    # A small drawing has no room for seven digits at each end: 20k, 2M.
    digits = "~s" if sizes[-1] >= SHORT_FROM else ","
    x = axis("x", sizes[0], sizes[-1], values=sizes, labelExpr=f"format(datum.value, '{digits}')")
    y = axis("y", low, high, values=decades(low, high, 5), labelExpr=TIME_LABELS)
    by_line = {"field": "line", "type": "nominal"}
    ends = _ends(lines, low, high, height)
    layers = [
        layer({"type": "line", "strokeWidth": 1.4}, points, x=x, y=y, color=COLOUR, detail=by_line),
        layer({"type": "rule", "opacity": 0.35}, points, x=x, y=y | {"field": "low"},
              y2={"field": "high"}, color=COLOUR),
        layer({"type": "circle", "size": 16, "opacity": 1}, points, x=x, y=y, color=COLOUR),
        layer({"type": "text", "align": "left", "dx": 8, "limit": 190},
              ends, x=x, y=y, text=TEXT, color=COLOUR),
    ]  # fmt: skip
    title = f"Growth of {lines[0].operation.group} on {lines[0].variant}: time over {scale}"
    longest = max(len(end["text"]) for end in ends)
    return chart(layers, 96, height, characters_right=min(longest, LABEL_MAX)), title


def _ends(lines: Sequence[Growth], low: float, high: float, height: int) -> list[Point]:
    scale = height / math.log(high / low)
    wanted = [math.log(line.elapsed_ns[-1].value / NS_PER_S / low) * scale for line in lines]
    places = spread(wanted, [13.0] * len(lines), -6, height + 6)
    return [
        {"x": line.sizes[-1], "y": low * math.exp(place / scale),
         "colour": BAD if line.steep else INK,
         "text": f"{line.reported}  {line.operation.name}"}
        for line, place in zip(lines, places, strict=True)
    ]  # fmt: skip


def growth_domain(lines: Iterable[Growth]) -> tuple[float, float]:
    """The range of times of a set of lines, in seconds, with some margin."""
    values = [estimate.value / NS_PER_S for line in lines for estimate in line.elapsed_ns]
    return min(values) / 1.6, max(values) * 1.6


def cold_and_warm(pairs: Sequence[ColdWarm], variant: str, series: int) -> Chart | None:
    """Each operation's cold time over its warm time on one variant; unproved ones hollow."""
    points = [_cold_point(pair) for pair in pairs]
    if not points:
        return None
    low, high = _range(p[axis_name] for p in points for axis_name in ("x", "y"))
    ticks = decades(low, high, 4, fine=False)
    x, y = (axis(field, low, high, labelExpr=TIME_LABELS, values=ticks) for field in ("x", "y"))
    labels = [
        _cold_point(pair) | {"text": f"{pair.operation}  {times(pair.ratio)}"}
        for pair in notable(pairs)
    ]
    proved = [p for p in points if p["proved"]]
    colour = colour_of(series)
    layers = [
        layer({"type": "line", "color": SOFT, "strokeWidth": 1, "strokeDash": [3, 3]},
              [{"x": low, "y": low}, {"x": high, "y": high}], x=x, y=y),
        layer({"type": "rule", "color": RULE}, points, x=x, y=y | {"field": "x"},
              y2={"field": "y"}),
        layer({"type": "circle", "size": 36, "opacity": 0.9, "color": colour}, proved, x=x, y=y),
        layer({"type": "point", "size": 36, "opacity": 1, "fill": PAPER, "stroke": colour},
              (p for p in points if not p["proved"]), x=x, y=y),
        *(
            layer({"type": "text", "align": "left", "dx": 7, "dy": -6, "limit": 190, **halo},
                  labels, x=x, y=y, text=TEXT)
            for halo in ({"stroke": PAPER, "strokeWidth": 3}, {})
        ),
    ]  # fmt: skip
    return chart(layers, 190, 180, characters_right=30), f"Cold against warm on {variant}"


def _cold_point(pair: ColdWarm) -> Point:
    return {"x": pair.warm_ns / NS_PER_S, "y": pair.cold_ns / NS_PER_S, "name": pair.operation,
            "proved": pair.proved, "ratio": pair.ratio}  # fmt: skip
