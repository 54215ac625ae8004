"""PostgreSQL's tactics: set at the server's start or for our session, and read back."""

from collections.abc import Mapping
from typing import Any

import psycopg

from loadstone.engines.tactic import beside
from loadstone.errors import UnsupportedError

TACTICS = beside(__file__)
"""Of the server and of a session."""
SERVER_TACTICS = ("durability", "cache", "parallelism")
SESSION_TACTICS = ("durability", "parallelism")
"""Those of a client's session, set as defaults of its role."""
SESSIONS_MAX = 300
"""Of a private server: the most users that a plan can ask for, and some that look after it."""

Connection = psycopg.Connection[tuple[Any, ...]]

_JOINS_OFF = {
    "auto": (),
    "nested-loops": ("enable_hashjoin", "enable_mergejoin"),
    "hash": ("enable_nestloop", "enable_mergejoin"),
    "merge": ("enable_nestloop", "enable_hashjoin"),
}
_JOIN_SWITCHES = ("enable_nestloop", "enable_hashjoin", "enable_mergejoin")
_SHOWN = (
    "autovacuum",
    "block_size",
    "checkpoint_timeout",
    "data_checksums",
    "default_statistics_target",
    "effective_cache_size",
    "fsync",
    "full_page_writes",
    "hash_mem_multiplier",
    "huge_pages_status",
    "io_method",
    "jit",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "random_page_cost",
    "server_encoding",
    "shared_buffers",
    "synchronous_commit",
    "wal_level",
    "work_mem",
    *_JOIN_SWITCHES,
)


def server_settings(tactics: Mapping[str, str]) -> dict[str, str]:
    """The settings that a private server is started with."""
    durable = tactics["durability"] != "none"
    return {
        "shared_buffers": f"{max(128, int(tactics['cache']) // 1024)}kB",
        "fsync": "on" if durable else "off",
        "full_page_writes": "on" if durable else "off",
        "max_worker_processes": str(max(8, int(tactics["parallelism"]))),
        "max_connections": str(SESSIONS_MAX),
        # Nobody replicates this server, and a table made and filled in one transaction is then
        # synced instead of logged.
        "wal_level": "minimal",
        "max_wal_senders": "0",
        # Background work would fall into some samples and not into others.
        "autovacuum": "off",
        # The wheel is built without LLVM: this only says so.
        "jit": "off",
        "checkpoint_timeout": "1d",
        "max_wal_size": "4GB",
    }


def session_settings(
    tactics: Mapping[str, str], asked: frozenset[str], connection: Connection
) -> dict[str, str]:
    """Set the session's tactics. Returns setting -> reason for those the server lacks; raises
    `UnsupportedError` where a tactic that was `asked` for needs one of them."""
    gaps = {}
    for (tactic, name), value in _session(tactics).items():
        try:
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        except (psycopg.errors.UndefinedObject, psycopg.errors.FeatureNotSupported) as error:
            if tactic in asked:
                raise UnsupportedError(
                    f"postgresql: this server cannot switch {tactic}: it has no {name}",
                    hint=f"leave out {tactic}=…",
                ) from None
            gaps[name] = f"not on this server ({type(error).__name__})"
    return gaps


def role_settings(tactics: Mapping[str, str]) -> dict[str, str]:
    """The defaults of a role whose sessions are to have `SESSION_TACTICS`."""
    wanted = _session(tactics)
    return {name: value for (of, name), value in wanted.items() if of in SESSION_TACTICS}


def read_terms(connection: Connection, gaps: Mapping[str, str]) -> dict[str, str]:
    """Every term, from the server."""
    rows = connection.execute(
        "SELECT name, setting, coalesce(unit, '') FROM pg_catalog.pg_settings WHERE name = ANY(%s)",
        ([*_SHOWN, "server_version"],),
    ).fetchall()
    raw = {str(name): (str(setting), str(unit)) for name, setting, unit in rows}
    settings = {
        name: f"{setting} x {unit}" if unit and unit[0].isdigit() else setting + unit
        for name, (setting, unit) in raw.items()
    }
    settings |= gaps
    isolation = connection.execute("SHOW default_transaction_isolation").fetchone()
    lost = "off" in (settings.get("fsync"), settings.get("synchronous_commit"))
    workers = raw.get("max_parallel_workers_per_gather", ("0", ""))[0]
    place = connection.execute(
        "SELECT datcollate FROM pg_catalog.pg_database WHERE datname = current_database()"
    ).fetchone()
    return {
        "version": _version(connection),
        "durability": "none" if lost else "full",
        "isolation": str(isolation[0]) if isolation else "unknown",
        "cache": _bytes(*raw["shared_buffers"]) if "shared_buffers" in raw else "unknown",
        "parallelism": str(int(workers) + 1),
        "join": _join(settings),
        "setting.database_collation": str(place[0]) if place else "unknown",
        **{f"setting.{name}": settings.get(name, "not on this server") for name in _SHOWN},
    }


def _session(tactics: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """(tactic, setting) -> value, of a session."""
    workers = str(int(tactics["parallelism"]) - 1)
    wanted = {
        ("durability", "synchronous_commit"): "on" if tactics["durability"] == "full" else "off",
        ("parallelism", "max_parallel_workers_per_gather"): workers,
        ("parallelism", "max_parallel_maintenance_workers"): workers,
    }
    for switch in _JOIN_SWITCHES:
        off = switch in _JOINS_OFF[tactics["join"]]
        wanted["join", switch] = "off" if off else "on"
    return wanted


def _join(settings: Mapping[str, str]) -> str:
    off = tuple(name for name in _JOIN_SWITCHES if settings.get(name) == "off")
    return next((name for name, names in _JOINS_OFF.items() if set(names) == set(off)), "unknown")


def _version(connection: Connection) -> str:
    row = connection.execute("SELECT version()").fetchone()
    # "PostgreSQL 18.6 on x86_64-…, compiled by …": the compiler is beside the point.
    return str(row[0]).split(" on ")[0] if row else "unknown"


def _bytes(setting: str, unit: str) -> str:
    scale = {"8kB": 8192, "kB": 1024, "MB": 1024**2, "": 1, "B": 1}.get(unit)
    return str(int(setting) * scale) if scale and setting.isdecimal() else "unknown"
