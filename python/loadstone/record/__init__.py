"""The record: one append-only SQLite file of everything a run learned. See
docs/reference/record.md.

What is requested is imported then: a worker has no record, and names only types of its rows.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loadstone.record.model import CellResult, Load, Run, Sample, Session
    from loadstone.record.reader import read, read_chapters
    from loadstone.record.writer import Recorder

__all__ = ["CellResult", "Load", "Recorder", "Run", "Sample", "Session", "read", "read_chapters"]
_PLACES = {"read": "reader", "read_chapters": "reader", "Recorder": "writer"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'model')}"), name)
