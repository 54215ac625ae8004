"""The null engine: answers at once and keeps nothing. Its time is the harness overhead."""

from dataclasses import replace
from typing import Any, ClassVar

from loadstone.engines.calibration.artificial import ArtificialEngine
from loadstone.engines.capabilities import Capabilities
from loadstone.plan.role import Role


class NullEngine(ArtificialEngine):
    """Every statement is done at once, by one call."""

    name: ClassVar[str] = "null"
    capabilities: ClassVar[Capabilities] = replace(
        ArtificialEngine.capabilities, role=Role.OVERHEAD
    )

    def run(self, statement: str) -> int:
        """Done."""
        del statement
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """No rows."""
        del statement
        return []
