"""MariaDB's server as it is installed, and the folder of its messages and system tables.

There is no wheel of it: the program is that of the system's packages, or of a build.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from loadstone.errors import InputError, NotInstalledError

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

VARIABLE = "LOADSTONE_MARIADBD"
"""The environment variable that names the program."""
INSTALL_HINT = f"install mariadb-server-core, set {VARIABLE}, or name a folder: mariadb@PATH/bin"
_PROGRAM = "mariadbd"
_BESIDE_PATH = "/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/local/libexec"
"""The folders in which systems install servers; the path of an ordinary user lacks them."""
_SYSTEM_TABLES = ("mysql_system_tables.sql", "mariadb_system_tables.sql")
_VERSION = re.compile(r"Ver (\S+)")
_VERSION_S_MAX = 30.0


@dataclass(frozen=True, slots=True)
class Programs:
    """The files by which a data folder is made and a server is started."""

    server: Path
    share: Path
    """The folder with the messages, the character sets, and the texts of the system's tables."""

    @property
    def system_tables(self) -> Path:
        """The text that makes the system's tables."""
        return next(path for name in _SYSTEM_TABLES if (path := self.share / name).is_file())


def programs_of(variant: "Variant") -> Programs:
    """Those of a variant's build, or the installed ones. Raises `InputError` where a build has
    none, `NotInstalledError` where none is installed."""
    return built(Path(variant.release.programs)) if variant.release.programs else installed()


def installed() -> Programs:
    """The program that the environment names, or that of the path. Raises `NotInstalledError`."""
    named = os.environ.get(VARIABLE, "")
    if named and not os.access(named, os.X_OK):
        raise NotInstalledError(
            f"{VARIABLE} names no program that can be run: {named}", hint=INSTALL_HINT
        )
    path = f"{os.environ.get('PATH', os.defpath)}:{_BESIDE_PATH}"
    found = named or shutil.which(_PROGRAM, path=path)
    if not found:
        raise NotInstalledError("the MariaDB server is not installed", hint=INSTALL_HINT)
    return _with_share(Path(found).absolute())


def built(folder: Path) -> Programs:
    """The programs of a build. Raises `InputError` where the folder has none."""
    server = folder / _PROGRAM
    if not os.access(server, os.X_OK):
        raise InputError(
            f"{folder} has no program {_PROGRAM} that can be run",
            hint=f"name the folder that holds {_PROGRAM}: mariadb@/opt/mariadb/bin",
        )
    return _with_share(server)


def _with_share(server: Path) -> Programs:
    """The program, and the folder that its installation has beside it, or where a link leads."""
    for place in dict.fromkeys((server, server.resolve())):
        for share in ("share/mysql", "share/mariadb", "share"):
            programs = Programs(server, place.parent.parent / share)
            if any((programs.share / name).is_file() for name in _SYSTEM_TABLES):
                return programs
    raise NotInstalledError(
        f"{server} has no share/mysql/{_SYSTEM_TABLES[0]} beside it", hint=INSTALL_HINT
    )


@cache
def version_of(server: Path) -> str:
    """The version that a server's program reports; empty where it does not run."""
    try:
        done = subprocess.run(
            [server, "--version"], check=False, capture_output=True, text=True,
            timeout=_VERSION_S_MAX,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout)
    return found[1] if found and done.returncode == 0 else ""
