"""Another release or build of an engine than the installed one, for one worker process.

A release is a package (`Capabilities.distribution`) that is installed once into a folder of its own
in the cache, without what it depends on. The folder stands first on the module path of the worker,
so that the worker has this engine, and all else, Loadstone's own modules too, as it is installed.
Of `venv:PATH` the folder holds links to the modules of that one package.

What the worker then has is read from the engine (`worker/requests.py`), and another release than
was requested is refused there.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from loadstone.diagnostics import say
from loadstone.engines import abilities
from loadstone.engines.system import System
from loadstone.errors import EngineError, InputError, NotInstalledError, is_of_full_disk
from loadstone.plan.variant import Variant
from loadstone.protocol import environment

UNREACHED = ("connection", "timed out", "temporary failure in name", "proxy", "dns error")
"""Words, in small letters, of an installer that reaches no index."""

SHORT_DOTS = 2
"""In a release of SQLite; its package has one more."""


def environment_of(variant: Variant, engine: type[System]) -> Mapping[str, str]:
    """The variables by which a worker finds its engine; none for what is installed."""
    if not variant.release.is_package:
        return {}
    before = os.environ.get("PYTHONPATH")
    first = str(_folder(variant, engine))
    return {"PYTHONPATH": os.pathsep.join([first, before] if before else [first])}


def prepare(variants: Iterable[tuple[Variant, type[System]]]) -> None:
    """Have the releases that these variants request; what is installed for that is said first.
    Raises `NotInstalledError` or `InputError`."""
    for variant, engine in variants:
        if not environment_of(variant, engine):
            continue
        folder = _folder(variant, engine)
        if variant.release.number:
            _install(variant.release.number, engine, folder)
        else:
            _link(_found(variant, engine), folder)
        module = engine.capabilities.distribution.replace("-", "_")
        if PathFinder.find_spec(module, [str(folder)]) is None:
            # The worker would take the installed one, and nobody would notice.
            raise EngineError(
                f"{variant.name}: its package brings no module {module}",
                hint=f"if a program emptied the folder, remove it, and run again: {folder}",
            )


def lacking(variant: Variant, engine: type[System]) -> Collection[str]:
    """The tactics that a variant's release cannot switch, as it says itself, in a process of its
    own; it is installed first. Raises as `prepare`."""
    found_by = environment_of(variant, engine)
    if not found_by:
        return abilities.lacking(engine)
    prepare([(variant, engine)])
    kind = (
        f"from {engine.__module__} import {engine.__name__} as engine;"
        " from loadstone.engines.abilities import lacking"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import json; {kind}; print(json.dumps([*lacking(engine)]))"],
        env={**environment.made(os.environ, url=False), **found_by},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EngineError(
            f"{variant.name} cannot be driven: {reason}", hint="study another release"
        )
    return tuple(json.loads(done.stdout))


def _folder(variant: Variant, engine: type[System]) -> Path:
    """The place where a worker finds its engine: one folder for each release, kind of Python and
    machine."""
    builds = platformdirs.user_cache_path("loadstone") / "builds"
    name = engine.capabilities.distribution
    if number := variant.release.number:
        tag = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
        return builds / f"{name}-{number}-{tag}"
    entries = "\n".join(map(str, _entries(_found(variant, engine))))
    return builds / f"{name}-venv-{sha256(entries.encode()).hexdigest()[:16]}"


def _install(release: str, engine: type[System], folder: Path) -> None:
    if folder.is_dir():
        return
    package = engine.capabilities.distribution
    # SQLite's packages have a number more than their SQLite: the last of them.
    shortened = is_short(package) and release.count(".") == SHORT_DOTS
    wanted = f"{package}=={release}" + (".*" if shortened else "")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    command = [*_installer(), "--no-deps", "--only-binary", ":all:", "--target"]
    say(f"loadstone: {engine.name} {release} is not here yet, so it is installed once: ")
    say("  " + " ".join([*command, str(folder), f"'{wanted}'"]))
    try:
        done = subprocess.run(
            [*command, str(draft), wanted], check=False, capture_output=True, text=True
        )
        if done.returncode and is_of_full_disk(done.stderr):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if done.returncode:
            raise _not_installed(engine.name, package, release, done.stderr)
        _moved(draft, folder)
    except OSError as error:
        raise EngineError(
            f"cannot install {wanted} in {folder.parent}: {error.strerror}",
            hint=f"make room there and in {tempfile.gettempdir()}, or name other folders by the"
            " variables XDG_CACHE_HOME and TMPDIR",
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def is_short(package: str) -> bool:
    """Whether the engine's number is what stands before the package's last one."""
    return package == "apsw"


def installed(engine: type[System]) -> tuple[str, ...]:
    """The releases that are in the cache, in no order."""
    tag = f"-{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    places = (platformdirs.user_cache_path("loadstone") / "builds").glob(
        f"{engine.capabilities.distribution}-*{tag}"
    )
    names = (path.name.removeprefix(f"{engine.capabilities.distribution}-") for path in places)
    return tuple(name.removesuffix(tag) for name in names)


def _installer() -> Sequence[str]:
    """Loadstone's own pip, or uv where it has none. Raises `NotInstalledError`."""
    if find_spec("pip"):
        return (sys.executable, "-m", "pip", "install", "--quiet", "--no-input",
                "--disable-pip-version-check", "--retries", "1")  # fmt: skip
    if uv := shutil.which("uv"):
        return (uv, "pip", "install", "--quiet", "--python", sys.executable)
    raise NotInstalledError(
        "another release is installed by pip or uv, and neither is here",
        hint="install pip into Loadstone's environment: python -m ensurepip",
    )


def _not_installed(engine: str, package: str, release: str, said: str) -> NotInstalledError:
    lines = [line for line in said.strip().splitlines() if line.strip()] or ["no reason given"]
    if any(word in said.lower() for word in UNREACHED):
        return NotInstalledError(
            f"{engine} {release} is not here, and no package index can be reached",
            hint=f"connect, or run it where it was installed before; the installer: {lines[0]}",
        )
    return NotInstalledError(
        f"{engine} {release} cannot be installed: {lines[-1].removeprefix('ERROR: ')}",
        hint=f"look which releases there are for Python {sysconfig.get_python_version()}:"
        f" {sys.executable} -m pip index versions {package}",
    )


def _moved(draft: Path, folder: Path) -> None:
    """Give a complete folder its name; another process's, which was first, is as good."""
    draft.chmod(0o755)
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _found(variant: Variant, engine: type[System]) -> Distribution:
    """The engine's package in a Python environment. Raises `InputError`."""
    path = Path(variant.release.environment)
    version = sysconfig.get_python_version()
    places = [*path.glob(f"lib*/python{version}/site-packages")]
    if not places:
        others = sorted(one.parent.name for one in path.glob("lib/python*/site-packages"))
        raise InputError(
            f"{path} is no environment of Python {version}"
            + (f"; it is one of {others[0]}" if others else ""),
            hint=f"make one with: {sys.executable} -m venv {path}",
        )
    name = engine.capabilities.distribution
    found = next(iter(distributions(name=name, path=[*map(str, places)])), None)
    if found is None or not [*_entries(found)]:
        raise InputError(
            f"the environment {path} has no package {name}"
            + ("" if found is None else " with modules of its own: it is installed as editable"),
            hint=f"install it there: {path}/bin/python -m pip install {name}",
        )
    return found


def _entries(found: Distribution) -> Iterator[Path]:
    """A package's files in its environment: modules, libraries and metadata."""
    tops = dict.fromkeys(file.parts[0] for file in found.files or ())
    paths = [Path(str(found.locate_file(top))) for top in tops if top not in ("..", "__pycache__")]
    if any(path.suffix == ".pth" for path in paths):
        return
    yield from (path for path in paths if path.exists())


def _link(found: Distribution, folder: Path) -> None:
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for path in _entries(found):
            (draft / path.name).symlink_to(path)
        _moved(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
