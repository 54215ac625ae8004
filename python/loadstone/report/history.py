"""A history as text: the words, Markdown and JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from loadstone.analysis.history import History, Point, Reported, Trend
from loadstone.control_characters import legible
from loadstone.report.comparison.wording import bounds
from loadstone.report.markdown_text import plain
from loadstone.text.numbers import digits, duration, number, plural

SCHEMA = "loadstone-history-1"
CENSORED = "censored: "
RECORDS = ("when", "record", "run", "cells in order", "findings")
TRENDS = ("benchmark", "operation", "tuples", "temperature", "variant", "figures", "first", "last",
          "changes")  # fmt: skip

LEFT_OUT = ("left out", "why")


def when(created_at: str) -> str:
    """The day and minute of a record."""
    return created_at[:16].replace("T", " ")


def left_out_rows(found: History) -> Sequence[tuple[str, ...]]:
    """The files that could not be read under `LEFT_OUT`."""
    return [(path.name, reason) for path, reason in found.left_out]


def record_row(reported: Reported) -> tuple[str, ...]:
    """A record under `RECORDS`."""
    judged = reported.verdict
    order = f"{judged.own_statuses['ok']} of {judged.own_planned}"
    found = reported.findings[0] if reported.findings else "nothing reported"
    for status in ("censored", "failed"):
        if amiss := judged.own_statuses[status]:
            found = f"{plural(amiss, 'cell')} {status}; {found}"
    return (when(reported.run.created_at), reported.path.name, reported.headline, order, found)


def trend_row(trend: Trend) -> tuple[str, ...]:
    """A trend under `TRENDS`."""
    first, last = trend.points[0], trend.points[-1]
    return (
        trend.benchmark, trend.operation, number(trend.rows), trend.temperature, trend.variant,
        str(len(trend.points) - len(trend.lost)), figure(first), figure(last),
        "; ".join(changes(trend)) or "none",
    )  # fmt: skip


def changes(trend: Trend) -> Iterator[str]:
    """The changes of a trend, and how often its figures could not be compared."""
    for point in trend.changes:
        yield change(point)
    for point in trend.lost:
        yield f"{point.broken} on {when(point.created_at)}"
    if breaks := [point for point in trend.points if point.broken and point.elapsed_ns]:
        reason = breaks[0].broken
        yield f"{plural(len(breaks), 'break')} ({reason[:80]}{'…' * (len(reason) > 80)})"


def figure(point: Point) -> str:
    """The time; without one the reason, as `> 10 s`, or the status."""
    if point.elapsed_ns is not None:
        return duration(point.elapsed_ns.value)
    return (
        point.broken.removeprefix(CENSORED) if point.broken.startswith(CENSORED) else point.status
    )


def change(point: Point) -> str:
    """`slower 1.52 (1.49 … 1.55) from 2026-11-20 09:12 on`."""
    pair = point.change
    if pair is None:
        return ""
    ratio = f"{digits(pair.ratio.value)} ({bounds(pair.ratio)})"
    return f"{pair.verdict} {ratio} from {when(point.created_at)} on"


def sentence(found: History) -> str:
    """The subject of the history, the number of its changes, and of cells of which a figure could
    not be compared, or was lost: of these nobody can say that they did not change."""
    changed = len([trend for trend in found.trends if trend.changes])
    lost = len([trend for trend in found.trends if trend.lost])
    broken = len(
        [t for t in found.trends if any(point.broken and point.elapsed_ns for point in t.points)]
    )
    files = len({reported.path for reported in found.reported})
    reported = f"; {lost} failed in some record, or ended at the time limit" if lost else ""
    reported += f"; figures of {broken} could not all be compared" if broken else ""
    left = len(found.left_out)
    reported += (
        f"; {plural(left, 'file')} could not be read and {'is' if left == 1 else 'are'} left out"
        if left
        else ""
    )
    return (
        f"{plural(files, 'record')}, {plural(len(found.trends), 'cell')} that two or more have;"
        f" {changed or 'none'} of them changed{reported}"
    )


def noteworthy(found: History) -> Sequence[Trend]:
    """The trends that changed, or lost a figure."""
    return [trend for trend in found.trends if trend.changes or trend.lost]


def markdown(found: History) -> str:
    """GitHub's Markdown: the records, and the trends that changed."""
    lines = [f"**{plain(sentence(found))}**", "", *_table(RECORDS, map(record_row, found.reported))]
    changed = noteworthy(found)
    if changed:
        lines += ["", *_table(TRENDS, map(trend_row, changed))]
    if found.left_out:
        lines += ["", *_table(LEFT_OUT, iter(left_out_rows(found)))]
    return legible("\n".join(lines) + "\n")


def _table(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|---" * len(headings) + "|"
    for row in rows:
        yield f"| {' | '.join(map(plain, row))} |"


def as_json(found: History) -> str:
    """One object: the records and every trend with its points."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "records": [_record(reported) for reported in found.reported],
            "trends": [_trend(trend) for trend in found.trends],
            "left_out": [{"file": path.name, "reason": why} for path, why in found.left_out],
        },
        indent=1,
    )


def _record(reported: Reported) -> dict[str, Any]:
    return {
        "file": reported.path.name,
        "run_id": reported.run.run_id,
        "created_at": reported.run.created_at,
        "plan_hash": reported.run.plan.hash,
        "headline": reported.headline,
        "cells_planned": reported.verdict.own_planned,
        "cells": dict(reported.verdict.own_statuses),
        "findings": list(reported.findings),
    }


def _trend(trend: Trend) -> dict[str, Any]:
    return {
        "benchmark": trend.benchmark,
        "operation": trend.operation,
        "rows": trend.rows,
        "temperature": trend.temperature,
        "variant": trend.variant,
        "points": [_point(point) for point in trend.points],
    }


def _point(point: Point) -> dict[str, Any]:
    pair, figure = point.change, point.elapsed_ns
    return {
        "file": point.path.name,
        "created_at": point.created_at,
        "status": point.status,
        "elapsed_ns": figure and figure.value,
        "elapsed_ns_low": figure and figure.low,
        "elapsed_ns_high": figure and figure.high,
        "change": None if pair is None else pair.verdict,
        "ratio": None if pair is None else pair.ratio.value,
        "ratio_low": None if pair is None else pair.ratio.low,
        "ratio_high": None if pair is None else pair.ratio.high,
        "broken": point.broken,
    }
