"""The limits beyond which a cell is invalid: measured, kept, but not to be believed. Rule 6 of the
method; docs/method.md gives the same numbers, and a test compares the two.
"""

from collections.abc import Sequence
from statistics import median

from loadstone.pairs import paired_ratio
from loadstone.record.model import Condition, Sample

STOLEN_SHARE_MAX = 0.05
FOREIGN_SHARE_MAX = 0.20
SPEED_DRIFT_MAX = 0.15
FLOOR_SHARE_MAX = 0.5
CLOCK_SHARE_MAX = 0.1
TWIN_RATIO_MAX = 1.10
CLIENT_SHARE_MAX = 0.95


def of_machine(condition: Condition) -> str:
    """Why nothing measured under this condition can be believed; empty if it can."""
    stolen, foreign, drift = (
        condition.stolen_share or 0.0,
        condition.foreign_share or 0.0,
        condition.speed_drift or 0.0,
    )
    if stolen > STOLEN_SHARE_MAX:
        return f"the host took {stolen:.0%} of the processors' time"
    if foreign > FOREIGN_SHARE_MAX:
        return f"other programs took {foreign:.0%} of the processors' time"
    if abs(drift) > SPEED_DRIFT_MAX:
        word = "slower" if drift > 0 else "faster"
        return f"the processor ran {abs(drift):.0%} {word} than when the session began"
    return ""


def of_instrument(samples: Sequence[Sample], floor: Sequence[Sample], clock_ns: float) -> str:
    """Why a cell is too short for the instrument; `floor` are the null engine's samples of the
    same operation, `clock_ns` the clock's resolution and cost together."""
    middle_ns = median(sample.elapsed_ns for sample in samples)
    if clock_ns > CLOCK_SHARE_MAX * middle_ns:
        return f"the clock's own {clock_ns:.0f} ns are too much of {middle_ns:.0f} ns"
    if floor:
        share = median(sample.elapsed_ns for sample in floor) / max(middle_ns, 1)
        if share > FLOOR_SHARE_MAX:
            return f"the harness alone takes {share:.0%} of it"
    return ""


def of_client(share: float) -> str:
    """Why a loop of many users tells of its client, not of the engine; `share` is what the client
    used of one processor, for its threads share one interpreter."""
    if share > CLIENT_SHARE_MAX:
        return f"the client's headroom is exhausted: it used {share:.0%} of one processor"
    return ""


def of_twins(first: Sequence[Sample], second: Sequence[Sample]) -> str:
    """Why a variant and its twin convict each other: the same, measured twice side by side, must
    not differ. Both whole interval and middle have to lie apart."""
    ratio = paired_ratio(second, first)
    if ratio is None or ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return ""
    apart = max(ratio.value, 1 / ratio.value)
    return f"measured twice, it differs by {apart - 1:.0%}" if apart > TWIN_RATIO_MAX else ""
