"""The steps after a statement was ended because it took longer than its block allows: a change may
be there or not, so its relation is made right before anything else is measured."""

from types import SimpleNamespace

from run_context import context

from loadstone.errors import StatementEndedError
from loadstone.plan.plan import Cell
from loadstone.protocol.messages import BlockResult
from loadstone.protocol.parts import Block, Variation
from loadstone.record.model import Sample
from loadstone.run.executor import Executor
from loadstone.worker.block import Timer

CELL = Cell("append", "sqlite", 100, "warm", 1)
LIMIT_NS = 5_000_000


def block(undo: str) -> Block:
    one = Variation(0, "append", undo, 1, "1f")
    return Block("wisconsin", "1993", 100, "heap", "update", "warm", (one,), 1, 0, 0,
                 limit_ns=LIMIT_NS)  # fmt: skip


class Ended(Timer):
    """The first statement is ended, later ones are not."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.begun = 0

    def explain(self, block):
        return ()

    def _clear(self, block, variation):
        pass

    def _sample(self, block, variation, ordinal, *, check=True):
        self.begun += 1
        if self.begun == 1:
            raise StatementEndedError("> 5 ms")
        return Sample(ordinal, 0, 0, 0, 1), None


def test_after_an_ended_change_nothing_more_is_done_and_after_an_ended_query_it_is_tried() -> None:
    change = Ended()
    assert change.take(block("delete")).ended
    assert change.begun == 1
    query = Ended()
    result = query.take(block(""))
    assert (result.ended, len(result.samples), query.begun) == (False, 1, 2)


def executor(undo: tuple[str, ...], ended: int) -> tuple[Executor, list[str]]:
    """One whose worker's first blocks are ended, so many of them; and what is asked of the
    worker."""
    asked: list[str] = []

    def ask(request: object) -> BlockResult:
        asked.append("take")
        return BlockResult((), (), (), ended=asked.count("take") <= ended)

    worker = SimpleNamespace(
        variant=SimpleNamespace(name="sqlite"), become=lambda _: None, ask=ask,
        mend=lambda *_: asked.append("mend"),
    )  # fmt: skip
    operation = SimpleNamespace(texts=("append",), undo=undo, design="heap", storage="heap",
                                destination="update", warming=(), statement=None,
                                sampled=1)  # fmt: skip
    plan = SimpleNamespace(benchmark="wisconsin", edition="1993", warm_up=1)
    answers = SimpleNamespace(of=lambda *_: (1, "1f"), named=lambda *_: None)
    stage = context(
        plan, rows=100, operations={"append": operation}, workers={"sqlite": worker},
        stored={"sqlite": ()}, answers=answers,
    )  # fmt: skip
    return Executor(stage), asked


def test_a_changed_relation_is_made_right_and_the_change_is_tried_once_more() -> None:
    made, asked = executor(("delete",), ended=1)
    assert made.take(CELL, range(1), 0, warm=False, limit_ns=LIMIT_NS).status == "ok"
    assert asked == ["take", "mend", "take"]
    made, asked = executor(("delete",), ended=2)
    outcome = made.take(CELL, range(1), 0, warm=False, limit_ns=LIMIT_NS)
    assert (outcome.status, outcome.longer_than_ns) == ("censored", LIMIT_NS)
    assert asked == ["take", "mend", "take", "mend"]
    made, asked = executor((), ended=1)
    assert made.take(CELL, range(1), 0, warm=False, limit_ns=LIMIT_NS).status == "censored"
    assert asked == ["take"]
