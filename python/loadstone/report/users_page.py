"""The page's section on concurrent users: their tables, and drawings for each operation."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from markupsafe import Markup

from loadstone.analysis.over_time import most_users_over_time
from loadstone.analysis.summary import Summary
from loadstone.analysis.user_points import users_curves, users_tables
from loadstone.report.charts import Chart
from loadstone.report.drawing import svg_of
from loadstone.report.over_time_chart import answered_over_time, slowest_over_time
from loadstone.report.users_chart import throughput_curves


def users_context(whole: Summary) -> dict[str, Any]:
    """The values of the template; no drawing of throughput over users where no operation had loops
    of several numbers of them. Variants of every role stand in this section."""
    return {
        "users": users_tables(whole.run),
        "users_charts": [_drawn(chart) for chart in _over_users(whole)],
        "over_time_charts": [_drawn(chart) for chart in _over_time(whole)],
    }


def _over_users(whole: Summary) -> Iterator[Chart]:
    curves = users_curves(whole.run)
    scales = len({curve.rows for curve in curves}) > 1
    for _, group in groupby(curves, key=lambda curve: (curve.operation, curve.rows)):
        yield throughput_curves(list(group), _variants(whole), whole.words.scale, scales=scales)


def _over_time(whole: Summary) -> Iterator[Chart]:
    for loops in most_users_over_time(whole.run):
        yield answered_over_time(loops, _variants(whole))
        yield slowest_over_time(loops, _variants(whole))


def _variants(whole: Summary) -> tuple[str, ...]:
    return tuple(dict.fromkeys(point.variant for point in whole.run.users))


def _drawn(drawn: Chart) -> tuple[str, Markup]:
    chart, title = drawn
    # Vega escapes every text in it.
    return title, Markup(svg_of(chart, title))  # noqa: S704
