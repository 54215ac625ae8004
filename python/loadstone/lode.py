"""lode, the reference engine, for programs in Python: `docs/reference/lode.md` has an example.

Nothing but short names for what `_core.pyi` describes. Everything raises `LodeError`; after a
`DeadlockError`, which is one, the transaction can be run again.
"""

from pathlib import Path

from ._core import LodeBtree as Btree
from ._core import LodeConnection as Connection
from ._core import LodeDatabase as Database
from ._core import LodeHash as Hash
from ._core import LodeHeap as Heap
from ._core import LodeLinks as Links
from ._core import LodeObjects as Objects
from ._core import LodeRemote as Remote
from ._core import LodeRows as Rows
from ._core import LodeServer as Server
from ._core import LodeStatement as Statement
from ._core import LodeStatementServer as StatementServer
from ._core import LodeTransaction as Transaction
from ._core import lode_connect as connect
from ._core import lode_mirror as mirror
from ._core import lode_profiles as profiles
from ._core import lode_tactics as tactics
from ._core import lode_tactics_of as tactics_of
from .errors import CancelledError, DeadlockError, LodeError, QueryError

__all__ = [
    "Btree",
    "CancelledError",
    "Connection",
    "Database",
    "DeadlockError",
    "Hash",
    "Heap",
    "Links",
    "LodeError",
    "Objects",
    "QueryError",
    "Remote",
    "Rows",
    "Server",
    "Statement",
    "StatementServer",
    "Transaction",
    "connect",
    "files_of",
    "mirror",
    "profiles",
    "remove",
    "tactics",
    "tactics_of",
]


def files_of(path: Path) -> list[Path]:
    """Every file that a database of that name may have: volume, log and state of both copies."""
    folder = path.with_name(f"{path.name}-mirror")
    endings = ("", "-log", "-state")
    return [parent / f"{path.name}{end}" for parent in (path.parent, folder) for end in endings]


def remove(path: Path) -> None:
    """Remove a database that nobody has open, whether it has one copy or two."""
    for file in files_of(path):
        file.unlink(missing_ok=True)
    folder = path.with_name(f"{path.name}-mirror")
    if folder.is_dir() and not folder.is_symlink():
        folder.rmdir()
