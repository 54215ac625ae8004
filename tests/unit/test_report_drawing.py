"""Charts: valid specifications, labels that do not overlap, colours that follow the page."""

from dataclasses import replace
from itertools import pairwise

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_fixture import make_run
from test_over_time import ramped

from loadstone.analysis.cold_warm import cold_warm
from loadstone.analysis.growth import growth
from loadstone.analysis.measured import Today
from loadstone.analysis.over_time import loops_over_time
from loadstone.analysis.published import comparisons
from loadstone.analysis.summary import summarise
from loadstone.analysis.user_points import UsersCurve
from loadstone.report import charts, over_time_chart
from loadstone.report.drawing import BAD, VARIABLES, decades, spread, svg_of, themed
from loadstone.report.users_chart import throughput_curves

LABELS = st.lists(st.tuples(st.floats(-50, 400), st.floats(5, 60)), min_size=1, max_size=9)


@given(LABELS)
def test_labels_never_overlap(labels) -> None:
    wanted, widths = [w for w, _ in labels], [w for _, w in labels]
    places = spread(wanted, widths, -1000, 2000)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    for left, right in pairwise(order):
        gap = (widths[left] + widths[right]) / 2
        assert places[right] - places[left] >= gap - 1e-6


def test_labels_stay_where_they_fit() -> None:
    assert spread([10, 100], [20, 20], 0, 200) == [10, 100]
    assert spread([100, 100], [20, 20], 0, 200) == [90, 110]


@given(st.floats(1e-9, 1e3), st.floats(3, 1e9))
def test_ticks_are_few_and_at_least_one_inside(low: float, factor: float) -> None:
    ticks = decades(low, low * factor)
    assert 1 <= len(ticks) <= 8
    assert any(low <= tick <= low * factor for tick in ticks)


def all_charts() -> list[charts.Chart]:
    whole = summarise(make_run())
    tables = comparisons(whole).tables
    lines = [line for line in growth(whole) if line.variant == "sqlite"]
    curves = [UsersCurve("look", "sqlite", 1_000, ((1, 90.0), (8, 170.0)), 180.0)]
    loops = loops_over_time(ramped())
    cold, warm = (whole.largest_with(t) for t in ("cold", "warm"))
    return [
        *(charts.paper_table(table, whole.names) for table in tables),
        *(charts.paper_shape(table, whole.names) for table in tables[:3]),
        charts.growth_lines(lines, 0, charts.growth_domain(lines)),
        throughput_curves(curves, ("sqlite",), "tuples", scales=True),
        over_time_chart.answered_over_time(loops, ("sqlite",)),
        over_time_chart.slowest_over_time(loops, ("sqlite",)),
        charts.cold_and_warm(cold_warm(cold, warm, "duckdb"), "duckdb", 1),
    ]


def test_a_statement_that_was_ended_is_an_arrow_and_its_variant_has_no_mean() -> None:
    whole = summarise(make_run())
    table = comparisons(whole).tables[0]
    row = next(row for row in table.drawn if row.measured["sqlite"].time_ns)
    ended = Today("censored", "> 10 s", "warm", longer_than_ns=10**10)
    changed = replace(row, measured={**row.measured, "sqlite": ended})
    rows = tuple(changed if one is row else one for one in table.rows)
    bounded = replace(table, rows=rows)
    name = whole.names["sqlite"]
    arrows = [p for p in charts._points(bounded, whole.names) if p["over"] and p["today"]]
    assert [(point["system"], point["x"]) for point in arrows] == [(name, 10.0)]
    assert name in svg_of(*charts.paper_table(bounded, whole.names))
    assert name not in svg_of(*charts.paper_shape(bounded, whole.names))
    assert name in svg_of(*charts.paper_shape(table, whole.names))


def test_specifications_follow_the_schema() -> None:
    for specification, title in all_charts():
        alt.LayerChart.from_dict(specification)
        assert title


def test_drawings_are_named_and_have_no_colour_of_their_own() -> None:
    drawn = svg_of(*all_charts()[0])
    assert "<title>Table 1. Selections without index" in drawn
    assert 'role="img"' in drawn
    assert not any(colour in drawn for colour in VARIABLES)
    assert "var(--series-0)" in drawn
    assert "IDMdac" in drawn


def test_only_tags_are_rewritten() -> None:
    drawn = themed(
        f'<svg a="1"><text fill="{BAD}" x="1.2345">{BAD} 1.2345</text></svg>', 'a "b" <c>'
    )
    assert f'<text fill="var(--bad)" x="1.2">{BAD} 1.2345</text>' in drawn
    assert "<title>a &quot;b&quot; &lt;c&gt;</title>" in drawn


def test_hostile_labels_stay_text() -> None:
    run = make_run()
    table = comparisons(summarise(run)).tables[0]
    label = "'] + alert(1) + [' <b> \" \\ \x1b \uffff"
    rows = tuple(replace(row, label=label) for row in table.rows)
    names = {variant: f"{name} \x1b \uffff" for variant, name in summarise(run).names.items()}
    drawn = svg_of(*charts.paper_table(replace(table, rows=rows, title="\x1b"), names))
    assert "<b>" not in drawn
    assert "alert(1) + [" in drawn


@pytest.mark.parametrize("missing", ["cold", "warm"])
def test_no_pairs_no_chart(missing: str) -> None:
    whole = summarise(make_run(("select-1%-heap",), scales=(10_000,)))
    views = [whole.view(10_000, t) for t in ("cold", "warm")]
    assert charts.cold_and_warm(cold_warm(*views, "absent"), "absent", 0) is None
