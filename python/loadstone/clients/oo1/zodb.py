"""OO1 on ZODB: parts are persistent objects."""

from collections.abc import Mapping
from typing import Any, ClassVar

from BTrees.IOBTree import IOBTree
from BTrees.LOBTree import LOBTree
from persistent import Persistent

from loadstone.clients.oo1.objects import ObjectDriver
from loadstone.clients.python.zodb_store import Store


class StoredPart(Persistent):  # type: ignore[misc] # ZODB has no types
    """A part, one record in the file."""


class ZodbDriver(Store, ObjectDriver):
    """OO1's parts."""

    containers: ClassVar[Mapping[str, Any]] = {"by_id": IOBTree, "by_build": LOBTree}

    def make(self) -> StoredPart:
        """A persistent object; a reference from another makes it stored."""
        return StoredPart()
