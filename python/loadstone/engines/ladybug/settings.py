"""Ladybug's settings in the terms that all engines share."""

from collections.abc import Mapping


def in_common_words(memory_limit: str, threads: str) -> Mapping[str, str]:
    """Cache and parallelism from the settings as read back; it has no setting of the others."""
    return {
        "durability": "full: the log is synced at commit; no setting",
        "isolation": "serializable: one writer at a time",
        "cache": memory_limit,
        "parallelism": threads,
    }
