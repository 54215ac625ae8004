"""SQLite's pragmas that are settings: `sqlite?set.cache_spill=off`.

SQLite says nothing of a pragma that it does not know, and keeps its own value where it does not
like another: so they are listed here, and what is read back must be what was requested.
"""

from collections.abc import Mapping
from contextlib import closing
from functools import cache
from tempfile import TemporaryDirectory

import apsw

from loadstone.engines import setting
from loadstone.engines.sqlite import driver
from loadstone.errors import EngineError, InputError

OF_CONNECTION = (
    "analysis_limit", "automatic_index", "busy_timeout", "cache_size", "cache_spill",
    "case_sensitive_like", "cell_size_check", "checkpoint_fullfsync", "defer_foreign_keys",
    "foreign_keys", "fullfsync",
    "hard_heap_limit", "ignore_check_constraints", "legacy_alter_table", "mmap_size",
    "read_uncommitted", "recursive_triggers", "reverse_unordered_selects", "soft_heap_limit",
    "synchronous", "temp_store", "threads", "trusted_schema", "wal_autocheckpoint",
)  # fmt: skip
"""Those that no file keeps, and that touch nothing but the connection."""
OF_FILE = (
    "application_id", "auto_vacuum", "encoding", "journal_mode", "journal_size_limit",
    "locking_mode", "max_page_count", "page_size", "secure_delete", "user_version",
)  # fmt: skip
"""Those that a file keeps, or that its other users notice."""
OF_LOADED = frozenset({"application_id", "auto_vacuum", "encoding", "page_size", "user_version"})
"""Pragmas that change the file for good."""

OF_DATA = OF_LOADED | {"analysis_limit"}
"""Pragmas that change the loaded tables or their statistics: another value needs a new load."""
OF_PROCESS = frozenset({"hard_heap_limit", "soft_heap_limit"})
"""Those that every connection of a process notices: a plan, whose process lives on, tries none."""

_SHOWN_BY: Mapping[str, str] = {"case_sensitive_like": "SELECT 'a' NOT LIKE 'A'"}
"""A query that proves a pragma which SQLite cannot read back."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "synchronous": ("off", "normal", "full", "extra"),
    "temp_store": ("default", "file", "memory"),
    "auto_vacuum": ("none", "full", "incremental"),
    "secure_delete": ("off", "on", "fast"),
}
"""Words for the numbers 0, 1, 2 … that are read back."""


def check(name: str, value: str, *, ours: bool) -> None:
    """Raise `InputError` for what is no setting, or is not ours to set in a user's file."""
    setting.check("sqlite", name, value)
    if name not in OF_CONNECTION + OF_FILE:
        if name in _pragmas():
            raise setting.refused("sqlite", name, "a run depends on it, or it does not stay set")
        raise setting.unknown("sqlite", name, OF_CONNECTION + OF_FILE)
    if not ours and name not in OF_CONNECTION:
        raise setting.refused("sqlite", name, "a file of yours keeps its own")


@cache
def _pragmas() -> frozenset[str]:
    with closing(driver.Connection(":memory:")) as db:
        return frozenset(str(row[0]) for row in db.execute("SELECT name FROM pragma_pragma_list"))


def check_value(name: str, value: str) -> None:
    """Raise `InputError` for a value that this SQLite does not take, by setting it in a file of
    its own. Whatever keeps that from being tried is for the engine's start to report."""
    if name in OF_PROCESS:
        return
    if refusal := _refusal(name, value):
        raise InputError(refusal.message, hint=refusal.hint)


@cache
def _refusal(name: str, value: str) -> EngineError | None:
    settings = {name: value}
    try:
        with (
            TemporaryDirectory(prefix="loadstone-") as folder,
            closing(driver.Connection(f"{folder}/tried.db")) as db,
        ):
            for new_file in (True, False):
                apply(db, settings, new_file=new_file)
            read_back(db, settings)
    except EngineError as error:
        return error
    except apsw.Error as error:
        return EngineError(
            f"sqlite does not take {value!r} for {name}: {error}",
            hint=f"see https://sqlite.org/pragma.html#pragma_{name}, or leave out set.{name}",
        )
    except OSError:
        return None
    return None


def apply(db: apsw.Connection, settings: Mapping[str, str], *, new_file: bool) -> None:
    """Set them; those of a file that has no table yet first of all."""
    for name, value in settings.items():
        if (name in OF_LOADED) == new_file:
            db.pragma(name, int(value) if _is_number(value) else value)


def read_back(db: apsw.Connection, settings: Mapping[str, str]) -> dict[str, str]:
    """Each as read back. Raises `EngineError` for one that SQLite keeps at another value."""
    found = {}
    for name, asked in settings.items():
        query = _SHOWN_BY.get(name)
        reading = str(db.execute(query).fetchall()[0][0] if query else db.pragma(name))
        words = _WORDS.get(name, ())
        number = str(words.index(asked.casefold())) if asked.casefold() in words else asked
        truly = asked.casefold() in ("on", "true", "yes") and reading not in ("0", "None")
        if not (setting.same(number, reading) or truly):
            raise EngineError(
                f"sqlite does not take {asked!r} for {name}: after that was set, it has {reading}",
                hint=f"see https://sqlite.org/pragma.html#pragma_{name}, or leave out set.{name}",
            )
        found[name] = reading if number == asked == reading else f"{asked}: {reading}"
    return found


def _is_number(value: str) -> bool:
    return value.removeprefix("-").isdecimal() and value.isascii()
