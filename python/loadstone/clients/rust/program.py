"""The program in Rust that makes a database and asks it: that of the database's benchmark."""

from collections.abc import Sequence

from loadstone import _core
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.benchmarks.oo1.database import Database as Oo1Database
from loadstone.benchmarks.oo7.database import Database as Oo7Database
from loadstone.benchmarks.rvm.database import Database as RvmDatabase
from loadstone.clients.oo1 import program as oo1
from loadstone.clients.oo7 import program as oo7
from loadstone.clients.rvm import program as rvm
from loadstone.errors import UnsupportedError


def opened(
    database: ProgramDatabase,
    engine: str,
    address: str,
    tactics: Sequence[tuple[str, str]],
    library: str | None = None,
) -> _core.Client:
    """The program of a database that was taken, with an engine at the other side of its seam."""
    match database:
        case Oo1Database():
            return oo1.opened(database, engine, address, tactics, library)
        case Oo7Database():
            return oo7.opened(database, engine, address, tactics, library)
        case RvmDatabase():
            return rvm.opened(database, engine, address, tactics, library)
    raise UnsupportedError(f"{engine}: it has no program for this benchmark")
