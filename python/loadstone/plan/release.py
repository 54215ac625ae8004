"""The release or the build of an engine that a variant names; only this module parses it."""

import re
from dataclasses import dataclass

from loadstone import secret
from loadstone.errors import InputError

VENV = "venv:"
"""Before the folder of a Python environment that holds the build."""

_NUMBERED = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,40}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Release:
    """One of three, or none: then it is the installed engine."""

    number: str = ""
    """A release's number, as its package has it."""
    programs: str = ""
    """The absolute path of a folder with a server's programs."""
    environment: str = ""
    """The absolute path of a Python environment that has the engine's package."""

    def __bool__(self) -> bool:
        return self != INSTALLED

    def __str__(self) -> str:
        """As it stands behind the `@` of a variant."""
        environment = self.environment and VENV + self.environment
        return self.number or self.programs or environment

    @property
    def is_package(self) -> bool:
        """Whether a worker finds the engine by way of Python's packages."""
        return bool(self.number or self.environment)


INSTALLED = Release()
"""The engine as it is installed beside Loadstone."""


def parse_release(text: str) -> Release:
    """The text behind the `@` of a variant. Raises `InputError`."""
    if _NUMBERED.fullmatch(text):
        return Release(number=text)
    path = text.removeprefix(VENV)
    if path.startswith("/") and "#" not in path:
        return Release(programs=path) if path == text else Release(environment=path)
    raise InputError(
        f"{secret.shown(text)[:60]!r} names no release and no build",
        hint="write ENGINE@NUMBER, ENGINE@/PATH or ENGINE@venv:/PATH, with the whole path",
    )
