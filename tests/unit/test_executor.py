"""The executor of a stage: what comes of a step whose engine fails, and what is done about it."""

import signal
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from run_context import context

from loadstone.benchmarks.base import Operation
from loadstone.errors import EngineError, TimeLimitError, UnsupportedError, WorkerDiedError
from loadstone.plan.plan import Cell, Plan
from loadstone.plan.workload import Workload, WorkloadStatement
from loadstone.protocol.messages import (
    Answered,
    BlockResult,
    Done,
    Explained,
    LoopResult,
    Restart,
    TakeBlock,
)
from loadstone.protocol.parts import Loop
from loadstone.record.model import AnswerCheck, Sample
from loadstone.record.users import LoopFigures
from loadstone.run import executor as module
from loadstone.run.executor import Executor
from loadstone.run.group import OpenCell
from loadstone.run.outcome import Outcome
from loadstone.workload.agreement import AgreedAnswers
from loadstone.workload.votes import Vote

OPERATION = Operation("select", "a selection", "g", "", "heap", "heap", "client", ("a", "b", "c"))
CELL, OTHER = (Cell("select", name, 1000, "warm", 2, "") for name in ("one", "two"))
PLAN = Plan(benchmark="w", edition="1993", variants=("one", "two"), rows=(1000,),
            cells=(CELL, OTHER), warm_up=2)  # fmt: skip
SAMPLE = Sample(0, 0, 0, 0, 1)
RIGHT = AnswerCheck(0, 0, 1, "c", 1, "c")
REPLIES = {
    "TakeBlock": BlockResult((SAMPLE,), (RIGHT,), ()),
    "Restart": Done(),
    "Reopen": Done(),
    "Explain": Explained(()),
    "RunLoop": LoopResult(LoopFigures(completed=1)),
    "GiveAnswers": Answered(()),
}


class ScriptedWorker:
    """Replies as it is reported to, or raises; notes what was done to it."""

    def __init__(self, name, reforkable=True):
        self.variant = SimpleNamespace(name=name)
        self.reforkable = reforkable
        self.next = None
        self.asked, self.done = [], []

    def ask(self, request):
        self.asked.append(request)
        return self._reported(REPLIES[type(request).__name__])

    def become(self, name):
        self.variant = SimpleNamespace(name=name)

    def refork(self, *, ahead=False):
        self.done.append("fork")
        self._reported(None)

    def strike(self):
        self.done.append("strike")

    def _reported(self, usual):
        reported, self.next = self.next, None
        if isinstance(reported, Exception):
            raise reported
        return reported or usual

    def mend(self, items, rows, answers):
        self.done.append("mend")

    def replace(self, items, rows, answers, recorder, error):
        self.done.append("replace")


@pytest.fixture
def stage():
    """An executor and its two workers, the second of which cannot be stopped."""
    workers = {"one": ScriptedWorker("one"), "two": ScriptedWorker("two", reforkable=False)}
    answers = SimpleNamespace(of=lambda operation, variation: (1, "c"))
    stored = dict.fromkeys(workers, ())
    made = Executor(context(PLAN, operations={"select": OPERATION}, workers=workers,
                            stored=stored, answers=answers))  # fmt: skip
    return made, workers["one"], workers["two"]


def with_changed(made, **parts):
    """An executor with the same workers."""
    return Executor(replace(made.context, **parts))


STEPS = {
    "block": lambda made: made.take(CELL, range(2), 0, warm=False),
    "restart": lambda made: made.restart(CELL, quick=True),
    "fork": lambda made: made.fork([OTHER, CELL])[1],
    "explain": lambda made: made.explain(CELL),
    "loop": lambda made: made.run_loop(CELL, Loop("closed", 1, 1, 1)).figures,
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("error", "status", "repair"),
    [
        (TimeLimitError(60.0), "failed", ["replace"]),
        (TimeLimitError(60.0, of_statement=True), "censored", ["replace"]),
        (TimeLimitError(60.0, of_statement=True, hung=False), "censored", ["mend"]),
        (WorkerDiedError("it died"), "failed", ["replace"]),
        (EngineError("no"), "failed", ["mend"]),
        (UnsupportedError("it has none"), "gap", []),
    ],
)
def test_a_failure_is_an_outcome_and_is_repaired_at_once(stage, step, error, status, repair):
    made, worker, other = stage
    worker.next = error
    outcome = STEPS[step](made)
    if step == "loop" and status == "censored":
        status = "failed"  # a loop has no lower bound
    assert (outcome.status, outcome.reason) == (status, error.message)
    assert [each for each in worker.done if each != "fork"] == repair
    assert other.done == []


def test_what_was_ended_when_it_was_warm_is_not_tried_cold(stage):
    made, worker, _ = stage
    cold = replace(CELL, temperature="cold")
    assert made.refused(cold) is None
    worker.next = TimeLimitError(60.0, of_statement=True, hung=False)
    made.take(CELL, range(2), 0, warm=False)
    assert (made.refused(cold).status, made.refused(cold).reason) == (
        "spared",
        "warm it took > 60 s",
    )
    assert made.refused(CELL) is None
    assert made.refused(replace(OTHER, temperature="cold")) is None


def test_a_bound_of_one_sample_is_none_of_the_cell(stage):
    made, worker, _ = stage
    cold = replace(CELL, temperature="cold")
    item = OpenCell(CELL)
    worker.next = TimeLimitError(60.0, of_statement=True, partly=True, hung=False)
    item.add(made.take(CELL, range(2), 0, warm=False))
    assert (item.status, item.longer_than_ns) == ("failed", None)
    assert item.reason == "> 60 s once, after others within it"
    item = OpenCell(CELL)
    item.add(made.take(CELL, range(2), 0, warm=False))
    worker.next = TimeLimitError(60.0, of_statement=True, hung=False)
    item.add(made.take(CELL, range(2, 4), 1, warm=False))
    assert (item.status, item.longer_than_ns) == ("failed", None)
    assert item.reason == "> 60 s once, after 1 sample within it"
    assert made.refused(cold) is None


def test_cold_engines_are_reopened_side_by_side_and_a_failure_is_its_cells_alone(stage):
    made, worker, other = stage
    worker.next = EngineError("no")
    cold = [(replace(each, temperature="cold"), range(1)) for each in (CELL, OTHER)]
    assert [each.status for each in made.reopen(cold)] == ["failed", "ok"]
    assert [type(each).__name__ for each in (*worker.asked, *other.asked)] == ["Reopen"] * 2
    assert (worker.done, other.done) == (["mend"], [])


def test_cells_that_share_a_worker_are_left_to_their_blocks(stage):
    made, worker, _ = stage
    cold = replace(CELL, temperature="cold")
    assert [each.status for each in made.reopen([(cold, range(1))] * 2)] == ["ok", "ok"]
    assert worker.asked == []


def test_a_wrong_answer_fails_its_block_and_the_tables_are_checked(stage):
    made, worker, _ = stage
    for rows, reported in ((2, "2 tuples, 1 expected"), (1, "1 tuple, but not the right ones")):
        wrong = AnswerCheck(0, 0, 1, "c", rows, "d")
        worker.next = BlockResult((SAMPLE,), (RIGHT, wrong), ())
        outcome = made.take(CELL, range(2), 0, warm=False)
        assert (outcome.status, outcome.reason) == ("failed", f"wrong answer: {reported}")
        assert outcome.answers == (RIGHT, wrong)
    assert worker.done == ["mend"] * 2


@pytest.mark.parametrize(
    ("answers", "own"),
    [({"one": (1, "c")}, True), ({"one": (1, "c"), "two": (1, "c")}, False),
     ({"one": (1, "c"), "odd": (2, "d")}, True)],
    ids=["alone", "as two agree", "divided"],
)  # fmt: skip
def test_an_answer_that_contradicts_the_engines_own_alone_is_volatile(stage, answers, own):
    made, worker, _ = stage
    stated = WorkloadStatement("select", "s", "", ("SELECT 1",))
    agreed = AgreedAnswers(Workload("w", "", (), (stated,)))
    votes = [Vote(name, name, answer, lambda: None) for name, answer in answers.items()]
    agreed.settle("select", 0, votes)
    made = with_changed(made, answers=agreed)
    worker.next = BlockResult((SAMPLE,), (RIGHT, AnswerCheck(0, 0, 1, "c", 1, "d")), ())
    reason = made.take(CELL, range(1), 0, warm=False).reason
    assert reason.startswith("volatile: executed twice" if own else "wrong answer: 1 tuple")
    refused = made.refused(replace(CELL, temperature="cold"))
    assert (refused is not None and refused.reason == reason) is own
    asked = len(worker.asked)
    figures = made.run_loop(CELL, Loop("closed", 1, 1, 1)).figures
    assert (figures.status, figures.reason) == (("failed", reason) if own else ("ok", ""))
    assert (len(worker.asked) == asked) is own


def test_a_block_has_the_variations_of_its_ordinals(stage):
    made, worker, _ = stage
    assert made.take(CELL, range(2, 5), 7, warm=False).samples == (SAMPLE,)
    block = worker.asked[0].block
    assert [each.text for each in block.variations] == ["c", "a", "b"]
    assert (block.first_ordinal, block.round) == (2, 7)


def test_only_a_restart_makes_a_warm_engine_cold_again_and_for_one_block(stage):
    made, worker, _ = stage
    for step in ("take", "restart", "take", "take"):
        if step == "take":
            made.take(CELL, range(1), 0, warm=True)
        else:
            made.restart(CELL, quick=False)
    asked = [each.block.warm_up for each in worker.asked if isinstance(each, TakeBlock)]
    assert asked == [0, PLAN.warm_up, 0]


@pytest.mark.parametrize(("elapsed_ns", "restarts"), [(0, 3), (module.RESTART_NS_MAX + 1, 2)])
def test_a_slow_engine_is_not_restarted_in_a_hurry_again(stage, monkeypatch, elapsed_ns, restarts):
    made, worker, _ = stage
    times = iter(range(0, 10**12, elapsed_ns or 1))
    monkeypatch.setattr(module._core, "clock_ns", lambda: next(times))
    for quick in (True, True, False):
        assert made.restart(CELL, quick=quick) == Outcome()
    assert worker.asked == [Restart()] * restarts


def test_an_engine_that_cannot_be_stopped_keeps_its_process(stage):
    made, worker, other = stage
    assert made.fork([CELL, OTHER]) == [Outcome(), Outcome()]
    assert (worker.done, other.done) == (["fork"], [])
    assert made.fork([OTHER]) == [Outcome()]
    assert made.restart(OTHER, quick=False) == Outcome()
    assert other.asked == []


def test_an_interrupted_fork_leaves_no_thread_at_work_on_its_worker(stage, monkeypatch):
    """Its reply would be taken for that to the request that removes the engine's data."""
    made, worker, _ = stage
    main, struck = threading.main_thread().ident, threading.Event()

    def refork(*, ahead):
        signal.pthread_kill(main, signal.SIGINT)
        assert struck.wait(timeout=20)
        worker.done.append("fork")

    monkeypatch.setattr(worker, "refork", refork)
    monkeypatch.setattr(worker, "strike", struck.set)
    with pytest.raises(KeyboardInterrupt):
        made.fork([CELL])
    assert worker.done == ["fork"]


def test_a_statement_that_is_ended_when_it_is_asked_has_a_bound_and_is_not_tried_cold(stage):
    made, worker, _ = stage
    worker.engine = SimpleNamespace(capabilities=SimpleNamespace(answers=True))
    answers = AgreedAnswers(Workload("w", "", (), ()))
    made = with_changed(made, answers=answers)
    worker.next = TimeLimitError(60.0, of_statement=True, hung=False)
    asked = made.give_answers(CELL)
    answers.fail(CELL.operation, CELL.variant, asked.status, asked.reason)
    warm, cold = (made.refused(replace(CELL, temperature=each)) for each in ("warm", "cold"))
    assert (warm.status, warm.reason, warm.longer_than_ns) == ("censored", "> 60 s", 60 * 10**9)
    assert (cold.status, cold.reason) == ("spared", "warm it took > 60 s")


def test_what_an_earlier_session_ended_is_neither_asked_nor_tried_cold(stage):
    made, worker, other = stage
    worker.engine = other.engine = SimpleNamespace(capabilities=SimpleNamespace(answers=True))
    resumed = with_changed(made, overdue={("select", "one"): "> 60 s"})
    asked = resumed.give_answers(CELL)
    assert (asked.status, asked.reason, worker.asked) == ("censored", "> 60 s", [])
    assert resumed.refused(replace(CELL, temperature="cold")).reason == "warm it took > 60 s"
    assert resumed.give_answers(OTHER).status == "ok"
    assert len(other.asked) == 1


def limited(made, limit_s, **changed):
    return with_changed(made, plan=replace(PLAN, time_limit_s=limit_s, **changed))


STANDS = Workload("w", "", (), (), as_it_stands=True)
ONCE = TimeLimitError(0.005, of_statement=True, hung=False)


@pytest.mark.parametrize(
    ("limit_s", "temperature", "error", "workload", "tries"),
    [
        (0.005, "warm", ONCE, None, 2),
        (0.005, "hot", ONCE, None, 2),
        (0.005, "cold", ONCE, None, 1),  # the first execution is what is asked about
        (60.0, "warm", ONCE, None, 1),
        (60.0, "warm", ONCE, STANDS, 2),  # nobody has just loaded these data
        (0.005, "warm", TimeLimitError(0.005, of_statement=True), None, 1),
        (0.005, "warm", TimeLimitError(900.0), None, 1),
        (0.005, "warm", TimeLimitError(0.1, of_statement=True, partly=True, hung=False), None, 1),
    ],
)
def test_a_first_execution_that_is_ended_bounds_no_warm_one(
    stage, limit_s, temperature, error, workload, tries
):
    made, worker, _ = stage
    made = limited(made, limit_s, workload=workload)
    worker.next = error
    outcome = made.take(replace(CELL, temperature=temperature), range(2), 0, warm=False)
    assert [type(each) for each in worker.asked] == [TakeBlock] * tries
    assert (outcome.status == "ok") is (tries == 2)


def test_what_is_ended_twice_has_a_bound(stage, monkeypatch):
    made, worker, _ = stage
    monkeypatch.setattr(worker, "mend", lambda *_: setattr(worker, "next", ONCE))
    worker.next = ONCE
    outcome = limited(made, 0.005).take(CELL, range(2), 0, warm=False)
    assert (outcome.status, outcome.longer_than_ns, len(worker.asked)) == ("censored", 5_000_000, 2)


def test_a_statement_is_asked_for_its_answer_twice_within_a_short_limit(stage):
    made, worker, _ = stage
    made = limited(made, 0.005)
    worker.engine = SimpleNamespace(capabilities=SimpleNamespace(answers=True))
    worker.next = ONCE
    assert made.give_answers(CELL).status == "ok"
    assert len(worker.asked) == 2
