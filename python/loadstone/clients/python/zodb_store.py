"""A database of ZODB, whatever the benchmark: persistent objects with direct references.

An object once read stays in the connection's cache, its references swizzled to objects; a commit
appends to one file and syncs it. A measure's writes are undone by a later transaction, so that the
file grows: it is not packed here.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, ClassVar

import transaction
import ZODB
from transaction.interfaces import NoTransaction
from ZODB.FileStorage import FileStorage

CACHE_OBJECTS = 10**9
"""No limit but that in bytes."""


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
        """Settings as the database gives them back; that a commit syncs, as its module decided."""
        syncs = import_module("ZODB.FileStorage.FileStorage").fsync is not None
        return {
            "version": metadata.version("zodb"),
            "read transaction": "one measure",
            "durability": "full: fsync at commit" if syncs else "none: no fsync on this system",
            "isolation": "snapshot",
            "cache": str(self._database.getCacheSizeBytes()),
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
