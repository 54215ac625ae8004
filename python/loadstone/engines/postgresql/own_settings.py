"""Any setting of PostgreSQL by its own name: `postgresql?set.random_page_cost=1.1`.

The server is asked what it knows, and when it takes it: a session sets what a session may, and a
private server is started with the rest. What Loadstone itself relies on is refused.
"""

import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from loadstone.engines.setting import Settings
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.plan.variant import SETTING

SETTINGS = Settings.beside(__file__, "postgresql")
_REFUSED_CATEGORIES = tuple(SETTINGS.groups["refused_categories"])
_UNKNOWN = "unrecognized configuration parameter"
"""The beginning of a server's complaint about a name."""
_OF_SESSION = ("user", "superuser")
_SESSION_SET = "SELECT pg_catalog.set_config(%s, %s, false)"

Connection = psycopg.Connection[tuple[Any, ...]]


def check_value(programs: Path, name: str, value: str) -> None:
    """Raise `InputError` for a setting that the server there has not, or a value that it does not
    take. Its program prints the setting, and starts nothing. Whatever keeps that from being tried
    is for the server's start to report."""
    refusal = _refusal(programs, name, value)
    if refusal is None:
        return
    message, hint = refusal
    if message.startswith(_UNKNOWN):
        raise SETTINGS.unknown(name, _names(programs))
    raise InputError(f"postgresql: {message}", hint=hint or f"write another {SETTING}{name}=…")


@cache
def _refusal(programs: Path, name: str, value: str) -> tuple[str, str] | None:
    """The server's complaint about a value, and its hint if it has one."""
    with TemporaryDirectory(prefix="loadstone-") as folder:
        Path(folder, "postgresql.conf").touch()
        # `-C` comes first, or the program refuses root.
        done = _run(programs, "-C", name, "-D", folder, "-c", f"{name}={value}")
    if done is None or done.returncode == 0:
        return None
    message = next(iter(_after("FATAL:  ", done.stderr)), "")
    # Other complaints are about the folder, or the machine.
    if f'"{name}"'.casefold() not in message.casefold():
        return None
    return message, next(iter(_after("HINT:  ", done.stderr)), "")


@cache
def _names(programs: Path) -> Sequence[str]:
    """The settings that the program describes: nearly all."""
    done = _run(programs, "--describe-config")
    return [] if done is None else [line.partition("\t")[0] for line in done.stdout.splitlines()]


def _run(programs: Path, *options: str) -> "subprocess.CompletedProcess[str] | None":
    command = [str(programs / "postgres"), *options]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, env={"LC_ALL": "C"}, check=False
        )
    except OSError:
        return None


def _after(word: str, output: str) -> list[str]:
    return [line.partition(word)[2] for line in output.splitlines() if word in line]


def of_start(connection: Connection, settings: Mapping[str, str], *, ours: bool) -> dict[str, str]:
    """Those that only a start of the server can set; `ours`: it may be started anew. Raises
    `InputError` for one that this server has not, `UnsupportedError` for one that cannot be set."""
    if not settings:
        return {}
    rows = connection.execute("SELECT name, context, category FROM pg_catalog.pg_settings")
    known = {str(name): (str(context), str(category)) for name, context, category in rows}
    found = {}
    for name, value in settings.items():
        if name not in known:
            raise SETTINGS.unknown(name, tuple(known))
        context, category = known[name]
        if category.startswith(_REFUSED_CATEGORIES) or context == "internal":
            raise SETTINGS.refusal(name, "a run depends on it, or it is read-only")
        if context not in _OF_SESSION:
            found[name] = value
    if found and not ours:
        raise UnsupportedError(
            f"postgresql: a server takes {next(iter(found))} when it starts, and this is not ours",
            hint="leave it out, or leave out the URL to use a private server",
        )
    return found


def set_session(connection: Connection, settings: Mapping[str, str]) -> None:
    """Set those of a session. Raises `EngineError` for a value that the server refuses."""
    for name, value in settings.items():
        try:
            connection.execute(_SESSION_SET, (name, value))
        except psycopg.Error as error:
            reason = error.diag.message_primary or error
            raise EngineError(
                f"postgresql: cannot set {name} to {value!r}: {reason}",
                hint="the view pg_settings shows what it takes",
            ) from None


def read_back(connection: Connection, settings: Mapping[str, str]) -> dict[str, str]:
    """Each as the server shows it."""
    found = {}
    for name, asked in settings.items():
        query = "SELECT pg_catalog.current_setting(%s, true)"
        row = connection.execute(query, (name,)).fetchone()
        reading = str(row[0]) if row and row[0] is not None else "not on this server"
        found[name] = SETTINGS.shown(asked, reading)
    return found
