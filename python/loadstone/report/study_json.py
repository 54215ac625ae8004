"""A study as an object of the JSON report: ratios with their bounds, times in ns."""

from dataclasses import asdict
from typing import Any

from loadstone.analysis.break_even import Paying, break_evens
from loadstone.analysis.enhancements import enhanced
from loadstone.record.model import Run
from loadstone.report.columns import plain
from loadstone.studies.details import SwitchDetail, switch_details
from loadstone.studies.view import SwitchEffect, study_map
from loadstone.studies.waterfall import Descent, descents
from loadstone.text.numbers import NS_PER_MS


def study_object(run: Run) -> dict[str, Any] | None:
    """The map and the waterfalls; None for a run that is no study."""
    found = study_map(run)
    if found is None:
        return None
    details: dict[tuple[int, str], list[SwitchDetail]] = {}
    for one in switch_details(run, found):
        details.setdefault((one.operation.rows, one.operation.name), []).append(one)
    falls = {(one.operation.rows, one.operation.name): one for one in descents(found)}
    return {
        "switches": [plain(switch) for switch in found.order],
        "break_even": [_paying(one) for one in break_evens(run, found)],
        "enhancements": [asdict(one) for one in enhanced(run, found)],
        "operations": [
            {
                "operation": one.name,
                "rows": one.rows,
                "status": one.status,
                "reason": one.reason,
                "blocks": one.effects.blocks,
                "confidence": one.effects.confidence,
                "base_ns": None if one.effects.base_ms is None else one.effects.base_ms * NS_PER_MS,
                "aa_ratio": plain(one.noise),
                "threshold": one.threshold_ratio,
                "escalate": list(one.escalate),
                "switches": [_switch(detail) for detail in details[one.rows, one.name]],
                "waterfall": _fall(falls.get((one.rows, one.name))),
            }
            for one in found.operations
        ],
    }


def _paying(one: Paying) -> dict[str, Any]:
    return {
        "operation": one.operation,
        "tactic": one.tactic,
        "scales": list(one.scales),
        "values": [asdict(each) for each in one.values],
        "pairs": [
            {
                "slow": pair.slow,
                "fast": pair.fast,
                "tuples": pair.tuples.value,
                "tuples_low": pair.tuples.low,
                "tuples_high": pair.tuples.high,
                "extrapolated": pair.tuples.extrapolated,
                "bent": list(pair.bent),
            }
            for pair in one.pairs
        ],
    }


def _switch(detail: SwitchDetail) -> dict[str, Any]:
    effect: SwitchEffect = detail.effect
    return {
        "tactic": effect.switch.tactic,
        "other": effect.switch.other,
        "alone": plain(effect.alone),
        "last": plain(effect.last),
        "acts": effect.acts,
        "acts_alone": effect.acts_alone,
        "share": plain(effect.effect.share),
        "same_plan": effect.same_plan,
        "failure": effect.failure,
        "blocks_alone": list(detail.alone),
        "blocks_last": list(detail.last),
    }


def _fall(one: Descent | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "whole": plain(one.whole),
        "whole_called": one.whole_called,
        "closure": plain(one.closure),
        "closure_called": one.closure_called,
        "is_closed": one.is_closed,
        "base_ns": one.base_ms * NS_PER_MS,
        "end_ns": one.end_ms * NS_PER_MS,
        "remainder": {"ratio": one.remainder_ratio, "ns": one.remainder_ms * NS_PER_MS},
        "steps": [
            {
                "tactic": step.switch.tactic,
                "ratio": plain(step.ratio),
                "called": step.called,
                "ns": step.ms * NS_PER_MS,
                "order_range": step.order_range and list(step.order_range),
            }
            for step in one.steps
        ],
        "together": [
            {"one": both.one, "other": both.other, "ratio": plain(both.ratio)}
            for both in one.together
        ],
    }
