"""The stalling engine: fast, then a pause. A tail that does not show the pause is wrong."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.calibration.artificial import IMAGINED, ArtificialEngine
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.tactic import declared
from loadstone.plan.role import Role

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
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures=IMAGINED,
        tactics=declared(Path(__file__).with_suffix(".toml")),
        answers=False,
        role=Role.CONTROL,
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._pause_ms = 0
        self._every = 1
        self._statements = _Statements()

    def start(self) -> None:
        """Set how long and how often."""
        super().start()
        self._pause_ms = int(self.tactic("pause_ms"))
        self._every = int(self.tactic("every"))

    def terms(self) -> Mapping[str, str]:
        """As for all that keep nothing, and how long and how often it pauses."""
        pauses = {"pause_ms": str(self._pause_ms), "every": str(self._every)}
        return {**super().terms(), **pauses}

    def run(self, statement: str) -> int:
        """Done, perhaps after the pause."""
        del statement
        self._count()
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """No rows, perhaps after the pause."""
        del statement
        self._count()
        return []

    def _count(self) -> None:
        statements = self._statements
        with statements.lock:  # what comes during the pause waits for its end
            statements.count += 1
            if statements.count % self._every == 0:
                # Asleep, as a server is that waits for a disk or a lock: the processor is free.
                time.sleep(self._pause_ms / 1000)  # noqa: TID251 - the pause is the purpose
