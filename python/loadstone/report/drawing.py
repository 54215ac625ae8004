"""From a Vega-Lite specification to an inline SVG in the page's colours, light and dark.

Vega draws with literal colours, so charts are drawn with the stand-ins below, which no chart would
use, and those become CSS variables in the finished SVG.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import vl_convert

VEGA_LITE = "6.4"
SCHEMA = f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE.partition('.')[0]}.json"
"""A name, not an address: nothing is fetched."""

INK = "#f0a001"
SOFT = "#f0a002"
RULE = "#f0a003"
PAPER = "#f0a004"
BAD = "#f0a005"
SERIES = tuple(f"#f0b0{number:02d}" for number in range(8))
VARIABLES = {INK: "ink", SOFT: "soft", RULE: "rule", PAPER: "paper", BAD: "bad"} | {
    colour: f"series-{number}" for number, colour in enumerate(SERIES)
}
FONT_PX = 11
CHARACTER_PX = 6.6
"""Mean width of a character at that size, for placing labels side by side."""

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

DRIFT_PX = 1.4
"""A character may be this much wider in a browser than Vega assumes."""

TIME_LABELS = (
    "datum.value < 9e-7 ? format(datum.value * 1e9, ',') + ' ns' :"
    " datum.value < 9e-4 ? format(datum.value * 1e6, ',') + ' µs' :"
    " datum.value < 0.9 ? format(datum.value * 1e3, ',') + ' ms' :"
    " format(datum.value, ',') + ' s'"
)

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "aria": False,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": RULE,
        "labelColor": SOFT,
        "labelFontSize": FONT_PX,
        "labelPadding": 6,
        "title": None,
    },
    "text": {"fontSize": FONT_PX, "color": INK},
}


def colour_of(number: int) -> str:
    """The stand-in colour of a series, by its place; they repeat after eight."""
    return SERIES[number % len(SERIES)]


def decades(low: float, high: float, most: int = 6, *, fine: bool = True) -> list[float]:
    """Powers of ten that span a range, thinned so that their labels fit; `fine` adds 2 and 5
    where the range is short."""
    if fine and high / low < 100:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        steps = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        return [step for step in steps if low <= step <= high]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / most))
    return [10.0**power for power in range(first, last + 1, step)]


def spread(
    wanted: Sequence[float], widths: Sequence[float], low: float, high: float
) -> list[float]:
    """Places as near as possible to the wanted ones, without overlap of labels of these widths.

    All in pixels, the order kept. Labels that would overlap form a block around the mean of their
    wanted places; blocks that then touch merge, until none do.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[tuple[list[int], float, float]] = []  # members, start, width

    def block(members: list[int]) -> tuple[list[int], float, float]:
        width = sum(widths[index] for index in members)
        centre = sum(wanted[index] for index in members) / len(members)
        return members, max(low, min(centre - width / 2, high - width)), width

    for index in order:
        last = block([index])
        while blocks and blocks[-1][1] + blocks[-1][2] > last[1]:
            last = block(blocks.pop()[0] + last[0])
        blocks.append(last)
    places = [0.0] * len(wanted)
    for members, start, _ in blocks:
        edge = start
        for index in members:
            places[index] = edge + widths[index] / 2
            edge += widths[index]
    return places


def log_scale(low: float, high: float) -> dict[str, Any]:
    """A logarithmic scale over exactly this range."""
    return {"type": "log", "domain": [low, high], "nice": False}


def axis(field: str, low: float, high: float, **options: Any) -> dict[str, Any]:
    """A quantitative channel on a logarithmic axis; `options` are Vega-Lite's for the axis."""
    options.setdefault("values", decades(low, high))
    return {"field": field, "type": "quantitative", "scale": log_scale(low, high), "axis": options}


def layer(mark: dict[str, Any], data: Iterable[Mapping[str, Any]], **channels: Any) -> Any:
    """One layer of a chart: a mark, its data, and what encodes what."""
    return {"data": {"values": list(data)}, "mark": mark, "encoding": channels}


def chart(
    layers: Sequence[Any],
    width: float,
    height: float,
    *,
    characters_left: int = 8,
    characters_right: int = 8,
) -> dict[str, Any]:
    """A whole specification. `characters_…` are the longest label at each side: browsers set it in
    their own typeface, wider than the one Vega measures with, and it needs that much more air."""
    drift = {"left": characters_left, "right": characters_right}
    padding = {side: 6 + round(count * DRIFT_PX) for side, count in drift.items()}
    size = {"width": width, "height": height, "padding": padding | {"top": 4, "bottom": 4}}
    return {"$schema": SCHEMA, "layer": list(layers), "config": CONFIG, **size}


def svg_of(specification: dict[str, Any], title: str) -> str:
    """Draw a chart; `title` is what a screen reader says instead."""
    drawn = vl_convert.vegalite_to_svg(legal(specification), vl_version=VEGA_LITE)
    return themed(drawn, legal(title))


def legal(value: Any) -> Any:
    """The same, with every character that XML forbids replaced: the converter ends the whole
    process when it meets one."""
    match value:
        case str():
            return ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", value)
        case dict():
            return {key: legal(item) for key, item in value.items()}
        case list():
            return [legal(item) for item in value]
    return value


def themed(drawn: str, title: str) -> str:
    """Replace the stand-ins, drop what only Vega's own runtime needs, and name the drawing."""
    drawn = re.sub(r"<[^>]+>", lambda tag: _plain(tag[0]), drawn)
    drawn = re.sub(r'<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>|<g/>', "", drawn)
    head = f'<svg class="chart" role="img" aria-label="{escape(title, quote=True)}"'
    named = f"<title>{escape(title)}</title>"
    return re.sub(r"<svg([^>]*)>", rf"{_safe(head)}\1>{_safe(named)}", drawn, count=1)


def _plain(tag: str) -> str:
    """One tag: attributes that do nothing here dropped, tenths of a pixel, colours as variables."""
    tag = re.sub(r' (?:aria-[a-z]+|role|class|pointer-events|xmlns:xlink)="[^"]*"', "", tag)
    tag = re.sub(r' (?:font-family|font-size)="[^"]*"| opacity="1"', "", tag)
    tag = re.sub(r"-?\d+\.\d{2,}", lambda match: f"{float(match[0]):.1f}", tag)
    for colour, variable in VARIABLES.items():
        tag = tag.replace(colour, f"var(--{variable})")
    return tag


def _safe(replacement: str) -> str:
    """A replacement in which backslashes mean themselves."""
    return replacement.replace("\\", r"\\")
