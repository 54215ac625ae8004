"""The data folder of a private server: the files that hold our relations, and those that no session
of ours reads."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from loadstone.engines.postgresql.server import PrivateServer


def of_database(connection: psycopg.Connection[tuple[Any, ...]]) -> str:
    """The name of the folder in which the session's database lies. Raises psycopg's errors."""
    query = "SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()"
    (oid,) = connection.execute(query).fetchone() or ("",)
    return str(oid)


def not_data(server: PrivateServer, database: str) -> Mapping[Path, str]:
    """The server's files that no session of ours reads, each with the reason. `database`: the name
    of our database's folder; empty as long as it is not known."""
    ours = (database, "pgsql_tmp")
    others = [path for path in _inside(server.data / "base") if path.name not in ours]
    return {
        server.log: "the server's words, which it never reads",
        server.home / "socket": "the server's socket and its lock, perhaps on a tmpfs",
        server.data / "pg_wal": "the log, which only a start after a crash reads",
        **dict.fromkeys(others if database else (), "a database of the server's own"),
    }


def is_relation(path: Path) -> bool:
    """Whether a file of the data folder is a relation's or an index's that was made after `initdb`
    (`FirstNormalObjectId` of access/transam.h): `base/5/16391.1`, `base/5/16391_vm`."""
    number = re.match(r"\d+", path.name)
    return path.parent.parent.name == "base" and number is not None and int(number[0]) >= 16384


def _inside(folder: Path) -> Sequence[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
