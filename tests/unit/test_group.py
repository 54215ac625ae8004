"""A group: how often its cells are repeated, and which of them are invalid."""

import random
from itertools import pairwise
from types import SimpleNamespace

import pytest
from run_context import context

from loadstone.plan.plan import Cell, Plan
from loadstone.record.model import AnswerCheck, Condition, Sample, StatementText
from loadstone.run.group import Group, OpenCell
from loadstone.run.outcome import Outcome
from loadstone.run.rounds import Rounds
from loadstone.statistics.paired_ratio import FORK_NS, OBSERVATIONS_MIN, processes_of

REFORKED = -1
"""In the place of a block's round: the engine was started anew."""
REOPENED = -2
"""The engines were made cold, side by side."""
CALM = Condition(0.0, 0.01, 0.0)


class State:
    """The machine's state as a test wants it."""

    def __init__(self, condition=CALM):
        self.condition = condition

    def begin(self):
        pass

    def probe_speed(self):
        pass

    def end(self):
        return self.condition


def cell(variant, temperature="warm", samples=10, gap=""):
    return Cell("select", variant, 1000, temperature, samples, gap)


def measured(
    cells, medians_ns, noise=0.0, condition=CALM, status="ok", one_session=False,
    first_scale=True, computed=0.9, unexplained=None, **choices
):  # fmt: skip
    """The results of a group whose variants take so long, and the blocks that were taken.
    `unexplained`: no plan can be had, and whose was asked for is noted there."""
    plan = Plan(benchmark="w", edition="1993", variants=("a",), rows=(1000,), cells=tuple(cells),
                roles=(("null", "harness overhead"), ("python-null", "harness overhead")),
                **{"precision": 0.02, "repeat_most": 40, "repeat_s": 60.0, **choices})  # fmt: skip
    blocks = []
    processes = [0]
    dice = random.Random(7)

    class Script:
        """Executes nothing, and notes what it should have."""

        def refused(self, cell):
            return None

        def take(self, cell, block, number, *, warm):
            blocks.append((cell.variant, len(block), number))
            samples, answers = [], []
            for ordinal in block:
                elapsed = int(medians_ns[cell.variant] * dice.lognormvariate(0, noise))
                worked = None if computed is None else int(elapsed * computed)
                started = processes[-1] * FORK_NS + ordinal
                samples.append(
                    Sample(ordinal, number, ordinal % 10, started, elapsed, client_cpu_ns=worked)
                )
                if cell.variant != "null":
                    answers.append(AnswerCheck(ordinal, 0, 1, "c", 1, "c"))
            return Outcome(status, "" if status == "ok" else "because", samples, answers)

        def restart(self, cell, *, quick):
            planned = len([block for block in blocks if block[2] != REFORKED]) < 2 * len(cells)
            assert quick == planned, "a preset has no time for slow restarts"
            assert quick != one_session
            blocks.append((cell.variant, 0, REFORKED))
            return Outcome()

        def reopen(self, taken):
            blocks.append(("reopened", len(taken), REOPENED))
            return [Outcome() for _ in taken]

        def fork(self, forked):
            assert not one_session
            processes.append(len(processes))
            blocks.extend((cell.variant, 0, REFORKED) for cell in forked)
            return [Outcome() for _ in forked]

        def explain(self, cell, *, briefly=False):
            if unexplained is not None:
                unexplained.append(cell.variant)
                return Outcome("failed", "no plan")
            text = StatementText(0, f"of {cell.variant}", "the plan" if briefly else "")
            return Outcome(statements=[text])

    of_run = context(
        plan, benchmark=SimpleNamespace(one_session=one_session),
        rows=1000 if first_scale else 2000, conditions=State(condition),
    )  # fmt: skip
    group = Group(of_run, cells, 3, Script())
    results = {r.cell.variant: r for r in group.measure(Rounds(group))}
    return results, blocks


def counts(results):
    return {variant: len(result.samples) for variant, result in results.items()}


def test_the_planned_rounds_hold_every_variant_once_each():
    results, blocks = measured([cell("a"), cell("b")], {"a": 1e6, "b": 3e6}, noise=0.05)
    assert counts(results) == {"a": 10, "b": 10}, "far apart: nothing more is asked"
    taken = [block for block in blocks if block[2] != REFORKED]
    assert sorted(taken) == [("a", 5, 0), ("a", 5, 1), ("b", 5, 0), ("b", 5, 1)]


@pytest.mark.parametrize(("temperature", "one_session", "reforks"),
                         [("warm", False, 1), ("warm", True, 0), ("cold", False, 0)])  # fmt: skip
def test_a_further_planned_round_finds_a_warm_engine_started_anew(
    temperature, one_session, reforks
):
    _, blocks = measured([cell("a", temperature), cell("b", temperature)],
                         {"a": 1e6, "b": 3e6}, one_session=one_session)  # fmt: skip
    reforked = [at for at, (*_, number) in enumerate(blocks) if number == REFORKED]
    assert len(reforked) == 2 * reforks, "each of the two, before its second block"
    assert all(blocks[at][0] == blocks[at + 1][0] and blocks[at + 1][2] == 1 for at in reforked)


def test_in_each_round_of_cold_cells_all_are_reopened_and_then_sampled_once():
    results, blocks = measured([cell("a", "cold", 3), cell("b", "cold", 2)], {"a": 1e6, "b": 3e6})
    assert counts(results) == {"a": 3, "b": 2}
    rounds = [at for at, (*_, number) in enumerate(blocks) if number == REOPENED]
    assert [blocks[at][1] for at in rounds] == [1, 2, 2], "those of the round that have a sample"
    assert all(count == 1 for _, count, number in blocks if number != REOPENED)
    assert [number for *_, number in blocks if number != REOPENED] == [0, 1, 1, 2, 2]


def test_no_variant_has_two_blocks_in_succession():
    _, blocks = measured([cell("a"), cell("b")], {"a": 1e6, "b": 1e6}, noise=0.2,
                         repeat_most=200)  # fmt: skip
    looks = []
    for variant, count, number in blocks:
        if number == REFORKED or number < 2:
            looks.append([])
        elif count:
            looks[-1].append(variant)
    blocks_of_rounds = [look for look in looks if look]
    assert blocks_of_rounds
    assert all(one != other for look in blocks_of_rounds for one, other in pairwise(look))


def test_an_undecided_comparison_is_repeated_together_and_to_the_cap():
    results, blocks = measured([cell("a"), cell("b"), cell("c")],
                               {"a": 1e6, "b": 1e6, "c": 9e6}, noise=0.2,
                               one_session=True)  # fmt: skip
    assert counts(results) == {"a": 40, "b": 40, "c": 10}
    reforked = [variant for variant, _, at in blocks if at == REFORKED]
    assert set(reforked) == {"a", "b"}, "two of the same get other memory before each look"
    assert reforked.count("a") == reforked.count("b") > 1
    for number in range(2, max(number for *_, number in blocks) + 1):
        assert {variant for variant, _, at in blocks if at == number} == {"a", "b"}


@pytest.mark.parametrize(("first_scale", "repeat_s", "most"),
                         [(True, 0.3, 40), (False, 0.3, 10), (False, 20.0, 40)])  # fmt: skip
def test_a_preset_repeats_at_the_first_scale_only(first_scale, repeat_s, most):
    results, _ = measured([cell("a"), cell("b")], {"a": 1e6, "b": 1e6}, noise=0.2,
                          one_session=True, first_scale=first_scale, repeat_s=repeat_s)  # fmt: skip
    assert counts(results) == {"a": most, "b": most}


def test_a_narrow_interval_needs_no_more():
    results, _ = measured([cell("a"), cell("b")], {"a": 1e6, "b": 1e6}, noise=0.001)
    assert counts(results) == {"a": 10, "b": 10}


@pytest.mark.parametrize("choices", [{"precision": 0.0}, {"repeat_most": 10}])
def test_a_plan_may_ask_for_no_repetition(choices):
    results, _ = measured([cell("a"), cell("b")], {"a": 1e6, "b": 1e6}, noise=0.2, **choices)
    assert counts(results) == {"a": 10, "b": 10}


def test_cold_cells_and_the_overhead_keep_to_the_plan():
    cold = [cell("a", "cold", 3), cell("b", "cold", 3)]
    assert counts(measured(cold, {"a": 1e6, "b": 1e6}, noise=0.2)[0]) == {"a": 3, "b": 3}
    for overhead in ("null", "python-null"):
        with_overhead, _ = measured(
            [cell("a"), cell(overhead)], {"a": 1e6, overhead: 1e6}, noise=0.001
        )
        assert counts(with_overhead) == {"a": 10, overhead: 10}


@pytest.mark.parametrize(("limits", "computed", "status"),
                         [(True, 0.9, "disturbed"), (True, 0.05, "invalid"),
                          (True, None, "invalid"), (False, 0.9, "ok")])  # fmt: skip
def test_a_busy_machine_disturbs_every_cell_but_the_overhead_and_keeps_the_times(
    limits, computed, status
):
    busy = Condition(0.0, 0.9, 0.0)
    results, _ = measured([cell("a"), cell("null")], {"a": 1e6, "null": 100}, noise=0.001,
                          condition=busy, limits=limits, computed=computed)  # fmt: skip
    assert results["a"].status == status
    assert bool(results["a"].reason) == limits
    if status == "disturbed":
        assert results["a"].disturbance.worked_share == pytest.approx(computed, abs=0.001)
    assert len(results["a"].samples) == 10
    assert results["a"].condition == busy
    assert results["null"].status == "ok"


def test_a_cell_near_the_overhead_is_invalid_and_one_without_answers_is_not_asked():
    results, _ = measured([cell("a"), cell("null")], {"a": 1e6, "null": 9e5}, noise=0.001)
    assert results["a"].status == "invalid"
    assert "harness" in results["a"].reason


@pytest.mark.parametrize(("factor", "samples", "status"),
                         [(1.3, 10, "disturbed"), (2.5, 10, "invalid"), (2.5, 5, "invalid"),
                          (1.3, 5, "disturbed"), (2.5, 2, "ok")])  # fmt: skip
def test_an_a_a_pair_that_differs_disturbs_both_and_no_other(factor, samples, status):
    cells = [cell(name, samples=samples) for name in ("a", "a#2", "b")]
    results, _ = measured(cells, {"a": 1e6, "a#2": factor * 1e6, "b": 5e7}, noise=0.01,
                          repeat_most=samples)  # fmt: skip
    assert [results[name].status for name in ("a", "a#2", "b")] == [status, status, "ok"]
    if status != "ok":
        assert "measured twice" in results["a"].reason
        assert results["a"].disturbance.high_factor == pytest.approx(factor, rel=0.02)


def test_gaps_and_failures_keep_their_reason():
    cells = [cell("a", gap="it has none"), cell("b")]
    results, blocks = measured(cells, {"b": 1e6}, status="failed", condition=Condition(1, 1, 1))
    assert (results["a"].status, results["a"].reason) == ("gap", "it has none")
    assert (results["b"].status, results["b"].reason) == ("failed", "because")
    assert not results["b"].samples
    (kept,) = results["b"].statements
    assert (kept.text, kept.plan) == ("of b", "the plan"), "they may say why it failed"
    assert not results["a"].statements
    assert blocks == [("b", 5, 0)]


def test_an_a_a_control_is_repeated_with_what_it_controls():
    cells = [cell("a"), cell("a#2"), cell("b")]
    medians = {"a": 1e6, "a#2": 1e6, "b": 1e6}
    results, blocks = measured(cells, medians, noise=0.2, aa_control="a#2")
    assert counts(results) == {"a": 40, "a#2": 40, "b": 40}
    for number in range(2, max(number for *_, number in blocks) + 1):
        assert {variant for variant, _, at in blocks if at == number} == {"a", "a#2", "b"}


@pytest.mark.parametrize(("medians", "choices"), [
    pytest.param({"a": 1e6, "b": 1e6, "c": 1e7}, {"repeat_s": 0.3}, id="in the time of a preset"),
    pytest.param({"a": 1e7, "b": 1e6, "c": 1e6}, {}, id="where others are undecided"),
])  # fmt: skip
def test_an_a_a_control_keeps_to_the_plan(medians, choices):
    cells = [cell(name) for name in ("a", "a#2", "b", "c")]
    results, _ = measured(cells, {**medians, "a#2": medians["a"]}, noise=0.2, aa_control="a#2",
                          one_session=True, **choices)  # fmt: skip
    assert counts(results)["a#2"] == 10
    assert 40 in counts(results).values(), "others are repeated"


OFF = "a?durability=none"


def test_a_plain_effect_of_a_switch_is_repeated_until_eight_processes_show_it_and_the_control():
    cells = [cell(name) for name in ("a", "a#2", OFF, "b")]
    medians = {"a": 3e6, "a#2": 3e6, OFF: 1e6, "b": 3e7}
    results, _ = measured(cells, medians, noise=0.05, aa_control="a#2", repeat_most=1000)
    base, again, other = (results[name].samples for name in ("a", "a#2", OFF))
    assert OBSERVATIONS_MIN <= processes_of(base, other) <= OBSERVATIONS_MIN + 1
    assert processes_of(base, again) == processes_of(base, other)
    assert counts(results)["b"] == 10, "another engine, and decided"


@pytest.mark.parametrize(("names", "choices"), [
    pytest.param(("a", "a#2", OFF), {"repeat_s": 0.3}, id="in the time of a preset"),
    pytest.param(("a", "a#2", OFF), {"precision": 0.0}, id="where no repetition is wanted"),
    pytest.param(("a", "a#2", "a?cache=1&durability=none"), {}, id="of two switches at once"),
    pytest.param(("a", OFF), {}, id="without a control"),
    pytest.param(("b", "b#2", "a", OFF), {}, id="where the control is of another engine"),
])  # fmt: skip
def test_a_plain_effect_that_cannot_be_called_explained_is_not_repeated(names, choices):
    cells = [cell(name) for name in names]
    medians = {**dict.fromkeys(names, 1e6), "a": 3e6, "a#2": 3e6, "b": 3e7, "b#2": 3e7}
    control = next((name for name in names if name.endswith("#2")), "")
    results, _ = measured(cells, medians, noise=0.02, aa_control=control, **choices)
    assert set(counts(results).values()) == {10}


def test_an_a_a_control_that_was_requested_is_compared_as_any_variant():
    cells = [cell("a"), cell("a#2"), cell("b")]
    medians = {"a": 1e6, "a#2": 1e6, "b": 1e6}
    assert counts(measured(cells, medians, noise=0.2)[0])["a#2"] == 40


@pytest.mark.parametrize(("samples", "status", "bound"), [(0, "censored", 5), (2, "failed", None)])
def test_a_statement_that_is_ended_after_samples_within_the_limit_bounds_nothing(
    samples: int, status: str, bound: int | None
) -> None:
    item = OpenCell(Cell("select", "one", 1000, "warm", 10, ""))
    item.add(Outcome(samples=[Sample(n, 0, 0, 0, 1) for n in range(samples)]))
    item.add(Outcome("censored", "> 10 s", longer_than_ns=5))
    result = item.result()
    assert (result.status, result.longer_than_ns, result.samples) == (status, bound, ())
    assert result.reason == ("> 10 s once, after 2 samples within it" if samples else "> 10 s")


def test_a_plan_that_cannot_be_had_is_asked_for_once():
    asked = []
    results, _ = measured([cell("a"), cell("b")], {"a": 1000, "b": 2000}, unexplained=asked)
    assert sorted(asked) == ["a", "b"]
    assert {result.status for result in results.values()} == {"failed"}
