"""OO7 on plain Python objects in dicts."""

from loadstone.clients.oo7.objects import CONTAINERS, ObjectDriver
from loadstone.clients.python.dictionary_store import PlainByKey, Store


class PlainObject:
    """An object of any class of OO7, with the attributes that it is given."""


class DictionaryDriver(Store, ObjectDriver):
    """OO7's objects."""

    access = "references; dicts on ids and titles, list in order of dates"

    def clear(self) -> None:
        """No object is left."""
        for name in CONTAINERS:
            setattr(self, name, PlainByKey() if name == "dates" else {})

    def make(self) -> PlainObject:
        """A plain object."""
        return PlainObject()
