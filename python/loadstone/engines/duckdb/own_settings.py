"""Any setting of DuckDB by its own name: `duckdb?set.default_block_size=16384`."""

from collections.abc import Mapping
from functools import cache

import duckdb

from loadstone.engines import setting

OF_LOADED = frozenset(
    {"default_block_size", "force_compression", "storage_compatibility_version",
     "zstd_min_string_length", "write_buffer_row_group_count"}
)  # fmt: skip
"""Those by which a file looks otherwise."""
REFUSED = frozenset(
    {"access_mode", "temp_directory", "duckdb_api", "custom_user_agent", "schema", "search_path",
     "lock_configuration", "enable_external_access", "file_search_path", "home_directory",
     "secret_directory", "default_secret_storage", "allow_persistent_secrets", "user", "username",
     "timezone",
     "log_query_path", "current_dialect", "enable_profiling", "enable_progress_bar",
     "enable_progress_bar_print", "profiling_output", "profile_output"}
)  # fmt: skip
"""Those that reach beyond the database, or that Loadstone's own statements rely on."""
_REACH = ("extension", "proxy", "log")
_SAME = (
    ("memory_limit", "max_memory"), ("threads", "worker_threads"),
    ("default_null_order", "null_order"), ("checkpoint_threshold", "wal_autocheckpoint"),
)  # fmt: skip
"""Names of one setting, that of a tactic first: releases take all, and list one or the other."""


@cache
def scopes() -> Mapping[str, str]:
    """Every setting of this DuckDB: GLOBAL, or LOCAL to a connection, where it says so."""
    with duckdb.connect() as db:
        rows = db.execute("SELECT * FROM duckdb_settings()")
        names = [column[0] for column in rows.description or ()]
        each = [dict(zip(names, row, strict=True)) for row in rows.fetchall()]
    return {str(one["name"]): str(one.get("scope", "GLOBAL")) for one in each}


def listed_as(name: str) -> str:
    """The name under which this DuckDB lists a setting. Raises `InputError` for one that it has
    not: another release may have it."""
    found = next((one for one in _names_of(name) if one in scopes()), None)
    if found is None:
        raise setting.unknown("duckdb", name, tuple(scopes()))
    return found


def check_name(name: str, value: str) -> None:
    """Raise `InputError` for what is no setting's name or value, or reaches beyond the database,
    whatever the release."""
    setting.check("duckdb", name, value)
    if name.casefold() in REFUSED or any(word in name for word in _REACH):
        raise setting.refused("duckdb", name, "a run depends on it, or it reaches beyond the run")


def check(name: str, value: str) -> None:
    """Raise `InputError` for what is no setting, reaches beyond the database, or is no value."""
    setting.check("duckdb", name, value)
    listed_as(name)
    check_name(name, value)
    try:
        with duckdb.connect(config=of_start({name: value})) as db:
            set_local(db, {name: value})
    except (duckdb.Error, ValueError) as error:
        raise setting.refused("duckdb", name, str(error).splitlines()[0]) from None


def of_start(settings: Mapping[str, str]) -> dict[str, str | bool | int | float | list[str]]:
    """The settings of the whole database, which DuckDB takes when it opens it. Each has the name
    that our tactic for it uses, so that it replaces the tactic's value."""
    return {_names_of(name)[0]: each for name, each in settings.items() if not _is_local(name)}


def set_local(db: duckdb.DuckDBPyConnection, settings: Mapping[str, str]) -> None:
    """Those of a connection. Names are known ones; a value is quoted."""
    for name, value in settings.items():
        if _is_local(name):
            quoted = value.replace("'", "''")
            db.execute(f"SET {name} = '{quoted}'")


def has_local(settings: Mapping[str, str]) -> bool:
    """Whether one of them is a connection's."""
    return any(map(_is_local, settings))


def _names_of(name: str) -> tuple[str, ...]:
    return next((names for names in _SAME if name in names), (name,))


def _is_local(name: str) -> bool:
    return scopes()[listed_as(name)] == "LOCAL"


def read_back(db: duckdb.DuckDBPyConnection, settings: Mapping[str, str]) -> dict[str, str]:
    """Each as DuckDB shows it."""
    rows = db.execute("SELECT name, value FROM duckdb_settings()").fetchall()
    found = {str(name): str(value) for name, value in rows}
    return {
        name: setting.reported(asked, found[listed_as(name)], binary=False)
        for name, asked in settings.items()
    }
