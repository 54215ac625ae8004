"""The blocks of a study: whole blocks in new processes, and when it stops."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log
from types import SimpleNamespace

import pytest
from run_context import context

from loadstone.plan.plan import Cell, Plan
from loadstone.plan.study import HELD, OPENED, TAKEN_APART, Decision
from loadstone.record.model import CellResult, Condition, Sample
from loadstone.run.group import Group, OpenCell
from loadstone.run.outcome import Outcome
from loadstone.run.planned import plan_from
from loadstone.run.study_group import (
    BLOCKS_MAX,
    LONG_RATIO,
    PART_SAMPLES_MAX,
    SLOW_NS,
    StudyBlocks,
)
from loadstone.run.study_time import StudyTime
from loadstone.studies.design import design_after, first_design, to_hold
from loadstone.studies.steering import TOGETHER_BLOCKS
from loadstone.studies.view import operation_effects

CALM = SimpleNamespace(
    begin=lambda: None, probe_speed=lambda: None, end=lambda: Condition(0.0, 0.01, 0.0)
)
BLOCKS_MIN = 8


class Script:
    """Executes nothing: each sample takes the base time, with noise, twice that without sync, or
    what `factor` says of a variant."""

    def __init__(
        self, base_ns: float, noise: float, fails: str = "",
        factor: Callable[[str], float] = lambda variant: 2.0 if "durability" in variant else 1.0,
    ) -> None:  # fmt: skip
        self.base_ns, self.noise, self.fails, self.factor = base_ns, noise, fails, factor
        self.ended: list[tuple[str, int]] = []
        self.blocks: dict[int, list[tuple[str, range, bool]]] = defaultdict(list)
        self.forks: list[list[str]] = []
        self._dice = random.Random(7)

    def take(
        self, cell: Cell, block: range, number: int, *, warm: bool, limit_ns: int = 0
    ) -> Outcome:
        self.blocks[number].append((cell.variant, block, warm))
        if cell.variant == self.fails and number == 1:
            return Outcome("failed", "wrong answer")
        ns = self.base_ns * self.factor(cell.variant)
        if 0 < limit_ns < ns:
            self.ended.append((cell.variant, limit_ns))
            return Outcome("censored", "too long", longer_than_ns=limit_ns)
        samples = [Sample(n, number, n, n, round(ns * self._dice.lognormvariate(0, self.noise)))
                   for n in block]  # fmt: skip
        return Outcome(samples=samples)

    def fork(self, cells: Sequence[Cell]) -> Sequence[Outcome]:
        self.forks.append([cell.variant for cell in cells])
        return [Outcome() for _ in cells]

    def refused(self, cell: Cell) -> Outcome | None:
        return None

    def explain(self, cell: Cell, *, briefly: bool = False) -> Outcome:
        return Outcome("failed", "no plan") if briefly else Outcome()

    def admit(self, like: Cell, flipped: tuple[str, ...]) -> Cell:
        return replace(like, variant=f"duckdb?{'&'.join(flipped)}")


VARY = ("durability", "parallelism=1,2")


def measured(
    *, base_ns: float = 3e6, noise: float = 0.001, seconds: float = 0.0, fails: str = "",
    vary: Sequence[str] = VARY, decided: list[Decision] | None = None,
    design: str = "two-ended", **script_like: Callable[[str], float],
) -> tuple[Plan, Script, list[CellResult]]:  # fmt: skip
    plan = plan_from(
        {"benchmark": "wisconsin", "on": ["duckdb"], "design": design,
         "vary": vary, "operations": ["min-heap"],
         "within_s": seconds, "limits": False}, None).plan  # fmt: skip
    script = Script(base_ns, noise, fails, **script_like)
    kept: list[Decision] = [] if decided is None else decided
    of_run = context(
        plan, conditions=CALM, time=StudyTime(seconds, 1),
        recorder=SimpleNamespace(decisions=kept.extend),
    )  # fmt: skip
    group = Group(of_run, plan.cells, 1, script)
    return plan, script, list(group.measure(StudyBlocks(group)))


def taken_of(script: Script, number: int) -> list[tuple[str, range, bool]]:
    """Of a block, without the first samples of the first, by which each combination is scouted."""
    return [one for one in script.blocks[number] if number or one[1] != range(1)]


def test_every_block_has_every_combination_once_with_the_same_work_in_another_order() -> None:
    plan, script, _ = measured(base_ns=1e6, seconds=600.0)
    orders = set()
    for number in script.blocks:
        blocks = taken_of(script, number)
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


def part_after(*taken: list[Sample]) -> int:
    """The samples of the parts after a block with these."""
    plan, _, _ = measured()
    return StudyBlocks._part([OpenCell(plan.cells[0], samples) for samples in taken])


def test_a_part_is_short_and_a_slow_statement_is_not_warmed_up_again() -> None:
    _, script, _ = measured(base_ns=1e4, seconds=600.0)
    assert {len(block) for _, block, _ in taken_of(script, 0)} == {PART_SAMPLES_MAX - 1}
    assert {len(block) for _, block, _ in script.blocks[3]} == {PART_SAMPLES_MAX}
    _, script, _ = measured(base_ns=0.7 * SLOW_NS)
    for number, blocks in script.blocks.items():
        for variant, block, warm in blocks:
            assert len(block) == 1
            assert warm == (number > 0 and "durability" in variant)


def test_without_time_a_part_has_one_sample_and_there_are_as_many_blocks() -> None:
    """A sample's company (its answer's check, its undo) may take longer than the sample."""
    _, script, _ = measured(base_ns=1e4, seconds=0.0)
    assert len(script.blocks) == BLOCKS_MIN
    for number in range(1, BLOCKS_MIN):
        assert {len(block) for _, block, _ in script.blocks[number]} == {1}


def test_an_operation_begins_only_if_it_is_expected_to_end_in_time() -> None:
    time = StudyTime(10.0, 4)
    assert time.has_room(), "the first one begins, however long it takes"
    time.ended(1, 4e9)
    assert time.has_room()
    time.ended(1, 4e9)
    assert time.has_room(), "12 s are within a quarter more"
    time.ended(1, 4e9)
    assert not time.has_room()
    late = StudyTime(10.0, 4)
    late.ended(1, 30e9)
    assert not late.has_room()


def test_one_slow_sample_does_not_shorten_the_parts() -> None:
    """On a busy machine every combination has one: its worker had no processor for a while."""
    quick = [Sample(at, 0, 0, at, 300_000) for at in range(8)]
    waited = [*quick, Sample(8, 1, 0, 8, 15_000_000)]
    assert part_after(quick, waited) == PART_SAMPLES_MAX
    slow = [Sample(at, 0, 0, at, 15_000_000) for at in range(8)]
    assert part_after(quick, slow) == 1


def test_a_combination_that_fails_leaves_the_others_whole() -> None:
    broken = "duckdb?durability=none"
    plan, script, results = measured(fails=broken)
    status = {result.cell.variant: result.status for result in results}
    assert status.pop(broken) == "failed"
    assert set(status.values()) == {"ok"}
    later = {variant for number in range(2, BLOCKS_MIN) for variant, _, _ in script.blocks[number]}
    assert later == set(plan.variants) - {broken}


THREE = ("durability", "parallelism=1,2", "preserve_insertion_order")


def flipped_by(plan: Plan) -> dict[str, tuple[str, ...]]:
    assert plan.study is not None
    return {each.variant: each.flipped for each in plan.study.combinations}


def test_a_switch_that_takes_too_long_is_held_at_base_at_the_other_end() -> None:
    """Its own time is a lower bound, and the others are known as if it were not there."""

    def factor(variant: str) -> float:
        return 1e4 if "durability" in variant else 1.5 if "parallelism" in variant else 1.0

    decided: list[Decision] = []
    plan, script, results = measured(vary=THREE, decided=decided, factor=factor)
    assert [(one.kind, one.tactics) for one in decided] == [(HELD, ("durability",))]
    assert [variant for variant, _ in script.ended] == ["duckdb?durability=none"], "tried once"
    assert script.ended[0][1] >= LONG_RATIO * 3e6 * 0.99
    by_variant = {result.cell.variant: result for result in results}
    assert by_variant["duckdb?durability=none"].longer_than_ns == script.ended[0][1]
    spared = {one for one, result in by_variant.items() if result.status == "spared"}
    assert spared == {v for v, own in flipped_by(plan).items() if "durability" in own} - {
        "duckdb?durability=none"
    }
    found = operation_effects(plan, plan.study, by_variant, decided)
    switches = {each.switch.tactic: each for each in found.switches}
    assert switches["durability"].alone is None
    assert switches["durability"].alone_beyond == pytest.approx(LONG_RATIO, rel=0.02)
    assert switches["parallelism"].last.value == pytest.approx(1.5, rel=0.01)
    assert found.effects.whole is not None


def test_a_long_base_ends_nothing_and_no_time_is_no_limit() -> None:
    """The base is what the others are held against: it is never ended, and ten times as long is
    allowed whatever time there is."""
    decided: list[Decision] = []
    _, script, results = measured(base_ns=3e9, vary=THREE, decided=decided)
    assert (decided, script.ended) == ([], [])
    assert {result.status for result in results} == {"ok"}


def test_two_that_are_long_only_together_leave_one_flipped() -> None:
    def factor(variant: str) -> float:
        long = "durability" in variant and "parallelism" in variant
        return 1e4 if long else 1.5 if "parallelism" in variant else 1.0

    decided: list[Decision] = []
    _, _, results = measured(vary=THREE, decided=decided, factor=factor)
    assert [(one.kind, one.tactics) for one in decided] == [(HELD, ("parallelism",))]
    (alone,) = (one for one in results if one.cell.variant == "duckdb?parallelism=2")
    assert alone.status == "ok"
    assert len({sample.round for sample in alone.samples}) >= BLOCKS_MIN, "it keeps its figure"


OPTIMIZERS = ("filter_pushdown", "join_order", "statistics_propagation", "in_clause", "top_n",
              "regex_range")  # fmt: skip
MANY = (*(f"optimizer.{name}" for name in OPTIMIZERS), "cache=268435456,16777216", "index",
        "durability")  # fmt: skip


def test_many_switches_are_flipped_in_groups_and_opened_where_they_matter() -> None:
    def factor(variant: str) -> float:
        return 2.0 if "join_order" in variant else 1.0

    decided: list[Decision] = []
    plan, _, results = measured(vary=MANY, decided=decided, factor=factor)
    assert plan.study is not None and plan.study.screened
    assert len(plan.study.combinations) == 8, "both ends, three groups alone and last"
    assert [(one.kind, one.tactics) for one in decided] == [(OPENED, ("execution switches",))]
    by_variant = {result.cell.variant: result for result in results}
    found = operation_effects(plan, plan.study, by_variant, decided)
    switches = {each.switch.tactic: each for each in found.switches}
    assert switches["optimizer.join_order"].alone.value == pytest.approx(2.0, rel=0.01)
    assert not switches["optimizer.top_n"].effect.acts
    assert switches["cache"].group == "storage switches"
    assert {one for one in switches if switches[one].strength} == {"optimizer.join_order"}


def test_three_that_act_together_are_taken_apart_in_the_same_run() -> None:
    names = ("durability", "parallelism=1,2", "preserve_insertion_order", "optimizer.top_n")

    def factor(variant: str) -> float:
        three = ("durability", "parallelism", "preserve_insertion_order")
        return 3.0 if all(name in variant for name in three) else 1.1

    decided: list[Decision] = []
    plan, _, results = measured(vary=names, decided=decided, factor=factor, seconds=600.0)
    assert [one.kind for one in decided] == [TAKEN_APART]
    assert set(decided[0].tactics) == {"durability", "parallelism", "preserve_insertion_order"}
    assert len(decided[0].combinations) == 3, "three pairs: the three together are planned"
    by_variant = {result.cell.variant: result for result in results}
    found = operation_effects(plan, plan.study, by_variant, decided)
    assert found.further is not None and found.further.whole is not None
    assert found.further.whole.value == pytest.approx(log(3.0 / 1.1), rel=0.02)
    assert found.effects.blocks == decided[0].blocks, "those of the design alone"
    assert found.further.blocks >= BLOCKS_MIN
    assert found.escalate == ()


def test_without_time_what_is_called_for_is_said_and_not_done() -> None:
    names = ("durability", "parallelism=1,2", "preserve_insertion_order", "optimizer.top_n")

    def factor(variant: str) -> float:
        three = ("durability", "parallelism", "preserve_insertion_order")
        return 3.0 if all(name in variant for name in three) else 1.1

    decided: list[Decision] = []
    plan, _, results = measured(vary=names, decided=decided, factor=factor, seconds=0.0)
    assert [(one.kind, one.undone, one.combinations) for one in decided] == [
        (TAKEN_APART, True, ())
    ]
    by_variant = {result.cell.variant: result for result in results}
    found = operation_effects(plan, plan.study, by_variant, decided)
    assert (found.further, len(found.escalate)) == (None, 3)


FOUR = ("durability", "parallelism=1,2", "preserve_insertion_order", "optimizer.top_n")


@pytest.mark.parametrize(("noise", "asked"), [(0.001, False), (0.1, True)])
def test_shares_that_noise_leaves_undecided_are_taken_apart(noise: float, asked: bool) -> None:
    decided: list[Decision] = []
    plan, _, results = measured(vary=FOUR, decided=decided, noise=noise, seconds=600.0)
    assert bool(decided) == asked
    for one in decided:
        assert (one.kind, one.undone, len(one.tactics)) == (TAKEN_APART, False, 3)
        assert re.fullmatch(r"the closure may be \d+ % of the whole", one.reason)
    by_variant = {result.cell.variant: result for result in results}
    found = operation_effects(plan, plan.study, by_variant, decided)
    assert (found.hidden is not None) == asked
    assert (found.further is not None) == asked, "their shares are of all orders"


def test_undecided_shares_leave_the_time_of_later_operations_to_them() -> None:
    time = StudyTime(80.0, 4)
    assert (time.further_ns, time.further_share_ns) == (20e9, 5e9)
    time.spent(1, 15e9, 8e9)
    assert (time.further_ns, time.further_share_ns) == (12e9, 4e9)
    time.spent(3, 45e9, 20e9)
    assert (time.further_ns, time.further_share_ns) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("noise", "factor", "undone"),
    [(0.1, 2.0, True), (0.001, 3.0, False)],
    ids=["undecided", "seen"],
)
def test_only_what_is_seen_may_take_all_of_the_time(
    noise: float, factor: float, undone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StudyTime, "further_share_ns", 0.0)

    def three(variant: str) -> float:
        names = ("durability", "parallelism", "preserve_insertion_order")
        together = factor if all(name in variant for name in names) else 1.0
        return together * (2.0 if "durability" in variant else 1.0)

    decided: list[Decision] = []
    few = noise > 0.01
    measured(vary=FOUR, decided=decided, noise=noise, seconds=600.0,
             **({} if few else {"factor": three}))  # fmt: skip
    assert [(one.kind, one.undone) for one in decided] == [(TAKEN_APART, undone)]


def test_decisions_follow_from_the_record() -> None:
    """Each decision is a pure function of what was measured before it."""

    def factor(variant: str) -> float:
        return 1e4 if "durability" in variant else 1.5 if "parallelism" in variant else 1.0

    decided: list[Decision] = []
    plan, _, results = measured(vary=THREE, decided=decided, factor=factor)
    assert plan.study is not None
    flipped = flipped_by(plan)
    ended = {frozenset(flipped[one.cell.variant]) for one in results if one.status == "censored"}
    times = {frozenset(flipped[one.cell.variant]): one.samples[0].elapsed_ns for one in results
             if one.samples and one.cell.variant in flipped}  # fmt: skip
    design = first_design(plan.study, plan.design)
    again = []
    while (name := to_hold(design, times, ended)) is not None:
        again.append(name)
        design = design.holding([name])
    assert again == [name for one in decided for name in one.tactics]
    assert design == design_after(plan, plan.study, decided)


def test_a_walk_measures_its_steps_and_nothing_beside_them() -> None:
    decided: list[Decision] = []
    plan, script, results = measured(
        vary=THREE, design="walk", decided=decided,
        factor=lambda variant: 1.5 if "parallelism" in variant else 1.0,
    )  # fmt: skip
    assert decided == []
    assert {variant for block in script.blocks.values() for variant, _, _ in block} == set(
        plan.variants
    )
    assert plan.study is not None and len(plan.study.combinations) == 6, "2k"
    by_variant = {result.cell.variant: result for result in results}
    found = operation_effects(plan, plan.study, by_variant, decided)
    walked = {each.switch.tactic: each for each in found.switches}
    assert walked["parallelism"].walked.value == pytest.approx(1.5, rel=0.01)
    assert {name for name, one in walked.items() if one.acts_walked} == {"parallelism"}


def test_a_factorial_has_the_blocks_that_an_interaction_takes() -> None:
    _, script, _ = measured(design="factorial", noise=0.001)
    assert len(script.blocks) == TOGETHER_BLOCKS
    _, script, _ = measured(design="factorial", noise=0.3, seconds=0.0)
    assert len(script.blocks) == TOGETHER_BLOCKS, "out of time"
    _, script, _ = measured(design="factorial", noise=0.15, seconds=86_400.0)
    assert len(script.blocks) > TOGETHER_BLOCKS
