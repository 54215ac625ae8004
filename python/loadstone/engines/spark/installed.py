"""The programs that Spark needs here: the `pyspark` wheel, which brings its own, and Java."""

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from loadstone.errors import NotInstalledError

INSTALL_HINT = "install it with: pip install 'loadstone[spark]'"
JAVA_HINT = (
    "install one (on Debian: apt-get install openjdk-17-jre-headless), or name its folder in"
    " JAVA_HOME"
)
_OF_CLIENT = ("grpcio", "pandas")
JAVA_LEAST = 17
"""The oldest that Spark 4 runs on."""
_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)')
_ANSWER_S_MAX = 30.0


def release() -> str:
    """The release of the wheel; empty where it is not installed."""
    found = _distribution("pyspark")
    return "" if found is None else found.version


def spark_home() -> Path:
    """The folder of the wheel with Spark's programs. Raises `NotInstalledError` where there is
    none, or where its client lacks a package."""
    found = _distribution("pyspark")
    if found is None:
        raise NotInstalledError("Spark is not installed", hint=INSTALL_HINT)
    missing = [name for name in _OF_CLIENT if _distribution(name) is None]
    if missing:
        raise NotInstalledError(f"Spark's client needs {missing[0]}", hint=INSTALL_HINT)
    return Path(str(found.locate_file("pyspark")))


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


@cache
def java() -> Path:
    """The `java` of JAVA_HOME, else of the path. Raises `NotInstalledError` where there is none, or
    none that is new enough."""
    home = os.environ.get("JAVA_HOME", "")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        where = f"below JAVA_HOME, {home}" if home else "on the path"
        raise NotInstalledError(f"Spark needs Java, and there is none {where}", hint=JAVA_HINT)
    done = subprocess.run(
        [found, "-version"], check=False, capture_output=True, text=True, timeout=_ANSWER_S_MAX
    )
    found_version = _VERSION.search(done.stderr + done.stdout)
    if found_version is None or int(found_version[1]) < JAVA_LEAST:
        what = f"is of version {found_version[1]}" if found_version else "names no version"
        raise NotInstalledError(
            f"Spark needs Java {JAVA_LEAST} or later, and {found} {what}", hint=JAVA_HINT
        )
    return Path(found).resolve()
