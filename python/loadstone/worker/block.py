"""Taking the samples of one block, of statements or of a client's measure; and the proof of cold.

for each sample:  clear leftovers -> [cold: stop, wait until dead, evict, prove, start] ->
                  [cold: evict, prove] -> the sample

The first half of what makes a sample cold may come before the block, beside that of other engines;
the second is immediately before the clock.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from loadstone.engines.system import System
from loadstone.errors import StatementEndedError, UnsupportedError
from loadstone.machine import page_cache
from loadstone.machine.opening import Opening, complaint
from loadstone.protocol.messages import BlockResult
from loadstone.protocol.parts import Block, Variation
from loadstone.record.model import AnswerCheck, ColdEvidence, Sample, StatementText

DEATH_S_MAX = 30.0
"""Process-exit timeout."""


class Observer(Protocol):
    """Watches samples from outside the clock."""

    def begin(self) -> None:
        """A sample begins soon."""

    def end(self, start_ns: int, end_ns: int) -> None:
        """The sample was between these times."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """An engine that was dead, with its files evicted, and is open again."""

    refused: str
    """Why it was not stopped; else empty."""
    data_bytes: int
    found: page_cache.Evidence | None = None
    opening: Opening | None = None


class Timer(ABC):
    """Runs blocks on a system. `mark` shows the runner when a timed statement begins and ends."""

    system: System
    observer: Observer | None = None
    """Of the samples that count, warm-ups left out."""
    reopened: Reopened | None = None
    """The engine as `reopen` left it, until the next sample."""

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
                    # Filling the caches may have made it long: the sample shows.
        for offset, variation in enumerate(block.variations):
            ordinal = block.first_ordinal + offset
            if block.temperature == "cold":
                evidence.append(self._cooled(block, variation, ordinal))
            else:
                self._clear(block, variation)
            try:
                check = block.checked is None or offset < block.checked
                sample, answer = self._sample(block, variation, ordinal, check=check)
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

    def reopen(self, block: Block, variation: Variation) -> Reopened:
        """Stop the engine, see it dead, evict its files, prove it, and start it again."""
        self._clear(block, variation)
        data_bytes = self.system.size_bytes()
        files = self.system.files()
        try:
            pids = self.system.stop()
        except UnsupportedError as error:
            return Reopened(error.message, data_bytes)
        dead = page_cache.wait_until_dead(pids, limit_s=DEATH_S_MAX)
        found = page_cache.evict_files([*files, *self.system.files()], engine_dead=dead)
        opening = Opening()
        self.system.start()
        return Reopened("", data_bytes, found, opening)

    def _cooled(self, block: Block, variation: Variation, ordinal: int) -> ColdEvidence:
        """Reopen the engine, unless it was; evict the pages that opening brought in, and count
        again. Nothing comes between that count and the sample."""
        reopened = self.reopened or self.reopen(block, variation)
        self.reopened = None
        if reopened.found is None or reopened.opening is None:
            return ColdEvidence(ordinal, False, reopened.refused, "none", 0, 0, None, None, False)
        found = reopened.found
        files = self.system.files()
        resident = page_cache.resident(files)
        opened = reopened.opening.ended(self.system, files, resident)
        at_clock = page_cache.evict_files(files, engine_dead=found.engine_dead)
        later = at_clock.reason and f"once the engine was open, {at_clock.reason}"
        reason = found.reason or later or complaint(opened.kept_bytes, reopened.data_bytes)
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
            data_bytes=reopened.data_bytes,
        )
