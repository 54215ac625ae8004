"""Ladybug, an embedded graph database, queried in Cypher by prepared statements."""

from collections.abc import Mapping
from importlib import metadata
from typing import Any, ClassVar

from loadstone.clients.base import ONE_USER
from loadstone.clients.declared import capabilities
from loadstone.clients.python.embedded import PythonClient
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.tactic import of_client


class LadybugClient(PythonClient):
    """Node tables and relationship tables, by prepared Cypher."""

    name: ClassVar[str] = "ladybug"
    file: ClassVar[str] = "program.lbug"
    failures: ClassVar[tuple[type[Exception], ...]] = (RuntimeError, OSError)
    capabilities: ClassVar[Capabilities] = capabilities(
        "ladybug", of_client("ladybug"), one_user=ONE_USER
    )

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Engine and driver are one package."""
        return {"ladybug": metadata.version("ladybug")}

    def address(self) -> tuple[Any, ...]:
        """The file, and the tactics."""
        return self.path, {name: self.tactic(name) for name in self.capabilities.tactics}
