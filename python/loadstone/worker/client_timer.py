"""Timing a measure of a client program, which reads its own clock around its loop."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from loadstone._core import clock_ns
from loadstone.clients.base import Client
from loadstone.protocol.parts import Block, Variation
from loadstone.record.model import AnswerCheck, Sample, StatementText
from loadstone.worker.block import Timer


class ClientTimer(Timer):
    """Runs blocks of measures. A variation's text is `MEASURE ITERATION`."""

    def __init__(self, client: Client, mark: Callable[[str], None], *, fresh: bool = True) -> None:
        """`fresh`: the engine was started, and only loaded since."""
        super().__init__(mark)
        self.system = self.client = client
        self._fresh = fresh

    def explain(self, block: Block) -> Sequence[StatementText]:
        """A program has no plan."""
        del block
        return ()

    def _warming(self, block: Block) -> Sequence[Variation]:
        """All warm-up inputs for an engine just started; one of them if it is warm already."""
        warming = super()._warming(block)
        return warming if self._fresh else [warming[block.round % len(warming)]]

    def _clear(self, block: Block, variation: Variation) -> None:
        """Nothing: a measure undoes its writes before it returns."""

    def _sample(
        self, block: Block, variation: Variation, ordinal: int, *, check: bool = True
    ) -> tuple[Sample, AnswerCheck | None]:
        number = variation.number
        measure, _, iteration = variation.text.partition(" ")
        observer = self._watched(ordinal)
        self._mark("start")
        if observer:
            observer.begin()
        start = clock_ns()
        found = self.client.measure(measure, int(iteration))
        if observer:
            # The checks and undoings of a client are between these times, outside its own clock.
            observer.end(start, clock_ns())
        self._mark("end")
        sample = Sample(
            ordinal=ordinal,
            round=block.round,
            variation=number,
            started_ns=start,
            elapsed_ns=max(found.elapsed_ns, 1),
            commit_ns=found.commit_ns or None,
            calls=found.calls,
            statements=found.statements,
            round_trips=found.round_trips,
            log_bytes=found.log_bytes,
            **asdict(found.work),
        )
        if not (check and variation.checksum and self.client.capabilities.answers):
            return sample, None
        expected = (variation.rows, variation.checksum)
        return sample, AnswerCheck(ordinal, number, *expected, found.visits, found.checksum)
