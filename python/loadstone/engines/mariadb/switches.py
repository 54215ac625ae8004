"""Which settings of MariaDB a tactic is, and which value of it settings are, as read back."""

from collections.abc import Callable, Mapping

from loadstone.engines.mariadb.session import SQL_MODE
from loadstone.engines.private_server import SESSIONS_MAX
from loadstone.engines.tactic import beside
from loadstone.errors import UnsupportedError

TACTICS = beside(__file__)
OF_DATA = ("page_size",)
"""Tactics that a data folder is made with."""
OF_SESSION = ("join", "statement", "index")
"""Tactics that a server need not be started anew for."""
OF_OUR_SERVER = ("disk", "doublewrite", "adaptive_hash", "page_size")
OF_SERVER = ("durability", "cache", *OF_OUR_SERVER)
"""Tactics of a server's start: a user's has its own."""

_JOIN = {"auto": "2", "nested-loops": "0", "hash": "4"}
"""`join_cache_level`: at 2, a block of one relation's tuples waits in a buffer for each pass over
the other; at 0 each tuple alone; at 4 the block is a hash table where there is an equality."""
_JOIN_OF_MYSQL = {"auto": "block_nested_loop=on", "nested-loops": "block_nested_loop=off"}
"""By this switch it joins with a buffer, which has been a hash table since 8.0.20; without it a
tuple at a time."""
_DISK = {"buffered": "fsync", "direct": "O_DIRECT"}
_SYNCED = {"full": "1", "none": "2"}
_NEVER_SYNCED = ("nosync", "littlesync")
_OFF_ON = {"OFF": "off", "ON": "on"}
_SHOWN = (
    "aria_pagecache_buffer_size", "autocommit", "collation_database", "event_scheduler",
    "innodb_adaptive_hash_index", "innodb_buffer_pool_load_at_startup", "innodb_buffer_pool_size",
    "innodb_change_buffering", "innodb_data_file_buffering", "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_io_capacity",
    "innodb_log_file_buffering", "innodb_log_file_size", "innodb_page_size",
    "innodb_purge_threads", "innodb_stats_auto_recalc", "innodb_stats_persistent",
    "innodb_stats_persistent_sample_pages", "join_buffer_size", "join_cache_level", "log_bin",
    "optimizer_switch", "performance_schema", "query_cache_type", "sort_buffer_size", "sql_mode",
    "tmp_table_size", "use_stat_tables",
)  # fmt: skip


def of_data(tactics: Mapping[str, str]) -> dict[str, str]:
    """The options that a data folder is made with, and every start on it has, too."""
    return {"innodb-page-size": tactics["page_size"]}


def of_start(tactics: Mapping[str, str]) -> dict[str, str]:
    """The options that a server is started with."""
    return {
        "innodb-flush-log-at-trx-commit": _SYNCED[tactics["durability"]],
        "innodb-buffer-pool-size": tactics["cache"],
        "innodb-flush-method": _DISK[tactics["disk"]],
        "innodb-doublewrite": tactics["doublewrite"].upper(),
        "innodb-adaptive-hash-index": tactics["adaptive_hash"].upper(),
        "max-connections": str(SESSIONS_MAX),
        "skip-networking": "",
        # Nobody replicates this server.
        "skip-log-bin": "",
        # An answer of before would be no answer of the statement.
        "query-cache-size": "0",
        "query-cache-type": "OFF",
        # Background work would fall into some samples and not into others.
        "innodb-stats-auto-recalc": "OFF",
        "event-scheduler": "OFF",
        "character-set-server": "utf8mb4",
        "sql-mode": SQL_MODE,
        "default-time-zone": "+00:00",
    }


def of_session(tactics: Mapping[str, str], *, mariadb: bool) -> str:
    """The statement that gives a session its tactics. Raises `UnsupportedError` where MySQL has
    none."""
    join = tactics["join"]
    if mariadb:
        return f"SET SESSION join_cache_level = {_JOIN[join]}"
    if join not in _JOIN_OF_MYSQL:
        raise UnsupportedError(
            f"mariadb: MySQL has no switch for join={join}: it hashes where it finds no index",
            hint=f"leave out join={join}, or name {' or '.join(_JOIN_OF_MYSQL)}",
        )
    return f"SET SESSION optimizer_switch = '{_JOIN_OF_MYSQL[join]}'"


def read_terms(variables: Mapping[str, str]) -> dict[str, str]:
    """Every term and tactic that variables of the server are, each as it shows them now."""
    found = {name: read(variables) for name, read in _READ.items()}
    found |= {f"setting.{n}": variables.get(n, "not on this server") for n in _SHOWN}
    return found


def _durability(variables: Mapping[str, str]) -> str:
    """`full` if a commit waits for the device: its record is written and synced before it ends."""
    synced = variables.get("innodb_flush_log_at_trx_commit", "unknown")
    if variables.get("innodb_flush_method", "").casefold() in _NEVER_SYNCED:
        return "none"
    # 3 is 1, and syncs once more before: the manual's word for it.
    known = {"1": "full", "3": "full", "2": "none"}
    return known.get(synced, f"innodb_flush_log_at_trx_commit={synced}")


def _isolation(variables: Mapping[str, str]) -> str:
    # Before 11.1 it is called `tx_isolation`.
    level = variables.get("transaction_isolation") or variables.get("tx_isolation", "unknown")
    return level.replace("-", " ").casefold()


def _disk(variables: Mapping[str, str]) -> str:
    method = variables.get("innodb_flush_method", "unknown")
    return {value: word for word, value in _DISK.items()}.get(method, method)


def _join(variables: Mapping[str, str]) -> str:
    level = variables.get("join_cache_level")
    if level is None:
        switched = variables.get("optimizer_switch", "").split(",")
        return next((word for word, on in _JOIN_OF_MYSQL.items() if on in switched), "unknown")
    return {value: word for word, value in _JOIN.items()}.get(level, f"join_cache_level={level}")


def _word(name: str) -> Callable[[Mapping[str, str]], str]:
    def read(variables: Mapping[str, str]) -> str:
        value = variables.get(name, "unknown")
        return _OFF_ON.get(value, value)

    return read


_READ: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "durability": _durability,
    "isolation": _isolation,
    "disk": _disk,
    "join": _join,
    "cache": _word("innodb_buffer_pool_size"),
    "doublewrite": _word("innodb_doublewrite"),
    "adaptive_hash": _word("innodb_adaptive_hash_index"),
    "page_size": _word("innodb_page_size"),
}
