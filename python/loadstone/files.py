"""Writing a result file so that nobody ever sees half of it."""

import os
import tempfile
from pathlib import Path

from loadstone.errors import InputError


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target and rename over it. On failure the old file stays as it was."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise InputError(
            f"cannot write {path}: {error.strerror}", hint="name another place with --out"
        ) from error
