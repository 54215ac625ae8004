"""PostgreSQL's tactics: set at the server's start or for our session, and read back."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from loadstone.engines.postgresql import switches
from loadstone.engines.postgresql.load import BY_BYTES, compares_by_bytes
from loadstone.engines.private_server import SESSIONS_MAX
from loadstone.engines.tactic import beside
from loadstone.errors import EngineError, UnsupportedError

TACTICS = beside(__file__)
"""Of the server and of a session."""
SERVER_TACTICS = ("durability", "cache", "parallelism")
SESSION_TACTICS = ("durability", "parallelism")
"""Those of a client's session, set as defaults of its role."""

_REFUSALS = (
    psycopg.errors.UndefinedObject,
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.InvalidParameterValue,
    psycopg.errors.InsufficientPrivilege,
)
_STATISTICS = """
SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_stats WHERE schemaname = %(schema)s) THEN 'on'
            WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
                            ON n.oid = c.relnamespace
                          WHERE n.nspname = %(schema)s AND c.relkind = 'r' AND c.reltuples > 0)
            THEN 'off' END
"""
_SECONDARY = """
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_index i
                 JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
                 JOIN pg_catalog.pg_am am ON am.oid = c.relam
                 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = %(schema)s AND NOT i.indisclustered AND am.amname = 'btree')
"""
_FACTS: Mapping[str, tuple[str, Mapping[object, str]]] = {
    "place": ("SELECT pg_catalog.inet_server_addr() IS NULL", {True: "socket", False: "tcp"}),
    "statistics": (_STATISTICS, {"on": "on", "off": "off"}),
    "index": (_SECONDARY, {True: "all"}),
}
"""Tactic -> what requests it, and the answer in the tactic's words; none where nothing is
loaded."""

Connection = psycopg.Connection[tuple[Any, ...]]

_SAME_FOR_ALL = {
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "array_nulls": "on",
    "backslash_quote": "safe_encoding",
    "bytea_output": "hex",
    "default_transaction_deferrable": "off",
    "default_transaction_isolation": "read committed",
    "extra_float_digits": "1",
    "gin_fuzzy_search_limit": "0",
    "idle_in_transaction_session_timeout": "0",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "lock_timeout": "0",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "transaction_timeout": "0",
    "transform_null_equals": "off",
}
"""Of each session, on whatever server: its own defaults."""
_SET = "SELECT pg_catalog.set_config(%s, %s, false)"
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
    return {
        "shared_buffers": f"{max(128, int(tactics['cache']) // 1024)}kB",
        "fsync": "off" if tactics["durability"] == "none" else "on",
        **switches.settings_of_start(tactics),
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


def same_for_all(connection: Connection, timezone: str) -> None:
    """Set what a role, a database or a client may have otherwise and answers depend on, and read it
    back. Raises `EngineError`."""
    wanted = {**_SAME_FOR_ALL, "TimeZone": timezone}
    query = "SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY(%s)"
    rows = connection.execute(query, ([*wanted],)).fetchall()
    known = {str(name): str(setting) for name, setting in rows}
    for name, value in wanted.items():
        if known.get(name, value) == value:
            continue
        row = connection.execute(_SET, (name, value)).fetchone()
        if row != (value,):
            raise EngineError(
                f"postgresql: {name} was set to {value}, and the server has {row and row[0]}",
                hint="name a server that takes it, or leave out the URL to use a private one",
            )


def session_settings(
    tactics: Mapping[str, str], asked: frozenset[str], connection: Connection
) -> dict[str, str]:
    """Set the session's tactics. Returns setting -> reason for those the server lacks; raises
    `UnsupportedError` where it cannot set a tactic that was `asked` for."""
    gaps = {}
    for (tactic, name), value in switches.settings_of_session(tactics).items():
        try:
            said = switches.written(name, value, connection.info.server_version)
            connection.execute(_SET, (name, said))
        except _REFUSALS as error:
            named = tactic if tactic in asked else "durability"
            if named in asked and (named == tactic or tactic in switches.AS_DURABILITY):
                raise UnsupportedError(
                    f"postgresql: this server cannot switch {named} to {tactics[named]}:"
                    f" {error.diag.message_primary or error}",
                    hint=f"leave out {named}=…",
                ) from None
            gaps[name] = f"not on this server ({type(error).__name__})"
    if tactics.get("jit") == "on" and "jit" in asked:
        _refuse_without_compiler(connection)
    return gaps


def _refuse_without_compiler(connection: Connection) -> None:
    row = connection.execute("SELECT pg_catalog.pg_jit_available()").fetchone()
    if not (row and row[0]):
        raise UnsupportedError(
            "postgresql: this server cannot switch jit to on: it was built without LLVM",
            hint="leave out jit=on, or name a server of yours that has it",
        )


def role_settings(tactics: Mapping[str, str]) -> dict[str, str]:
    """The defaults of a role whose sessions are to have `SESSION_TACTICS`."""
    wanted = switches.settings_of_session(tactics)
    of_role = (*SESSION_TACTICS, *switches.AS_DURABILITY)
    return {name: value for (of, name), value in wanted.items() if of in of_role}


def read_tactics(connection: Connection, schema: str) -> dict[str, str]:
    """The tactics that only statements have, read back: of settings, of what is in the schema, and
    of the session."""
    names = [*switches.NAMES, "work_mem"]
    settings, raw = _settings(connection, names)
    found = {
        tactic: switches.value_of(tactic, settings)
        for tactic in (*switches.OF_SESSION, *switches.OF_START)
        if any(name in settings for name in _settings_of(tactic))
    }
    if "work_mem" in raw:
        found["work_mem"] = _bytes(*raw["work_mem"])
    return found | {
        name: word
        for name, (query, words) in _FACTS.items()
        if (word := words.get(_fact(connection, query, schema), ""))
    }


def _settings_of(tactic: str) -> list[str]:
    values = {**switches.OF_SESSION, **switches.OF_START}[tactic]
    return [name for settings in values.values() for name in settings]


def _fact(connection: Connection, query: str, schema: str) -> object:
    """The answer of one value, or None where the server knows no such catalog."""
    try:
        row = connection.execute(query, {"schema": schema}).fetchone()
    except (psycopg.errors.ProgrammingError, psycopg.errors.NotSupportedError):
        return None
    return row[0] if row else None


def encryption(connection: Connection) -> str:
    """The protocol by which a session is encrypted, or `none`."""
    if not connection.pgconn.ssl_in_use:
        return "none"
    query = "SELECT version FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()"
    try:
        row = connection.execute(query).fetchone()
    except (psycopg.errors.ProgrammingError, psycopg.errors.NotSupportedError):
        row = None
    return str(row[0]) if row and row[0] else "TLS"


def read_terms(connection: Connection, gaps: Mapping[str, str]) -> dict[str, str]:
    """Every term, from the server."""
    settings, raw = _settings(connection, [*_SHOWN, "server_version"])
    settings |= gaps
    lost = "off" in (settings.get("fsync"), settings.get("synchronous_commit"))
    workers = raw.get("max_parallel_workers_per_gather", ("0", ""))[0]
    place = connection.execute(
        "SELECT datcollate FROM pg_catalog.pg_database WHERE datname = current_database()"
    ).fetchone()
    more = "" if compares_by_bytes(connection) else f", of loaded columns {BY_BYTES.strip()}"
    return {
        "version": _version(connection),
        "timezone": _shown(connection, "TimeZone"),
        "durability": "none" if lost else "full",
        "isolation": _shown(connection, "default_transaction_isolation"),
        "cache": _bytes(*raw["shared_buffers"]) if "shared_buffers" in raw else "unknown",
        "parallelism": str(int(workers) + 1),
        "join": switches.value_of("join", settings),
        "setting.database_collation": f"{place[0]}{more}" if place else "unknown",
        **{f"setting.{name}": settings.get(name, "not on this server") for name in _SHOWN},
    }


def _shown(connection: Connection, name: str) -> str:
    row = connection.execute(f"SHOW {name}").fetchone()
    return str(row[0]) if row else "unknown"


def _settings(
    connection: Connection, names: Sequence[str]
) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Settings as people read them, and each as (number or word, unit)."""
    rows = connection.execute(
        "SELECT name, setting, coalesce(unit, '') FROM pg_catalog.pg_settings WHERE name = ANY(%s)",
        (list(names),),
    ).fetchall()
    raw = {str(name): (str(setting), str(unit)) for name, setting, unit in rows}
    settings = {
        name: f"{setting} x {unit}" if unit and unit[0].isdigit() else setting + unit
        for name, (setting, unit) in raw.items()
    }
    return settings, raw


def _version(connection: Connection) -> str:
    row = connection.execute("SELECT version()").fetchone()
    # "PostgreSQL 18.6 on x86_64-…, compiled by …": the compiler is beside the point.
    return str(row[0]).split(" on ")[0] if row else "unknown"


def _bytes(setting: str, unit: str) -> str:
    scale = {"8kB": 8192, "kB": 1024, "MB": 1024**2, "": 1, "B": 1}.get(unit)
    return str(int(setting) * scale) if scale and setting.isdecimal() else "unknown"
