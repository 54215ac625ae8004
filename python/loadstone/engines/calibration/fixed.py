"""The fixed engine: answers after a set time. Any time beyond it is the instrument's."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone._core import clock_ns
from loadstone.engines.calibration.artificial import IMAGINED, ArtificialEngine
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.tactic import declared
from loadstone.plan.role import Role

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant


class FixedEngine(ArtificialEngine):
    """Every statement takes `time_us` microseconds, never less."""

    name: ClassVar[str] = "fixed"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures=IMAGINED,
        tactics=declared(Path(__file__).with_suffix(".toml")),
        answers=False,
        role=Role.CONTROL,
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._time_ns = 0

    def start(self) -> None:
        """Set the time."""
        super().start()
        self._time_ns = int(self.tactic("time_us")) * 1000

    def terms(self) -> Mapping[str, str]:
        """As for all that keep nothing, and the time."""
        return {**super().terms(), "time_us": str(self._time_ns // 1000)}

    def run(self, statement: str) -> int:
        """Done when the time is up."""
        del statement
        self._spin()
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """No rows when the time is up."""
        del statement
        self._spin()
        return []

    def _spin(self) -> None:
        # Not asleep: a sleep ends when the scheduler finds the time.
        end_ns = clock_ns() + self._time_ns
        while clock_ns() < end_ns:
            pass
