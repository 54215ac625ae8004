"""DuckDB's settings in the terms that all engines share: one rule for engine and client."""

from collections.abc import Collection

from loadstone.engines.duckdb import optimizers
from loadstone.engines.tactic import beside
from loadstone.errors import UnsupportedError

TACTICS = beside(__file__) | optimizers.tactics()
"""Of the engine when statements drive it."""
HEADER_BYTES = 3 * 4096 + 262_144
"""One main and two database headers, and the block that the catalog begins in: metadata has blocks
of its own. See https://duckdb.org/docs/stable/internals/storage."""
FSYNC_MODES = {"full": "STANDARD", "none": "NONE"}
"""Durability -> `fsync_mode`."""

_UNITS_BYTES = {
    "bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
}  # fmt: skip


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
