"""Taking the samples of one block, of statements or of a client's measure; and the proof of cold.

for each sample:  clear leftovers -> [cold: stop, wait until dead, evict, prove, start, evict,
                  prove] -> the sample
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from loadstone.engines.system import System
from loadstone.errors import StatementEndedError, UnsupportedError
from loadstone.machine import page_cache
from loadstone.machine.opening import Opening, complaint
from loadstone.protocol.messages import Block, BlockResult, Variation
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText

DEATH_S_MAX = 30.0
"""Process-exit timeout."""


class Observer(Protocol):
    """Watches samples from outside the clock."""

    def begin(self) -> None:
        """A sample begins soon."""

    def end(self, start_ns: int, end_ns: int) -> None:
        """The sample was between these times."""


class Timer(ABC):
    """Runs blocks on a system. `mark` tells the runner when a timed statement begins and ends."""

    system: System
    observer: Observer | None = None
    """Of the samples that count, warm-ups left out."""

    def __init__(self, mark: Callable[[str], None]) -> None:
        self._mark = mark

    def _watched(self, ordinal: int) -> Observer | None:
        return self.observer if ordinal >= 0 else None

    def take(self, block: Block) -> BlockResult:
        """Warm up, then take one sample of each of the block's variations."""
        samples: list[Sample] = []
        answers: list[AnswerCheck] = []
        evidence: list[ColdEvidence] = []
        for _ in range(block.warm_up):
            for variation in self._warming(block):
                self._clear(block, variation)
                try:
                    self._sample(block, variation, -1, check=False)
                except StatementEndedError:
                    if variation.undo:  # it may have changed its relation, or not
                        return BlockResult((), (), (), ended=True)
                    # What the caches lacked may have made it long: the sample tells.
        cold = block.temperature == "cold"
        data_bytes = self.system.size_bytes() if cold else 0
        for offset, variation in enumerate(block.variations):
            ordinal = block.first_ordinal + offset
            self._clear(block, variation)
            if cold:
                evidence.append(self._cool(ordinal, data_bytes))
            try:
                sample, answer = self._sample(block, variation, ordinal)
            except StatementEndedError:
                self._clear(block, variation)
                return BlockResult(tuple(samples), tuple(answers), tuple(evidence), ended=True)
            samples.append(sample)
            if answer is not None:
                answers.append(answer)
            if answer is not None and not answer.right:
                break  # no time of a wrong answer is ever printed: the rest would be wasted
        return BlockResult(tuple(samples), tuple(answers), tuple(evidence))

    @abstractmethod
    def explain(self, block: Block) -> Sequence[StatementText]:
        """Each variation's statement and plan; one isolated pass, nothing is executed."""

    def _warming(self, block: Block) -> Sequence[Variation]:
        """The unmeasured variations before a warm block: inputs that it does not sample, if the
        benchmark has such; otherwise, and before a hot block, its own."""
        return block.warming or block.variations

    @abstractmethod
    def _clear(self, block: Block, variation: Variation) -> None:
        """Remove the leftovers of a sample of this variation, also of a killed one."""

    @abstractmethod
    def _sample(
        self, block: Block, variation: Variation, ordinal: int, *, check: bool = True
    ) -> tuple[Sample, AnswerCheck | None]:
        """Time one; check its answer outside the clock."""

    def _cool(self, ordinal: int, data_bytes: int) -> ColdEvidence:
        """Stop the engine, see it dead, evict its files, prove it, start it again; then evict the
        pages that opening brought in, and count again. Nothing comes between that count and the
        sample."""
        files = self.system.files()
        try:
            pids = self.system.stop()
        except UnsupportedError as error:
            return ColdEvidence(ordinal, False, error.message, "none", 0, 0, None, None, False)
        dead = page_cache.wait_until_dead(pids, limit_s=DEATH_S_MAX)
        found = page_cache.evict_files([*files, *self.system.files()], engine_dead=dead)
        opening = Opening()
        self.system.start()
        files = self.system.files()
        resident = page_cache.resident(files)
        opened = opening.ended(self.system, files, resident)
        at_clock = page_cache.evict_files(files, engine_dead=dead)
        later = at_clock.reason and f"once the engine was open, {at_clock.reason}"
        reason = found.reason or later or complaint(opened.kept_bytes, data_bytes)
        return ColdEvidence(
            ordinal=ordinal,
            proved=not reason,
            reason=reason,
            method="+".join(sorted({*found.method.split("+"), *at_clock.method.split("+")})),
            files=at_clock.files,
            bytes=at_clock.bytes,
            resident_before=found.resident_before,
            resident_after=found.resident_after,
            engine_dead=found.engine_dead,
            resident_opened=resident,
            resident_at_clock=at_clock.resident_after,
            opening_read_bytes=opened.read_bytes,
            kept_bytes=opened.kept_bytes,
            data_bytes=data_bytes,
        )
