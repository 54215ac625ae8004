"""Any setting of MariaDB by its own name: `mariadb?set.join_buffer_size=1M`.

The server is started with it, so sessions have it, too. Its own program says which it knows. What
Loadstone itself relies on is refused.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from loadstone.engines.mariadb.session import Session
from loadstone.engines.setting import Settings
from loadstone.errors import InputError
from loadstone.plan.variant import SETTING

SETTINGS = Settings.beside(__file__, "mariadb")
_SIZE = re.compile(r"([0-9]{1,12})([KMGTPE])", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_HELP_S_MAX = 30.0
_END_OF_NAMES = "---"


def check(server: Path, name: str, value: str) -> None:
    """Raise `InputError` for a setting that this server does not have, or a value that its program
    does not take. What a server of the user's takes is known when a session begins there."""
    known = _names(server)
    # The program takes the beginning of a name for the whole.
    if known and name not in known:
        raise SETTINGS.unknown(name, known)
    if complaint := _complaint(server, name, value):
        raise InputError(f"mariadb: {complaint}", hint=f"write another {SETTING}{name}=…")


@cache
def _names(server: Path) -> Sequence[str]:
    """The settings that the program knows; none where it cannot be asked."""
    done = _help(server)
    lines = done.stdout.splitlines() if done is not None else []
    # Options first, then a ruled table of the settings and their values.
    ruled = [at for at, line in enumerate(lines) if line.startswith(_END_OF_NAMES)]
    found = []
    for line in lines[ruled[-1] + 1 :] if ruled else ():
        if not line.strip():
            break
        found.append(line.split()[0].replace("-", "_"))
    return found


@cache
def _complaint(server: Path, name: str, value: str) -> str:
    """The program's words about a value; empty where it takes it."""
    done = _help(server, f"--{name.replace('_', '-')}={value}")
    if done is None:
        return ""
    mine = [line for line in done.stderr.splitlines() if _names_it(line, name)]
    return mine[0].partition("] ")[2] or mine[0] if mine else ""


def _names_it(line: str, name: str) -> bool:
    return name in line.replace("-", "_")


def _help(server: Path, *options: str) -> "subprocess.CompletedProcess[str] | None":
    """The program's help, by which it reads options and starts nothing."""
    command = [str(server), "--no-defaults", *options, "--verbose", "--help"]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", env={"LC_ALL": "C"},
            check=False, timeout=_HELP_S_MAX,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None


def of_start(settings: Mapping[str, str]) -> dict[str, str]:
    """The options that a server is started with."""
    return {name.replace("_", "-"): value for name, value in settings.items()}


def set_in(session: Session, settings: Mapping[str, str]) -> None:
    """Set them for a session alone. Raises PyMySQL's errors."""
    for name, asked in settings.items():
        value = _in_bytes(asked) or asked
        number = _NUMBER.fullmatch(value)
        session.ask(f"SET SESSION {name} = {value if number else session.text_literal(value)}")


def read_back(session: Session, settings: Mapping[str, str]) -> dict[str, str]:
    """Each as the session has it."""
    found = {}
    for name, asked in settings.items():
        rows = session.ask(f"SHOW SESSION VARIABLES LIKE {session.text_literal(name)}")
        reading = str(rows[0][1]) if rows else "not on this server"
        sized = _in_bytes(asked)
        found[name] = f"{asked}: {reading}" if sized == reading else SETTINGS.shown(asked, reading)
    return found


def _in_bytes(asked: str) -> str:
    """A number with one of the letters that the server's options take, `1M`, as it reads back;
    empty for other values."""
    found = _SIZE.fullmatch(asked)
    return str(int(found[1]) << 10 * (1 + "KMGTPE".index(found[2].upper()))) if found else ""
