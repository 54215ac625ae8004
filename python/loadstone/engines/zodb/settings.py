"""ZODB's settings in the terms that all engines share."""

from collections.abc import Mapping
from importlib import import_module


def in_common_words(cache_bytes: int) -> Mapping[str, str]:
    """The cache as read back; that a commit syncs, as the module decided."""
    syncs = import_module("ZODB.FileStorage.FileStorage").fsync is not None
    return {
        "durability": "full: fsync at commit" if syncs else "none: no fsync on this system",
        "isolation": "snapshot",
        "cache": str(cache_bytes),
    }
