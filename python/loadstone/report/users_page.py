"""The page's section on concurrent users: their tables, and a drawing for each operation."""

from itertools import groupby
from typing import Any

from markupsafe import Markup

from loadstone.analysis.summary import Summary
from loadstone.analysis.user_points import users_curves, users_tables
from loadstone.report.drawing import svg_of
from loadstone.report.users_chart import throughput_curves


def users_context(whole: Summary) -> dict[str, Any]:
    """The values of the template; no drawing where no operation had loops of several numbers of
    users. Variants of every role stand in this section."""
    curves = users_curves(whole.run)
    scales = len({curve.rows for curve in curves}) > 1
    variants = tuple(dict.fromkeys(point.variant for point in whole.run.users))
    drawn = []
    for _, group in groupby(curves, key=lambda curve: (curve.operation, curve.rows)):
        chart, title = throughput_curves(list(group), variants, whole.words.scale, scales=scales)
        # Vega escapes every text in it.
        drawn.append((title, Markup(svg_of(chart, title))))  # noqa: S704
    return {"users": users_tables(whole.run), "users_charts": drawn}
