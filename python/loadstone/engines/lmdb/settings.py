"""LMDB's settings in the terms that all engines share."""

from collections.abc import Mapping

DURABILITIES = {"synchronous commit": "full", "no sync": "none"}
"""The environment's flags, as the driver reads them back -> durability."""


def in_common_words(reported: Mapping[str, str]) -> Mapping[str, str]:
    """One writer at a time beside snapshots; the kernel does the caching."""
    return {
        "durability": DURABILITIES.get(reported["durability"], reported["durability"]),
        "isolation": "serializable",
        "cache": "the page cache of the system",
        "parallelism": "1",
    }
