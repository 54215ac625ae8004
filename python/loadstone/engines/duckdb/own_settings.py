"""Any setting of DuckDB by its own name: `duckdb?set.default_block_size=16384`."""

from collections.abc import Mapping
from functools import cache

import duckdb

from loadstone.engines.setting import Settings

SETTINGS = Settings.beside(__file__, "duckdb")
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
        raise SETTINGS.unknown(name, tuple(scopes()))
    return found


def check(name: str, value: str) -> None:
    """Raise `InputError` for a setting that this DuckDB does not have, or a value that it refuses:
    it is tried on a database in memory."""
    listed_as(name)
    try:
        with duckdb.connect(config=of_start({name: value})) as db:
            set_local(db, {name: value})
    except (duckdb.Error, ValueError) as error:
        raise SETTINGS.refusal(name, str(error).splitlines()[0]) from None


def of_start(settings: Mapping[str, str]) -> dict[str, str | bool | int | float | list[str]]:
    """The settings of the whole database, which DuckDB takes when it opens it. Each has the name
    that our tactic for it uses, so that it replaces the tactic's value."""
    return {_names_of(name)[0]: each for name, each in settings.items() if not _is_local(name)}


def set_local(db: duckdb.DuckDBPyConnection, settings: Mapping[str, str]) -> None:
    """Set the settings of a connection. Names are known ones; a value is quoted."""
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
    """Each setting as DuckDB shows it."""
    rows = db.execute("SELECT name, value FROM duckdb_settings()").fetchall()
    found = {str(name): str(value) for name, value in rows}
    return {
        name: SETTINGS.shown(wanted, found[listed_as(name)]) for name, wanted in settings.items()
    }
