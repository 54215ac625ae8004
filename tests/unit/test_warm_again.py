"""A restarted engine is warmed up again before it is measured; one that was not restarted, and
takes long, is not. The engines are real; what counts as long is what the test says."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from loadstone import measuring
from loadstone.protocol import messages
from loadstone.record import read
from loadstone.run import rounds
from loadstone.run.planned import plan_from
from loadstone.run.variant_worker import VariantWorker

CHOICES = {
    "benchmark": "oo1", "on": ["sqlite", "sqlite?durability=none"], "rows": [500],
    "operations": ["lookup"], "temperature": ["warm"], "overhead": False, "limits": False,
    "repeat": 4, "repeat_most": 200, "repeat_s": 60.0, "precision": 0.0001, "warm_up": 2,
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, list[str | int]]:
    """The requests to each variant's worker, in order: its restarts, and of a block its warm-up."""
    found: dict[str, list[str | int]] = defaultdict(list)
    ask = VariantWorker.ask

    def heard(self: VariantWorker, request: messages.Request[messages.Reply]) -> messages.Reply:
        if isinstance(request, messages.Restart):
            found[self.variant.name].append("restart")
        elif isinstance(request, messages.TakeBlock):
            found[self.variant.name].append(request.block.warm_up)
        return ask(self, request)

    monkeypatch.setattr(VariantWorker, "ask", heard)
    # By chance two variants may differ so much that nothing is repeated.
    monkeypatch.setattr(rounds, "undecided", lambda taken, _: frozenset(taken))
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path / "scratch"))
    return found


def measured(tmp_path: Path) -> int:
    path = tmp_path / "r.loadstone"
    measuring.start(plan_from(CHOICES, None), path, page=False)
    return min(len(result.samples) for result in read(path).results)


def test_after_a_restart_an_engine_is_warmed_up_before_it_is_measured(
    asked: dict[str, list[str | int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rounds, "REWARM_NS_MAX", 0)
    assert measured(tmp_path) > 4
    assert len(asked) == 2
    for words in asked.values():
        assert words.count("restart") > 1
        blocks = [(before, word) for before, word in pairwise(words) if word != "restart"]
        assert {warm_up for before, warm_up in blocks if before == "restart"} == {2}
        # Within one session what takes long fills the caches by itself.
        assert {warm_up for before, warm_up in blocks if before != "restart"} == {0}
        assert words[0] == 2


def test_a_quick_operation_is_warmed_up_for_every_block(
    asked: dict[str, list[str | int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rounds, "REWARM_NS_MAX", 10**18)
    measured(tmp_path)
    assert {word for words in asked.values() for word in words} == {2, "restart"}
