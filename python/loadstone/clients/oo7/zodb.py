"""OO7 on ZODB: objects of all classes are persistent ones."""

from BTrees.IOBTree import IOBTree
from BTrees.LOBTree import LOBTree
from BTrees.OOBTree import OOBTree
from persistent import Persistent

from loadstone.clients.oo7.objects import CONTAINERS, ObjectDriver
from loadstone.clients.python.zodb_store import Store


class Stored(Persistent):  # type: ignore[misc] # ZODB has no types
    """An object of any class of OO7, one record in the file."""


class ZodbDriver(Store, ObjectDriver):
    """OO7's objects."""

    containers = dict.fromkeys(CONTAINERS, IOBTree) | {"titles": OOBTree, "dates": LOBTree}

    def make(self) -> Stored:
        """A persistent object; a reference from another makes it stored."""
        return Stored()
