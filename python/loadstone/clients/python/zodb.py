"""ZODB, an object database for Python."""

from collections.abc import Mapping
from importlib import metadata
from typing import Any, ClassVar

from ZODB.POSException import POSError

from loadstone.clients.base import ONE_USER
from loadstone.clients.declared import capabilities
from loadstone.clients.python.embedded import PythonClient
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.tactic import of_client


class ZodbClient(PythonClient):
    """One file of object records; containers are B-trees of persistent objects."""

    name: ClassVar[str] = "zodb"
    file: ClassVar[str] = "program.fs"
    failures: ClassVar[tuple[type[Exception], ...]] = (POSError, OSError)
    capabilities: ClassVar[Capabilities] = capabilities(
        "zodb", of_client("zodb"), one_user=ONE_USER
    )

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the parts that it is made of."""
        return {name: metadata.version(name) for name in ("zodb", "persistent", "btrees")}

    def address(self) -> tuple[Any, ...]:
        """The file, and the bytes of its cache."""
        return self.path, int(self.tactic("cache"))
