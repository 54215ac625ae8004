"""Timing a measure of a calling program: the program's own clock is inside it, around its loop."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from loadstone._core import clock_ns
from loadstone.hosts.base import HostedEngine
from loadstone.meter import Meter
from loadstone.record.model import AnswerCheck, Sample, StatementText
from loadstone.watch import Block, Variation, Watch


class HostWatch(Watch):
    """Runs blocks of measures. A variation's text is `MEASURE ITERATION`."""

    def __init__(self, host: HostedEngine, announce: Callable[[str], None]) -> None:
        super().__init__(announce)
        self.system = self.host = host

    def explain(self, block: Block) -> Sequence[StatementText]:
        """A program has no plan."""
        del block
        return ()

    def _warming(self, block: Block) -> Sequence[Variation]:
        """One iteration: OO1's warm runs draw parts that no earlier one drew."""
        return block.variations[:1]

    def _clear(self, block: Block, variation: Variation) -> None:
        """A measure takes back what it wrote before it returns."""

    def _sample(
        self, block: Block, variation: Variation, ordinal: int, *, check: bool = True
    ) -> tuple[Sample, AnswerCheck | None]:
        number, text, _, expected_visits, expected_checksum = variation
        measure, _, iteration = text.partition(" ")
        meter = Meter(self.host.processes())
        self._announce("statement")
        start = clock_ns()
        found = self.host.measure(measure, int(iteration))
        self._announce("ended")
        work = meter.read()
        sample = Sample(
            ordinal=ordinal,
            round=block.round,
            variation=number,
            started_ns=start,
            elapsed_ns=found.elapsed_ns,
            commit_ns=found.commit_ns or None,
            **asdict(work),
        )
        if not (check and expected_checksum and self.host.capabilities.answers):
            return sample, None
        expected = (expected_visits, expected_checksum)
        return sample, AnswerCheck(ordinal, number, *expected, found.visits, found.checksum)
