"""The share of a cell that a time budget watches: by its time, and by all that goes with it."""

import pytest

from loadstone.plan.plan import Cell
from loadstone.plan.statement_ladder import PLANNED, UNWATCHED, WATCHED, WHOLE
from loadstone.protocol.messages import BlockResult, Profiled
from loadstone.protocol.parts import FunctionCount, RungTimes
from loadstone.record.model import Sample
from loadstone.run import budget_blocks
from loadstone.run.budget_blocks import (
    ALONE_NS,
    BLOCKS,
    BLOCKS_LEAST,
    CELL_NS,
    CELL_NS_MOST,
    COMPARED_SAMPLES_MAX,
    FURTHER_NS,
    LONG,
    PART_NS,
    PART_SAMPLES_MAX,
    PART_WALL_NS,
    SAMPLES_LEAST,
    TABLED_SAMPLES,
    WARMED_NS_MAX,
    Typical,
    _Part,
    _sample_ns,
    taken_budgets,
    typical_of,
)
from loadstone.run.executor import SAMPLING_SHARE_MAX
from loadstone.run.outcome import Outcome


@pytest.mark.parametrize(
    ("typical_ns", "wall_ns", "samples"),
    [
        (PART_NS / 3, 0, 3),
        (PART_NS * 9, 0, 1),
        (1e6, 1.5e6, PART_NS // 1e6),
        (12e3, 50e3, PART_SAMPLES_MAX),
        (300e3, 40e6, PART_WALL_NS // 40e6),
        (300e3, PART_WALL_NS * 2, 1),
    ],
)
def test_a_part_is_short_whatever_goes_with_a_statement(typical_ns, wall_ns, samples) -> None:
    part = _Part(block=1, seed=7, typical=Typical(typical_ns), wall_ns=wall_ns)
    assert len(part.samples) == samples
    assert len(part.compared) == min(samples, COMPARED_SAMPLES_MAX)


class Script:
    """Executes nothing, notes what it should have, and lets the time pass that it would take."""

    def __init__(self, each_ns: float, beside: float = 1, seen_every: float = 0.1) -> None:
        """A sample takes so many times its statement, with all that goes with it; the sampler finds
        it at work in every so manieth, of slow ones several times."""
        self.seen_every = seen_every
        self.watched = 0
        self.shares: set[float] = set()
        self.checks: list[int] = []
        self.each_ns = each_ns
        self.beside = beside
        self.now_ns = 0
        self.done: list[tuple[str, int]] = []

    def _passed(self, what: str, samples: int) -> None:
        self.done.append((what, samples))
        self.now_ns += int(samples * self.each_ns * self.beside)

    def rungs(self, cell):
        return (PLANNED, WHOLE)

    def take(self, cell, ordinals, number, *, warm, checked):
        self._passed("warming" if checked == 0 else UNWATCHED, len(ordinals))
        return Outcome(samples=self._samples(ordinals, number))

    def _samples(self, ordinals, number):
        return [Sample(each, number, 0, each, int(self.each_ns)) for each in ordinals]

    def watch(self, cell, ordinals, number, frequency_hz, share_max, *, warm, checked):
        self._passed(WATCHED, len(ordinals))
        self.shares.add(share_max)
        self.checks.append(checked)
        before, self.watched = self.watched, self.watched + len(ordinals)
        seen = int(self.watched // self.seen_every - before // self.seen_every)
        samples = self._samples(ordinals, number)
        return Outcome(samples=samples, profiled=profiled(len(ordinals), (seen,), None))

    def climb(self, cell, ordinals, number, rungs):
        self._passed("rungs", len(ordinals) * len(rungs))
        each = [int(self.each_ns)] * len(ordinals)
        return Outcome(rungs=[RungTimes(rung, tuple(each)) for rung in rungs])

    def report_rungs(self, cell):
        return Outcome()


def profiled(statements: int, samples: tuple[int, ...], sampled_ns: int | None) -> Profiled:
    result = BlockResult(
        tuple(Sample(each, 0, 0, each, 1_000) for each in range(statements)), (), ()
    )
    found = ((f"f{n}", "", n) for n in samples)
    counts = tuple(FunctionCount(False, "executor", "a.so", *one, thread=1) for one in found)
    return Profiled(result, "all", "", 1_000, sampled_ns, 1_000, 0, 1, 0, counts, ())


def taken(each_ns, monkeypatch, beside=1, seen_every=0.1, busy=1.0):
    script = Script(each_ns, beside, seen_every)
    monkeypatch.setattr(budget_blocks._core, "clock_ns", lambda: script.now_ns)
    cell = Cell("select", "a", 1000, "warm", 10)
    found = taken_budgets(script, 7, {cell: Typical(each_ns, busy)})[cell]
    return script, found.budget


@pytest.mark.parametrize("each_ns", [15e3, 300e3, 1e6, 3e6, 10e6])
@pytest.mark.parametrize("beside", [1, 4])
def test_a_cell_of_usual_statements_has_all_blocks_in_its_time(each_ns, beside, monkeypatch):
    script, budget = taken(each_ns, monkeypatch, beside)
    if beside * each_ns < 10e6:
        for kind in (UNWATCHED, WATCHED, PLANNED, WHOLE):
            assert len([block for block in budget.blocks if block.rung == kind]) == BLOCKS, kind
        assert [what for what, _ in script.done].count("warming") == BLOCKS
    assert len({block.block for block in budget.blocks}) >= BLOCKS_LEAST
    assert script.now_ns < 1.25 * CELL_NS or beside * each_ns * 5 * BLOCKS_LEAST > CELL_NS


def test_as_many_are_compared_with_the_sampler_as_without(monkeypatch) -> None:
    """Of a short statement many more are watched, and the later ones find fuller caches."""
    script, budget = taken(15e3, monkeypatch)
    assert max(samples for what, samples in script.done if what == WATCHED) > COMPARED_SAMPLES_MAX
    for number in range(BLOCKS):
        counts = {each.rung: each.samples for each in budget.blocks if each.block == number}
        assert counts[WATCHED] == counts[UNWATCHED] <= COMPARED_SAMPLES_MAX
    assert budget.statements == sum(n for what, n in script.done if what == WATCHED)


def seen_of(each_ns, monkeypatch, tabled, seen=1):
    """The samples and the time of a cell, of which ten watched statements give so many."""
    script = Script(each_ns, seen_every=10 / seen)
    monkeypatch.setattr(budget_blocks._core, "clock_ns", lambda: script.now_ns)
    cell = Cell("select", "a", 1000, "warm", 10)
    budget = taken_budgets(script, 7, {cell: Typical(each_ns)}, tabled)[cell].budget
    return sum(part.samples for part in budget.parts), script.now_ns


def test_an_operation_of_a_papers_sampled_times_is_watched_until_there_are_samples(monkeypatch):
    """On a busy machine a statement of 2 ms took 25, and was seen four times."""
    few, short_ns = seen_of(5e6, monkeypatch, (), seen=5)
    many, long_ns = seen_of(5e6, monkeypatch, {"select"}, seen=5)
    assert few < TABLED_SAMPLES / 4 < TABLED_SAMPLES / 2 < many
    assert short_ns < 1.25 * CELL_NS < long_ns <= CELL_NS_MOST
    assert seen_of(5e6, monkeypatch, {"another"}, seen=5) == (few, short_ns)
    _, enough_ns = seen_of(5e6, monkeypatch, {"select"}, seen=100)
    assert enough_ns < 1.25 * CELL_NS


def test_a_slow_statement_has_the_blocks_of_an_interval(monkeypatch) -> None:
    script, budget = taken(WARMED_NS_MAX * 2, monkeypatch)
    assert len({block.block for block in budget.blocks}) == BLOCKS_LEAST
    assert CELL_NS < script.now_ns <= CELL_NS_MOST
    assert "warming" not in [what for what, _ in script.done]


def test_no_block_begins_when_the_time_of_a_cell_is_over(monkeypatch) -> None:
    script, budget = taken(WARMED_NS_MAX * 8, monkeypatch)
    assert 1 < len({block.block for block in budget.blocks}) < BLOCKS_LEAST
    assert script.now_ns <= CELL_NS_MOST


def test_the_slowest_statement_is_watched_once_and_says_why_no_more(monkeypatch) -> None:
    script, budget = taken(ALONE_NS * 20, monkeypatch)
    assert script.done == [(WATCHED, 1)]
    assert [block.rung for block in budget.blocks] == [WATCHED]
    assert [(rung.rung, rung.reason) for rung in budget.rungs] == [(PLANNED, LONG)]


@pytest.mark.parametrize(
    ("found", "ns"),
    [
        ([profiled(1, (2, 1), 4_500), profiled(1, (3,), 4_500)], 1_500),
        ([profiled(1, (2, 1), 4_500), profiled(1, (), 300)], 1_600),
        ([profiled(1, (), 4_500)], 1_000),
        ([profiled(1, (2, 1), None), profiled(1, (3,), None)], 1_000),
    ],
)
def test_a_sample_stands_for_its_part_of_what_the_sampler_counted(found, ns) -> None:
    assert _sample_ns(found) == ns


def test_an_update_that_the_sampler_saw_too_seldom_is_watched_further(monkeypatch) -> None:
    """3 ms of which 0.5 ms are work, and 9 ms to take each back: one in twenty has a sample."""
    script, budget = taken(3e6, monkeypatch, beside=4, seen_every=20)
    seen = sum(part.samples for part in budget.parts)
    assert seen >= SAMPLES_LEAST
    assert {block.block for block in budget.blocks} == set(range(BLOCKS)), "no further one compared"
    further = script.checks[BLOCKS:]
    assert further and set(further) == {0}, "to read a relation back takes longer than all of it"
    assert script.done[-len(further) :] == [(WATCHED, script.done[-1][1])] * len(further)
    assert budget.statements == script.watched


@pytest.mark.parametrize(
    ("each_ns", "beside", "seen_every", "watched"),
    [
        pytest.param(1e6, 1, 0.1, False, id="seen often enough"),
        pytest.param(3e6, 4, 10**9, True, id="never seen"),
        pytest.param(0.9e9, 1, 10**9, True, id="slow"),
        pytest.param(ALONE_NS * 2, 1, 10**9, False, id="slowest"),
    ],
)
def test_a_cell_is_watched_further_no_longer_than_its_time(
    each_ns, beside, seen_every, watched, monkeypatch
) -> None:
    script, _ = taken(each_ns, monkeypatch, beside, seen_every)
    further = script.checks.count(0)
    assert bool(further) == watched
    samples = sum(count for _, count in script.done[-further:]) if further else 0
    assert samples * each_ns * beside <= FURTHER_NS


def test_what_the_sampler_cannot_see_is_not_watched_further(monkeypatch) -> None:
    monkeypatch.setattr(budget_blocks, "NOTHING", "all")
    script, _ = taken(3e6, monkeypatch, beside=4, seen_every=10**9)
    assert len(script.checks) == BLOCKS


@pytest.mark.parametrize(("busy", "times"), [(1.0, 1), (0.6, 1), (0.3, 2), (0.1, 8), (0.0, 8)])
def test_a_statement_that_waits_is_sampled_more_often(busy, times, monkeypatch) -> None:
    script, _ = taken(1e6, monkeypatch, busy=busy)
    assert script.shares == {SAMPLING_SHARE_MAX * times}


@pytest.mark.parametrize(
    ("client_ns", "server_ns", "busy"),
    [(100_000, None, 0.1), (100_000, 300_000, 0.4), (None, 300_000, 1.0)],
)
def test_a_cell_is_as_busy_as_client_and_server_together(client_ns, server_ns, busy) -> None:
    samples = [
        Sample(each, 0, 0, each, 1_000_000, client_cpu_ns=client_ns, server_cpu_ns=server_ns)
        for each in range(3)
    ]
    assert typical_of(samples) == Typical(1e6, pytest.approx(busy))
