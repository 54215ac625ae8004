"""Which change wins where, then and now: one drawing, a row for each operation of the paper, the
changes side by side on one axis."""

import json
import math
from collections.abc import Sequence
from typing import Any

from loadstone.analysis.enhancements import Enhanced, EnhancedRow
from loadstone.report.charts import COLOUR, TEXT, Chart, Point
from loadstone.report.drawing import (
    CHARACTER_PX,
    INK,
    PAPER,
    RULE,
    SOFT,
    axis,
    chart,
    colour_of,
    layer,
    legal,
)
from loadstone.report.study_words import value_words
from loadstone.text.numbers import TIMES

ROW_PX = 30
PLOT_PX = 420
LABELS = f"format(datum.value, '~g') + '{TIMES}'"
BAND = 0.76
"""Of a row's height that the changes share."""


def then_and_now(changes: Sequence[tuple[Enhanced, Sequence[EnhancedRow]]]) -> Chart:
    """Each change in a colour and a place of its own within the row; the paper's gains hollow,
    today's filled, with their intervals. Where a change has several values to switch to, those that
    gain are named behind its marks, and those that lose before them, in their order."""
    labels = list(dict.fromkeys(row.label for _, rows in changes for row in rows))
    points = _points(changes, labels)
    reached = [1.0, *(p[name] for p in points for name in ("x", "low", "high"))]
    called = [*_called(points, gains=True), *_called(points, gains=False)]
    loses = any(p["before"] for p in called)
    low, high = min(reached) / (1.6 if loses else 1.15), max(reached) * 1.6
    x = axis("x", low, high, labelExpr=LABELS, values=_ticks(low, high))
    y = _rows(labels)
    hollow = {"type": "point", "fill": PAPER, "strokeWidth": 1.4, "opacity": 1, "size": 50}
    today = [p for p in points if p["today"]]
    names = _names(changes, low, high)
    layers = [
        layer({"type": "rule", "color": SOFT, "strokeDash": [3, 3]},
              [{"x": 1.0, "row": -1.2, "end": len(labels) - 0.5}],
              x=x, y=y, y2={"field": "end"}),
        layer({"type": "rule", "color": RULE},
              ({"x": low, "right": high, "row": row + 0.5} for row in range(len(labels) - 1)),
              x=x, x2={"field": "right"}, y=y),
        layer({"type": "rule", "strokeWidth": 1.4, "opacity": 0.6}, today,
              x=x | {"field": "low"}, x2={"field": "high"}, y=y, color=COLOUR),
        layer(hollow, (p for p in points if not p["today"]), x=x, y=y, stroke=COLOUR),
        layer({"type": "circle", "size": 50, "opacity": 1}, today, x=x, y=y, color=COLOUR),
        layer({"type": "text", "align": "left", "dx": 7, "dy": 0, "fontSize": 9},
              (p for p in called if not p["before"]), x=x, y=y, text=TEXT, color=COLOUR),
        layer({"type": "text", "align": "right", "dx": -7, "dy": 0, "fontSize": 9},
              (p for p in called if p["before"]), x=x, y=y, text=TEXT, color=COLOUR),
        layer({"type": "text", "align": "left", "fontWeight": 600}, names, x=x, y=y, text=TEXT,
              color=COLOUR),
    ]  # fmt: skip
    height = round(ROW_PX * (len(labels) + 1.2))
    longest = max(map(len, labels), default=1)
    drawing = chart(layers, PLOT_PX, height, characters_left=longest, characters_right=12)
    return drawing, "How many times as fast: each change of the paper, then and now"


def _points(
    changes: Sequence[tuple[Enhanced, Sequence[EnhancedRow]]], labels: Sequence[str]
) -> list[Point]:
    points: list[Point] = []
    for place, (one, rows) in enumerate(changes):
        step = BAND / max(len(changes), 1)
        for row in rows:
            y = labels.index(row.label) - BAND / 2 + step * (place + 0.5)
            colour = colour_of(place)
            points.extend(
                {"x": then.gain, "low": then.gain, "high": then.gain, "row": y,
                 "colour": colour, "today": False, "text": ""}
                for then in row.then
            )  # fmt: skip
            for now in row.now:
                if not now.called:
                    continue
                gain = now.gain
                text = value_words(now.switch.tactic, now.switch.other)
                points.append({"x": gain.value, "low": gain.low or gain.value,
                               "high": gain.high or gain.value, "row": y, "colour": colour,
                               "today": True, "text": text if len(one.switches) > 1 else "",
                               })  # fmt: skip
    return points


def _called(points: Sequence[Point], *, gains: bool) -> list[Point]:
    """One label for the values of a change in a row that gain, behind all marks of that change, and
    one for those that lose, before them: labels of their own would lie upon each other's marks."""
    of_change: dict[float, list[Point]] = {}
    for point in points:
        if point["text"] and (point["x"] >= 1) == gains:
            of_change.setdefault(point["row"], []).append(point)
    called = []
    for row, those in of_change.items():
        text = ", ".join(point["text"] for point in sorted(those, key=lambda point: point["x"]))
        marks = [point for point in points if point["row"] == row]
        x = max(p["high"] for p in marks) if gains else min(p["low"] for p in marks)
        called.append({"x": x, "row": row, "text": text, "colour": those[0]["colour"],
                       "before": not gains})  # fmt: skip
    return called


def _names(
    changes: Sequence[tuple[Enhanced, Sequence[EnhancedRow]]], low: float, high: float
) -> list[Point]:
    """A line above the rows: the changes by their colours."""
    names = []
    px = 0.0
    for place, (one, _) in enumerate(changes):
        x = low * math.exp(px / PLOT_PX * math.log(high / low))
        names.append(
            {"x": x, "row": -0.95, "text": one.enhancement.name, "colour": colour_of(place)}
        )
        px += (len(one.enhancement.name) + 3) * CHARACTER_PX
    return names


def _rows(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "field": "row",
        "type": "quantitative",
        "scale": {"domain": [len(labels) - 0.5, -1.2], "nice": False, "zero": False},
        "axis": {
            "values": list(range(len(labels))),
            "labelExpr": f"{json.dumps([legal(label) for label in labels])}[datum.value]",
            "labelLimit": 220,
            "labelColor": INK,
            "grid": False,
        },
    }


def _ticks(low: float, high: float) -> list[float]:
    steps = (0.1, 0.2, 0.5, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
    return [step for step in steps if low <= step <= high]
