"""The file of a user's own database that a URL names."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from loadstone.errors import InputError, UnknownTacticError


def path_in(url: str) -> Path:
    """The file, links followed, because what belongs to it lies beside it. Raises `InputError`."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    odd = not path.startswith("/") or path.startswith("//") or path.endswith("/") or "\0" in path
    if odd or parts.netloc:
        raise InputError(
            f"cannot read the file's path in {url}",
            hint=f"write {parts.scheme}:///absolute/path.db, with % as %25, # as %23 and ? as %3F",
        )
    if parts.query:
        unknown = parts.query.partition("=")[0]
        raise UnknownTacticError(parts.scheme, unknown, "what `loadstone engines` lists")
    return Path(os.path.realpath(path))
