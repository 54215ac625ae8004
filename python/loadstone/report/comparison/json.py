"""A comparison as JSON: every pair, every cell left out, every term, units in the names."""

import dataclasses
from typing import Any

from loadstone.analysis.compare.chapters import Compared
from loadstone.analysis.compare.compare import Comparison, Matched
from loadstone.control_characters import legible_json
from loadstone.record.model import Run

SCHEMA = "loadstone-comparison-1"


def render(comparison: Comparison) -> bytes:
    """UTF-8, one line. Later versions add members and change none."""
    return _line(_content(comparison))


def render_chapters(found: Compared) -> bytes:
    """UTF-8, one line: the object of each benchmark in `chapters`."""
    content = {
        "schema": SCHEMA,
        "outcome": found.outcome,
        "chapters": [
            {"benchmark": one.a.plan.benchmark, **_content(one)} for _, one in found.comparisons
        ],
        "left_out": [{"title": title, "reason": why} for title, why in found.left_out],
    }
    return _line(content)


def _line(content: dict[str, Any]) -> bytes:
    return legible_json(content, separators=(",", ":")).encode() + b"\n"


def _content(comparison: Comparison) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "outcome": comparison.outcome,
        "threshold": comparison.threshold.in_force,
        "threshold_asked": comparison.threshold.asked,
        "noise": comparison.threshold.noise,
        "counts": dict(sorted(comparison.counts.items())),
        "loops_not_judged": comparison.loops,
        "a": _run(comparison.a),
        "b": _run(comparison.b),
        "matches": [_matched(matched) for matched in comparison.matched],
    }


def _run(run: Run) -> dict[str, str]:
    return {"run_id": run.run_id, "created_at": run.created_at, "plan_hash": run.plan.hash}


def _matched(matched: Matched) -> dict[str, Any]:
    return {
        "a": matched.match.a.variant,
        "b": matched.match.b.variant,
        "pairs": [dataclasses.asdict(pair) for pair in matched.pairs],
        "not_compared": [dataclasses.asdict(cell) for cell in matched.unlike],
        "plans": [
            dict(zip(("operation", "rows", "temperature"), place, strict=True))
            | dataclasses.asdict(found)
            for place, found in matched.plans.items()
        ],
        "changed_answers": [dataclasses.asdict(each) for each in matched.changed],
        "terms": [dataclasses.asdict(entry) for entry in matched.terms.entries],
    }
