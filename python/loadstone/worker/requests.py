"""The requests common to all workers: one method a request."""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from loadstone import registry
from loadstone.errors import EngineError
from loadstone.machine import page_cache
from loadstone.machine.processor_share import UNLIMITED, ProcessorShare
from loadstone.machine.volume import SCRATCH, Volume
from loadstone.protocol import messages, parts
from loadstone.protocol.messages import Done, Reply, Request
from loadstone.worker import profile
from loadstone.worker.affinity import placed
from loadstone.worker.block import DEATH_S_MAX, Observer, Reopened, Timer

if TYPE_CHECKING:
    from loadstone.engines.system import System
    from loadstone.plan.variant import Variant

R = TypeVar("R", bound=Reply)
PROCESSOR, VOLUME, BANDWIDTH = "processor", "volume", "bandwidth"
"""The tactics that the worker itself switches."""

_OF_BUDGETS = (messages.TakeBlock, messages.Profile, messages.Climb, messages.ReportRungs)
"""Between these the sampler rests; before all else it ends."""


class Requests(ABC):
    """One engine of one variant, and the requests to it."""

    seam: ClassVar[str]

    def __init__(self, mark: Callable[..., None]) -> None:
        self._mark = mark
        self._system: System | None = None
        self._observer: Observer | None = None
        self._share = ProcessorShare()
        self._reopened: Reopened | None = None
        self._volume: Volume | None = None
        self._sampler = profile.KeptSampler()

    def answer(self, request: Request[R]) -> R:
        """Do what is asked."""
        if not isinstance(request, messages.TakeBlock):
            self._reopened = None  # whatever this does, the engine may not be cold after it
        if not isinstance(request, _OF_BUDGETS):
            self._sampler.close()
        return cast("R", self.handlers()[type(request)](request))

    @abstractmethod
    def interrupt(self) -> None:
        """End what the worker is in, from another thread. Called again until that has happened."""

    def handlers(self) -> Mapping[type[Request[Any]], Callable[[Any], Reply]]:
        """The method for each type of request."""
        return {
            messages.Open: self.open,
            messages.ReportTerms: lambda _: self.terms(),
            messages.Calibrate: lambda _: self.calibrate(),
            messages.Restart: lambda _: self.restart(),
            messages.Reopen: self.reopen,
            messages.Switch: self.switch,
            messages.ExportState: lambda _: self.export_state(),
            messages.ImportState: self.import_state,
            messages.Load: self.load,
            messages.Settle: self.settle,
            messages.LookUp: self.look_up,
            messages.GiveAnswers: self.give_answers,
            messages.ShowRows: self.show_rows,
            messages.TakeBlock: self.take_block,
            messages.Profile: self.profile,
            messages.Climb: self.climb,
            messages.ReportRungs: self.report_rungs,
            messages.Explain: self.explain,
            messages.RunLoop: self.run_loop,
            messages.Remove: lambda _: self.remove(),
        }

    def open(self, request: messages.Open) -> messages.Opened:
        """Load exactly this engine's module, start it, and describe it."""
        kind = registry.load_system(self.seam, request.variant.engine)
        # Before the engine, whose files lie on it; ours only where the database is.
        self._volume = Volume(Path(request.scratch)) if request.variant.url is None else None
        self._place(request.variant)
        self._system = kind(request.variant, Path(request.scratch), request.owner)
        self._system.has_predecessor = request.has_predecessor
        self._system.as_it_stands = request.as_it_stands
        self._system.users_text = request.users_text
        self._system.timezone = request.timezone
        # Of what runs in this process, some has no zone but its.
        os.environ["TZ"] = request.timezone
        time.tzset()
        # Before the start, so that a server is born with the share.
        self._limit(request.variant)
        self._system.start()
        terms = self.terms().terms
        _refuse_other_release(request.variant, terms)
        _refuse_other_zone(self._system, terms)
        return messages.Opened(dict(kind.versions()), terms)

    def terms(self) -> messages.TermsReported:
        """The system's present terms."""
        reported = {**self._opened().terms(), PROCESSOR: self._share.reported()}
        if self._volume is not None:
            reported |= zip((VOLUME, BANDWIDTH), self._volume.reported(), strict=True)
        return messages.TermsReported(reported)

    def calibrate(self) -> messages.Calibrated:
        """Calibrate the instrument, in a process like those that measure engines."""
        from loadstone.worker import self_calibration

        return messages.Calibrated(dict(self_calibration.measure()))

    def restart(self) -> Done:
        """Stop the system, see it dead, and restart it on its data."""
        system = self._opened()
        page_cache.wait_until_dead(system.stop(), limit_s=DEATH_S_MAX)
        system.start()
        return Done()

    def switch(self, request: messages.Switch) -> messages.TermsReported:
        """Make the system another variant, and read its terms back."""
        system = self._opened()
        changed = self._limit(request.variant)
        system.switch(request.variant)
        self._place(request.variant)
        if changed:
            self.restart()
        return self.terms()

    def _limit(self, variant: "Variant") -> bool:
        """Take the share of a processor that a variant requests; returns whether it is another."""
        asked = dict(variant.tactics).get(PROCESSOR, UNLIMITED)
        return self._share.limit(None if asked == UNLIMITED else int(asked))

    def _place(self, variant: "Variant") -> None:
        """Have the folder on the disks that a variant requests. Another kind of them is another
        loading; another bandwidth is taken at once."""
        if self._volume is not None:
            asked = dict(variant.tactics)
            self._volume.use(asked.get(VOLUME, SCRATCH), asked.get(BANDWIDTH, UNLIMITED))

    def export_state(self) -> messages.State:
        """Stop; evict files so the next process gets new page-cache pages. The reply holds the
        state, for its successor; this worker does nothing more."""
        system, state = self._opened(), self._state()
        files = tuple(system.files())
        dead = page_cache.wait_until_dead(system.stop(), limit_s=DEATH_S_MAX)
        page_cache.evict_files(files, engine_dead=dead)
        self._system = None
        return state

    def import_state(self, request: messages.ImportState) -> Done:
        """Take over the state of the worker before this one."""
        del request
        return Done()

    @abstractmethod
    def load(self, request: messages.Load) -> messages.Loaded:
        """Make a stored relation and load it."""

    @abstractmethod
    def settle(self, request: messages.Settle) -> messages.Settled:
        """Statistics and checkpoint."""

    @abstractmethod
    def look_up(self, request: messages.LookUp) -> messages.Found:
        """The rows and the checksum of a stored relation."""

    def give_answers(self, request: messages.GiveAnswers) -> messages.Answered:
        """The answers of a block's statements; without statements there are none."""
        del request
        return messages.Answered(())

    def show_rows(self, request: messages.ShowRows) -> messages.RowsShown:
        """The rows of a block's statement."""
        del request
        return messages.RowsShown(None)

    def take_block(self, request: messages.TakeBlock) -> messages.BlockResult:
        """Take the samples of one block of one cell."""
        with placed(self._opened()):
            timer = self._timer()
            timer.observer = self._observer
            timer.reopened, self._reopened = self._reopened, None
            return timer.take(request.block)

    def reopen(self, request: messages.Reopen) -> Done:
        """The first half of what makes a sample cold."""
        with placed(self._opened()):
            self._reopened = self._timer().reopen(request.block, request.block.variations[0])
        return Done()

    def profile(self, request: messages.Profile) -> messages.Profiled:
        """Take the samples of one block, and see where their CPU time goes."""
        system = self._opened()
        with self._sampler.sampling(system, request) as sampler:
            reading_ns = profile.reading_ns(sampler)
            self._observer = sampler
            try:
                result = self.take_block(messages.TakeBlock(request.block))
            finally:
                self._observer = None
            return profile.profiled(system, sampler, result, reading_ns)

    def climb(self, request: messages.Climb) -> messages.Climbed:
        """Take samples of rungs of the ladder of statements; without statements there is none."""
        reason = f"{self._opened().name} runs without statements"
        return messages.Climbed(
            tuple(parts.RungTimes(rung, reason=reason) for rung in request.rungs)
        )

    def report_rungs(self, request: messages.ReportRungs) -> messages.RungTexts:
        """The text that each rung sends to the engine."""
        del request
        return messages.RungTexts(())

    def explain(self, request: messages.Explain) -> messages.Explained:
        """The statements of a block's variations with the plans the engine would use."""
        return messages.Explained(tuple(self._timer().explain(request.block)))

    @abstractmethod
    def run_loop(self, request: messages.RunLoop) -> messages.LoopResult:
        """Concurrent users on a block's variations."""

    def remove(self) -> Done:
        """Remove all the engine's data."""
        if self._system is not None:
            self._system.remove()
            self._system = None
        self._share.end()
        if self._volume is not None:
            self._volume.end()
        return Done()

    def _opened(self) -> "System":
        if self._system is None:
            raise not_open()
        return self._system

    def _state(self) -> messages.State:
        """The state that a successor need not find out again."""
        return messages.State()

    @abstractmethod
    def _timer(self) -> Timer:
        """The timer of its samples."""


def _refuse_other_release(variant: "Variant", terms: Mapping[str, str]) -> None:
    """Raise `EngineError` where the engine that started says another release than was requested.
    What was asked may be longer: the number of a wheel follows that of its engine."""
    reported = terms.get("version", "unknown")
    number = next(
        (word for word in reported.split() if word[:1].isdigit()), reported.removeprefix("v")
    )
    asked = variant.release.number
    if asked and asked != number and not asked.startswith(f"{number}."):
        raise EngineError(
            f"{variant.name}: the engine that started is {reported}",
            hint="the requested release is not the one in its package",
        )


def _refuse_other_zone(system: "System", terms: Mapping[str, str]) -> None:
    """Raise `EngineError` where an engine that has a zone says another than was requested: its
    answers could be others for that alone."""
    reported = terms.get("timezone", system.timezone)
    if reported != system.timezone:
        raise EngineError(
            f"{system.variant.name}: its time zone is {reported}, and {system.timezone} was set",
            hint="write a zone that the engine knows under `timezone` in workload.toml, or none",
        )


def not_open() -> EngineError:
    """A request came before `open`."""
    return EngineError("the worker has no engine yet")
