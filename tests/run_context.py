"""The context of a group or an executor whose tests need only some of it."""

from types import SimpleNamespace
from typing import Any

from loadstone.run.context import Context
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.study_time import StudyTime

CALM = SimpleNamespace(begin=lambda: None, probe_speed=lambda: None, end=lambda: None)
BENCHMARK = SimpleNamespace(
    one_session=False, published=lambda: SimpleNamespace(sampled_operations=frozenset())
)


def context(plan: Any, **parts: Any) -> Context:
    """A stage of 1,000 rows with these parts, and with nothing in the others."""
    empty: dict[str, Any] = {
        "benchmark": BENCHMARK, "rows": 1000, "operations": {}, "workers": {}, "stored": {},
        "answers": None, "recorder": None, "listener": ProgressListener(), "conditions": CALM,
        "time": StudyTime(0.0, 1), "clock_ns": 50.0,
    }  # fmt: skip
    return Context(plan=plan, **{**empty, **parts})
