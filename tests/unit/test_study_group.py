"""The interleaved group of a study: whole blocks in new processes, and when it stops."""

import random
from collections import defaultdict
from collections.abc import Sequence
from types import SimpleNamespace

from loadstone.plan.plan import Cell, Plan
from loadstone.record.model import CellResult, Condition, Sample
from loadstone.run import session
from loadstone.run.executor import Outcome
from loadstone.run.interleaved_group import OpenCell
from loadstone.run.study_group import BLOCKS_MAX, SLOW_NS, TURN_SAMPLES_MAX, StudyGroup

CALM = SimpleNamespace(
    begin=lambda: None, probe_speed=lambda: None, end=lambda: Condition(0.0, 0.01, 0.0)
)
BLOCKS_MIN = 8


class Script:
    """Executes nothing: each sample takes the base time, with noise, twice that without sync."""

    def __init__(self, base_ns: float, noise: float, fails: str = "") -> None:
        self.base_ns, self.noise, self.fails = base_ns, noise, fails
        self.blocks: dict[int, list[tuple[str, range, bool]]] = defaultdict(list)
        self.forks: list[list[str]] = []
        self._dice = random.Random(7)

    def take(self, cell: Cell, block: range, number: int, *, warm: bool) -> Outcome:
        self.blocks[number].append((cell.variant, block, warm))
        if cell.variant == self.fails and number == 1:
            return Outcome("failed", "wrong answer")
        factor = 2.0 if "durability" in cell.variant else 1.0
        ns = self.base_ns * factor
        samples = [Sample(n, number, n, n, round(ns * self._dice.lognormvariate(0, self.noise)))
                   for n in block]  # fmt: skip
        return Outcome(samples=samples)

    def fork(self, cells: Sequence[Cell]) -> Sequence[Outcome]:
        self.forks.append([cell.variant for cell in cells])
        return [Outcome() for _ in cells]

    def explain(self, cell: Cell) -> Outcome:
        return Outcome()


def measured(
    *, base_ns: float = 3e6, noise: float = 0.001, seconds: float = 0.0, fails: str = ""
) -> tuple[Plan, Script, list[CellResult]]:
    plan = session.plan_from(
        {"benchmark": "wisconsin", "on": ["duckdb"], "design": "two-ended",
         "vary": ["durability", "parallelism=1,2"], "operations": ["min-heap"],
         "within_s": seconds, "limits": False}, None).plan  # fmt: skip
    script = Script(base_ns, noise, fails)
    group = StudyGroup(plan, plan.cells, 1, script, CALM, 50.0)  # type: ignore[arg-type]
    return plan, script, list(group.measure())


def test_every_block_has_every_combination_once_with_the_same_work_in_another_order() -> None:
    plan, script, _ = measured()
    orders = set()
    for blocks in script.blocks.values():
        assert sorted(variant for variant, _, _ in blocks) == sorted(plan.variants)
        assert len({block for _, block, _ in blocks}) == 1
        orders.add(tuple(variant for variant, _, _ in blocks))
    assert len(orders) > 1


def test_each_block_but_the_first_has_new_processes_and_the_harness_keeps_its_own() -> None:
    plan, script, _ = measured()
    assert len(script.forks) == len(script.blocks) - 1
    assert all(set(fork) == set(plan.variants) - {"null"} for fork in script.forks)


def test_a_study_stops_when_all_is_known_and_not_before_there_are_intervals() -> None:
    _, script, _ = measured(seconds=86_400.0)
    assert len(script.blocks) == BLOCKS_MIN
    _, script, _ = measured(noise=0.5, seconds=0.0)
    assert len(script.blocks) == BLOCKS_MIN, "out of time"
    _, script, _ = measured(noise=0.5, seconds=86_400.0)
    assert len(script.blocks) == BLOCKS_MAX


def turn_after(*taken: list[Sample]) -> int:
    """The samples of the turns after a block with these."""
    plan, _, _ = measured()
    return StudyGroup._turn([OpenCell(plan.cells[0], samples) for samples in taken])


def test_a_turn_is_short_and_a_slow_statement_is_not_warmed_up_again() -> None:
    _, script, _ = measured(base_ns=1e4)
    assert {len(block) for _, block, _ in script.blocks[0]} == {1}
    assert {len(block) for _, block, _ in script.blocks[3]} == {TURN_SAMPLES_MAX}
    _, script, _ = measured(base_ns=0.7 * SLOW_NS)
    for number, blocks in script.blocks.items():
        for variant, block, warm in blocks:
            assert len(block) == 1
            assert warm == (number > 0 and "durability" in variant)


def test_one_slow_sample_does_not_shorten_the_turns() -> None:
    """On a busy machine every combination has one: its worker had no processor for a while."""
    quick = [Sample(at, 0, 0, at, 300_000) for at in range(8)]
    waited = [*quick, Sample(8, 1, 0, 8, 15_000_000)]
    assert turn_after(quick, waited) == TURN_SAMPLES_MAX
    slow = [Sample(at, 0, 0, at, 15_000_000) for at in range(8)]
    assert turn_after(quick, slow) == 1


def test_a_combination_that_fails_leaves_the_others_whole() -> None:
    broken = "duckdb?durability=none"
    plan, script, results = measured(fails=broken)
    status = {result.cell.variant: result.status for result in results}
    assert status.pop(broken) == "failed"
    assert set(status.values()) == {"ok"}
    later = {variant for number in range(2, BLOCKS_MIN) for variant, _, _ in script.blocks[number]}
    assert later == set(plan.variants) - {broken}
