"""DuckDB's terms, read back from the open database."""

from collections.abc import Callable, Mapping
from typing import Any

from loadstone.engines.duckdb import optimizers
from loadstone.engines.duckdb.settings import TACTICS, in_common_words

_SETTINGS = (
    "fsync_mode",
    "threads",
    "async_threads",
    "memory_limit",
    "checkpoint_threshold",
    "default_block_size",
    "preserve_insertion_order",
    "force_compression",
    "index_scan_max_count",
    "index_scan_percentage",
)
Fetch = Callable[[str], list[tuple[Any, ...]]]
"""Every row of a query."""


def read_back(fetch: Fetch, *, index_asked: str) -> dict[str, str]:
    """All but the settings that a variant names itself. Isolation is fixed."""
    wanted = (*_SETTINGS, "max_memory", "disabled_optimizers")
    names = ", ".join(f"'{name}'" for name in wanted)
    query = f"SELECT name, value FROM duckdb_settings() WHERE name IN ({names})"  # noqa: S608
    settings = {str(name): str(value) for name, value in fetch(query)}
    return {
        "version": str(fetch("SELECT version()")[0][0]),
        "isolation": "snapshot",
        "timezone": str(fetch("SELECT current_setting('TimeZone')")[0][0]),
        **in_common_words(
            settings.get("fsync_mode"),
            settings.get("memory_limit") or settings["max_memory"],
            settings["threads"],
        ),
        **_own_words(fetch, settings, index_asked),
        **{f"setting.{name}": settings[name] for name in _SETTINGS if name in settings},
    }


def _own_words(fetch: Fetch, settings: Mapping[str, str], index_asked: str) -> dict[str, str]:
    """The tactics that are settings of DuckDB's own, and whether there is an index."""
    ordered = settings["preserve_insertion_order"] == "true"
    indexed = fetch("SELECT count(*) FROM duckdb_indexes()")[0][0] > 0
    index = {"index": "all" if indexed else "none"}
    known = frozenset(str(row[0]) for row in fetch("SELECT name FROM duckdb_optimizers()"))
    return {
        "compression": settings["force_compression"].lower(),
        "preserve_insertion_order": "on" if ordered else "off",
        **(index if indexed or index_asked == "none" else {}),
        **optimizers.read_back(settings["disabled_optimizers"], TACTICS, known),
    }
