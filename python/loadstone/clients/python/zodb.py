"""ZODB, an object database for Python: parts are persistent objects with direct references.

An object once read stays in the connection's cache, its references swizzled to objects; a commit
appends to one file and syncs it. A measure's writes are undone by a later transaction, so that the
file grows: it is not packed here.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import transaction
import ZODB
from BTrees.IOBTree import IOBTree
from BTrees.LOBTree import LOBTree
from BTrees.OOBTree import OOBTree
from persistent import Persistent
from transaction.interfaces import NoTransaction
from ZODB.FileStorage import FileStorage
from ZODB.POSException import POSError

from loadstone.clients.declared import capabilities, own_tactics
from loadstone.clients.oo1.driver import Driver
from loadstone.clients.oo1.objects import ObjectDriver
from loadstone.clients.oo7.driver import Driver as Oo7Driver
from loadstone.clients.oo7.objects import CONTAINERS
from loadstone.clients.oo7.objects import ObjectDriver as Oo7ObjectDriver
from loadstone.clients.python.embedded import PythonClient
from loadstone.clients.rust.embedded import KEY_VALUE
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.zodb.settings import in_common_words

CACHE_OBJECTS = 10**9
"""No limit but that in bytes."""
OO1_CONTAINERS = {"by_id": IOBTree, "by_build": LOBTree}
OO7_CONTAINERS = dict.fromkeys(CONTAINERS, IOBTree) | {"titles": OOBTree, "dates": LOBTree}


class StoredPart(Persistent):  # type: ignore[misc] # ZODB has no types
    """A part, one record in the file."""


class Stored(Persistent):  # type: ignore[misc] # ZODB has no types
    """An object of any class of OO7, one record in the file."""


class Store:
    """One connection; a transaction spans a measure. The drivers' containers are its attributes."""

    containers: ClassVar[Mapping[str, Any]]
    """The kind of each, by its name in the file's root."""

    fill: Callable[[Any], None]
    """The driver's, which makes all objects."""

    def __init__(self, path: Path, cache_bytes: int) -> None:
        self._path = path
        self._cache_bytes = cache_bytes
        self._open()

    def _open(self) -> None:
        # Without `explicit`, what touches an object outside a measure would begin a transaction
        # that nothing ends.
        self._transactions = transaction.TransactionManager(explicit=True)
        self._database = ZODB.DB(
            FileStorage(str(self._path)),
            cache_size=CACHE_OBJECTS,
            cache_size_bytes=self._cache_bytes,
        )
        self._connection = self._database.open(self._transactions)
        self.begin()
        root = self._connection.root()
        for name, kind in self.containers.items():
            setattr(self, name, root.get(name, kind()))
        self.end()

    def close(self) -> None:
        """Close connection and file, and let go of every object."""
        with suppress(NoTransaction):
            # One that an error left: no connection closes within it.
            self._transactions.abort()
        self._connection.close()
        self._database.close()
        for name in self.containers:
            delattr(self, name)
        del self._connection

    def load(self, database: Any) -> None:
        """Into a new file, in one transaction."""
        self.close()
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()
        self._open()
        self.begin_write()
        root = self._connection.root()
        for name in self.containers:
            root[name] = getattr(self, name)
        self.fill(database)
        self.commit()

    def begin(self) -> None:
        """A snapshot; cached objects that others changed since are dropped."""
        self._transactions.begin()

    def end(self) -> None:
        """Give the snapshot up; the objects stay cached."""
        self._transactions.abort()

    def begin_write(self) -> None:
        """As for reading."""
        self._transactions.begin()

    def commit(self) -> None:
        """Append what changed to the file, and sync it."""
        self._transactions.commit()

    def rollback(self) -> None:
        """Forget what changed."""
        self._transactions.abort()

    def settle(self) -> None:
        """The file is as it will be."""

    def terms(self) -> Mapping[str, str]:
        """Settings as the database gives them back."""
        return {
            "version": metadata.version("zodb"),
            "read transaction": "one measure",
            **in_common_words(self._database.getCacheSizeBytes()),
            **self._containers(),
            "setting.file": "append-only, not packed",
        }

    def _containers(self) -> Mapping[str, str]:
        """By which a part is found, as the file's root has them; none of an empty file."""
        self.begin()
        root = self._connection.root()
        found = [f"{name}: {type(root[name]).__name__}" for name in self.containers if name in root]
        self.end()
        return {"setting.access": ", ".join([*found, "references"])} if found else {}


class ZodbDriver(Store, ObjectDriver):
    """OO1's parts."""

    containers = OO1_CONTAINERS

    def make(self) -> StoredPart:
        """A persistent object; a reference from another makes it stored."""
        return StoredPart()


class ZodbOo7Driver(Store, Oo7ObjectDriver):
    """OO7's objects."""

    containers = OO7_CONTAINERS

    def make(self) -> Stored:
        """A persistent object; a reference from another makes it stored."""
        return Stored()


class ZodbClient(PythonClient):
    """One file of object records; containers are B-trees of persistent objects."""

    name: ClassVar[str] = "zodb"
    file: ClassVar[str] = "program.fs"
    failures: ClassVar[tuple[type[Exception], ...]] = (POSError, OSError)
    capabilities: ClassVar[Capabilities] = capabilities("zodb", KEY_VALUE, own_tactics("zodb"))

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the parts that it is made of."""
        return {name: metadata.version(name) for name in ("zodb", "persistent", "btrees")}

    def connect(self) -> Driver:
        """Open the file, or make it."""
        return ZodbDriver(self.path, int(self.tactic("cache")))

    def connect_oo7(self) -> Oo7Driver:
        """The same for OO7's objects."""
        return ZodbOo7Driver(self.path, int(self.tactic("cache")))
