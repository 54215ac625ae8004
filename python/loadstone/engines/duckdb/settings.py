"""DuckDB's terms: its settings in the words that all engines share, by one rule for engine and
client, and what the engine reads back."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from loadstone.engines.duckdb import optimizers
from loadstone.engines.tactic import beside
from loadstone.errors import UnsupportedError

TACTICS = beside(__file__) | optimizers.tactics()
"""The tactics of statements; a client's program has others."""
HEADER_BYTES = 3 * 4096 + 262_144
"""One main and two database headers, and the block that the catalog begins in: metadata has blocks
of its own. See https://duckdb.org/docs/stable/internals/storage."""
FSYNC_MODES = {"full": "STANDARD", "none": "NONE"}
"""Durability -> `fsync_mode`."""

_UNITS_BYTES = {
    "bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
}  # fmt: skip
_SETTINGS = (
    "fsync_mode", "threads", "async_threads", "memory_limit", "checkpoint_threshold",
    "default_block_size", "preserve_insertion_order", "force_compression", "index_scan_max_count",
    "index_scan_percentage",
)  # fmt: skip
Fetch = Callable[[str], list[tuple[Any, ...]]]
"""Gives every row of a query."""


def synced(durability: str, known: Collection[str]) -> dict[str, str]:
    """The setting for a durability. Releases before 2.0 have none, and sync each commit. Raises
    `UnsupportedError` where it is not to be had."""
    if "fsync_mode" in known:
        return {"fsync_mode": FSYNC_MODES[durability]}
    if durability == "full":
        return {}
    raise UnsupportedError(
        f"duckdb: this release has no fsync_mode, and durability={durability} cannot be set",
        hint="leave out durability=…, or request release 2.0.0 or a later one",
    )


def in_common_words(fsync_mode: str | None, memory_limit: str, threads: str) -> dict[str, str]:
    """Durability, cache and parallelism, from the settings as read back; `fsync_mode` is None in a
    release that cannot leave out syncing."""
    return {
        "durability": "none" if fsync_mode == FSYNC_MODES["none"] else "full",
        "cache": str(size_bytes(memory_limit)),
        "parallelism": threads,
    }


def size_bytes(text: str) -> int:
    """Read a size as DuckDB prints it, `256.0 MiB`; before 0.10 `268.4MB`."""
    number = text.rstrip("KMGTiBbytes ")
    unit = text.removeprefix(number).strip()
    return round(float(number) * _UNITS_BYTES[unit])


def read_back(fetch: Fetch, *, wanted_index: str) -> dict[str, str]:
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
        **_own_words(fetch, settings, wanted_index),
        **{f"setting.{name}": settings[name] for name in _SETTINGS if name in settings},
    }


def _own_words(fetch: Fetch, settings: Mapping[str, str], wanted_index: str) -> dict[str, str]:
    """The tactics that are settings of DuckDB's own, and whether there is an index."""
    ordered = settings["preserve_insertion_order"] == "true"
    indexed = fetch("SELECT count(*) FROM duckdb_indexes()")[0][0] > 0
    index = {"index": "all" if indexed else "none"}
    known = frozenset(str(row[0]) for row in fetch("SELECT name FROM duckdb_optimizers()"))
    return {
        "compression": settings["force_compression"].lower(),
        "preserve_insertion_order": "on" if ordered else "off",
        **(index if indexed or wanted_index == "none" else {}),
        **optimizers.read_back(settings["disabled_optimizers"], TACTICS, known),
    }
