"""The requests common to all workers: one public method a request."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone import registry
from loadstone.errors import EngineError
from loadstone.machine import page_cache
from loadstone.plan.variant import Variant
from loadstone.worker.affinity import placed
from loadstone.worker.block import DEATH_S_MAX, Block, Timer

if TYPE_CHECKING:
    from loadstone.engines.base import System


class Requests(ABC):
    """One engine of one variant, and the requests to it."""

    seam: ClassVar[str]

    def __init__(self, mark: Callable[[str], None]) -> None:
        self._mark = mark
        self._system: System | None = None

    def open(
        self, variant: dict[str, Any], scratch: str, owner: str, *, heir: bool = False
    ) -> dict[str, Any]:
        """Load exactly this engine's module, start it, and describe it; an `heir` follows a worker
        that may have left data."""
        variant["tactics"] = tuple((key, value) for key, value in variant["tactics"])
        asked = Variant(**variant)
        kind = registry.load_system(self.seam, asked.engine)
        self._system = kind(asked, Path(scratch), owner)
        self._system.heir = heir
        self._system.start()
        return {"versions": dict(kind.versions()), **self.terms()}

    def terms(self) -> dict[str, Any]:
        """The system's present terms."""
        return {"terms": dict(self._opened().terms())}

    def calibrate(self) -> dict[str, Any]:
        """Calibrate the instrument, in a process like those that measure engines."""
        from loadstone.worker import self_calibration

        return {"figures": dict(self_calibration.measure())}

    def restart(self) -> dict[str, Any]:
        """Stop the system, see it dead, and restart it on its data."""
        system = self._opened()
        page_cache.wait_until_dead(system.stop(), limit_s=DEATH_S_MAX)
        system.start()
        return {}

    def export_state(self) -> dict[str, Any]:
        """Stop; evict files so the next process gets new page-cache pages. The reply holds the
        state, for its successor; this worker does nothing more."""
        system, state = self._opened(), self._state()
        files = tuple(system.files())
        dead = page_cache.wait_until_dead(system.stop(), limit_s=DEATH_S_MAX)
        page_cache.evict_files(files, engine_dead=dead)
        self._system = None
        return {"state": state}

    def import_state(self, state: dict[str, Any]) -> dict[str, Any]:
        """Take over the state of the worker before this one."""
        del state
        return {}

    @abstractmethod
    def load(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """Make a stored relation as `Benchmark.request` describes it; the reply holds its tuples
        and the time it took."""

    @abstractmethod
    def settle(self, tables: list[str]) -> dict[str, Any]:
        """Statistics and checkpoint; the reply holds the bytes that everything takes."""

    @abstractmethod
    def contents(self, source: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
        """(rows, checksum) of a stored relation, or None where it does not exist."""

    def block(self, block: dict[str, Any]) -> dict[str, Any]:
        """Take the samples of one block of one cell."""
        with placed(self._opened()):
            return self._timer().take(Block(**block))

    def explain(self, block: dict[str, Any]) -> dict[str, Any]:
        """The statements of a block's variations with the plans the engine would use."""
        return {"statements": [asdict(text) for text in self._timer().explain(Block(**block))]}

    def remove(self) -> dict[str, Any]:
        """Remove all the engine's data."""
        if self._system is not None:
            self._system.remove()
            self._system = None
        return {}

    def _opened(self) -> "System":
        if self._system is None:
            raise not_open()
        return self._system

    def _state(self) -> dict[str, Any]:
        """The state that a successor need not find out again."""
        return {}

    @abstractmethod
    def _timer(self) -> Timer:
        """The timer of its samples."""


def not_open() -> EngineError:
    """A request came before `open`."""
    return EngineError("the worker has no engine yet")
