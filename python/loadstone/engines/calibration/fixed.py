"""The fixed engine: answers after a set time. Any time beyond it is the instrument's."""

from typing import ClassVar

from loadstone._core import clock_ns
from loadstone.engines.calibration.artificial import ArtificialEngine, capabilities
from loadstone.engines.capabilities import Capabilities


class FixedEngine(ArtificialEngine):
    """Every statement takes `time_us` microseconds, never less."""

    name: ClassVar[str] = "fixed"
    capabilities: ClassVar[Capabilities] = capabilities(__file__)

    _time_ns = 0

    def start(self) -> None:
        """Set the time."""
        super().start()
        self._time_ns = int(self._set["time_us"]) * 1000

    def spend(self) -> None:
        """Spin: a sleep ends when the scheduler finds the time."""
        end_ns = clock_ns() + self._time_ns
        while clock_ns() < end_ns:
            pass
