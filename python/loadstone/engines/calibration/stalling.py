"""The stalling engine: fast, then a pause. A tail that does not show the pause is wrong."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone.engines.calibration.artificial import ArtificialEngine, capabilities
from loadstone.engines.capabilities import Capabilities

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant


@dataclass(slots=True)
class _Statements:
    """Counted over all sessions: a pause is the whole server's."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0


class StallingEngine(ArtificialEngine):
    """Of `every` statements the last one pauses for `pause_ms` milliseconds; the others return at
    once. It counts on over `stop` and `start`, and over all its sessions."""

    name: ClassVar[str] = "stalling"
    capabilities: ClassVar[Capabilities] = capabilities(__file__)

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._statements = _Statements()

    def start(self) -> None:
        """Set how long and how often."""
        super().start()
        self._pause_s = int(self._set["pause_ms"]) / 1000
        self._every = int(self._set["every"])

    def spend(self) -> None:
        """Pause, if it is this statement's turn."""
        statements = self._statements
        with statements.lock:  # what comes during the pause waits for its end
            statements.count += 1
            if statements.count % self._every == 0:
                # Asleep, as a server is that waits for a disk or a lock: the processor is free.
                time.sleep(self._pause_s)  # noqa: TID251 - the pause is the purpose
