"""SQLite's pragmas that are settings: `sqlite?set.cache_spill=off`.

SQLite says nothing of a pragma that it does not know, and keeps its own value where it does not
like another: so they are listed here, and what is read back must be what was wanted.
"""

from collections.abc import Mapping
from contextlib import closing
from functools import cache
from tempfile import TemporaryDirectory

import apsw

from loadstone.engines.setting import Settings, same
from loadstone.engines.sqlite import driver
from loadstone.errors import EngineError, InputError

SETTINGS = Settings.beside(__file__, "sqlite")
OF_CONNECTION, OF_FILE, _OF_NEW_FILE, _OF_PROCESS = (
    SETTINGS.groups[name] for name in ("connection", "file", "new_file", "process")
)

_SHOWN_BY: Mapping[str, str] = {"case_sensitive_like": "SELECT 'a' NOT LIKE 'A'"}
"""A query that proves a pragma which SQLite cannot read back."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "synchronous": ("off", "normal", "full", "extra"),
    "temp_store": ("default", "file", "memory"),
    "auto_vacuum": ("none", "full", "incremental"),
    "secure_delete": ("off", "on", "fast"),
}
"""Words for the numbers 0, 1, 2 … that are read back."""


def check(name: str, *, ours: bool) -> None:
    """Raise `InputError` for an unknown pragma, or one that is not ours to set in a user's file."""
    if name not in OF_CONNECTION | OF_FILE:
        if name in _pragmas():
            raise SETTINGS.refusal(name, "a run depends on it, or it does not stay set")
        raise SETTINGS.unknown(name, sorted(OF_CONNECTION | OF_FILE))
    if not ours and name not in OF_CONNECTION:
        raise SETTINGS.refusal(name, "a file of yours keeps its own")


@cache
def _pragmas() -> frozenset[str]:
    with closing(driver.Connection(":memory:")) as db:
        return frozenset(str(row[0]) for row in db.execute("SELECT name FROM pragma_pragma_list"))


def check_value(name: str, value: str) -> None:
    """Raise `InputError` for a value that this SQLite does not take, by setting it in a file of
    its own. Whatever keeps that from being tried is for the engine's start to report."""
    if name in _OF_PROCESS:
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
        if (name in _OF_NEW_FILE) == new_file:
            db.pragma(name, int(value) if _is_number(value) else value)


def read_back(db: apsw.Connection, settings: Mapping[str, str]) -> dict[str, str]:
    """Each setting as read back. Raises `EngineError` where SQLite has another value."""
    found = {}
    for name, wanted in settings.items():
        query = _SHOWN_BY.get(name)
        reading = str(db.execute(query).fetchall()[0][0] if query else db.pragma(name))
        words = _WORDS.get(name, ())
        number = str(words.index(wanted.casefold())) if wanted.casefold() in words else wanted
        truly = wanted.casefold() in ("on", "true", "yes") and reading not in ("0", "None")
        if not (same(number, reading) or truly):
            raise EngineError(
                f"sqlite does not take {wanted!r} for {name}: after that was set, it has {reading}",
                hint=f"see https://sqlite.org/pragma.html#pragma_{name}, or leave out set.{name}",
            )
        found[name] = reading if number == wanted == reading else f"{wanted}: {reading}"
    return found


def _is_number(value: str) -> bool:
    return value.removeprefix("-").isdecimal() and value.isascii()
