"""OO1 on plain Python objects in a dict."""

from loadstone.clients.oo1.objects import ObjectDriver
from loadstone.clients.python.dictionary_store import PlainByKey, Store


class PlainPart:
    """A part with a place for each field."""

    __slots__ = ("build_s", "id", "lengths", "origins", "to", "type", "types", "x", "y")


class DictionaryDriver(Store, ObjectDriver):
    """OO1's parts."""

    access = "references; dict on id, list in order of build"

    def clear(self) -> None:
        """No part is left."""
        self.by_id: dict[int, PlainPart] = {}
        self.by_build = PlainByKey()

    def make(self) -> PlainPart:
        """A plain object."""
        return PlainPart()
